// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @numbers(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op expects dimension numbers as 'dimension_numbers'}}
  %0 = "stablehlo.gather"(%x, %i) <{slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @float_indices(%x: tensor<9x4xf32>, %i: tensor<5x1xf32>) {
  // expected-error @+1 {{'stablehlo.gather' op expects integers as indices, got 'tensor<5x1xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @vector_dimension(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expects an index vector dimension of at most 2, got 3}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @twice(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expects distinct dimensions below 2 as 'dropped and batching dimensions', got [0, 0]}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @entries(%x: tensor<9x4xf32>, %i: tensor<5x2xi32>) {
  // expected-error @+1 {{expects 2 indexed dimensions, got 1}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x2xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @block_size(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expects blocks within 'tensor<9x4xf32>' of size 1 in dropped dimensions, got size 2 in dimension 0}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @blocks(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op expects 'tensor<5x4xf32>' as blocks, got 'tensor<5x3xf32>'}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x3xf32>
  return
}

// -----

func.func @batch_size(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{expects batching dimensions of equal sizes, got 9 and 5}}
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return
}

// -----

func.func @scatter_operands(%x: tensor<9xf32>, %i: tensor<5x1xi32>) {
  // expected-error @+1 {{'stablehlo.scatter' op expects an input and updates per result and indices, got 2 operands for 1 results}}
  %0 = "stablehlo.scatter"(%x, %i) <{scatter_dimension_numbers = #stablehlo.scatter<>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<5x1xi32>) -> tensor<9xf32>
  return
}

// -----

func.func @update_type(%x: tensor<9xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf64>) {
  // expected-error @+1 {{'stablehlo.scatter' op expects 'tensor<5xf32>' as operand #2, got 'tensor<5xf64>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<5x1xi32>, tensor<5xf64>) -> tensor<9xf32>
  return
}

// -----

func.func @update_size(%x: tensor<9xf32>, %i: tensor<5x1xi32>, %u: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.scatter' op expects 'tensor<5xf32>' as blocks, got 'tensor<4xf32>'}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%b) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<5x1xi32>, tensor<4xf32>) -> tensor<9xf32>
  return
}
