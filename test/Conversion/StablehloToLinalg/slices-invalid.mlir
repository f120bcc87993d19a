// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @slice_bounds(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects 0 <= start <= limit <= size and a positive stride in every dimension, got start 1, limit 5, stride 1 for size 4}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>, limit_indices = array<i64: 5>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.slice' op expects 'tensor<2xf32>' as result, got 'tensor<3xf32>'}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1>, limit_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @interior(%x: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expects no negative 'interior_padding', got -1}}
  %0 = "stablehlo.pad"(%x, %z) <{edge_padding_low = array<i64: 0>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: -1>}> : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %z: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.pad' op expects 'tensor<f32>' as operand #1, got 'tensor<1xf32>'}}
  %0 = "stablehlo.pad"(%x, %z) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 0>, interior_padding = array<i64: 0>}> : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+1 {{'stablehlo.concatenate' op expects 'tensor<4x2xf32>' as operand #1, got 'tensor<4x3xf32>'}}
  %0 = "stablehlo.concatenate"(%x, %y) <{dimension = 0 : i64}> : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @concatenated_length(%x: tensor<4xf32>) {
  // expected-error @+1 {{expects operands of 9 in dimension 0 together, got 8}}
  %0 = "stablehlo.concatenate"(%x, %x) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @start_count(%x: tensor<4x2xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op expects 2 start indices, got 1}}
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 1, 1>}> : (tensor<4x2xf32>, tensor<i32>) -> tensor<1x1xf32>
  return
}

// -----

func.func @start_type(%x: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error @+1 {{expects rank-0 tensors of integers as start indices, got 'tensor<1xi32>'}}
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<1xi32>) -> tensor<1xf32>
  return
}

// -----

func.func @block(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{expects a block within 'tensor<4xf32>', got sizes [5]}}
  %0 = "stablehlo.dynamic_slice"(%x, %i) <{slice_sizes = array<i64: 5>}> : (tensor<4xf32>, tensor<i32>) -> tensor<5xf32>
  return
}

// -----

func.func @update_rank(%x: tensor<4x4xf32>, %u: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{expects an update of rank 2, got 'tensor<4xf32>'}}
  %0 = "stablehlo.dynamic_update_slice"(%x, %u, %i, %i) : (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x4xf32>
  return
}
