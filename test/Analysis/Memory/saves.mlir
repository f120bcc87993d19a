// RUN: act-opt %s --split-input-file --act-memory -o /dev/null | FileCheck %s

// 64x1024 codes of 8 bits are alive until they are decoded into the product; the
// product of forward is not.

// CHECK-LABEL: "function": "save",
// CHECK-NEXT:  "packed": 459776,
// CHECK-NEXT:  "peak": 459776,
// CHECK:       "at_peak": [
// CHECK:       "bytes": 65536,
// CHECK-NEXT:  "begin": [[#]],
// CHECK-NEXT:  "end": [[#]],
// CHECK-NEXT:  "kind": "save",
// CHECK-NEXT:  "operation": "act.compressed_save",
func.func @save(%x: tensor<64x1024xf32>, %w: tensor<1024x512xf32>, %v: tensor<512x512xf32>) -> (tensor<64x512xf32>, tensor<1024x512xf32>) {
  %t = "stablehlo.tanh"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %c = act.compressed_save %t : tensor<64x1024xf32> to <tensor<64x1024xf32>, #act.group_quant<bits = 8, group = 256>>
  %b:2 = act.barrier %t, %c : tensor<64x1024xf32>, !act.compressed<tensor<64x1024xf32>, #act.group_quant<bits = 8, group = 256>>
  %z = "stablehlo.dot_general"(%b#0, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x1024xf32>, tensor<1024x512xf32>) -> tensor<64x512xf32>
  %g = "stablehlo.dot_general"(%z, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %h:2 = act.barrier %b#1, %g : !act.compressed<tensor<64x1024xf32>, #act.group_quant<bits = 8, group = 256>>, tensor<64x512xf32>
  %l = act.dequantize_load %h#0 : <tensor<64x1024xf32>, #act.group_quant<bits = 8, group = 256>> to tensor<64x1024xf32>
  %d = "stablehlo.dot_general"(%l, %h#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<64x1024xf32>, tensor<64x512xf32>) -> tensor<1024x512xf32>
  return %z, %d : tensor<64x512xf32>, tensor<1024x512xf32>
}

// -----

// A raw save is the value itself, from where it is computed to where it is read.

// CHECK-LABEL: "function": "raw",
// CHECK-NEXT:  "packed": 262144,
// CHECK:       "bytes": 262144,
// CHECK-NEXT:  "begin": 0,
// CHECK-NEXT:  "end": 3,
// CHECK-NEXT:  "kind": "save",
// CHECK-NEXT:  "operation": "stablehlo.tanh",
func.func @raw(%x: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<64x1024xf32>) {
  %t = "stablehlo.tanh"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %c = act.compressed_save %t : tensor<64x1024xf32> to <tensor<64x1024xf32>, #act.raw>
  %g = "stablehlo.exponential"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %n = "stablehlo.sort"(%g) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%m) : (tensor<i1>) -> ()
  }) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %h:2 = act.barrier %c, %n : !act.compressed<tensor<64x1024xf32>, #act.raw>, tensor<64x1024xf32>
  %l = act.dequantize_load %h#0 : <tensor<64x1024xf32>, #act.raw> to tensor<64x1024xf32>
  %s = "stablehlo.sort"(%l) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%m) : (tensor<i1>) -> ()
  }) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %s, %h#1 : tensor<64x1024xf32>, tensor<64x1024xf32>
}
