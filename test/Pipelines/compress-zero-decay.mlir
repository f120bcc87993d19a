// Forward is not canonicalized: a decay of zero stays, and so does attention of
// which only the state is used. Canonicalization on its own would drop both.

// RUN: act-opt %s "--act-compress=bits=4 linear-attention=call" | FileCheck %s
// RUN: act-opt %s --act-raise-linear-attention --canonicalize \
// RUN:   | FileCheck %s --check-prefix=CANONICAL --implicit-check-not=act.linear_attention

// CHECK: backend_config = {chunk = 0 : i64, decay = "head"
// CHECK-SAME: call_target_name = "act_linear_attention",
// CHECK: backend_config = {chunk = 0 : i64, decay = "head"
// CHECK-SAME: call_target_name = "act_linear_attention_grad",

// CANONICAL: act.linear_attention_state ins(%{{.*}} : tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) outs(
// CANONICAL: act.linear_attention_grad ins(%{{.*}} : tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) gradient(

func.func @main(%x: tensor<2x64x2x64xf32>, %w: tensor<64x64xf32>, %s: tensor<2x2x64x64xf32>)
    -> (tensor<f32>, tensor<64x64xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %decay = "stablehlo.constant"() <{value = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>}>
      : (tensor<2x64x2x64xf32>, tensor<64x64xf32>) -> tensor<2x64x2x64xf32>
  %r:2 = "stablehlo.custom_call"(%x, %k, %x, %decay, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "head", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64},
      call_target_name = "act_linear_attention"}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2xf32>, tensor<2x2x64x64xf32>)
      -> (tensor<2x64x2x64xf32>, tensor<2x2x64x64xf32>)
  %h = "stablehlo.tanh"(%r#1) : (tensor<2x2x64x64xf32>) -> tensor<2x2x64x64xf32>
  %loss = "stablehlo.reduce"(%h, %zero) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x2x64x64xf32>, tensor<f32>) -> tensor<f32>
  %hh = "stablehlo.multiply"(%h, %h) : (tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>) -> tensor<2x2x64x64xf32>
  %ones = "stablehlo.broadcast_in_dim"(%one) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x64x64xf32>
  %ds = "stablehlo.subtract"(%ones, %hh) : (tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>) -> tensor<2x2x64x64xf32>
  %do = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x64x2x64xf32>
  %g:5 = "stablehlo.custom_call"(%x, %k, %x, %decay, %do, %s, %ds) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "head", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "rescan"},
      call_target_name = "act_linear_attention_grad"}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2xf32>, tensor<2x64x2x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>)
      -> (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2xf32>, tensor<2x2x64x64xf32>)
  %dw = "stablehlo.dot_general"(%x, %g#1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1, 2], rhs_contracting_dimensions = [0, 1, 2]>}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) -> tensor<64x64xf32>
  return %loss, %dw : tensor<f32>, tensor<64x64xf32>
}
