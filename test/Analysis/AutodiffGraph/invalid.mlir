// RUN: act-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(test-autodiff-graph))'

// expected-error@+1 {{expects at most 1 primal results, as many as it has results, got 2}}
func.func @too_many(%x: tensor<4xf32>) -> tensor<4xf32> attributes {act.primal_results = 2 : i64} {
  %y = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects at least one primal result}}
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> attributes {act.primal_results = 0 : i64} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{expects a training step with a backward part, got no result that is computed after the first 1 results}}
func.func @no_backward(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = "stablehlo.sine"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{expects its first 2 results to be primal, got result 1 from backward; the number of primal results is too large}}
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
