// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(test-autodiff-graph))' -o /dev/null | FileCheck %s

// A dense layer with tanh, and its gradient. %x and the weights are arguments and
// cross for free; the loss head starts at the last forward contraction.

// CHECK-LABEL: function: step
// CHECK-NEXT: moved: 0 operations
// CHECK-NEXT: forward: 6 operations
// CHECK-NEXT: backward: 4 operations
// CHECK-NEXT: head: from operation 3
// CHECK-NEXT: crossing: 2 values
// CHECK-NEXT: 2: stablehlo.tanh : tensor<256x128xf32>
// CHECK-NEXT: 0: stablehlo.constant : tensor<f32> constant
// CHECK-NOT: stablehlo
func.func @step(%x: tensor<256x64xf32>, %w: tensor<64x128xf32>, %v: tensor<128x8xf32>)
    -> (tensor<f32>, tensor<128x8xf32>, tensor<128x8xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %z = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<256x64xf32>, tensor<64x128xf32>) -> tensor<256x128xf32>
  %h = "stablehlo.tanh"(%z) : (tensor<256x128xf32>) -> tensor<256x128xf32>
  %y = "stablehlo.dot_general"(%h, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<256x128xf32>, tensor<128x8xf32>) -> tensor<256x8xf32>
  %e = "stablehlo.multiply"(%y, %y) : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %loss = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<256x8xf32>, tensor<f32>) -> tensor<f32>
  %g = "stablehlo.add"(%y, %y) : (tensor<256x8xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %dv = "stablehlo.dot_general"(%h, %g) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<256x128xf32>, tensor<256x8xf32>) -> tensor<128x8xf32>
  %f = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<128x8xf32>
  %n = "stablehlo.maximum"(%dv, %f) : (tensor<128x8xf32>, tensor<128x8xf32>) -> tensor<128x8xf32>
  return %loss, %dv, %n : tensor<f32>, tensor<128x8xf32>, tensor<128x8xf32>
}

// -----

// A metric that is returned as a primal result but computed behind the first
// gradient is moved to forward; what it depends on comes along.

// CHECK-LABEL: function: metric
// CHECK-NEXT: moved: 2 operations
// CHECK-NEXT: forward: 3 operations
// CHECK-NEXT: backward: 1 operations
func.func @metric(%x: tensor<256x64xf32>) -> (tensor<256x64xf32>, tensor<256x64xf32>, tensor<256x64xf32>)
    attributes {act.primal_results = 2 : i64} {
  %y = "stablehlo.sine"(%x) : (tensor<256x64xf32>) -> tensor<256x64xf32> loc("jit(f)/jvp()/sin")
  %g = "stablehlo.cosine"(%x) : (tensor<256x64xf32>) -> tensor<256x64xf32> loc("jit(f)/transpose(jvp())/cos")
  %m = "stablehlo.negate"(%x) : (tensor<256x64xf32>) -> tensor<256x64xf32> loc("jit(f)/neg")
  %n = "stablehlo.abs"(%m) : (tensor<256x64xf32>) -> tensor<256x64xf32> loc("jit(f)/abs")
  return %y, %n, %g : tensor<256x64xf32>, tensor<256x64xf32>, tensor<256x64xf32>
}

// -----

// Values used inside a region of backward cross too.

// CHECK-LABEL: function: captured
// CHECK: crossing: 1 values
// CHECK-NEXT: 0: stablehlo.sine : tensor<f32> "jit(f)/jvp()/sin"
func.func @captured(%x: tensor<f32>, %p: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
  %s = "stablehlo.sine"(%x) : (tensor<f32>) -> tensor<f32> loc("jit(f)/jvp()/sin")
  %y = "stablehlo.negate"(%s) : (tensor<f32>) -> tensor<f32>
  %g = "stablehlo.if"(%p) ({
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }, {
    "stablehlo.return"(%x) : (tensor<f32>) -> ()
  }) : (tensor<i1>) -> tensor<f32>
  return %y, %g : tensor<f32>, tensor<f32>
}
