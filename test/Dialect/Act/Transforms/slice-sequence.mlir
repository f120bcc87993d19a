// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=4}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=5}))" | FileCheck %s --check-prefix=TAIL
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=4 states=reverse}))" | FileCheck %s --check-prefix=REVERSE
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=100}))" | FileCheck %s --check-prefix=LONG
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{sequence=false}))" | FileCheck %s --check-prefix=NONE

// Sequences are cut however short they are.

// NONE-NOT: act.sliced
// LONG-LABEL: func.func @one
// LONG: act.linear_attention_grad ins({{.*}} : tensor<1x12x1x4xf32>

// The first loop stores the state before each part, the second reads them from
// the last to the first and carries the gradient of the state.

// CHECK-LABEL: func.func @one(
// CHECK-SAME:    %[[X:.*]]: tensor<1x12x1x4xf32>, %[[S:.*]]: tensor<1x1x4x4xf32>, %[[DS:.*]]: tensor<1x1x4x4xf32>, %[[WEIGHTS:.*]]: tensor<1x12x1x4xf32>)
// CHECK:         %[[FIRST:.*]]:3 = "stablehlo.while"(%{{.*}}, %[[S]], %{{.*}})
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[STATE:.*]]: tensor<1x1x4x4xf32>, %[[STACK:.*]]: tensor<3x1x1x4x4xf32>):
// CHECK:           %[[ROW:.*]] = "stablehlo.reshape"(%[[STATE]])
// CHECK:           %[[STACK2:.*]] = "stablehlo.dynamic_update_slice"(%[[STACK]], %[[ROW]], %[[I]],
// CHECK:           %[[K:.*]] = "stablehlo.negate"({{.*}}tensor<1x4x1x4xf32>
// CHECK:           %[[NEXT:.*]] = act.linear_attention_state ins(%[[K]], %[[K]]{{.*}}) outs(%[[STATE]] :
// CHECK-NOT:       subtract
// CHECK:           "stablehlo.return"(%{{.*}}, %[[NEXT]], %[[STACK2]])
// CHECK:         }) {act.sliced}
// CHECK:         %[[SECOND:.*]]:4 = "stablehlo.while"({{.*}}, %[[DS]])
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<12xf32>, %{{.*}}: tensor<1x12x1x4xf32>, %[[GRADIENT:.*]]: tensor<1x1x4x4xf32>):
// CHECK:           %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}>
// CHECK:           %[[NUMBER:.*]] = "stablehlo.subtract"(%[[LAST]], %[[I]])
// CHECK:           %[[ROW:.*]] = "stablehlo.dynamic_slice"(%[[FIRST]]#2, %[[NUMBER]],
// CHECK:           %[[BEFORE:.*]] = "stablehlo.reshape"(%[[ROW]])
// CHECK:           act.linear_attention ins({{.*}}) outs(%{{.*}}, %[[BEFORE]] :
// CHECK:           %[[G:.*]]:4 = act.linear_attention_grad ins({{.*}}) states(%[[BEFORE]] : {{.*}}) outs({{.*}}, %[[GRADIENT]] :
// CHECK:           "stablehlo.return"({{.*}}, %[[G]]#3)
// CHECK:         }) {act.sliced
// CHECK:         %[[LOSS:.*]] = "stablehlo.reduce"(%[[SECOND]]#1,
// CHECK:         return %[[LOSS]], %[[SECOND]]#3, %[[SECOND]]#2

// With states=reverse nothing is stored: what a part added is subtracted.

// REVERSE-LABEL: func.func @one(
// REVERSE-NOT:     tensor<3x1x1x4x4xf32>
// REVERSE:         %[[FIRST:.*]]:2 = "stablehlo.while"
// REVERSE:           act.linear_attention_state
// REVERSE-NOT:       subtract}
// REVERSE:         }) {act.sliced}
// REVERSE:         "stablehlo.while"({{.*}}, %[[FIRST]]#1, %{{.*}})
// REVERSE:           %[[BEFORE:.*]] = act.linear_attention_state {{.*}}subtract}
// REVERSE:           act.linear_attention ins({{.*}}) outs(%{{.*}}, %[[BEFORE]] :
// REVERSE:           act.linear_attention_grad {{.*}}states(%[[BEFORE]] :
// REVERSE:           "stablehlo.return"({{.*}}, %[[BEFORE]], %{{.*}})
// REVERSE-NOT:     tensor<3x1x1x4x4xf32>

// The last two tokens come first in backward; no state behind them is needed.

// TAIL-LABEL: func.func @one(
// TAIL:         %[[FIRST:.*]]:3 = "stablehlo.while"
// TAIL:           act.linear_attention_state ins({{.*}}tensor<1x5x1x4xf32>
// TAIL:         }) {act.sliced}
// TAIL-NOT:     act.linear_attention_state
// TAIL:         %[[TAIL:.*]]:4 = "stablehlo.while"
// TAIL:           act.linear_attention_grad ins({{.*}} : tensor<1x2x1x4xf32>{{.*}} states(%[[FIRST]]#1 :
// TAIL:         }) {act.sliced
// TAIL:         "stablehlo.while"(%{{.*}}, %[[TAIL]]#1, %[[TAIL]]#2, %[[TAIL]]#3)
// TAIL:           act.linear_attention_grad ins({{.*}} : tensor<1x5x1x4xf32>
// TAIL:         }) {act.sliced
func.func @one(%x: tensor<1x12x1x4xf32>, %s: tensor<1x1x4x4xf32>, %ds: tensor<1x1x4x4xf32>, %weights: tensor<1x12x1x4xf32>) -> (tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %out = tensor.empty() : tensor<1x12x1x4xf32>
  %t = "stablehlo.negate"(%x) : (tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %h0, %s0 = act.linear_attention
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
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
  %dq0, %dk0, %dv0, %ds0 = act.linear_attention_grad
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
      gradient(%weights : tensor<1x12x1x4xf32>) states(%s : tensor<1x1x4x4xf32>)
      outs(%out, %out, %out, %ds : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %qk0 = "stablehlo.add"(%dq0, %dk0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %g0 = "stablehlo.add"(%qk0, %dv0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  return %loss, %ds0, %g0 : tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>
}

// Two layers: the first loop needs what the first layer returns for the states
// of the second, but not what the second returns.

// CHECK-LABEL: func.func @two(
// CHECK:         %[[FIRST:.*]]:5 = "stablehlo.while"
// CHECK:           act.linear_attention ins({{.*}}tensor<1x4x1x4xf32>
// CHECK-NOT:       act.linear_attention ins(
// CHECK:           act.linear_attention_state ins({{.*}}tensor<1x4x1x4xf32>
// CHECK:         }) {act.sliced}
// CHECK:         "stablehlo.while"
// CHECK:           "stablehlo.dynamic_slice"(%[[FIRST]]#3,
// CHECK:           act.linear_attention ins(
// CHECK:           "stablehlo.dynamic_slice"(%[[FIRST]]#4,
// CHECK:           act.linear_attention ins(
// CHECK-COUNT-2:   act.linear_attention_grad ins(
// CHECK:         }) {act.sliced
func.func @two(%x: tensor<1x12x1x4xf32>, %s: tensor<1x1x4x4xf32>, %ds: tensor<1x1x4x4xf32>, %weights: tensor<1x12x1x4xf32>) -> (tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %out = tensor.empty() : tensor<1x12x1x4xf32>
  %t = "stablehlo.negate"(%x) : (tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %h0, %s0 = act.linear_attention
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
      outs(%out, %s : tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %t0 = "stablehlo.tanh"(%h0) : (tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %h1, %s1 = act.linear_attention
      ins(%t0, %t0, %t0 : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
      outs(%out, %s : tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %y = "stablehlo.multiply"(%h1, %weights) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
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
  %dq1, %dk1, %dv1, %ds1 = act.linear_attention_grad
      ins(%t0, %t0, %t0 : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
      gradient(%weights : tensor<1x12x1x4xf32>) states(%s : tensor<1x1x4x4xf32>)
      outs(%out, %out, %out, %ds : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %qk1 = "stablehlo.add"(%dq1, %dk1) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %g1 = "stablehlo.add"(%qk1, %dv1) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %gt1 = "stablehlo.multiply"(%g1, %t0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %dq0, %dk0, %dv0, %ds0 = act.linear_attention_grad
      ins(%t, %t, %t : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>)
      gradient(%gt1 : tensor<1x12x1x4xf32>) states(%s : tensor<1x1x4x4xf32>)
      outs(%out, %out, %out, %ds : tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>, tensor<1x1x4x4xf32>) {feature_map = #act.square}
  %qk0 = "stablehlo.add"(%dq0, %dk0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  %g0 = "stablehlo.add"(%qk0, %dv0) : (tensor<1x12x1x4xf32>, tensor<1x12x1x4xf32>) -> tensor<1x12x1x4xf32>
  return %loss, %ds0, %g0 : tensor<f32>, tensor<1x1x4x4xf32>, tensor<1x12x1x4xf32>
}
