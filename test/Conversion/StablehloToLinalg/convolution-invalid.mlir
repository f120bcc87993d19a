// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @integers(%x: tensor<4x6xi32>, %w: tensor<6x8xi32>) -> tensor<4x8xi32> {
  // expected-error @+1 {{expects f16, bf16, f32 or f64, got 'tensor<4x6xi32>'}}
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, f]x[i, o]->[b, f]>, feature_group_count = 1 : i64}>
      : (tensor<4x6xi32>, tensor<6x8xi32>) -> tensor<4x8xi32>
  return %y : tensor<4x8xi32>
}

// -----

func.func @dimensions(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{expects 'dimension_numbers' of 2 dimensions, got #stablehlo.conv<[b, f]x[o]->[b, f]>}}
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, f]x[o]->[b, f]>, feature_group_count = 1 : i64}>
      : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @padding(%x: tensor<4x5x6xf32>, %w: tensor<1x6x8xf32>) -> tensor<4x5x8xf32> {
  // expected-error @+1 {{expects 1x2 integers of i64 as 'padding', got dense<0> : tensor<2x2xi64>}}
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, padding = dense<0> : tensor<2x2xi64>}>
      : (tensor<4x5x6xf32>, tensor<1x6x8xf32>) -> tensor<4x5x8xf32>
  return %y : tensor<4x5x8xf32>
}

// -----

func.func @strides(%x: tensor<4x5x6xf32>, %w: tensor<1x6x8xf32>) -> tensor<4x5x8xf32> {
  // expected-error @+1 {{expects 1 integers as 'window_strides', got array<i64: 1, 1>}}
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64, window_strides = array<i64: 1, 1>}>
      : (tensor<4x5x6xf32>, tensor<1x6x8xf32>) -> tensor<4x5x8xf32>
  return %y : tensor<4x5x8xf32>
}

// -----

// What the original allows and its result does not fit, the new operation says.
func.func @shape(%x: tensor<4x5x6xf32>, %w: tensor<1x6x8xf32>) -> tensor<4x4x8xf32> {
  // expected-error @+1 {{expects a destination with 5 as the size of spatial dimension 0, got 4}}
  %y = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64,
      dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
      feature_group_count = 1 : i64}>
      : (tensor<4x5x6xf32>, tensor<1x6x8xf32>) -> tensor<4x4x8xf32>
  return %y : tensor<4x4x8xf32>
}
