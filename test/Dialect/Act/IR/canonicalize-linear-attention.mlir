// What is known to change nothing is left out of linear attention.

// RUN: act-opt %s --canonicalize --split-input-file | FileCheck %s --implicit-check-not=act.linear_attention

// A decay of zero, in either constant, multiplies by one.
// CHECK-LABEL: func.func @zero_decay
// CHECK-NOT: constant
// CHECK: act.linear_attention ins(%{{.*}} : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) outs(
// CHECK: %[[R:.*]] = act.linear_attention_state ins(%{{.*}} : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) outs(
// CHECK-SAME: chunk = 2 : i64
// CHECK: %[[T:.*]] = act.linear_attention_state ins(%{{.*}} : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) outs(%[[R]] :
// CHECK: return %{{.*}}, %[[T]]
func.func @zero_decay(%q: tensor<1x7x2x4xf32>, %o: tensor<1x7x2x4xf32>, %s: tensor<1x2x4x4xf32>)
    -> (tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>) {
  %head = arith.constant dense<-0.0> : tensor<2xf32>
  %token = "stablehlo.constant"() <{value = dense<0.0> : tensor<1x7x2xf32>}> : () -> tensor<1x7x2xf32>
  %channel = arith.constant dense<0.0> : tensor<1x7x2x4xf32>
  %r:2 = act.linear_attention
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      decay(%head : tensor<2xf32>)
      outs(%o, %s : tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>) {feature_map = #act.square}
  %t = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      decay(%token : tensor<1x7x2xf32>)
      outs(%r#1 : tensor<1x2x4x4xf32>) {feature_map = #act.square, chunk = 2 : i64}
  %u = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      decay(%channel : tensor<1x7x2x4xf32>)
      outs(%t : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  return %r#0, %u : tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// Other decays stay: another number, several numbers, one that is not known.
// CHECK-LABEL: func.func @other_decay
// CHECK-SAME: %[[DECAY:[a-z0-9]*]]: tensor<2xf32>)
// CHECK-DAG: %[[SMALL:.*]] = arith.constant dense<-1.000000e-30>
// CHECK-DAG: %[[MIXED:.*]] = arith.constant dense<[0.000000e+00, -1.000000e+00]>
// CHECK: act.linear_attention_state {{.*}} decay(%[[SMALL]]
// CHECK: act.linear_attention_state {{.*}} decay(%[[MIXED]]
// CHECK: act.linear_attention_state {{.*}} decay(%[[DECAY]]
func.func @other_decay(%q: tensor<1x7x2x4xf32>, %s: tensor<1x2x4x4xf32>, %decay: tensor<2xf32>) -> tensor<1x2x4x4xf32> {
  %small = arith.constant dense<-1.0e-30> : tensor<2xf32>
  %mixed = arith.constant dense<[0.0, -1.0]> : tensor<2xf32>
  %t = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%small : tensor<2xf32>)
      outs(%s : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  %u = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%mixed : tensor<2xf32>)
      outs(%t : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  %v = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%decay : tensor<2xf32>)
      outs(%u : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  return %v : tensor<1x2x4x4xf32>
}

// -----

// The gradient of a decay of zero is not zero: it stays where it has uses.
// CHECK-LABEL: func.func @zero_decay_of_grad
// CHECK-SAME: (%[[Q:.*]]: tensor<1x7x2x4xf32>, %[[D:.*]]: tensor<1x7x2xf32>, %[[S:.*]]: tensor<1x2x4x4xf32>, %[[Z:.*]]: tensor<1x2x4xf32>)
// CHECK: %[[A:.*]]:5 = act.linear_attention_grad ins(%[[Q]], %[[Q]], %[[Q]] : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) output(%[[Q]] : tensor<1x7x2x4xf32>) denominator(%[[D]] : tensor<1x7x2xf32>) gradient(%[[Q]] : tensor<1x7x2x4xf32>) states(%[[S]], %[[Z]] : tensor<1x2x4x4xf32>, tensor<1x2x4xf32>) outs(%[[Q]], %[[Q]], %[[Q]], %[[S]], %[[Z]] :
// CHECK-SAME: {chunk = 2 : i64, epsilon = 1.000000e+00 : f64, feature_map = #act.square, normalize, scale = 5.000000e-01 : f64, state_policy = #act.checkpoint<segment = 4>}
// CHECK: %[[B:.*]]:5 = act.linear_attention_grad {{.*}} decay(
// CHECK: return %[[A]]#2, %[[A]]#3, %[[A]]#4, %[[B]]#3
func.func @zero_decay_of_grad(%q: tensor<1x7x2x4xf32>, %d: tensor<1x7x2xf32>, %s: tensor<1x2x4x4xf32>, %z: tensor<1x2x4xf32>)
    -> (tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<2xf32>) {
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %r:6 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%zero : tensor<2xf32>)
      output(%q : tensor<1x7x2x4xf32>) denominator(%d : tensor<1x7x2xf32>)
      gradient(%q : tensor<1x7x2x4xf32>) states(%s, %z : tensor<1x2x4x4xf32>, tensor<1x2x4xf32>)
      outs(%q, %q, %q, %zero, %s, %z : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>)
      {feature_map = #act.square, normalize, epsilon = 1.0 : f64, scale = 0.5 : f64, chunk = 2 : i64, state_policy = #act.checkpoint<segment = 4>}
  %t:5 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%zero : tensor<2xf32>)
      gradient(%q : tensor<1x7x2x4xf32>) states(%s : tensor<1x2x4x4xf32>)
      outs(%q, %q, %q, %zero, %s : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<2xf32>, tensor<1x2x4x4xf32>)
      {feature_map = #act.square}
  return %r#2, %r#4, %r#5, %t#3 : tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<2xf32>
}

// -----

// Without uses of o and d there is no need to attend.
// CHECK-LABEL: func.func @states_only
// CHECK-SAME: (%[[Q:[a-z0-9]*]]: tensor<1x7x2x4xf32>, %[[W:[a-z0-9]*]]: tensor<3x4xf32>, %[[G:[a-z0-9]*]]: tensor<2xf32>, {{.*}} %[[S:[a-z0-9]*]]: tensor<1x2x3x4xf32>, %[[Z:[a-z0-9]*]]: tensor<1x2x3xf32>)
// CHECK: %[[T:.*]]:2 = act.linear_attention_state ins(%[[Q]], %[[Q]] : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>) decay(%[[G]] : tensor<2xf32>) features(%[[W]] : tensor<3x4xf32>) outs(%[[S]], %[[Z]] : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
// CHECK-SAME: {chunk = 2 : i64, feature_map = #act.favor_plus, normalize}
// CHECK: return %[[T]]#0, %[[T]]#1
func.func @states_only(%q: tensor<1x7x2x4xf32>, %w: tensor<3x4xf32>, %g: tensor<2xf32>, %o: tensor<1x7x2x4xf32>, %d: tensor<1x7x2xf32>,
    %s: tensor<1x2x3x4xf32>, %z: tensor<1x2x3xf32>) -> (tensor<1x2x3x4xf32>, tensor<1x2x3xf32>) {
  %r:4 = act.linear_attention
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      decay(%g : tensor<2xf32>) features(%w : tensor<3x4xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x2x4xf32>, tensor<1x7x2xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3xf32>)
      {feature_map = #act.favor_plus, normalize, chunk = 2 : i64}
  return %r#2, %r#3 : tensor<1x2x3x4xf32>, tensor<1x2x3xf32>
}

// -----

// CHECK-LABEL: func.func @denominator_used
// CHECK: act.linear_attention ins
func.func @denominator_used(%q: tensor<1x7x2x4xf32>, %d: tensor<1x7x2xf32>,
    %s: tensor<1x2x4x4xf32>, %z: tensor<1x2x4xf32>) -> (tensor<1x7x2xf32>, tensor<1x2x4x4xf32>) {
  %r:4 = act.linear_attention
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      outs(%q, %d, %s, %z : tensor<1x7x2x4xf32>, tensor<1x7x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>)
      {feature_map = #act.square, normalize}
  return %r#1, %r#2 : tensor<1x7x2xf32>, tensor<1x2x4x4xf32>
}

// -----

// Buffers have no uses of results to go by.
// CHECK-LABEL: func.func @buffers
// CHECK: act.linear_attention ins
// CHECK: act.linear_attention_state ins
func.func @buffers(%q: memref<1x7x2x4xf32>, %e: memref<1x0x2x4xf32>, %o: memref<1x7x2x4xf32>, %s: memref<1x2x4x4xf32>) {
  act.linear_attention
      ins(%q, %q, %q : memref<1x7x2x4xf32>, memref<1x7x2x4xf32>, memref<1x7x2x4xf32>)
      outs(%o, %s : memref<1x7x2x4xf32>, memref<1x2x4x4xf32>) {feature_map = #act.square}
  act.linear_attention_state
      ins(%e, %e : memref<1x0x2x4xf32>, memref<1x0x2x4xf32>)
      outs(%s : memref<1x2x4x4xf32>) {feature_map = #act.square}
  return
}

// -----

// No tokens leave states, and the gradients of states, as they are.
// CHECK-LABEL: func.func @no_tokens
// CHECK-SAME: (%[[Q:.*]]: tensor<1x0x2x4xf32>, %[[G:.*]]: tensor<1x0x2xf32>, %[[S:.*]]: tensor<1x2x4x4xf32>, %[[Z:.*]]: tensor<1x2x4xf32>)
// CHECK-NEXT: return %[[Q]], %[[S]], %[[Z]], %[[S]], %[[Z]], %[[S]]
func.func @no_tokens(%q: tensor<1x0x2x4xf32>, %g: tensor<1x0x2xf32>, %s: tensor<1x2x4x4xf32>, %z: tensor<1x2x4xf32>)
    -> (tensor<1x0x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4x4xf32>) {
  %r:4 = act.linear_attention
      ins(%q, %q, %q : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>) decay(%g : tensor<1x0x2xf32>)
      outs(%q, %g, %s, %z : tensor<1x0x2x4xf32>, tensor<1x0x2xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>)
      {feature_map = #act.square, normalize}
  %t:2 = act.linear_attention_state
      ins(%q, %q : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>)
      outs(%s, %z : tensor<1x2x4x4xf32>, tensor<1x2x4xf32>) {feature_map = #act.square, normalize, subtract}
  %u:5 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>) decay(%g : tensor<1x0x2xf32>)
      gradient(%q : tensor<1x0x2x4xf32>) states(%s : tensor<1x2x4x4xf32>)
      outs(%q, %q, %q, %g, %s : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2xf32>, tensor<1x2x4x4xf32>)
      {feature_map = #act.square}
  return %r#0, %r#2, %r#3, %t#0, %t#1, %u#4
      : tensor<1x0x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4x4xf32>, tensor<1x2x4xf32>, tensor<1x2x4x4xf32>
}

// -----

// The gradient of a decay per head is a sum over tokens: zero, not its
// destination. A length that is not known may be one.
// CHECK-LABEL: func.func @perhaps_tokens
// CHECK: act.linear_attention_grad
// CHECK: act.linear_attention_state
func.func @perhaps_tokens(%q: tensor<1x0x2x4xf32>, %k: tensor<1x?x2x4xf32>, %g: tensor<2xf32>, %s: tensor<1x2x4x4xf32>)
    -> (tensor<2xf32>, tensor<1x2x4x4xf32>) {
  %u:5 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>) decay(%g : tensor<2xf32>)
      gradient(%q : tensor<1x0x2x4xf32>) states(%s : tensor<1x2x4x4xf32>)
      outs(%q, %q, %q, %g, %s : tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<1x0x2x4xf32>, tensor<2xf32>, tensor<1x2x4x4xf32>)
      {feature_map = #act.square}
  %t = act.linear_attention_state
      ins(%k, %k : tensor<1x?x2x4xf32>, tensor<1x?x2x4xf32>)
      outs(%s : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  return %u#3, %t : tensor<2xf32>, tensor<1x2x4x4xf32>
}
