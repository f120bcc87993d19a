// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-sequence-updates{min-elements=64}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-sequence-updates{min-elements=64}))" --remarks-filter=act --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-sequence-updates))" | FileCheck %s --check-prefix=NONE

// Gradients of fewer than 65536 elements are not held back by default.

// NONE-NOT: act.barrier

// REMARK: remark: [Passed] SequenceUpdates | Category:act | {{.*}}3{{.*}}updates of parameters, one after the other
// REMARK: remark: [Passed] SequenceUpdates | Category:act | Remark=2,
// REMARK-NOT: [Passed]

// Each update waits for the results of the one before.

// CHECK-LABEL: func.func @three(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<8x8xf32>, %[[Q:[a-z0-9]+]]: tensor<8x8xf32>, %[[R:[a-z0-9]+]]: tensor<8x8xf32>, %[[M:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK:         %[[G:.*]] = "stablehlo.dot_general"(%[[P]], %[[P]])
// CHECK:         %[[H:.*]] = "stablehlo.dot_general"(%[[Q]], %[[Q]])
// CHECK:         %[[K:.*]] = "stablehlo.dot_general"(%[[R]], %[[R]])
// CHECK:         %[[M1:.*]] = "stablehlo.add"(%[[M]], %[[G]])
// CHECK:         %[[P1:.*]] = "stablehlo.subtract"(%[[P]], %[[M1]])
// CHECK:         %[[B:.*]]:3 = act.barrier %[[H]], %[[M1]], %[[P1]]
// CHECK:         %[[Q1:.*]] = "stablehlo.subtract"(%[[Q]], %[[B]]#0)
// CHECK:         %[[C:.*]]:2 = act.barrier %[[K]], %[[Q1]]
// CHECK:         %[[R1:.*]] = "stablehlo.subtract"(%[[R]], %[[C]]#0)
// CHECK-NOT:     act.barrier
// CHECK:         return %[[B]]#1, %[[B]]#2, %[[C]]#1, %[[R1]]
func.func @three(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>, %r: tensor<8x8xf32>, %m: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %g = "stablehlo.dot_general"(%p, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %m1 = "stablehlo.add"(%m, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = "stablehlo.dot_general"(%q, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %k = "stablehlo.dot_general"(%r, %r) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p1 = "stablehlo.subtract"(%p, %m1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q1 = "stablehlo.subtract"(%q, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %r1 = "stablehlo.subtract"(%r, %k) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %m1, %p1, %q1, %r1 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}

// One update only, private functions, and values too small: nothing to order.

// CHECK-LABEL: func.func @one(
// CHECK-NOT:     act.barrier
// CHECK-LABEL: func.func private @helper(
// CHECK-NOT:     act.barrier
// CHECK-LABEL: func.func @small(
// CHECK-NOT:     act.barrier
func.func @one(%p: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %g = "stablehlo.dot_general"(%p, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p1 = "stablehlo.subtract"(%p, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p1 : tensor<8x8xf32>
}
func.func private @helper(%p: tensor<8x8xf32>, %q: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %g = "stablehlo.dot_general"(%p, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = "stablehlo.dot_general"(%q, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %p1 = "stablehlo.subtract"(%p, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q1 = "stablehlo.subtract"(%q, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p1, %q1 : tensor<8x8xf32>, tensor<8x8xf32>
}
func.func @small(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>, %s: tensor<4x4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %g = "stablehlo.dot_general"(%s, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = "stablehlo.dot_general"(%s, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %p1 = "stablehlo.subtract"(%p, %g) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q1 = "stablehlo.subtract"(%q, %h) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %p1, %q1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A gradient that is widened for several readers is widened by the update
// itself: what waits is the narrow one.

// CHECK-LABEL: func.func @widened(
// CHECK:         %[[G:.*]] = "stablehlo.dot_general"({{.*}} -> tensor<8x8xbf16>
// CHECK:         %[[H:.*]] = "stablehlo.dot_general"({{.*}} -> tensor<8x8xbf16>
// CHECK:         "stablehlo.reduce"
// CHECK:         %[[W:.*]] = "stablehlo.convert"(%[[G]])
// CHECK:         %[[P1:.*]] = "stablehlo.subtract"(%{{.*}}, %[[W]])
// CHECK:         %[[B:.*]]:2 = act.barrier %[[H]], %[[P1]] : tensor<8x8xbf16>, tensor<8x8xf32>
// CHECK:         %[[V:.*]] = "stablehlo.convert"(%[[B]]#0)
// CHECK:         "stablehlo.subtract"(%{{.*}}, %[[V]])
func.func @widened(%x: tensor<8x8xbf16>, %p: tensor<8x8xf32>, %q: tensor<8x8xf32>) -> (tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %g0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %h0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>}> : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  %g = "stablehlo.convert"(%g0) : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %h = "stablehlo.convert"(%h0) : (tensor<8x8xbf16>) -> tensor<8x8xf32>
  %both = "stablehlo.multiply"(%g, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %norm = "stablehlo.reduce"(%both, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<8x8xf32>, tensor<f32>) -> tensor<f32>
  %p1 = "stablehlo.subtract"(%p, %g) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %q1 = "stablehlo.subtract"(%q, %h) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %norm, %p1, %q1 : tensor<f32>, tensor<8x8xf32>, tensor<8x8xf32>
}
