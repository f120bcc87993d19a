// RUN: act-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @slice(
// CHECK-NEXT:    tensor.extract_slice %{{.*}}[1, 0] [3, 4] [2, 1] : tensor<8x4xf32> to tensor<3x4xf32>
// CHECK-NEXT:    return
func.func @slice(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1, 0>, limit_indices = array<i64: 7, 4>, strides = array<i64: 2, 1>}> : (tensor<8x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @slice_of_constant(
// CHECK-NEXT:    arith.constant dense<[15, 6]> : tensor<2xi32>
// CHECK-NEXT:    return
func.func @slice_of_constant() -> tensor<2xui32> {
  %c = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
  %0 = "stablehlo.slice"(%c) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<4xui32>) -> tensor<2xui32>
  return %0 : tensor<2xui32>
}

// Interior padding is a stride, and what negative padding cuts off is not read.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<9xf32>
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[Z]] : f32) outs(%[[E]] : tensor<9xf32>)
// CHECK:         %[[P:.*]] = tensor.extract_slice %[[X]][1] [3] [1] : tensor<4xf32> to tensor<3xf32>
// CHECK:         tensor.insert_slice %[[P]] into %[[F]][1] [3] [3] : tensor<3xf32> into tensor<9xf32>
func.func @pad(%x: tensor<4xf32>) -> tensor<9xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.pad"(%x, %z) <{edge_padding_low = array<i64: -2>, edge_padding_high = array<i64: 1>, interior_padding = array<i64: 2>}> : (tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// CHECK-LABEL: func.func @crop(
// CHECK-NEXT:    tensor.extract_slice %{{.*}}[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
// CHECK-NEXT:    return
func.func @crop(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<2xf32> {
  %0 = "stablehlo.pad"(%x, %z) <{edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: -1>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @concatenate(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x5xf32>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<2x8xf32>
// CHECK:         %[[A:.*]] = tensor.insert_slice %[[X]] into %[[E]][0, 0] [2, 3] [1, 1]
// CHECK:         tensor.insert_slice %[[Y]] into %[[A]][0, 3] [2, 5] [1, 1]
func.func @concatenate(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %0 = "stablehlo.concatenate"(%x, %y) <{dimension = 1 : i64}> : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  return %0 : tensor<2x8xf32>
}

// The start is moved inside; where the block is as long as the operand it is 0.
// CHECK-LABEL: func.func @dynamic_slice(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32>, %[[I:.*]]: tensor<i32>, %{{.*}}: tensor<i32>)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SIX:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[E:.*]] = tensor.extract %[[I]][] : tensor<i32>
// CHECK:         %[[C:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK:         %[[L:.*]] = arith.maxsi %[[C]], %[[ZERO]] : index
// CHECK:         %[[S:.*]] = arith.minsi %[[L]], %[[SIX]] : index
// CHECK:         tensor.extract_slice %[[X]][%[[S]], 0] [2, 4] [1, 1]
func.func @dynamic_slice(%x: tensor<8x4xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.dynamic_slice"(%x, %i, %j) <{slice_sizes = array<i64: 2, 4>}> : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Constants are not written into, but filled anew.
// CHECK-LABEL: func.func @dynamic_update_slice(
// CHECK-SAME:    %[[U:.*]]: tensor<1x4xf32>,
// CHECK:         %[[F:.*]] = linalg.fill
// CHECK:         tensor.insert_slice %[[U]] into %[[F]][%{{.*}}, 0] [1, 4] [1, 1]
// CHECK-LABEL: func.func @unsigned_start(
// CHECK:         arith.index_castui
// CHECK:         arith.minui
func.func @dynamic_update_slice(%u: tensor<1x4xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<8x4xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<8x4xf32>}> : () -> tensor<8x4xf32>
  %0 = "stablehlo.dynamic_update_slice"(%z, %u, %i, %j) : (tensor<8x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
func.func @unsigned_start(%x: tensor<8xf32>, %i: tensor<ui8>) -> tensor<2xf32> {
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 2>}> : (tensor<8xf32>, tensor<ui8>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
