// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-expose-masks))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-expose-masks),test-op-model)" -o /dev/null | FileCheck %s --check-prefix=BOUND
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-expose-masks))" \
// RUN:   --remarks-filter="act" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// What is computed and that it is right is tested by execution
// (python/tests/test_expose_masks.py); here, where it is and what becomes of the
// rest.

// REMARK: gradient of a pool reads an index of 2 bits per window
// REMARK: gradient of a pool reads an index of 4 bits per window
// REMARK-NOT: gradient of a pool

// Windows that do not overlap: 2 bits per window, behind the operand; the pool of
// forward stays.

// CHECK-LABEL: func.func @apart(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4x4x2xf32>, %[[G:.*]]: tensor<1x2x2x2xf32>)
// CHECK:         %[[H:.*]] = "stablehlo.tanh"(%[[X]])
// CHECK-NEXT:    "stablehlo.slice"(%[[H]])
// CHECK-COUNT-3: "stablehlo.compare"{{.*}}comparison_direction GE
// CHECK:         %[[THREE:.*]] = "stablehlo.constant"() <{value = dense<3> : tensor<ui8>}>
// CHECK-NEXT:    %[[THREES:.*]] = "stablehlo.broadcast_in_dim"(%[[THREE]])
// CHECK-NEXT:    %[[INDEX:.*]] = "stablehlo.and"(%{{.*}}, %[[THREES]]) : {{.*}} -> tensor<1x2x2x2xui8>
// CHECK-NEXT:    %[[INIT:.*]] = "stablehlo.constant"() <{value = dense<0xFF800000>
// CHECK-NEXT:    %[[LOSS:.*]] = "stablehlo.reduce_window"(%[[H]], %[[INIT]])
// CHECK-NOT:     %[[H]]
// CHECK:         "stablehlo.broadcast_in_dim"(%[[INDEX]]) <{broadcast_dimensions = array<i64: 0, 1, 3, 5>}>
// CHECK:         "stablehlo.constant"() <{value = dense<{{\[\[}}0, 1], [2, 3]]> : tensor<2x2xui8>}>
// CHECK:         "stablehlo.compare"{{.*}}comparison_direction EQ
// CHECK:         "stablehlo.broadcast_in_dim"(%[[G]])
// CHECK:         %[[D:.*]] = "stablehlo.select"{{.*}} tensor<1x2x2x2x2x2xf32>
// CHECK-NEXT:    %[[DX:.*]] = "stablehlo.reshape"(%[[D]])
// CHECK-NOT:     "stablehlo.select_and_scatter"
// CHECK:         return %[[LOSS]], %[[DX]]

// BOUND: stablehlo.and: elementwise cheap flops=8 bound=3
func.func @apart(%x: tensor<1x4x4x2xf32>, %g: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>) {
  %h = "stablehlo.tanh"(%x) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %init = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %y = "stablehlo.reduce_window"(%h, %init) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %dx = "stablehlo.select_and_scatter"(%h, %g, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<1x4x4x2xf32>, tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  return %y, %dx : tensor<1x2x2x2xf32>, tensor<1x4x4x2xf32>
}

// Overlapping windows, padded in backward as JAX does: the padding is copied into
// forward and the original vanishes.

// CHECK-LABEL: func.func @overlapping(
// CHECK:         %[[H:.*]] = "stablehlo.tanh"
// CHECK-NEXT:    %[[LOW:.*]] = "stablehlo.constant"() <{value = dense<0xFF800000>
// CHECK-NEXT:    %[[PADDED:.*]] = "stablehlo.pad"(%[[H]], %[[LOW]])
// CHECK-NEXT:    "stablehlo.slice"(%[[PADDED]])
// CHECK-COUNT-8: "stablehlo.compare"{{.*}}comparison_direction GE
// CHECK:         %[[INDEX:.*]] = "stablehlo.and"(%{{.*}}) : {{.*}} -> tensor<1x2xui8>
// CHECK-NEXT:    %[[LOSS:.*]] = "stablehlo.slice"(%[[H]])
// One padded index and one padded cotangent, of which the terms are slices.
// CHECK-NOT:     "stablehlo.pad"(%[[H]]
// CHECK:         "stablehlo.pad"(%[[INDEX]], %{{.*}}) <{edge_padding_high = array<i64: 2, 1>, edge_padding_low = array<i64: 2, 1>
// CHECK:         "stablehlo.pad"
// CHECK-NOT:     "stablehlo.pad"
// CHECK-COUNT-5: "stablehlo.add"
// CHECK-NOT:     "stablehlo.add"
// CHECK-NOT:     "stablehlo.select_and_scatter"
// CHECK:         return %[[LOSS]]

// BOUND: stablehlo.and: elementwise cheap flops=2 bound=8
func.func @overlapping(%x: tensor<2x4xf32>, %g: tensor<1x2xf32>) -> (tensor<1x1xf32>, tensor<3x5xf32>) {
  %h = "stablehlo.tanh"(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %loss = "stablehlo.slice"(%h) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 1>, strides = array<i64: 1, 1>}> : (tensor<2x4xf32>) -> tensor<1x1xf32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %p = "stablehlo.pad"(%h, %low) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<2x4xf32>, tensor<f32>) -> tensor<3x5xf32>
  %dx = "stablehlo.select_and_scatter"(%p, %g, %zero) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%b, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<3x5xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<3x5xf32>
  return %loss, %dx : tensor<1x1xf32>, tensor<3x5xf32>
}

// The pool of an argument needs no save; other combinations are not sums of
// selected elements.

// CHECK-LABEL: func.func @argument
// CHECK:         "stablehlo.select_and_scatter"
func.func @argument(%x: tensor<4xf32>, %g: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %loss = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %dx = "stablehlo.select_and_scatter"(%x, %g, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %loss, %dx : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: "stablehlo.select_and_scatter"
func.func @others(%x: tensor<4xf32>, %g: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %h = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %loss = "stablehlo.negate"(%h) : (tensor<4xf32>) -> tensor<4xf32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %one = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  // A maximum scattered.
  %0 = "stablehlo.select_and_scatter"(%h, %g, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  // Another start.
  %1 = "stablehlo.select_and_scatter"(%h, %g, %one) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  // The other order of arguments.
  %2 = "stablehlo.select_and_scatter"(%h, %g, %zero) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%b, %a) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %loss, %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
