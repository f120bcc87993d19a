// Custom calls of linear attention become operations, and with
// `linear-attention=call` these become the same calls again.

// RUN: act-opt %s --act-raise-linear-attention | FileCheck %s
// RUN: act-opt %s --act-raise-linear-attention --convert-act-to-stablehlo=linear-attention=call \
// RUN:   | FileCheck %s --check-prefix=CALL
// RUN: act-opt %s --act-raise-linear-attention --convert-act-to-stablehlo=linear-attention=call \
// RUN:   --act-raise-linear-attention | FileCheck %s

// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[Q:.*]]: tensor<1x7x4x8xf32>, %[[K:.*]]: tensor<1x7x2x8xf32>, %[[V:.*]]: tensor<1x7x2x6xf32>, %[[S:.*]]: tensor<1x2x8x6xf32>)
// CALL-LABEL: func.func @forward
// CALL-SAME: (%[[Q:.*]]: tensor<1x7x4x8xf32>, %[[K:.*]]: tensor<1x7x2x8xf32>, %[[V:.*]]: tensor<1x7x2x6xf32>, %[[S:.*]]: tensor<1x2x8x6xf32>)
func.func @forward(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x2x8xf32>,
    %v: tensor<1x7x2x6xf32>, %s: tensor<1x2x8x6xf32>)
    -> (tensor<1x7x4x6xf32>, tensor<1x2x8x6xf32>) {
  // CHECK: %[[O:.*]] = tensor.empty() : tensor<1x7x4x6xf32>
  // CHECK-NEXT: %[[R:.*]]:2 = act.linear_attention ins(%[[Q]], %[[K]], %[[V]] :
  // CHECK-SAME: outs(%[[O]], %[[S]] : tensor<1x7x4x6xf32>, tensor<1x2x8x6xf32>)
  // CHECK-SAME: {chunk = 3 : i64, feature_map = #act.square, scale = 2.000000e+00 : f64}
  // CHECK-NEXT: return %[[R]]#0, %[[R]]#1
  // CALL-NEXT: %[[R:.*]]:2 = "stablehlo.custom_call"(%[[Q]], %[[K]], %[[V]], %[[S]])
  // CALL-SAME: api_version = 4 : i32
  // CALL-SAME: backend_config = {chunk = 3 : i64, decay = "none", epsilon = 0.000000e+00 : f64, feature_map = "square", normalize = false, scale = 2.000000e+00 : f64}
  // CALL-SAME: call_target_name = "act_linear_attention", has_side_effect = false
  // CALL-SAME{LITERAL}: operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>
  // CALL-SAME{LITERAL}: result_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>]
  // CALL-NEXT: return %[[R]]#0, %[[R]]#1
  %r:2 = "stablehlo.custom_call"(%q, %k, %v, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 3 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 2.0 : f64},
      call_target_name = "act_linear_attention"}>
      : (tensor<1x7x4x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x6xf32>, tensor<1x2x8x6xf32>)
      -> (tensor<1x7x4x6xf32>, tensor<1x2x8x6xf32>)
  return %r#0, %r#1 : tensor<1x7x4x6xf32>, tensor<1x2x8x6xf32>
}

// CHECK-LABEL: func.func @forward_all
// CALL-LABEL: func.func @forward_all
func.func @forward_all(%q: tensor<1x7x2x8xbf16>, %v: tensor<1x7x2x6xbf16>, %a: tensor<1x7x2xf32>,
    %w: tensor<5x8xbf16>, %s: tensor<1x2x5x6xf32>, %z: tensor<1x2x5xf32>)
    -> tensor<1x7x2xf32> {
  // CHECK-DAG: %[[O:.*]] = tensor.empty() : tensor<1x7x2x6xbf16>
  // CHECK-DAG: %[[D:.*]] = tensor.empty() : tensor<1x7x2xf32>
  // CHECK: %[[R:.*]]:4 = act.linear_attention
  // CHECK-SAME: decay(%arg2 : tensor<1x7x2xf32>) features(%arg3 : tensor<5x8xbf16>)
  // CHECK-SAME: outs(%[[O]], %[[D]], %arg4, %arg5 :
  // CHECK-SAME: {epsilon = 5.000000e-01 : f64, feature_map = #act.favor_plus, normalize}
  // CHECK: return %[[R]]#1
  // CALL-NOT: tensor.empty
  // CALL: "stablehlo.custom_call"(%arg0, %arg0, %arg1, %arg2, %arg3, %arg4, %arg5)
  // CALL-SAME: backend_config = {chunk = 0 : i64, decay = "token", epsilon = 5.000000e-01 : f64, feature_map = "favor_plus", normalize = true, scale = 1.000000e+00 : f64}
  %r:4 = "stablehlo.custom_call"(%q, %q, %v, %a, %w, %s, %z) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "token", epsilon = 0.5 : f64, feature_map = "favor_plus", normalize = true, scale = 1.0 : f64},
      call_target_name = "act_linear_attention", has_side_effect = false,
      operand_layouts = [dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[2, 1, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>, dense<[2, 1, 0]> : tensor<3xindex>]}>
      : (tensor<1x7x2x8xbf16>, tensor<1x7x2x8xbf16>, tensor<1x7x2x6xbf16>, tensor<1x7x2xf32>, tensor<5x8xbf16>, tensor<1x2x5x6xf32>, tensor<1x2x5xf32>)
      -> (tensor<1x7x2x6xbf16>, tensor<1x7x2xf32>, tensor<1x2x5x6xf32>, tensor<1x2x5xf32>)
  return %r#1 : tensor<1x7x2xf32>
}

// CHECK-LABEL: func.func @gradient
// CHECK-SAME: (%[[Q:.*]]: tensor<1x7x2x8xf32>, %[[A:.*]]: tensor<2xf32>, %[[O:.*]]: tensor<1x7x2x8xf32>, %[[D:.*]]: tensor<1x7x2xf32>, %[[DO:.*]]: tensor<1x7x2x8xf32>, %[[S:.*]]: tensor<1x2x8x8xf32>, %[[Z:.*]]: tensor<1x2x8xf32>, %[[DS:.*]]: tensor<1x2x8x8xf32>, %[[DZ:.*]]: tensor<1x2x8xf32>)
// CALL-LABEL: func.func @gradient
func.func @gradient(%q: tensor<1x7x2x8xf32>, %a: tensor<2xf32>, %o: tensor<1x7x2x8xf32>,
    %d: tensor<1x7x2xf32>, %do: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>,
    %z: tensor<1x2x8xf32>, %ds: tensor<1x2x8x8xf32>, %dz: tensor<1x2x8xf32>)
    -> (tensor<2xf32>, tensor<1x2x8xf32>) {
  // CHECK: %[[R:.*]]:6 = act.linear_attention_grad ins(%[[Q]], %[[Q]], %[[Q]] :
  // CHECK-SAME: decay(%[[A]] : tensor<2xf32>)
  // CHECK-SAME: output(%[[O]] : tensor<1x7x2x8xf32>) denominator(%[[D]] : tensor<1x7x2xf32>)
  // CHECK-SAME: gradient(%[[DO]] : tensor<1x7x2x8xf32>)
  // CHECK-SAME: states(%[[S]], %[[Z]] :
  // CHECK-SAME: outs(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[DS]], %[[DZ]] :
  // CHECK-SAME: {epsilon = 1.000000e+00 : f64, feature_map = #act.exp, normalize, state_policy = #act.checkpoint<segment = 4>}
  // CHECK: return %[[R]]#3, %[[R]]#5
  // CALL: "stablehlo.custom_call"(%arg0, %arg0, %arg0, %arg1, %arg2, %arg3, %arg4, %arg5, %arg6, %arg7, %arg8)
  // CALL-SAME: backend_config = {chunk = 0 : i64, decay = "head", epsilon = 1.000000e+00 : f64, feature_map = "exp", normalize = true, scale = 1.000000e+00 : f64, segment = 4 : i64, state_policy = "checkpoint"}
  // CALL-SAME: call_target_name = "act_linear_attention_grad"
  %r:6 = "stablehlo.custom_call"(%q, %q, %q, %a, %o, %d, %do, %s, %z, %ds, %dz) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "head", epsilon = 1.0 : f64, feature_map = "exp", normalize = true, scale = 1.0 : f64, segment = 4 : i64, state_policy = "checkpoint"},
      call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<2xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>)
      -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<2xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>)
  return %r#3, %r#5 : tensor<2xf32>, tensor<1x2x8xf32>
}

// The other policies, in a function that is called.
// CHECK-LABEL: func.func private @policies
// CALL-LABEL: func.func private @policies
func.func private @policies(%q: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) {
  // CHECK: act.linear_attention_grad ins
  // CHECK-SAME: {feature_map = #act.identity, state_policy = #act.reverse}
  // CALL: segment = 0 : i64, state_policy = "reverse"
  %0:4 = "stablehlo.custom_call"(%q, %q, %q, %q, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "identity", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "reverse"},
      call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>)
      -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  // CHECK: act.linear_attention_grad ins
  // CHECK-SAME: {feature_map = #act.relu}
  // CALL: segment = 0 : i64, state_policy = "rescan"
  %1:4 = "stablehlo.custom_call"(%q, %q, %q, %q, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "relu", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "rescan"},
      call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>)
      -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return %0#3, %1#3 : tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>
}

// CHECK-LABEL: func.func @state
// CALL-LABEL: func.func @state
func.func @state(%k: tensor<1x7x2x8xf32>, %a: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %z: tensor<1x2x8xf32>)
    -> (tensor<1x2x8x8xf32>, tensor<1x2x8xf32>) {
  // CHECK: %[[R:.*]]:2 = act.linear_attention_state ins(%arg0, %arg0 :
  // CHECK-SAME: decay(%arg1 : tensor<1x7x2x8xf32>) outs(%arg2, %arg3 :
  // CHECK-SAME: {feature_map = #act.elu_plus_one, normalize}
  // CALL: "stablehlo.custom_call"(%arg0, %arg0, %arg1, %arg2, %arg3)
  // CALL-SAME: backend_config = {chunk = 0 : i64, decay = "channel", feature_map = "elu_plus_one", normalize = true, subtract = false}
  // CALL-SAME: call_target_name = "act_linear_attention_state"
  %r:2 = "stablehlo.custom_call"(%k, %k, %a, %s, %z) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "channel", feature_map = "elu_plus_one", normalize = true, subtract = false},
      call_target_name = "act_linear_attention_state"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>)
      -> (tensor<1x2x8x8xf32>, tensor<1x2x8xf32>)
  return %r#0, %r#1 : tensor<1x2x8x8xf32>, tensor<1x2x8xf32>
}

// Other calls stay.
// CHECK-LABEL: func.func @other
func.func @other(%k: tensor<1x7x2x8xf32>) -> tensor<1x7x2x8xf32> {
  // CHECK: "stablehlo.custom_call"(%arg0) <{call_target_name = "act_linear_attention_not"}>
  %r = "stablehlo.custom_call"(%k) <{call_target_name = "act_linear_attention_not"}> : (tensor<1x7x2x8xf32>) -> tensor<1x7x2x8xf32>
  return %r : tensor<1x7x2x8xf32>
}
