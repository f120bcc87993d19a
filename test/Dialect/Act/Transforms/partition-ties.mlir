// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

!t = tensor<128x128xf32>
!s = tensor<128xf32>
!f = tensor<f32>
!huge = tensor<10001x10000xf32>

// R3: a load is tied to the largest cotangent that its user reads.

// CHECK-LABEL: func.func @own(
// CHECK:         %[[Y:.*]] = "stablehlo.dot"(%{{.*}}#0
// CHECK-NEXT:    %[[SMALL:.*]] = "stablehlo.slice"(%[[Y]])
// CHECK-NEXT:    %[[LARGE:.*]] = "stablehlo.negate"(%[[Y]])
// CHECK-NEXT:    %[[NEWEST:.*]] = "stablehlo.abs"(%[[Y]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[LARGE]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    "stablehlo.concatenate"(%[[SMALL]], %[[L]], %[[B]]#1)
func.func @own(%x: !t, %w: !t) -> (!t, tensor<320x128xf32>, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %small = "stablehlo.slice"(%y) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 128>, strides = array<i64: 1, 1>}> : (!t) -> tensor<64x128xf32>
  %large = "stablehlo.negate"(%y) : (!t) -> !t
  %newest = "stablehlo.abs"(%y) : (!t) -> !t
  %d = "stablehlo.concatenate"(%small, %z, %large) <{dimension = 0 : i64}> : (tensor<64x128xf32>, !t, !t) -> tensor<320x128xf32>
  return %y, %d, %newest : !t, tensor<320x128xf32>, !t
}

// R3: if its user reads none, to the newest of at least 16384 elements that is
// still used. %dead is not, %small is smaller; %g is tied to, and its later uses
// take what the barrier returns.

// CHECK-LABEL: func.func @newest(
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[DEAD:.*]] = "stablehlo.abs"
// CHECK-NEXT:    %[[SMALL:.*]] = "stablehlo.slice"(%[[DEAD]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[COS:.*]] = "stablehlo.cosine"(%[[L]])
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.multiply"(%[[COS]], %[[B]]#1)
// CHECK-NEXT:    return %{{.*}}, %[[D]], %[[SMALL]]
func.func @newest(%x: !t, %w: !t) -> (!t, !t, tensor<64x128xf32>) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dead = "stablehlo.abs"(%y) : (!t) -> !t
  %small = "stablehlo.slice"(%dead) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 64, 128>, strides = array<i64: 1, 1>}> : (!t) -> tensor<64x128xf32>
  %c = "stablehlo.cosine"(%z) : (!t) -> !t
  %d = "stablehlo.multiply"(%c, %g) : (!t, !t) -> !t
  return %y, %d, %small : !t, !t, tensor<64x128xf32>
}

// R3: a cotangent of more than 1e8 elements would be materialised: %g is passed
// over for the smaller %good, which is older.

// CHECK-LABEL: func.func @huge(
// CHECK:         %[[GOOD:.*]] = "stablehlo.slice"
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[GOOD]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[COS:.*]] = "stablehlo.cosine"(%[[L]])
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[COS]], %[[G]])
// CHECK-NEXT:    return %{{.*}}, %[[D]], %[[B]]#1
func.func @huge(%x: tensor<10000x1000xf32>, %w: tensor<1000x1000xf32>, %v: tensor<1000x10001xf32>) -> (!huge, tensor<1000x10000xf32>, !t) {
  %z = "stablehlo.dot"(%x, %w) : (tensor<10000x1000xf32>, tensor<1000x1000xf32>) -> tensor<10000x1000xf32>
  %y = "stablehlo.dot"(%z, %v) : (tensor<10000x1000xf32>, tensor<1000x10001xf32>) -> !huge
  %good = "stablehlo.slice"(%y) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 128, 128>, strides = array<i64: 1, 1>}> : (!huge) -> !t
  %g = "stablehlo.negate"(%y) : (!huge) -> !huge
  %c = "stablehlo.cosine"(%z) : (tensor<10000x1000xf32>) -> tensor<10000x1000xf32>
  %d = "stablehlo.dot"(%c, %g) : (tensor<10000x1000xf32>, !huge) -> tensor<1000x10000xf32>
  return %y, %d, %good : !huge, tensor<1000x10000xf32>, !t
}

// The same for one that the user of the load reads itself.

// CHECK-LABEL: func.func @own_huge(
// CHECK:         %[[GOOD:.*]] = "stablehlo.slice"
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[GOOD]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[L]], %[[G]])
// CHECK-NEXT:    return %{{.*}}, %[[D]], %[[B]]#1
func.func @own_huge(%x: tensor<10000x1000xf32>, %w: tensor<1000x1000xf32>, %v: tensor<1000x10001xf32>) -> (!huge, tensor<1000x10000xf32>, !t) {
  %z = "stablehlo.dot"(%x, %w) : (tensor<10000x1000xf32>, tensor<1000x1000xf32>) -> tensor<10000x1000xf32>
  %y = "stablehlo.dot"(%z, %v) : (tensor<10000x1000xf32>, tensor<1000x10001xf32>) -> !huge
  %good = "stablehlo.slice"(%y) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 128, 128>, strides = array<i64: 1, 1>}> : (!huge) -> !t
  %g = "stablehlo.negate"(%y) : (!huge) -> !huge
  %d = "stablehlo.dot"(%z, %g) : (tensor<10000x1000xf32>, !huge) -> tensor<1000x10000xf32>
  return %y, %d, %good : !huge, tensor<1000x10000xf32>, !t
}

// R3: if there is none of a good size, the one that the user reads: a huge one is
// better than none. (%small is newer, but read by others only.)

// CHECK-LABEL: func.func @own_huge_only(
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[SMALL:.*]] = "stablehlo.slice"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[L]], %[[B]]#1)
// CHECK-NEXT:    return %{{.*}}, %[[D]], %[[SMALL]]
func.func @own_huge_only(%x: tensor<10000x1000xf32>, %w: tensor<1000x1000xf32>, %v: tensor<1000x10001xf32>) -> (!huge, tensor<1000x10000xf32>, !s) {
  %z = "stablehlo.dot"(%x, %w) : (tensor<10000x1000xf32>, tensor<1000x1000xf32>) -> tensor<10000x1000xf32>
  %y = "stablehlo.dot"(%z, %v) : (tensor<10000x1000xf32>, tensor<1000x10001xf32>) -> !huge
  %g = "stablehlo.negate"(%y) : (!huge) -> !huge
  %small = "stablehlo.slice"(%y) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 128>, strides = array<i64: 1, 1>}> : (!huge) -> !s
  %d = "stablehlo.dot"(%z, %g) : (tensor<10000x1000xf32>, !huge) -> tensor<1000x10000xf32>
  return %y, %d, %small : !huge, tensor<1000x10000xf32>, !s
}

// R3: else the newest of any size with more than one element, else a scalar.

// CHECK-LABEL: func.func @small(
// CHECK:         %[[SMALL:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[SCALAR:.*]] = "stablehlo.slice"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[SMALL]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[COS:.*]] = "stablehlo.cosine"(%[[L]])
// CHECK-NEXT:    return %{{.*}}, %[[COS]], %[[B]]#1, %[[SCALAR]]
func.func @small(%x: !t, %w: !t, %v: !s) -> (!s, !t, !s, tensor<1xf32>) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %v) : (!t, !s) -> !s
  %small = "stablehlo.negate"(%y) : (!s) -> !s
  %scalar = "stablehlo.slice"(%y) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (!s) -> tensor<1xf32>
  %c = "stablehlo.cosine"(%z) : (!t) -> !t
  return %y, %c, %small, %scalar : !s, !t, !s, tensor<1xf32>
}

// CHECK-LABEL: func.func @scalar(
// CHECK:         %[[SCALAR:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[SCALAR]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[COS:.*]] = "stablehlo.cosine"(%[[L]])
// CHECK-NEXT:    return %{{.*}}, %[[COS]], %[[B]]#1
func.func @scalar(%x: !t, %w: !t, %v: !t) -> (!f, !t, !f) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot_general"(%z, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (!t, !t) -> !f
  %g = "stablehlo.negate"(%y) : (!f) -> !f
  %c = "stablehlo.cosine"(%z) : (!t) -> !t
  return %y, %c, %g : !f, !t, !f
}

// Only what depends on forward or on a tie is late. The cotangent of a mean, a
// repeated constant, exists from the start: a barrier on it would hold nothing
// back. So the first load is free and the second waits for what was made of it.

// CHECK-LABEL: func.func @late(
// CHECK:         %[[ONES:.*]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:    %[[TWO:.*]] = "stablehlo.add"(%[[ONES]],
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.multiply"(%[[L]], %[[TWO]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[L2:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    "stablehlo.clamp"(%[[TWO]], %[[L2]], %[[B]]#1)
func.func @late(%x: !t, %w: !t) -> (!t, !t) {
  %one = "stablehlo.constant"() <{value = dense<1.0> : !f}> : () -> !f
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b = "stablehlo.dot"(%a, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%b, %w) : (!t, !t) -> !t
  %ones = "stablehlo.broadcast_in_dim"(%one) <{broadcast_dimensions = array<i64>}> : (!f) -> !t
  %two = "stablehlo.add"(%ones, %x) : (!t, !t) -> !t
  %g = "stablehlo.multiply"(%b, %two) : (!t, !t) -> !t
  %d = "stablehlo.clamp"(%two, %a, %g) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// What reads a value of the head is late.

// CHECK-LABEL: func.func @late_head(
// CHECK:         %[[Y:.*]] = "stablehlo.dot"(%{{.*}}#0
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"(%[[Y]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
func.func @late_head(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%z, %g) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// R1: a small raw survivor (128 elements) is tied like any other.

// CHECK-LABEL: func.func @small_survivor(
// CHECK:         act.compressed_save %{{.*}} exact <statistic> {{.*}}: tensor<128xf32>
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:3 = act.barrier %{{.*}}#1, %{{.*}}#1, %[[G]]
// CHECK-NEXT:    act.dequantize_load %[[B]]#0 : <tensor<128x128xf32>
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#1 : <tensor<128xf32>
// CHECK-NEXT:    "stablehlo.broadcast_in_dim"(%[[L]])
func.func @small_survivor(%x: !t, %w: !t) -> (!t, !t) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %r = "stablehlo.reduce"(%z, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%p: !f, %q: !f):
    %sum = "stablehlo.add"(%p, %q) : (!f, !f) -> !f
    "stablehlo.return"(%sum) : (!f) -> ()
  }) : (!t, !f) -> !s
  %b = "stablehlo.broadcast_in_dim"(%r) <{broadcast_dimensions = array<i64: 0>}> : (!s) -> !t
  %y = "stablehlo.dot"(%z, %b) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%z, %g, %b) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// R2: a clone that no load holds back has its smallest operand tied, here an
// argument; else the compiler finds it equal to forward's and keeps that. What
// follows it (%n) needs no tie of its own.

// CHECK-LABEL: func.func @arguments(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>, %[[W:.*]]: tensor<128x128xf32>, %[[P:.*]]: tensor<f32>)
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:3 = act.barrier %{{.*}}#1, %[[P]], %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[PAD:.*]] = "stablehlo.pad"(%[[X]], %[[B]]#1)
// CHECK-NEXT:    %[[SIN:.*]] = "stablehlo.sine"(%[[PAD]])
// CHECK-NEXT:    "stablehlo.clamp"(%[[L]], %[[B]]#2, %[[SIN]])
func.func @arguments(%x: !t, %w: !t, %p: !f) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %t = "stablehlo.pad"(%x, %p) <{edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: -1, 0>, interior_padding = array<i64: 0, 0>}> : (!t, !f) -> !t
  %n = "stablehlo.sine"(%t) : (!t) -> !t
  %y = "stablehlo.dot"(%z, %n) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%z, %g, %n) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// R2: the same for a clone made of constants only.

// CHECK-LABEL: func.func @constants_only(
// CHECK:         %[[TWO:.*]] = "stablehlo.constant"
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:3 = act.barrier %[[TWO]], %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[TWOS:.*]] = "stablehlo.broadcast_in_dim"(%[[B]]#0)
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#1
// CHECK-NEXT:    "stablehlo.clamp"(%[[L]], %[[B]]#2, %[[TWOS]])
func.func @constants_only(%x: !t, %w: !t) -> (!t, !t) {
  %two = "stablehlo.constant"() <{value = dense<2.0> : !f}> : () -> !f
  %twos = "stablehlo.broadcast_in_dim"(%two) <{broadcast_dimensions = array<i64>}> : (!f) -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %twos) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%z, %g, %twos) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// A scalar cannot pass a barrier: what is made of scalars only is made again
// without a tie.

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME:    %[[S:[^:, ]+]]: f32)
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[N:.*]] = tensor.splat %[[S]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    "stablehlo.clamp"(%[[L]], %[[B]]#1, %[[N]])
func.func @scalars(%x: !t, %w: !t, %f: f32) -> (!t, !t) {
  %n = tensor.splat %f : !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %n) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%z, %g, %n) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}
