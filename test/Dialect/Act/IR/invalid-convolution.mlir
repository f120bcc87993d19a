// One case for each numbered constraint in ConvolutionOps.td, then the syntax.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// C1: a buffer among tensors
func.func @f(%x: tensor<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects operands that are all tensors or all buffers, got 'tensor<2x8x6xf32>', 'memref<3x6x4xf32>', 'memref<2x6x4xf32>'}}
  act.convolution ins(%x, %w : tensor<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C1: other ranks
func.func @f(%x: memref<2x8x6xf32>, %w: memref<6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects operands of one rank of at least 2, got 'memref<2x8x6xf32>', 'memref<6x4xf32>', 'memref<2x6x4xf32>'}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C2: operands
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf64>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects lhs and rhs of one element type, got 'f32' and 'f64'}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf64>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C2: the destination
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf64>) {
  // expected-error @+1 {{'act.convolution' op expects a destination of 'f32', or of f32 for f16 and bf16, got 'f64'}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf64>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C2: the destination of narrow sums
func.func @f(%x: memref<2x8x6xbf16>, %w: memref<3x6x4xbf16>, %y: memref<2x6x4xf16>) {
  // expected-error @+1 {{'act.convolution' op expects a destination of 'bf16', or of f32 for f16 and bf16, got 'f16'}}
  act.convolution ins(%x, %w : memref<2x8x6xbf16>, memref<3x6x4xbf16>) outs(%y : memref<2x6x4xf16>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C3
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects every dimension below 3 once as rhs_dimensions, got [1, 0]}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[o, i]->[b, 0, f]
  return
}

// -----

// C4: strides
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects 1 entries of window_strides, got 2}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {window_strides = array<i64: 1, 1>}
  return
}

// -----

// C4: dilation of lhs
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects positive entries of lhs_dilation, got 0}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {lhs_dilation = array<i64: 0>}
  return
}

// -----

// C4: dilation of rhs
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects positive entries of rhs_dilation, got -1}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {rhs_dilation = array<i64: -1>}
  return
}

// -----

// C4: padding
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects 2 entries of padding, got 1}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {padding = array<i64: 1>}
  return
}

// -----

// C4: reversal
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects 1 entries of window_reversal, got 0}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {window_reversal = array<i1>}
  return
}

// -----

// C5: no groups
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects positive group counts, one of them 1, got 0 and 1}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {feature_group_count = 0 : i64}
  return
}

// -----

// C5: both groups
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects positive group counts, one of them 1, got 2 and 2}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {feature_group_count = 2 : i64, batch_group_count = 2 : i64}
  return
}

// -----

// C5: output features
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects output features that are a multiple of the 3 groups, got 4}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {feature_group_count = 3 : i64}
  return
}

// -----

// C5: features
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects features that are a multiple of feature_group_count = 4, got 6}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {feature_group_count = 4 : i64}
  return
}

// -----

// C5: the batch
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects a batch that is a multiple of batch_group_count = 4, got 2}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {batch_group_count = 4 : i64}
  return
}

// -----

// C6
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects 3 input features of rhs, got 6}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {feature_group_count = 2 : i64}
  return
}

// -----

// C7: the batch
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects a destination with 1 as the size of the batch, got 2}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {batch_group_count = 2 : i64}
  return
}

// -----

// C7: features
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x5xf32>) {
  // expected-error @+1 {{'act.convolution' op expects a destination with 4 as the size of features, got 5}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x5xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return
}

// -----

// C7: positions
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects a destination with 3 as the size of spatial dimension 0, got 6}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {window_strides = array<i64: 2>}
  return
}

// -----

// C7: a window longer than what it is on
func.func @f(%x: memref<2x8x6xf32>, %w: memref<3x6x4xf32>, %y: memref<2x6x4xf32>) {
  // expected-error @+1 {{'act.convolution' op expects a destination with 0 as the size of spatial dimension 0, got 6}}
  act.convolution ins(%x, %w : memref<2x8x6xf32>, memref<3x6x4xf32>) outs(%y : memref<2x6x4xf32>)
      dims [b, 0, f]x[0, i, o]->[b, 0, f] {rhs_dilation = array<i64: 4>}
  return
}

// -----

// Syntax: a letter of another operand
func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  act.convolution ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      // expected-error @+1 {{expects 'i', 'o' or a number, got 'f'}}
      dims [b, f]x[f, o]->[b, f]
  return
}

// -----

// Syntax: a dimension twice
func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  act.convolution ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      // expected-error @+1 {{expects each dimension once}}
      dims [b, b]x[i, o]->[b, f]
  return
}

// -----

// Syntax: a missing number
func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  act.convolution ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      // expected-error @+1 {{expects 'b', 'f' and all numbers below that of spatial dimensions}}
      dims [b, 1, f]x[i, o]->[b, f]
  return
}

// -----

// Syntax: a missing letter
func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  act.convolution ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      // expected-error @+1 {{expects 'b', 'f' and all numbers below that of spatial dimensions}}
      dims [b]x[i, o]->[b, f]
  return
}

// -----

// Syntax: a number that is none
func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  act.convolution ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      // expected-error @+1 {{expects the number of a dimension}}
      dims [b, 99999, f]x[i, o]->[b, f]
  return
}

// -----

// Types: integers
func.func @f(%x: memref<2x3xi32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor or memref of floats, but got 'memref<2x3xi32>'}}
  act.convolution ins(%x, %w : memref<2x3xi32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      dims [b, f]x[i, o]->[b, f]
  return
}

// -----

// Types: dynamic shapes
func.func @f(%x: memref<?x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor or memref of floats, but got 'memref<?x3xf32>'}}
  act.convolution ins(%x, %w : memref<?x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
      dims [b, f]x[i, o]->[b, f]
  return
}
