// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s

!save = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!exact = !act.compressed<tensor<8xf32>, #act.raw>
!mask = !act.compressed<tensor<8xi1>, #act.mask>

// CHECK-LABEL: func.func @save(
// CHECK-SAME: %[[Z:.*]]: tensor<8x64xf32>, %[[M:.*]]: tensor<8xf32>
func.func @save(%z: tensor<8x64xf32>, %m: tensor<8xf32>) -> (!save, !save, !exact, !exact) {
  // CHECK: %[[A:.*]] = act.compressed_save %[[Z]] : tensor<8x64xf32> to <tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>{{$}}
  // GENERIC: "act.compressed_save"(%{{.*}}) <{id = 0 : i64}> : (tensor<8x64xf32>) -> !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
  %a = act.compressed_save %z : tensor<8x64xf32> to !save
  // The id is printed unless it is 0.
  // CHECK: %[[B:.*]] = act.compressed_save %[[Z]] {id = 3 : i64, name = "h"} : tensor<8x64xf32>
  // GENERIC: "act.compressed_save"(%{{.*}}) <{id = 3 : i64}> {name = "h"}
  %b = act.compressed_save %z {id = 3 : i64, name = "h"} : tensor<8x64xf32> to !save
  // CHECK: %[[C:.*]] = act.compressed_save %[[M]] exact <statistic> : tensor<8xf32>
  // GENERIC: "act.compressed_save"(%{{.*}}) <{exact = #act.exactness<statistic>, id = 0 : i64}>
  %c = act.compressed_save %m exact <statistic> : tensor<8xf32> to !exact
  // CHECK: %[[D:.*]] = act.compressed_save %[[M]] exact <mask_fill> {id = 9223372036854775807 : i64}
  %d = act.compressed_save %m exact <mask_fill> {id = 9223372036854775807 : i64} : tensor<8xf32> to !exact
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
  return %a, %b, %c, %d : !save, !save, !exact, !exact
}

// CHECK-LABEL: func.func @exactness
// CHECK: exact <integer>
// CHECK: exact <predicate>
// CHECK: exact <statistic>
// CHECK: exact <mask_fill>
// CHECK: exact <ordered>
// CHECK: exact <loop_carried>
// CHECK: exact <small>
// CHECK: exact <unsupported>
func.func @exactness(%m: tensor<8xf32>) {
  %0 = act.compressed_save %m exact <integer> : tensor<8xf32> to !exact
  %1 = act.compressed_save %m exact <predicate> : tensor<8xf32> to !exact
  %2 = act.compressed_save %m exact <statistic> : tensor<8xf32> to !exact
  %3 = act.compressed_save %m exact <mask_fill> : tensor<8xf32> to !exact
  %4 = act.compressed_save %m exact <ordered> : tensor<8xf32> to !exact
  %5 = act.compressed_save %m exact <loop_carried> : tensor<8xf32> to !exact
  %6 = act.compressed_save %m exact <small> : tensor<8xf32> to !exact
  %7 = act.compressed_save %m exact <unsupported> : tensor<8xf32> to !exact
  return
}

// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[C:.*]]: !act.compressed<tensor<8xi1>, #act.mask>
// CHECK: %[[V:.*]] = act.dequantize_load %[[C]] : <tensor<8xi1>, #act.mask> to tensor<8xi1>
// CHECK: return %[[V]]
// GENERIC: "act.dequantize_load"(%{{.*}}) : (!act.compressed<tensor<8xi1>, #act.mask>) -> tensor<8xi1>
func.func @load(%c: !mask) -> tensor<8xi1> {
  %v = act.dequantize_load %c : !mask to tensor<8xi1>
  return %v : tensor<8xi1>
}

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME: %[[X:.*]]: tensor<8x64xbf16>, %[[L:.*]]: tensor<f32>, %[[S:.*]]: tensor<ui32>
func.func @round_trip(%x: tensor<8x64xbf16>, %l: tensor<f32>, %s: tensor<ui32>) -> tensor<8x64xbf16> {
  // CHECK: %[[A:.*]] = act.round_trip %[[X]] levels(%[[L]] : tensor<f32>) seed(%[[S]] : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) : tensor<8x64xbf16>
  // GENERIC: "act.round_trip"(%{{.*}}, %{{.*}}, %{{.*}}) <{encoding = #act.group_quant<bits = 4, group = 64>, id = 0 : i64}> : (tensor<8x64xbf16>, tensor<f32>, tensor<ui32>) -> tensor<8x64xbf16>
  %a = act.round_trip %x levels(%l : tensor<f32>) seed(%s : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) : tensor<8x64xbf16>
  // CHECK: %[[B:.*]] = act.round_trip %[[A]] levels(%[[L]] : tensor<f32>) seed(%[[S]] : tensor<ui32>) encoding(#act.float<type = f8E4M3FN>) {id = 3 : i64}
  %b = act.round_trip %a levels(%l : tensor<f32>) seed(%s : tensor<ui32>) encoding(#act.float<type = f8E4M3FN>) {id = 3 : i64} : tensor<8x64xbf16>
  // CHECK: return %[[B]]
  return %b : tensor<8x64xbf16>
}

// CHECK-LABEL: func.func @barrier(
// CHECK-SAME: %[[C:.*]]: !act.compressed<tensor<8xi1>, #act.mask>, %[[G:.*]]: tensor<?xf32>
func.func @barrier(%c: !mask, %g: tensor<?xf32>) -> (!mask, tensor<?xf32>, tensor<?xf32>) {
  // CHECK: %[[B:.*]]:2 = act.barrier %[[C]], %[[G]] : !act.compressed<tensor<8xi1>, #act.mask>, tensor<?xf32>
  // GENERIC: "act.barrier"(%{{.*}}, %{{.*}}) : (!act.compressed<tensor<8xi1>, #act.mask>, tensor<?xf32>) -> (!act.compressed<tensor<8xi1>, #act.mask>, tensor<?xf32>)
  %c1, %g1 = act.barrier %c, %g : !mask, tensor<?xf32>
  // CHECK: %[[S:.*]] = act.barrier %[[B]]#1 {name = "one"} : tensor<?xf32>
  %g2 = act.barrier %g1 {name = "one"} : tensor<?xf32>
  // CHECK: return %[[B]]#0, %[[B]]#1, %[[S]]
  return %c1, %g1, %g2 : !mask, tensor<?xf32>, tensor<?xf32>
}
