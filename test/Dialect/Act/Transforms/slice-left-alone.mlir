// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0 chunk=64}))" --remarks-filter=act --remark-format=emitRemark 2>&1 | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-slice{min-bytes=0}))" --remarks-filter=act --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=CALL

// What cannot be cut is left alone, and said.

// CHECK: [Missed] Slice | Category:act | {{.*}}"loss head"{{.*}}'stablehlo.dot_general' of type tensor<12x32xf32>{{.*}}is not longer than chunk
// CHECK-LABEL: func.func @short(
// CHECK-NOT: act.sliced
func.func @short(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
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

// CALL: [Missed] Slice | Category:act | {{.*}}"loss head"{{.*}}'stablehlo.custom_call' of type tensor<12x32xf32>
// CALL-LABEL: func.func @unknown(
// CALL-NOT: act.sliced
func.func @unknown(%x: tensor<12x4xf32>, %w: tensor<4x32xf32>, %weights: tensor<12xf32>) -> (tensor<f32>, tensor<4x32xf32>, tensor<12x4xf32>) {
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
  %e = "stablehlo.custom_call"(%shifted) <{call_target_name = "f"}> : (tensor<12x32xf32>) -> tensor<12x32xf32>
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
