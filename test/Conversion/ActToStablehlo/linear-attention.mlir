// Linear attention as loops. Numbers are checked by
// python/tests/test_linear_attention_lowering.py; here it is that whole tensors are
// cut and written in place, never transposed, reshaped or repeated.

// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s
// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s --check-prefix=WHOLE

// WHOLE-NOT: {{transpose|reshape|convert|reduce}}{{.*}}tensor<2x512x
// WHOLE-NOT: broadcast_in_dim{{.*}}tensor<2x512x{{.*}} -> tensor<2x512x
// WHOLE-NOT: act.linear_attention

// Two equal operations share a function; destinations vanish.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: tensor.empty
// CHECK: %[[R:.*]]:2 = call @act_linear_attention_square_2x512x8x64xf32(%arg0, %arg1, %arg2, %arg3)
// CHECK: call @act_linear_attention_square_2x512x8x64xf32(%[[R]]#0, %arg1, %arg2, %[[R]]#1)
// CHECK-NOT: tensor.empty
// CHECK: return
func.func @forward(%q: tensor<2x512x8x64xf32>, %k: tensor<2x512x8x64xf32>,
    %v: tensor<2x512x8x64xf32>, %s: tensor<2x8x64x64xf32>)
    -> (tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>) {
  %o = tensor.empty() : tensor<2x512x8x64xf32>
  %r:2 = act.linear_attention
      ins(%q, %k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
      outs(%o, %s : tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
      {feature_map = #act.square}
  %p:2 = act.linear_attention
      ins(%r#0, %k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
      outs(%o, %r#1 : tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
      {feature_map = #act.square}
  return %p#0, %p#1 : tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>
}

// Other attributes, another function. A destination with other uses stays.
// CHECK-LABEL: func.func @other
// CHECK: %[[O:.*]] = tensor.empty()
// CHECK: call @act_linear_attention_square_2x512x8x64xf32_0(
// CHECK: return %{{.*}}#1, %[[O]]
func.func @other(%q: tensor<2x512x8x64xf32>, %s: tensor<2x8x64x64xf32>)
    -> (tensor<2x8x64x64xf32>, tensor<2x512x8x64xf32>) {
  %o = tensor.empty() : tensor<2x512x8x64xf32>
  %r:2 = act.linear_attention
      ins(%q, %q, %q : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
      outs(%o, %s : tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
      {feature_map = #act.square, chunk = 500 : i64}
  return %r#1, %o : tensor<2x8x64x64xf32>, tensor<2x512x8x64xf32>
}

// CHECK-LABEL: func.func @grad
// CHECK: call @act_linear_attention_grad_square_2x512x8x64xf32(
func.func @grad(%q: tensor<2x512x8x64xf32>, %s: tensor<2x8x64x64xf32>)
    -> tensor<2x8x64x64xf32> {
  %r:4 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
      gradient(%q : tensor<2x512x8x64xf32>) states(%s : tensor<2x8x64x64xf32>)
      outs(%q, %q, %q, %s : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
      {feature_map = #act.square}
  return %r#3 : tensor<2x8x64x64xf32>
}

// CHECK-LABEL: func.func @state
// CHECK: call @act_linear_attention_state_square_2x512x8x64xf32(
func.func @state(%q: tensor<2x512x8x64xf32>, %s: tensor<2x8x64x64xf32>)
    -> tensor<2x8x64x64xf32> {
  %r = act.linear_attention_state
      ins(%q, %q : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
      outs(%s : tensor<2x8x64x64xf32>) {feature_map = #act.square}
  return %r : tensor<2x8x64x64xf32>
}

// One loop of 16 chunks of 32 tokens.
// CHECK-LABEL: func.func private @act_linear_attention_square_2x512x8x64xf32(
// CHECK-SAME: -> (tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
// CHECK: "stablehlo.while"
// CHECK: <{value = dense<16> : tensor<i32>}>
// CHECK: "stablehlo.dynamic_slice"{{.*}}slice_sizes = array<i64: 2, 32, 8, 64>
// CHECK: "stablehlo.dot_general"{{.*}}lhs_batching_dimensions = [0, 1]
// CHECK: "stablehlo.dynamic_update_slice"
// CHECK-NOT: "stablehlo.while"

// A loop of one chunk is none; the 12 tokens left over follow.
// CHECK-LABEL: func.func private @act_linear_attention_square_2x512x8x64xf32_0(
// CHECK-NOT: "stablehlo.while"
// CHECK: slice_sizes = array<i64: 2, 500, 8, 64>
// CHECK: slice_sizes = array<i64: 2, 12, 8, 64>
// CHECK: return

// Two sweeps.
// CHECK-LABEL: func.func private @act_linear_attention_grad_square_2x512x8x64xf32(
// CHECK: "stablehlo.while"
// CHECK: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"

// CHECK-LABEL: func.func private @act_linear_attention_state_square_2x512x8x64xf32(
// CHECK: "stablehlo.while"
// CHECK-NOT: "stablehlo.while"
