// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @broadcast_missing(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op expects 1 integers as 'broadcast_dimensions', got <<NULL ATTRIBUTE>>}}
  %0 = "stablehlo.broadcast_in_dim"(%x) : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects distinct dimensions below 2 as 'broadcast_dimensions', got [2]}}
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 2>}> : (tensor<4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<3xf32>) {
  // expected-error @+1 {{expects dimensions of size 1 or of the size in the result, got 'tensor<3xf32>' for 'tensor<2x4xf32>'}}
  %0 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @reshape(%x: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.reshape' op expects as many elements, of one type, in operand and result, got 'tensor<3xf32>' and 'tensor<2x2xf32>'}}
  %0 = "stablehlo.reshape"(%x) : (tensor<3xf32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{expects distinct dimensions below 2 as 'permutation', got [0, 0]}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 0, 0>}> : (tensor<3x4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_type(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op expects 'tensor<4x3xf32>' as result, got 'tensor<3x4xf32>'}}
  %0 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reverse(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{'stablehlo.reverse' op expects integers as 'dimensions'}}
  %0 = "stablehlo.reverse"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @+1 {{'stablehlo.iota' op expects an integer in [0, 1) as 'iota_dimension', got 1 : i64}}
  %0 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4xi32>
  return
}

// -----

func.func @constant() {
  // expected-error @+1 {{'stablehlo.constant' op expects elements of the type of the result, 'tensor<2xf32>', as 'value', got dense<1.000000e+00> : tensor<3xf32>}}
  %0 = "stablehlo.constant"() <{value = dense<1.0> : tensor<3xf32>}> : () -> tensor<2xf32>
  return
}
