// Rules that name the axis which has ranges.

// RUN: split-file %s %t
// RUN: act-opt %t/step.mlir --act-choose-encodings=rules=%t/rules.json | FileCheck %t/step.mlir

//--- rules.json
[{"axis": "head", "bits": 8, "range": "running"},
 {"axis": "channel", "bits": 4, "range": "running"},
 {"op": "stablehlo.sine", "axis": "last", "bits": 2},
 {"op": "stablehlo.cosine", "axis": 2, "bits": 2},
 {"op": "stablehlo.cosine", "axis": 1, "bits": 1, "range": "batch"}]

//--- step.mlir
#scores = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>
#dense = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>
#conv = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1]>
!q = tensor<2x64x4x32xf32>
!h = tensor<2x4x64x32xf32>
!s = tensor<2x4x64x64xf32>
!t = tensor<128x256xf32>
!i = tensor<2x16x16x8xf32>
!k = tensor<1x1x8x24xf32>
!o = tensor<2x24x16x16xf32>

// Queries: behind a barrier, a transposition and a scale they enter a product whose
// last batch dimension is number 2, which is 1 of what is saved.
// CHECK-LABEL: func.func @queries(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x4x64x32xf32>
// CHECK:         %[[S:.*]] = act.empty_range : tensor<2x4xf32>
// CHECK-NEXT:    %{{.*}}, %[[R:.*]] = act.update_range %[[Q:.*]], %[[S]] axis 1 decay 9.000000e-01 : tensor<2x4x64x32xf32>, tensor<2x4xf32>
// CHECK-NEXT:    act.compressed_save %[[Q]] range(%[[R]] : tensor<2x4xf32>) {{.*}}, #[[E:act.axis_quant<bits = 8, axis = 1, range = running>]]> key "q#1"
// CHECK-NEXT:    act.barrier {{.*}}, #[[E]]>
// CHECK:         act.dequantize_load {{.*}}, #[[E]]>
func.func @queries(%x: !h, %k: !q) -> (!s, !h) {
  %n = "stablehlo.negate"(%x) : (!h) -> !h
  %c = act.compressed_save %n : !h to !act.compressed<!h, #act.raw> key "q#1"
  %b:2 = act.barrier %n, %c : !h, !act.compressed<!h, #act.raw>
  %t = "stablehlo.transpose"(%b#0) <{permutation = array<i64: 0, 2, 1, 3>}> : (!h) -> !q
  %m = "stablehlo.multiply"(%t, %k) : (!q, !q) -> !q
  %y = "stablehlo.dot_general"(%k, %m) <{dot_dimension_numbers = #scores}> : (!q, !q) -> !s
  %l = act.dequantize_load %b#1 : !act.compressed<!h, #act.raw> to !h
  return %y, %l : !s, !h
}

// Scores, which such a product computes and none reads.
// CHECK-LABEL: func.func @scores(
// CHECK:         act.compressed_save {{.*}} #act.axis_quant<bits = 8, axis = 1, range = running>>
func.func @scores(%q: !q) -> !s {
  %y = "stablehlo.dot_general"(%q, %q) <{dot_dimension_numbers = #scores}> : (!q, !q) -> !s
  %n = "stablehlo.tanh"(%y) : (!s) -> !s
  %c = act.compressed_save %n : !s to !act.compressed<!s, #act.raw>
  return %n : !s
}

// A reshape that joins heads with features leaves none, nor does a product without
// batch dimensions have any: the default.
// CHECK-LABEL: func.func @no_heads(
// CHECK-NOT:     act.empty_range
// CHECK:         act.compressed_save {{.*}} #act.group_quant
func.func @no_heads(%x: !t, %w: tensor<256x8xf32>) -> tensor<128x8xf32> {
  %n = "stablehlo.negate"(%x) : (!t) -> !t
  %c = act.compressed_save %n : !t to !act.compressed<!t, #act.raw>
  %y = "stablehlo.dot_general"(%n, %w) <{dot_dimension_numbers = #dense}> : (!t, tensor<256x8xf32>) -> tensor<128x8xf32>
  %r = "stablehlo.reshape"(%n) : (!t) -> !q
  %z = "stablehlo.dot_general"(%r, %r) <{dot_dimension_numbers = #scores}> : (!q, !q) -> !s
  return %y : tensor<128x8xf32>
}

// The operand of a convolution has its features last, the result second.
// CHECK-LABEL: func.func @channels(
// CHECK:         act.update_range {{.*}} axis 3 decay {{.*}} : tensor<2x16x16x8xf32>, tensor<2x8xf32>
// CHECK-NEXT:    act.compressed_save {{.*}} #act.axis_quant<bits = 4, axis = 3, range = running>>
// CHECK:         act.update_range {{.*}} axis 1 decay {{.*}} : tensor<2x24x16x16xf32>, tensor<2x24xf32>
// CHECK-NEXT:    act.compressed_save {{.*}} #act.axis_quant<bits = 4, axis = 1, range = running>>
func.func @channels(%x: !i, %k: !k) -> !o {
  %n = "stablehlo.tanh"(%x) : (!i) -> !i
  %c = act.compressed_save %n : !i to !act.compressed<!i, #act.raw>
  %y = "stablehlo.convolution"(%n, %k) <{batch_group_count = 1 : i64, dimension_numbers = #conv, feature_group_count = 1 : i64}> : (!i, !k) -> !o
  %d = act.compressed_save %y : !o to !act.compressed<!o, #act.raw>
  return %y : !o
}

// By number, where there is such an axis; `last`; `batch` has no state.
// CHECK-LABEL: func.func @numbers(
// CHECK-NOT:     act.empty_range
// CHECK:         act.compressed_save {{.*}} #act.axis_quant<bits = 2, axis = 1>>
// CHECK:         act.compressed_save {{.*}} #act.axis_quant<bits = 1, axis = 1>>
// CHECK:         act.compressed_save {{.*}} #act.axis_quant<bits = 2, axis = 2>>
// CHECK:         act.compressed_save %{{.*}} exact <ordered> {{.*}} #act.raw>
func.func @numbers(%x: !t, %q: tensor<4x64x64xf32>) {
  %a = "stablehlo.sine"(%x) : (!t) -> !t
  %0 = act.compressed_save %a : !t to !act.compressed<!t, #act.raw>
  %b = "stablehlo.cosine"(%x) : (!t) -> !t
  %1 = act.compressed_save %b : !t to !act.compressed<!t, #act.raw>
  %c = "stablehlo.cosine"(%q) : (tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %2 = act.compressed_save %c : tensor<4x64x64xf32> to !act.compressed<tensor<4x64x64xf32>, #act.raw>
  %3 = act.compressed_save %b exact <ordered> : !t to !act.compressed<!t, #act.raw>
  return
}
