// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 chunk=4}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 chunk=4}))" --remarks-filter=act --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 chunk=5}))" | FileCheck %s --check-prefix=TAIL
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{chunk=4}))" | FileCheck %s --check-prefix=NONE
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 head=false attention=false layers=false}))" | FileCheck %s --check-prefix=NONE
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 head=false}))" | FileCheck %s --check-prefix=NOHEAD

// Below a MiB, or if nothing is asked for, nothing happens.

// NONE-NOT: act.sliced
// NOHEAD-LABEL: func.func @head
// NOHEAD-NOT: act.sliced
// NOHEAD-LABEL: func.func @heads
// NOHEAD: act.sliced

// One loop: logits of four tokens, their gradient, products. What a part of it
// is written to or added to begins as zeros that wait for what the loop reads;
// sums of tokens are collected for the sum of the losses, which stays as it is.

// CHECK-LABEL: func.func @head(
// CHECK-SAME:    %[[X:.*]]: tensor<12x4xf32>, %[[W:.*]]: tensor<4x32xf32>, %[[WEIGHTS:.*]]: tensor<12xf32>)
// CHECK-NOT:     12x32xf32
// CHECK:         %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%{{.*}}, %[[X]])
// CHECK-DAG:     %[[SUMS:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0) {{.*}} -> tensor<12xf32>
// CHECK-DAG:     %[[DX:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0) {{.*}} -> tensor<12x4xf32>
// CHECK-DAG:     %[[DW:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0) {{.*}} -> tensor<4x32xf32>
// CHECK:         %[[LOOP:.*]]:4 = "stablehlo.while"(%{{.*}}, %[[SUMS]], %[[DX]], %[[DW]])
// CHECK:           %[[COUNT:.*]] = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}>
// CHECK:           "stablehlo.compare"(%{{.*}}, %[[COUNT]]) {{.*}}comparison_direction LT
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[SUMS:.*]]: tensor<12xf32>, %[[DX:.*]]: tensor<12x4xf32>, %[[DW:.*]]: tensor<4x32xf32>):
// CHECK:           %[[LENGTH:.*]] = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}>
// CHECK:           %[[OFFSET:.*]] = "stablehlo.multiply"(%[[I]], %[[LENGTH]])
// CHECK:           %[[XS:.*]] = "stablehlo.dynamic_slice"(%[[B]]#1, %[[OFFSET]], %{{.*}}) <{slice_sizes = array<i64: 4, 4>}>
// CHECK:           %[[LOGITS:.*]] = "stablehlo.dot_general"(%[[XS]], %[[W]])
// CHECK:           %[[SUM:.*]] = "stablehlo.reduce"
// CHECK:             "stablehlo.maximum"
// CHECK:           %[[E:.*]] = "stablehlo.exponential"
// CHECK:           %[[SUM:.*]] = "stablehlo.reduce"(%[[E]],
// CHECK:           "stablehlo.dynamic_slice"(%[[WEIGHTS]], %[[OFFSET]]) <{slice_sizes = array<i64: 4>}>
// CHECK:           %[[D:.*]] = "stablehlo.multiply"(%[[E]],
// CHECK:           %[[DW1:.*]] = "stablehlo.dot_general"(%[[XS]], %[[D]])
// CHECK:           %[[DW2:.*]] = "stablehlo.add"(%[[DW]], %[[DW1]])
// CHECK:           %[[DX1:.*]] = "stablehlo.dot_general"(%[[D]], %[[W]])
// CHECK:           %[[SUMS2:.*]] = "stablehlo.dynamic_update_slice"(%[[SUMS]], %[[SUM]], %[[OFFSET]])
// CHECK:           %[[DX2:.*]] = "stablehlo.dynamic_update_slice"(%[[DX]], %[[DX1]], %[[OFFSET]],
// CHECK:           "stablehlo.return"(%{{.*}}, %[[SUMS2]], %[[DX2]], %[[DW2]])
// CHECK:         }) {act.sliced}
// CHECK-NOT:     12x32xf32
// CHECK:         %[[LOG:.*]] = "stablehlo.log"(%[[LOOP]]#1) : (tensor<12xf32>)
// CHECK:         %[[LOSSES:.*]] = "stablehlo.multiply"(%[[LOG]], %[[WEIGHTS]])
// CHECK:         %[[LOSS:.*]] = "stablehlo.reduce"(%[[LOSSES]],
// CHECK:         return %[[LOSS]], %[[LOOP]]#3, %[[LOOP]]#2

// REMARK: remark: [Passed] Slice | Category:act | {{.*}}"loss head"{{.*}}11, {{.*}}operations in{{.*}}1,{{.*}}loops over{{.*}}3,{{.*}}parts of{{.*}}4

// A part of two tokens behind two of five has a loop of one iteration.

// TAIL-LABEL: func.func @head(
// TAIL:         %[[LOOP:.*]]:4 = "stablehlo.while"
// TAIL:           "stablehlo.constant"() <{value = dense<2> : tensor<i32>}>
// TAIL:           "stablehlo.dynamic_slice"({{.*}} -> tensor<5x4xf32>
// TAIL:         }) {act.sliced}
// TAIL:         "stablehlo.while"(%{{.*}}, %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#3)
// TAIL:           "stablehlo.constant"() <{value = dense<1> : tensor<i32>}>
// TAIL:           %[[NUMBER:.*]] = "stablehlo.add"(
// TAIL:           %[[LENGTH:.*]] = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}>
// TAIL:           %[[OFFSET:.*]] = "stablehlo.multiply"(%[[NUMBER]], %[[LENGTH]])
// TAIL:           "stablehlo.dynamic_slice"(%{{.*}}, %[[OFFSET]], {{.*}} -> tensor<2x4xf32>
// TAIL:         }) {act.sliced}
func.func @head(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %logits = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  %max = "stablehlo.reduce"(%logits, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %maxes = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %shifted = "stablehlo.subtract"(%logits, %maxes) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %log = "stablehlo.log"(%sum) : (tensor<12xf32>) -> tensor<12xf32>
  %losses = "stablehlo.multiply"(%log, %weights) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %g = "stablehlo.divide"(%weights, %sum) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %gs = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %d = "stablehlo.multiply"(%e, %gs) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %dw = "stablehlo.dot_general"(%x, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  %dx = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<12x32xf32>, tensor<4x32xf32>) -> tensor<12x4xf32>
  return %loss, %dw, %dx : tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>
}

// The gradient of a token depends on all losses: logits are computed again.

// CHECK-LABEL: func.func @all_tokens(
// CHECK-NOT:     12x32xf32
// CHECK:         %[[FIRST:.*]]:3 = "stablehlo.while"
// CHECK:           "stablehlo.dot_general"
// CHECK-NOT:       "stablehlo.dot_general"
// CHECK:         }) {act.sliced}
// CHECK:         %[[LOSS:.*]] = "stablehlo.reduce"(%[[FIRST]]#2,
// CHECK:         %[[SECOND:.*]]:3 = "stablehlo.while"
// CHECK:           "stablehlo.dot_general"({{.*}} -> tensor<4x32xf32>
// CHECK:           "stablehlo.broadcast_in_dim"(%[[LOSS]])
// CHECK:           "stablehlo.dynamic_slice"(%[[FIRST]]#1,
// CHECK:           "stablehlo.dot_general"
// CHECK:           "stablehlo.dot_general"
// CHECK:         }) {act.sliced}
// CHECK-NOT:     12x32xf32
// CHECK:         return %[[LOSS]], %[[SECOND]]#2, %[[SECOND]]#1
func.func @all_tokens(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %logits = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  %max = "stablehlo.reduce"(%logits, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %maxes = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %shifted = "stablehlo.subtract"(%logits, %maxes) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %log = "stablehlo.log"(%sum) : (tensor<12xf32>) -> tensor<12xf32>
  %losses = "stablehlo.multiply"(%log, %weights) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %all = "stablehlo.broadcast_in_dim"(%loss) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
  %weight = "stablehlo.divide"(%weights, %all) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %g = "stablehlo.divide"(%weight, %sum) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %gs = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %d = "stablehlo.multiply"(%e, %gs) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %dw = "stablehlo.dot_general"(%x, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  %dx = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<12x32xf32>, tensor<4x32xf32>) -> tensor<12x4xf32>
  return %loss, %dw, %dx : tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>
}

// Without a maximum it could be cut along classes too, in two loops and with
// sums that have other bits: tokens are preferred, though there are fewer.

// CHECK-LABEL: func.func @fewer_tokens(
// CHECK:         "stablehlo.while"
// CHECK:           "stablehlo.dot_general"({{.*}}(tensor<4x4xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
// CHECK:         }) {act.sliced}
// CHECK-NOT:     "stablehlo.while"
// CHECK:         return
func.func @fewer_tokens(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %logits = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  %e = "stablehlo.exponential"(%logits) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %log = "stablehlo.log"(%sum) : (tensor<12xf32>) -> tensor<12xf32>
  %losses = "stablehlo.multiply"(%log, %weights) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %g = "stablehlo.divide"(%weights, %sum) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %gs = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %d = "stablehlo.multiply"(%e, %gs) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %dw = "stablehlo.dot_general"(%x, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  %dx = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<12x32xf32>, tensor<4x32xf32>) -> tensor<12x4xf32>
  return %loss, %dw, %dx : tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>
}

// Private functions are not steps.

// CHECK-LABEL: func.func private @helper(
// CHECK-NOT:     act.sliced
func.func private @helper(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %logits = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<4x32xf32>) -> tensor<12x32xf32>
  %max = "stablehlo.reduce"(%logits, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %maxes = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %shifted = "stablehlo.subtract"(%logits, %maxes) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<12x32xf32>) -> tensor<12x32xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12x32xf32>, tensor<f32>) -> tensor<12xf32>
  %log = "stablehlo.log"(%sum) : (tensor<12xf32>) -> tensor<12xf32>
  %losses = "stablehlo.multiply"(%log, %weights) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %loss = "stablehlo.reduce"(%losses, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %g = "stablehlo.divide"(%weights, %sum) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %gs = "stablehlo.broadcast_in_dim"(%g) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xf32>) -> tensor<12x32xf32>
  %d = "stablehlo.multiply"(%e, %gs) : (tensor<12x32xf32>, tensor<12x32xf32>) -> tensor<12x32xf32>
  %dw = "stablehlo.dot_general"(%x, %d) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<12x4xf32>, tensor<12x32xf32>) -> tensor<4x32xf32>
  %dx = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<12x32xf32>, tensor<4x32xf32>) -> tensor<12x4xf32>
  return %loss, %dw, %dx : tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>
}

// Attention along sequences: no sums. Backward computes the scores again.

// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     tensor<2x8x8xf32>
// CHECK:         %[[FIRST:.*]]:2 = "stablehlo.while"
// CHECK:           "stablehlo.dot_general"({{.*}} -> tensor<1x8x8xf32>
// CHECK:           %[[O:.*]] = "stablehlo.dot_general"({{.*}} -> tensor<1x8x4xf32>
// CHECK:           "stablehlo.dynamic_update_slice"(%{{.*}}, %[[O]],
// CHECK-NOT:       dynamic_update_slice
// CHECK:         }) {act.sliced}
// CHECK:         "stablehlo.dot_general"(%[[FIRST]]#1, %{{.*}})
// CHECK:         %[[SECOND:.*]]:4 = "stablehlo.while"
// CHECK-NOT:       "stablehlo.add"(%{{.*}}tensor<2x8x4xf32>
// CHECK:           "stablehlo.exponential"
// CHECK-COUNT-3:   "stablehlo.dynamic_update_slice"
// CHECK:         }) {act.sliced}
// CHECK-NOT:     tensor<2x8x8xf32>
// CHECK:         return %{{.*}}, %[[SECOND]]#2, %[[SECOND]]#3, %[[SECOND]]#1
func.func @heads(%x: tensor<2x8x4xf32>, %w: tensor<4x4xf32>, %p: tensor<4x4xf32>) -> (tensor<f32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %q = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %k = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %v = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %scores = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %max = "stablehlo.reduce"(%scores, %low) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %maxes = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %shifted = "stablehlo.subtract"(%scores, %maxes) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %sums = "stablehlo.broadcast_in_dim"(%sum) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %weights = "stablehlo.divide"(%e, %sums) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %o = "stablehlo.dot_general"(%weights, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = "stablehlo.dot_general"(%o, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %loss = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x4xf32>, tensor<f32>) -> tensor<f32>
  %do = "stablehlo.dot_general"(%y, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x8x4xf32>, tensor<4x4xf32>) -> tensor<2x8x4xf32>
  %dv = "stablehlo.dot_general"(%weights, %do) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dweights = "stablehlo.dot_general"(%do, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<2x8x4xf32>, tensor<2x8x4xf32>) -> tensor<2x8x8xf32>
  %product = "stablehlo.multiply"(%dweights, %weights) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %row = "stablehlo.reduce"(%product, %zero) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<2x8x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %rows = "stablehlo.broadcast_in_dim"(%row) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x8xf32>) -> tensor<2x8x8xf32>
  %difference = "stablehlo.subtract"(%dweights, %rows) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %dscores = "stablehlo.multiply"(%difference, %weights) : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %dq = "stablehlo.dot_general"(%dscores, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %dk = "stablehlo.dot_general"(%dscores, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<2x8x8xf32>, tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %loss, %dq, %dk, %dv : tensor<f32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>, tensor<2x8x4xf32>
}

// One head of one sequence: along queries, with sums of the gradients of keys
// and values.

// CHECK-LABEL: func.func @queries(
// CHECK-NOT:     tensor<1x8x8xf32>
// CHECK:         "stablehlo.while"
// CHECK:           "stablehlo.dot_general"({{.*}} -> tensor<1x4x8xf32>
// CHECK:         }) {act.sliced}
// CHECK:         "stablehlo.while"
// CHECK:           %[[DV:.*]] = "stablehlo.dot_general"({{.*}}(tensor<1x4x8xf32>, tensor<1x4x4xf32>) -> tensor<1x8x4xf32>
// CHECK:           "stablehlo.add"(%{{.*}}, %[[DV]])
// CHECK:           %[[DK:.*]] = "stablehlo.dot_general"({{.*}}(tensor<1x4x8xf32>, tensor<1x4x4xf32>) -> tensor<1x8x4xf32>
// CHECK:           "stablehlo.add"(%{{.*}}, %[[DK]])
// CHECK:         }) {act.sliced}
// CHECK-NOT:     tensor<1x8x8xf32>
// CHECK:         return
func.func @queries(%x: tensor<1x8x4xf32>, %w: tensor<4x4xf32>, %p: tensor<4x4xf32>) -> (tensor<f32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %q = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4xf32>
  %k = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4xf32>
  %v = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4xf32>
  %scores = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x8xf32>
  %max = "stablehlo.reduce"(%scores, %low) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %maxes = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xf32>) -> tensor<1x8x8xf32>
  %shifted = "stablehlo.subtract"(%scores, %maxes) : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %sums = "stablehlo.broadcast_in_dim"(%sum) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xf32>) -> tensor<1x8x8xf32>
  %weights = "stablehlo.divide"(%e, %sums) : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %o = "stablehlo.dot_general"(%weights, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %y = "stablehlo.dot_general"(%o, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>}> : (tensor<1x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4xf32>
  %loss = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x8x4xf32>, tensor<f32>) -> tensor<f32>
  %do = "stablehlo.dot_general"(%y, %p) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x8x4xf32>, tensor<4x4xf32>) -> tensor<1x8x4xf32>
  %dv = "stablehlo.dot_general"(%weights, %do) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %dweights = "stablehlo.dot_general"(%do, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<1x8x4xf32>, tensor<1x8x4xf32>) -> tensor<1x8x8xf32>
  %product = "stablehlo.multiply"(%dweights, %weights) : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %row = "stablehlo.reduce"(%product, %zero) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<1x8x8xf32>, tensor<f32>) -> tensor<1x8xf32>
  %rows = "stablehlo.broadcast_in_dim"(%row) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x8xf32>) -> tensor<1x8x8xf32>
  %difference = "stablehlo.subtract"(%dweights, %rows) : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %dscores = "stablehlo.multiply"(%difference, %weights) : (tensor<1x8x8xf32>, tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %dq = "stablehlo.dot_general"(%dscores, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  %dk = "stablehlo.dot_general"(%dscores, %q) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<1x8x8xf32>, tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %loss, %dq, %dk, %dv : tensor<f32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>, tensor<1x8x4xf32>
}

// A layer: forward as it is, backward in parts.

// CHECK-LABEL: func.func @layer(
// CHECK:         "stablehlo.tanh"({{.*}} : (tensor<16x32xf32>) -> tensor<16x32xf32>
// CHECK-NOT:     -> tensor<16x32xf32>
// CHECK:         "stablehlo.while"
// CHECK:           "stablehlo.tanh"({{.*}} : (tensor<16x8xf32>)
// CHECK:         }) {act.sliced}
// CHECK:         return
func.func @layer(%x: tensor<16x4xf32>, %up: tensor<4x32xf32>, %down: tensor<32x4xf32>, %next: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<32x4xf32>, tensor<16x4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %z = "stablehlo.dot_general"(%x, %up) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x4xf32>, tensor<4x32xf32>) -> tensor<16x32xf32>
  %t = "stablehlo.tanh"(%z) : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %y = "stablehlo.dot_general"(%t, %down) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x32xf32>, tensor<32x4xf32>) -> tensor<16x4xf32>
  %out = "stablehlo.dot_general"(%y, %next) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %loss = "stablehlo.reduce"(%out, %zero) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%c) : (tensor<f32>) -> ()
  }) : (tensor<16x4xf32>, tensor<f32>) -> tensor<f32>
  %dy = "stablehlo.dot_general"(%out, %next) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %ddown = "stablehlo.dot_general"(%t, %dy) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<16x32xf32>, tensor<16x4xf32>) -> tensor<32x4xf32>
  %dt = "stablehlo.dot_general"(%dy, %down) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x4xf32>, tensor<32x4xf32>) -> tensor<16x32xf32>
  %tt = "stablehlo.multiply"(%t, %t) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %dz0 = "stablehlo.multiply"(%dt, %tt) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %dz = "stablehlo.subtract"(%dt, %dz0) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %dup = "stablehlo.dot_general"(%x, %dz) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<16x4xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %dx = "stablehlo.dot_general"(%dz, %up) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<16x32xf32>, tensor<4x32xf32>) -> tensor<16x4xf32>
  return %loss, %dup, %ddown, %dx : tensor<f32>, tensor<4x32xf32>, tensor<32x4xf32>, tensor<16x4xf32>
}
