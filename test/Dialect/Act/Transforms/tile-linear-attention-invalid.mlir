// What linear attention cannot be tiled into.

// RUN: act-opt %s --split-input-file --transform-interpreter --verify-diagnostics --mlir-print-op-on-diagnostic=false

// Numbers of heads are constants.
module attributes {transform.with_named_sequence} {
func.func @ragged_heads(%k: tensor<2x7x4x4xf32>, %s: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
  // expected-error @below {{expects tiles of a number of groups of heads that divides 4, got tiles of different sizes}}
  // expected-error @below {{faild to tile operation}}
  // expected-error @below {{failed to generate tiling loops}}
  %r = act.linear_attention_state
      ins(%k, %k : tensor<2x7x4x4xf32>, tensor<2x7x4x4xf32>)
      outs(%s : tensor<2x4x4x4xf32>) {feature_map = #act.square}
  return %r : tensor<2x4x4x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_state"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// States go from token to token.
module attributes {transform.with_named_sequence} {
func.func @tokens_in_parallel(%k: tensor<2x7x4x4xf32>, %s: tensor<2x4x4x4xf32>) -> tensor<2x4x4x4xf32> {
  // expected-warning @below {{tiling is not thread safe at axis #2}}
  %r = act.linear_attention_state
      ins(%k, %k : tensor<2x7x4x4xf32>, tensor<2x7x4x4xf32>)
      outs(%s : tensor<2x4x4x4xf32>) {feature_map = #act.square}
  return %r : tensor<2x4x4x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_state"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loop = transform.structured.tile_using_forall %op tile_sizes [0, 0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// The gradient needs the states before its tokens.
module attributes {transform.with_named_sequence} {
func.func @grad_tokens(%q: tensor<?x7x4x4xf32>, %k: tensor<?x7x2x4xf32>, %g: tensor<?x7x2xf32>, %d: tensor<?x7x4xf32>, %s0: tensor<?x2x4x4xf32>, %z0: tensor<?x2x4xf32>,
    %dq: tensor<?x7x4x4xf32>, %dk: tensor<?x7x2x4xf32>, %dv: tensor<?x7x2x4xf32>, %dg: tensor<?x7x2xf32>, %ds: tensor<?x2x4x4xf32>, %dz: tensor<?x2x4xf32>)
    -> (tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) {
  // expected-note @below {{target op}}
  %r:6 = act.linear_attention_grad
      ins(%q, %k, %k : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>) decay(%g : tensor<?x7x2xf32>)
      output(%q : tensor<?x7x4x4xf32>) denominator(%d : tensor<?x7x4xf32>)
      gradient(%q : tensor<?x7x4x4xf32>) states(%s0, %z0 : tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
      outs(%dq, %dk, %dv, %dg, %ds, %dz : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
      {feature_map = #act.square, normalize}
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_grad"]} in %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{too many tiles provided, expected at most 2 found 3}}
  %tiled, %loops:3 = transform.structured.tile_using_for %op tile_sizes [1, 3, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// The gradient of a decay per head is a sum over sequences.
module attributes {transform.with_named_sequence} {
func.func @decay_per_head(%q: tensor<2x7x4x4xf32>, %k: tensor<2x7x2x4xf32>, %g: tensor<2xf32>, %s: tensor<2x2x4x4xf32>,
    %dq: tensor<2x7x4x4xf32>, %dk: tensor<2x7x2x4xf32>, %dv: tensor<2x7x2x4xf32>, %dg: tensor<2xf32>, %ds: tensor<2x2x4x4xf32>) -> tensor<2xf32> {
  // expected-note @below {{target op}}
  %r:5 = act.linear_attention_grad
      ins(%q, %k, %k : tensor<2x7x4x4xf32>, tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>) decay(%g : tensor<2xf32>)
      gradient(%q : tensor<2x7x4x4xf32>) states(%s : tensor<2x2x4x4xf32>)
      outs(%dq, %dk, %dv, %dg, %ds : tensor<2x7x4x4xf32>, tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>, tensor<2xf32>, tensor<2x2x4x4xf32>)
      {feature_map = #act.square}
  return %r#3 : tensor<2xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_grad"]} in %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{too many tiles provided, expected at most 1 found 2}}
  %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [1, 1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// All values have one normaliser.
module attributes {transform.with_named_sequence} {
func.func @normalized_values(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x2x4xf32>, %v: tensor<2x13x4x6xf32>,
    %g: tensor<2x13x4xf32>, %o: tensor<2x13x8x6xf32>, %d: tensor<2x13x8xf32>,
    %s: tensor<2x4x4x6xf32>, %z: tensor<2x4x4xf32>)
    -> (tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>) {
  // expected-note @below {{target op}}
  %r:4 = act.linear_attention
      ins(%q, %k, %v : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x4x6xf32>) decay(%g : tensor<2x13x4xf32>)
      outs(%o, %d, %s, %z : tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {feature_map = #act.square, normalize}
  return %r#0, %r#1, %r#2, %r#3 : tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{too many tiles provided, expected at most 3 found 4}}
  %tiled, %loops:3 = transform.structured.tile_using_for %op tile_sizes [1, 0, 5, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}
