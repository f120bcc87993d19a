// Custom calls that are not what act-raise-linear-attention takes.

// RUN: act-opt %s --act-raise-linear-attention --split-input-file --verify-diagnostics

// A shape that is not static
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects tensors of static shape, got 'tensor<?x7x2x8xf32>'}}
  %0:2 = "stablehlo.custom_call"(%x, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<?x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No configuration
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects a dictionary as backend_config}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A configuration as text
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects a dictionary as backend_config}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = "square", call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// Side effects
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects no side effect}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention", has_side_effect = true}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A layout
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op expects row-major result_layouts, got dense<[0, 1, 2, 3]>}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention", result_layouts = [dense<[0, 1, 2, 3]> : tensor<4xindex>, dense<[3, 2, 1, 0]> : tensor<4xindex>]}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No feature_map
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects feature_map in its backend_config to be a string}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No decay
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects decay in its backend_config to be a string}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No normalize
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects normalize in its backend_config to be an i1}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No chunk
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects chunk in its backend_config to be an i64}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No scale
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects scale in its backend_config to be an f64}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No epsilon
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects epsilon in its backend_config to be an f64}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A number as string
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects feature_map in its backend_config to be a string, got 1 : i64}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = 1 : i64, normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A chunk of another type
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects chunk in its backend_config to be an i64, got 0 : i32}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i32, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A scale of another type
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects scale in its backend_config to be an f64, got 1.000000e+00 : f32}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f32}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// An integer as truth value
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects normalize in its backend_config to be an i1, got 1 : i64}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = 1 : i64, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// An unknown map
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects a known feature_map, got "cube"}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "cube", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// An unknown decay
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects decay to be none, head, token or channel, got "all"}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "all", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A key too many
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects no key "subtract" in its backend_config}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, subtract = false}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No policy
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects state_policy in its backend_config to be a string}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 0 : i64}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// An unknown policy
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects state_policy to be rescan, checkpoint or reverse, got "none"}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "none"}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// Checkpoints without segment
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects a positive segment with state_policy "checkpoint", got 0}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "checkpoint"}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A segment without checkpoints
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects no segment with state_policy "rescan", got 4}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 4 : i64, state_policy = "rescan"}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// No segment
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects segment in its backend_config to be an i64}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, state_policy = "rescan"}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A state without subtract
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_state expects subtract in its backend_config to be an i1}}
  %0 = "stablehlo.custom_call"(%r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", feature_map = "square", normalize = false}, call_target_name = "act_linear_attention_state"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x2x8x8xf32>)
  return
}

// -----

// Too few operands
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 4 operands, got 3}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A decay that is not announced
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 4 operands, got 5}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %a, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<2xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// An announced decay
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 5 operands, got 4}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "head", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// Features
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 5 operands, got 4}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "favor_plus", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// Operands of the gradient
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention_grad expects 6 operands, got 5}}
  %0:4 = "stablehlo.custom_call"(%r, %r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64, segment = 0 : i64, state_policy = "rescan"}, call_target_name = "act_linear_attention_grad"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// Results
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 2 results, got 1}}
  %0 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>)
  return
}

// -----

// Results with normaliser
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects 4 results, got 2}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s, %z) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = true, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>, tensor<1x2x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// A state of another type
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects result 1 of the type of the state 'tensor<1x2x8x8xf32>', got 'tensor<1x2x8x4xf32>'}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x4xf32>)
  return
}

// -----

// A decay of another kind
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op of act_linear_attention expects decay to be of the rank of decay token, got 'tensor<2xf32>'}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %a, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "token", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<2xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>)
  return
}

// -----

// What the operation does not verify
func.func @f(%r: tensor<1x7x2x8xf32>, %s: tensor<1x2x8x8xf32>, %a: tensor<2xf32>, %x: tensor<?x7x2x8xf32>, %z: tensor<1x2x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects output of shape 1x7x2x8, got 'tensor<1x7x4x8xf32>'}}
  %0:2 = "stablehlo.custom_call"(%r, %r, %r, %s) <{api_version = 4 : i32,
      backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64, feature_map = "square", normalize = false, scale = 1.0 : f64}, call_target_name = "act_linear_attention"}>
      : (tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x2x8x8xf32>) -> (tensor<1x7x4x8xf32>, tensor<1x2x8x8xf32>)
  return
}
