// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=4 states=reverse required=true}))" --split-input-file --verify-diagnostics
// RUN: not act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=-1}))" 2>&1 | FileCheck %s --check-prefix=CHUNK

// CHUNK: error: act-slice expects chunk not to be negative, got -1

func.func @mixed(%x: tensor<1x80x1x80xf32>, %s: tensor<1x1x80x80xf32>, %ds: tensor<1x1x80x80xf32>, %weights: tensor<1x80x1x80xf32>) -> (tensor<f32>, tensor<1x1x80x80xf32>, tensor<1x80x1x80xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %out = tensor.empty() : tensor<1x80x1x80xf32>
  %t = "stablehlo.negate"(%x) : (tensor<1x80x1x80xf32>) -> tensor<1x80x1x80xf32>
  // expected-note @below {{the sequence is cut here}}
  %h0, %s0 = act.linear_attention
      ins(%t, %t, %t : tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>)
      outs(%out, %s : tensor<1x80x1x80xf32>, tensor<1x1x80x80xf32>) {feature_map = #act.square}
  %flat = "stablehlo.reshape"(%h0) : (tensor<1x80x1x80xf32>) -> tensor<80x80xf32>
  // expected-error @below {{act-slice expects a step that it can cut along the sequence of 'act.linear_attention', but 'stablehlo.dot_general' of type tensor<80x80xf32> mixes tokens in another way}}
  %scores = "stablehlo.dot_general"(%flat, %flat) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  %mixed = "stablehlo.dot_general"(%scores, %flat) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<80x80xf32>, tensor<80x80xf32>) -> tensor<80x80xf32>
  %m = "stablehlo.reshape"(%mixed) : (tensor<80x80xf32>) -> tensor<1x80x1x80xf32>
  %y = "stablehlo.multiply"(%m, %weights) : (tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>) -> tensor<1x80x1x80xf32>
  %losses = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 2, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x80x1x80xf32>, tensor<f32>) -> tensor<80xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<80xf32>, tensor<f32>) -> tensor<f32>
  %dq0, %dk0, %dv0, %ds0 = act.linear_attention_grad
      ins(%t, %t, %t : tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>)
      gradient(%weights : tensor<1x80x1x80xf32>) states(%s : tensor<1x1x80x80xf32>)
      outs(%out, %out, %out, %ds : tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>, tensor<1x1x80x80xf32>) {feature_map = #act.square}
  %qk0 = "stablehlo.add"(%dq0, %dk0) : (tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>) -> tensor<1x80x1x80xf32>
  %g0 = "stablehlo.add"(%qk0, %dv0) : (tensor<1x80x1x80xf32>, tensor<1x80x1x80xf32>) -> tensor<1x80x1x80xf32>
  return %loss, %ds0, %g0 : tensor<f32>, tensor<1x1x80x80xf32>, tensor<1x80x1x80xf32>
}

// -----

func.func @decay(%x: tensor<1x12x1x4xf32>, %s: tensor<1x1x4x4xf32>, %ds: tensor<1x1x4x4xf32>, %weights: tensor<1x12x1x4xf32>, %decay: tensor<1x12x1xf32>) -> (tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %out = tensor.empty() : tensor<1x12x1x4xf32>
  %dout = tensor.empty() : tensor<1x12x1xf32>
  %t = "stablehlo.negate"(%x) : (tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  // expected-error @below {{but 'act.linear_attention' of type tensor<1x12x1x4xf32> has decay, which states=reverse cannot undo}}
  // expected-note @below {{the sequence is cut here}}
  %h0, %s0 = act.linear_attention
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) decay(%decay : tensor<1x12x1xf32>)
      outs(%out, %s : tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %y = "stablehlo.multiply"(%h0, %weights) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %losses = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 2, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x12x1x4xf32>, tensor<f32>) -> tensor<12xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %dq0, %dk0, %dv0, %dd0, %ds0 = act.linear_attention_grad
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) decay(%decay : tensor<1x12x1xf32>)
      gradient(%weights : tensor<1x12x1x4xf32>) states(%s : tensor<1x1x4x4xf32>)
      outs(%out, %out, %out, %dout, %ds : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %qk0 = "stablehlo.add"(%dq0, %dk0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %g0 = "stablehlo.add"(%qk0, %dv0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  return %loss, %ds0, %g0 : tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>
}

// -----

// expected-error @below {{act-slice expects a step with a loss head, attention or linear attention that it can slice, got none}}
func.func @nothing(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = "stablehlo.tanh"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}

// -----

// An encoder and a decoder.

func.func @two_sequences(%x: tensor<1x12x1x4xf32>, %y: tensor<1x6x1x4xf32>, %s: tensor<1x1x4x4xf32>) -> (tensor<1x12x1x4xf32>, tensor<1x6x1x4xf32>) {
  %a = "stablehlo.negate"(%x) : (tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %b = "stablehlo.negate"(%y) : (tensor<1x6x1x4xf32>) -> tensor<1x6x1x4xf32>
  // expected-note @below {{the sequence is cut here}}
  %h, %s0 = act.linear_attention ins(%a, %a, %a : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) outs(%x, %s : tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  // expected-error @below {{but 'act.linear_attention' of type tensor<1x6x1x4xf32> is of another sequence, or cannot be cut}}
  %i, %s1 = act.linear_attention ins(%b, %b, %b : tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>, tensor<1x6x1x4xf32>) outs(%y, %s : tensor<1x6x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  return %h, %i : tensor<1x12x1x4xf32>, tensor<1x6x1x4xf32>
}
