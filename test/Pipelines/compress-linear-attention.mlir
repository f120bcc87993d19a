// A step with linear attention through the whole pipeline: what backward needs is
// saved, the denominator that it divides by exactly, and destinations are not.

// RUN: act-opt %s --act-compress=bits=4 | FileCheck %s
// RUN: act-opt %s "--act-compress=bits=4 linear-attention=call" | FileCheck %s --check-prefix=CALL
// RUN: act-opt %s --pass-pipeline='builtin.module(act-raise-linear-attention,func.func(act-partition{primal-results=1}),act-choose-encodings)' \
// RUN:   | FileCheck %s --check-prefix=SAVES

// SAVES: %[[Q:.*]] = "stablehlo.dot_general"
// SAVES-NEXT: act.compressed_save %[[Q]] : tensor<2x64x2x64xf32> to <tensor<2x64x2x64xf32>, #act.group_quant
// SAVES: %[[R:.*]]:4 = act.linear_attention ins
// SAVES-NEXT: %[[D:.*]] = act.compressed_save %[[R]]#1 exact <divisor>
// SAVES-NEXT: act.barrier
// SAVES-NEXT: act.compressed_save %[[R]]#0 {id = 1 : i64} : tensor<2x64x2x64xf32> to <tensor<2x64x2x64xf32>, #act.group_quant
// SAVES-NOT: act.compressed_save
// SAVES: act.linear_attention_grad

// CHECK-NOT: {{act\.[a-z]|tensor.empty|custom_call}}
// CHECK: call @act_linear_attention_square_2x64x2x64xf32
// CHECK-NOT: {{act\.[a-z]|tensor.empty|custom_call}}
// CHECK: call @act_linear_attention_grad_square_2x64x2x64xf32
// CHECK-NOT: {{act\.[a-z]|tensor.empty|custom_call}}

// CALL-NOT: {{act\.[a-z]|tensor.empty}}
// CALL: call_target_name = "act_linear_attention"
// CALL-NOT: {{act\.[a-z]|tensor.empty}}
// CALL: call_target_name = "act_linear_attention_grad"
// CALL-NOT: {{act\.[a-z]|tensor.empty}}

func.func @main(%x: tensor<2x64x2x64xf32>, %w: tensor<64x64xf32>, %s: tensor<2x2x64x64xf32>, %z: tensor<2x2x64xf32>)
    -> (tensor<f32>, tensor<64x64xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %q = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>}>
      : (tensor<2x64x2x64xf32>, tensor<64x64xf32>) -> tensor<2x64x2x64xf32>
  %r:4 = "stablehlo.custom_call"(%q, %x, %x, %s, %z) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 1.0 : f64, feature_map = "square", normalize = true, scale = 1.0 : f64},
      call_target_name = "act_linear_attention"}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>)
      -> (tensor<2x64x2x64xf32>, tensor<2x64x2xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>)
  %p = "stablehlo.dot_general"(%r#0, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [0]>}>
      : (tensor<2x64x2x64xf32>, tensor<64x64xf32>) -> tensor<2x64x2x64xf32>
  %h = "stablehlo.tanh"(%p) : (tensor<2x64x2x64xf32>) -> tensor<2x64x2x64xf32>
  %loss = "stablehlo.reduce"(%h, %zero) <{dimensions = array<i64: 0, 1, 2, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x64x2x64xf32>, tensor<f32>) -> tensor<f32>
  %hh = "stablehlo.multiply"(%h, %h) : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) -> tensor<2x64x2x64xf32>
  %ones = "stablehlo.broadcast_in_dim"(%one) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x64x2x64xf32>
  %dp = "stablehlo.subtract"(%ones, %hh) : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) -> tensor<2x64x2x64xf32>
  %do = "stablehlo.dot_general"(%dp, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [1]>}>
      : (tensor<2x64x2x64xf32>, tensor<64x64xf32>) -> tensor<2x64x2x64xf32>
  %ds = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x64x64xf32>
  %dz = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x64xf32>
  %g:5 = "stablehlo.custom_call"(%q, %x, %x, %r#0, %r#1, %do, %s, %z, %ds, %dz) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 1.0 : f64, feature_map = "square", normalize = true, scale = 1.0 : f64, segment = 0 : i64, state_policy = "rescan"},
      call_target_name = "act_linear_attention_grad"}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2xf32>, tensor<2x64x2x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>)
      -> (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>, tensor<2x2x64x64xf32>, tensor<2x2x64xf32>)
  %dw = "stablehlo.dot_general"(%x, %g#0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1, 2], rhs_contracting_dimensions = [0, 1, 2]>}>
      : (tensor<2x64x2x64xf32>, tensor<2x64x2x64xf32>) -> tensor<64x64xf32>
  return %loss, %dw : tensor<f32>, tensor<64x64xf32>
}
