// RUN: act-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[$SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$SCALAR:.*]] = affine_map<(d0, d1) -> ()>

// Dimensions of size 1 that are repeated vanish first.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x1xf32>)
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1, 2]] : tensor<1x4x1xf32> into tensor<4xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[$ROW]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]} ins(%[[C]] : tensor<4xf32>)
func.func @broadcast(%x: tensor<1x4x1xf32>) -> tensor<2x4x3xf32> {
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x1xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @broadcast_scalar(
// CHECK:         linalg.generic {indexing_maps = [#[[$SCALAR]], #{{.*}}]
func.func @broadcast_scalar(%x: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// What keeps the elements in order is no loop.
// CHECK-LABEL: func.func @reshapes(
// CHECK-NOT:     linalg
// CHECK:         tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2], [3]] output_shape [1, 1, 4, 6] : tensor<4x6xf32> into tensor<1x1x4x6xf32>
// CHECK:         tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2, 3]] : tensor<1x1x4x6xf32> into tensor<24xf32>
// CHECK:         tensor.expand_shape %{{.*}} : tensor<24xf32> into tensor<3x8xf32>
// CHECK:         tensor.collapse_shape %{{.*}} : tensor<3x8xf32> into tensor<24xf32>
// CHECK:         tensor.expand_shape %{{.*}} : tensor<24xf32> into tensor<6x4xf32>
// CHECK:         tensor.expand_shape %{{.*}} : tensor<6x4xf32> into tensor<6x1x4xf32>
// CHECK-NOT:     linalg
func.func @reshapes(%x: tensor<4x6xf32>) -> tensor<6x1x4xf32> {
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<4x6xf32>) -> tensor<1x1x4x6xf32>
  %1 = "stablehlo.reshape"(%0) : (tensor<1x1x4x6xf32>) -> tensor<3x8xf32>
  %2 = "stablehlo.reshape"(%1) : (tensor<3x8xf32>) -> tensor<6x4xf32>
  %3 = "stablehlo.reshape"(%2) : (tensor<6x4xf32>) -> tensor<1x6x4xf32>
  %4 = "stablehlo.transpose"(%3) <{permutation = array<i64: 1, 0, 2>}> : (tensor<1x6x4xf32>) -> tensor<6x1x4xf32>
  return %4 : tensor<6x1x4xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK:         linalg.generic {indexing_maps = [#[[$SWAP]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%{{.*}} : tensor<2x3xf32>) outs(%{{.*}} : tensor<3x2xf32>)
func.func @transpose(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @reverse(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>)
// CHECK:         linalg.generic
// CHECK-DAG:       %[[I:.*]] = linalg.index 0
// CHECK-DAG:       %[[J:.*]] = linalg.index 1
// CHECK-DAG:       %[[LAST:.*]] = arith.constant 2 : index
// CHECK:           %[[K:.*]] = arith.subi %[[LAST]], %[[J]] : index
// CHECK:           tensor.extract %[[X]][%[[I]], %[[K]]]
func.func @reverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 1>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @iota(
// CHECK:         %[[I:.*]] = linalg.index 1 : index
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK-NEXT:    arith.sitofp %[[N]] : i64 to f32
func.func @iota() -> tensor<2x3xf32> {
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Equal constants are one, and lie at the start of the function.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<[1, -1]> : tensor<2xi8>
// CHECK-NEXT:    return %[[C]], %[[C]]
func.func @constants() -> (tensor<2xui8>, tensor<2xui8>) {
  %0 = "stablehlo.constant"() <{value = dense<[1, 255]> : tensor<2xui8>}> : () -> tensor<2xui8>
  %1 = "stablehlo.constant"() <{value = dense<[1, 255]> : tensor<2xui8>}> : () -> tensor<2xui8>
  return %0, %1 : tensor<2xui8>, tensor<2xui8>
}
