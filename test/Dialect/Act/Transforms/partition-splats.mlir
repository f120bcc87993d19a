// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

// R4: a splat of at least 1 MiB that an operation reads as a whole is made again
// right before it from a tied scalar; otherwise it is made at the start of the step.

!f = tensor<f32>
!m = tensor<512x512xf32>
!s = tensor<511x512xf32>
!i = tensor<512x1xi32>

// CHECK-LABEL: func.func @scatter(
// CHECK:         %[[ZERO:.*]] = "stablehlo.constant"() <{value = dense<0.000000e+00>
// CHECK:         %[[M:.*]] = "stablehlo.multiply"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[ZERO]], %[[M]]
// CHECK-NEXT:    %[[ZEROS:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0)
// CHECK-NEXT:    "stablehlo.scatter"(%[[ZEROS]], %{{.*}}, %[[B]]#1)
func.func @scatter(%x: !m, %w: !m, %i: !i) -> (!m, !m) {
  %z = "stablehlo.dot"(%x, %w) : (!m, !m) -> !m
  %y = "stablehlo.dot"(%z, %w) : (!m, !m) -> !m
  %g = "stablehlo.negate"(%y) : (!m) -> !m
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (!f) -> !m
  %m = "stablehlo.multiply"(%z, %g) : (!m, !m) -> !m
  %d = "stablehlo.scatter"(%zeros, %i, %m) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: !f, %b: !f):
    %sum = "stablehlo.add"(%a, %b) : (!f, !f) -> !f
    "stablehlo.return"(%sum) : (!f) -> ()
  }) : (!m, !i, !m) -> !m
  return %y, %d : !m, !m
}

// CHECK-LABEL: func.func @dot(
// CHECK:         %[[B:.*]]:2 = act.barrier %{{.*}}, %[[G:.*]] : tensor<f32>, tensor<512x512xf32>
// CHECK-NEXT:    %[[ZEROS:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0)
// CHECK-NEXT:    "stablehlo.dot"(%[[ZEROS]], %[[B]]#1)
func.func @dot(%x: !m, %w: !m) -> (!m, !m) {
  %z = "stablehlo.dot"(%x, %w) : (!m, !m) -> !m
  %y = "stablehlo.dot"(%z, %w) : (!m, !m) -> !m
  %g = "stablehlo.negate"(%y) : (!m) -> !m
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (!f) -> !m
  %m = "stablehlo.multiply"(%z, %g) : (!m, !m) -> !m
  %d = "stablehlo.dot"(%zeros, %m) : (!m, !m) -> !m
  return %y, %d : !m, !m
}

// CHECK-LABEL: func.func @while(
// CHECK:         %[[B:.*]]:2 = act.barrier %{{.*}}, %[[G:.*]] : tensor<f32>, tensor<512x512xf32>
// CHECK-NEXT:    %[[ZEROS:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0)
// CHECK-NEXT:    "stablehlo.while"(%[[ZEROS]], %[[B]]#1)
func.func @while(%x: !m, %w: !m) -> (!m, !m) {
  %z = "stablehlo.dot"(%x, %w) : (!m, !m) -> !m
  %y = "stablehlo.dot"(%z, %w) : (!m, !m) -> !m
  %g = "stablehlo.negate"(%y) : (!m) -> !m
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (!f) -> !m
  %m = "stablehlo.multiply"(%z, %g) : (!m, !m) -> !m
  %d:2 = "stablehlo.while"(%zeros, %m) ({
  ^bb0(%a: !m, %b: !m):
    %p = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: !m, %b: !m):
    "stablehlo.return"(%b, %a) : (!m, !m) -> ()
  }) : (!m, !m) -> (!m, !m)
  return %y, %d#0 : !m, !m
}

// Elementwise operations fuse a splat; a smaller one costs little; a repeated row
// is no splat.

// CHECK-LABEL: func.func @others(
// CHECK:         %[[ZERO:.*]] = "stablehlo.constant"() <{value = dense<0.000000e+00>
// CHECK-NOT:     act.barrier %[[ZERO]],
// CHECK:         %[[ZEROS:.*]] = "stablehlo.broadcast_in_dim"(%[[ZERO]]){{.*}} -> tensor<512x512xf32>
// CHECK:         %[[SMALL:.*]] = "stablehlo.broadcast_in_dim"(%[[ZERO]]){{.*}} -> tensor<511x512xf32>
// CHECK:         %[[RAMPS:.*]] = "stablehlo.broadcast_in_dim"
// CHECK:         %[[MAX:.*]] = "stablehlo.maximum"(%{{.*}}, %[[ZEROS]])
// CHECK-NEXT:    %[[A:.*]] = "stablehlo.dot"(%[[SMALL]], %[[MAX]])
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[A]], %[[RAMPS]])
// CHECK-NEXT:    return %{{.*}}, %[[D]]
func.func @others(%x: !m, %w: !m) -> (!m, !s) {
  %z = "stablehlo.dot"(%x, %w) : (!m, !m) -> !m
  %y = "stablehlo.dot"(%z, %w) : (!m, !m) -> !m
  %g = "stablehlo.negate"(%y) : (!m) -> !m
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (!f) -> !m
  %small = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (!f) -> !s
  %ramp = "stablehlo.constant"() <{value = dense<1.0> : tensor<512xf32>}> : () -> tensor<512xf32>
  %ramps = "stablehlo.broadcast_in_dim"(%ramp) <{broadcast_dimensions = array<i64: 1>}> : (tensor<512xf32>) -> !m
  %m = "stablehlo.multiply"(%z, %g) : (!m, !m) -> !m
  %max = "stablehlo.maximum"(%m, %zeros) : (!m, !m) -> !m
  %a = "stablehlo.dot"(%small, %max) : (!s, !m) -> !s
  %d = "stablehlo.dot"(%a, %ramps) : (!s, !m) -> !s
  return %y, %d : !m, !s
}
