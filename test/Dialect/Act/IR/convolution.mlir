// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: act-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x16xf32>, %[[W:.*]]: tensor<3x3x16x32xf32>)
// GENERIC:     lhs_dimensions = array<i64: 0, 3, 1, 2>
// GENERIC-SAME: out_dimensions = array<i64: 0, 3, 1, 2>
// GENERIC-SAME: rhs_dimensions = array<i64: 2, 3, 0, 1>
func.func @forward(%x: tensor<2x8x8x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<2x4x4x32xf32> {
  // CHECK: %[[Y0:.*]] = tensor.empty()
  %y0 = tensor.empty() : tensor<2x4x4x32xf32>
  // CHECK: %[[Y:.*]] = act.convolution ins(%[[X]], %[[W]] : tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>)
  // CHECK-SAME: outs(%[[Y0]] : tensor<2x4x4x32xf32>) dims [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  // CHECK-SAME: {padding = array<i64: 1, 1, 1, 1>, window_strides = array<i64: 2, 2>}
  %y = act.convolution ins(%x, %w : tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>)
      outs(%y0 : tensor<2x4x4x32xf32>) dims [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
      {padding = array<i64: 1, 1, 1, 1>, window_strides = array<i64: 2, 2>}
  // CHECK: return %[[Y]]
  return %y : tensor<2x4x4x32xf32>
}

// The gradient with respect to the input of what @forward computes.
// CHECK-LABEL: func.func @input_gradient(
func.func @input_gradient(%g: memref<2x4x4x32xf32>, %w: memref<3x3x16x32xf32>,
    %x: memref<2x8x8x16xf32>) {
  // CHECK: act.convolution ins(%{{.*}}, %{{.*}} : memref<2x4x4x32xf32>, memref<3x3x16x32xf32>)
  // CHECK-SAME: outs(%{{.*}} : memref<2x8x8x16xf32>) dims [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]
  // CHECK-SAME: {lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 2, 1, 2>, window_reversal = array<i1: true, true>}
  act.convolution ins(%g, %w : memref<2x4x4x32xf32>, memref<3x3x16x32xf32>)
      outs(%x : memref<2x8x8x16xf32>) dims [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]
      {lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 2, 1, 2>,
       window_reversal = array<i1: true, true>}
  return
}

// The gradient with respect to the weights, which crops at one end.
// CHECK-LABEL: func.func @weight_gradient(
func.func @weight_gradient(%x: memref<2x9x9x16xf32>, %g: memref<2x4x4x32xf32>,
    %w: memref<3x3x16x32xf32>) {
  // CHECK: dims [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]
  // CHECK-SAME: {padding = array<i64: 1, -1, 1, -1>, rhs_dilation = array<i64: 2, 2>}
  act.convolution ins(%x, %g : memref<2x9x9x16xf32>, memref<2x4x4x32xf32>)
      outs(%w : memref<3x3x16x32xf32>) dims [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]
      {padding = array<i64: 1, -1, 1, -1>, rhs_dilation = array<i64: 2, 2>}
  return
}

// Groups, no spatial dimension, sums that are not rounded.
// CHECK-LABEL: func.func @groups(
func.func @groups(%x: memref<4x6xbf16>, %w: memref<8x3xbf16>, %v: memref<6x8xbf16>,
    %y: memref<8x4xf32>, %z: memref<2x8xbf16>) {
  // CHECK: dims [b, f]x[o, i]->[f, b] {feature_group_count = 2 : i64}
  act.convolution ins(%x, %w : memref<4x6xbf16>, memref<8x3xbf16>)
      outs(%y : memref<8x4xf32>) dims [b, f]x[o, i]->[f, b]
      {feature_group_count = 2 : i64}
  // CHECK: dims [b, f]x[i, o]->[b, f] {batch_group_count = 2 : i64}
  act.convolution ins(%x, %v : memref<4x6xbf16>, memref<6x8xbf16>)
      outs(%z : memref<2x8xbf16>) dims [b, f]x[i, o]->[b, f]
      {batch_group_count = 2 : i64}
  return
}

// Tensors have no effects, buffers do.
// CSE-LABEL: func.func @unused(
func.func @unused(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %x1: memref<2x3xf32>,
    %w1: memref<3x4xf32>, %y1: memref<2x4xf32>) {
  // CSE-NEXT: act.convolution ins(%{{.*}}, %{{.*}} : memref<2x3xf32>
  %y0 = tensor.empty() : tensor<2x4xf32>
  %y = act.convolution ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>)
      outs(%y0 : tensor<2x4xf32>) dims [b, f]x[i, o]->[b, f]
  act.convolution ins(%x1, %w1 : memref<2x3xf32>, memref<3x4xf32>)
      outs(%y1 : memref<2x4xf32>) dims [b, f]x[i, o]->[b, f]
  // CSE-NEXT: return
  return
}
