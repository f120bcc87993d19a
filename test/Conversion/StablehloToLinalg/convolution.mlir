// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x16xf32>, %[[W:.*]]: tensor<3x3x16x32xf32>)
// CHECK:         %[[Y0:.*]] = tensor.empty() : tensor<2x4x4x32xf32>
// CHECK:         %[[Y:.*]] = act.convolution ins(%[[X]], %[[W]] : tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>)
// CHECK-SAME:      outs(%[[Y0]] : tensor<2x4x4x32xf32>) dims [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK-SAME:      {padding = array<i64: 1, 0, 1, 1>, window_strides = array<i64: 2, 2>}
// CHECK:         return %[[Y]]
func.func @forward(%x: tensor<2x8x8x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<2x4x4x32xf32> {
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>,
      feature_group_count = 1 : i64, padding = dense<[[1, 0], [1, 1]]> : tensor<2x2xi64>,
      window_strides = array<i64: 2, 2>}>
      : (tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<2x4x4x32xf32>
  return %y : tensor<2x4x4x32xf32>
}

// -----

// A reversed window is read as it is. Where it has one element, there is nothing
// to reverse.
// CHECK-LABEL: func.func @input_gradient(
// CHECK-SAME:    %[[G:.*]]: tensor<2x4x4x32xf32>, %[[W:.*]]: tensor<3x1x16x32xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         act.convolution ins(%[[G]], %[[W]] : tensor<2x4x4x32xf32>, tensor<3x1x16x32xf32>)
// CHECK-SAME:      dims [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]
// CHECK-SAME:      {lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 2, 0, 1>, window_reversal = array<i1: true, false>}
func.func @input_gradient(%g: tensor<2x4x4x32xf32>, %w: tensor<3x1x16x32xf32>) -> tensor<2x8x8x16xf32> {
  %r = "stablehlo.reverse"(%w) <{dimensions = array<i64: 0, 1>}> : (tensor<3x1x16x32xf32>) -> tensor<3x1x16x32xf32>
  %x = "stablehlo.convolution"(%g, %r) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>,
      feature_group_count = 1 : i64, padding = dense<[[1, 2], [0, 1]]> : tensor<2x2xi64>,
      lhs_dilation = array<i64: 2, 2>}>
      : (tensor<2x4x4x32xf32>, tensor<3x1x16x32xf32>) -> tensor<2x8x8x16xf32>
  return %x : tensor<2x8x8x16xf32>
}

// -----

// Reversed twice; a reversal of features stays.
// CHECK-LABEL: func.func @reversals(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x3xf32>, %[[W:.*]]: tensor<3x3x4xf32>)
// CHECK:         act.convolution ins(%[[X]], %[[W]] :
// CHECK-SAME:      dims [b, 0, f]x[0, i, o]->[b, 0, f]{{$}}
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK:         act.convolution ins(%[[X]], %[[R]] :
// CHECK-SAME:      dims [b, 0, f]x[0, i, o]->[b, 0, f]{{$}}
func.func @reversals(%x: tensor<2x8x3xf32>, %w: tensor<3x3x4xf32>) -> (tensor<2x6x4xf32>, tensor<2x6x4xf32>) {
  %r = "stablehlo.reverse"(%w) <{dimensions = array<i64: 0>}> : (tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  %y = "stablehlo.convolution"(%x, %r) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, window_reversal = array<i1: true>}>
      : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  %s = "stablehlo.reverse"(%w) <{dimensions = array<i64: 0, 1>}> : (tensor<3x3x4xf32>) -> tensor<3x3x4xf32>
  %z = "stablehlo.convolution"(%x, %s) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64}>
      : (tensor<2x8x3xf32>, tensor<3x3x4xf32>) -> tensor<2x6x4xf32>
  return %y, %z : tensor<2x6x4xf32>, tensor<2x6x4xf32>
}

// -----

// bf16 with sums in f32 that are asked for; types that differ; groups.
// CHECK-LABEL: func.func @types(
// CHECK:         act.convolution ins(%{{.*}}, %{{.*}} : tensor<4x6xbf16>, tensor<6x8xbf16>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK:         act.convolution ins(%{{.*}}, %{{.*}} : tensor<4x6xbf16>, tensor<3x8xbf16>) outs(%{{.*}} : tensor<4x8xbf16>)
// CHECK-SAME:      {feature_group_count = 2 : i64}
// CHECK:         act.convolution ins(%{{.*}}, %{{.*}} : tensor<4x6xf32>, tensor<6x8xf32>) outs(%{{.*}} : tensor<2x8xf32>)
// CHECK-SAME:      {batch_group_count = 2 : i64}
func.func @types(%x: tensor<4x6xbf16>, %w: tensor<6x8xbf16>, %v: tensor<3x8xbf16>, %u: tensor<6x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xbf16>, tensor<2x8xf32>) {
  %a = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64}>
      : (tensor<4x6xbf16>, tensor<6x8xbf16>) -> tensor<4x8xf32>
  %b = "stablehlo.convolution"(%x, %v) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 2 : i64}>
      : (tensor<4x6xbf16>, tensor<3x8xbf16>) -> tensor<4x8xbf16>
  %c = "stablehlo.convolution"(%x, %u) <{batch_group_count = 2 : i64,
      dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64}>
      : (tensor<4x6xbf16>, tensor<6x8xf32>) -> tensor<2x8xf32>
  return %a, %b, %c : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<2x8xf32>
}
