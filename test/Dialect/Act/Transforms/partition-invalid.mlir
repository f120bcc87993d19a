// RUN: act-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(act-partition))'

// Wrong options.

// RUN: not act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{bits=3}))' 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: act-partition expects bits to be 0, 1, 2, 4 or 8, got 3
// RUN: not act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{window=0}))' 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: error: act-partition expects window to be at least 1, got 0
// RUN: not act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{cut=middle}))' 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: Cannot find option named 'middle'
// RUN: not act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{recompute=most}))' 2>&1 | FileCheck %s --check-prefix=RECOMPUTE
// RECOMPUTE: Cannot find option named 'most'
// RUN: not act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{primal-results=9}))' 2>&1 | FileCheck %s --check-prefix=PRIMAL
// PRIMAL: error: 'func.func' op expects at most 2 primal results, as many as it has results, got 9

!t = tensor<128x128xf32>
func.func @right(%x: !t, %w: !t) -> (!t, !t) {
  %y = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %d = "stablehlo.dot"(%y, %w) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// expected-error@+1 {{expects a training step with a backward part, got no result that is computed after the first 1 results}}
func.func @no_backward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{expects at least one primal result}}
func.func @no_primal(%x: tensor<4xf32>) -> tensor<4xf32> attributes {act.primal_results = 0 : i64} {
  %y = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects its first 2 results to be primal, got result 1 from backward}}
func.func @gradient_as_primal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
    attributes {act.primal_results = 2 : i64} {
  %y = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // expected-note@unknown {{computed here}}
  %g = "stablehlo.cosine"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc(callsite("jit(f)/transpose(jvp())/cos" at "x"))
  %h = "stablehlo.negate"(%g) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %g, %h : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{expects a training step of one block, got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
