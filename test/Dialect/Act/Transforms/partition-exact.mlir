// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,LOSSY
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{bits=0},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,BITS0

!f = tensor<f32>
!t = tensor<128x128xf32>
!i = tensor<128x128xi32>
!p = tensor<128x128xi1>
!m = tensor<16384x16xf32>
!r = tensor<16384xf32>

// A reduction over axes is a statistic, however many elements it has, and so is a
// function of statistics and constants that does not grow. What depends on
// something else (%u) is an activation, and so is what repeats a statistic (%b).

// CHECK-LABEL: func.func @statistics(
// CHECK:         %[[R:.*]] = "stablehlo.reduce"
// CHECK:         act.compressed_save %[[R]] exact <statistic>
// CHECK:         %[[Q:.*]] = "stablehlo.rsqrt"
// CHECK-NEXT:    act.compressed_save %[[Q]] exact <statistic>
// CHECK:         %[[U:.*]] = "stablehlo.power"
// CHECK-NEXT:    act.compressed_save %[[U]] {id = {{[0-9]+}} : i64} :
// CHECK:         return
func.func @statistics(%x: !m, %w: tensor<16x16xf32>, %v: tensor<16xf32>) -> (!m, !r, !r, !r) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %two = "stablehlo.constant"() <{value = dense<2.0> : !r}> : () -> !r
  %z = "stablehlo.dot"(%x, %w) : (!m, tensor<16x16xf32>) -> !m
  %o = "stablehlo.dot"(%x, %v) : (!m, tensor<16xf32>) -> !r
  %r = "stablehlo.reduce"(%z, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: !f, %c: !f):
    %sum = "stablehlo.add"(%a, %c) : (!f, !f) -> !f
    "stablehlo.return"(%sum) : (!f) -> ()
  }) : (!m, !f) -> !r
  %s = "stablehlo.reduce"(%z, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: !f, %c: !f):
    %max = "stablehlo.maximum"(%a, %c) : (!f, !f) -> !f
    "stablehlo.return"(%max) : (!f) -> ()
  }) : (!m, !f) -> !r
  %scaled = "stablehlo.multiply"(%s, %two) : (!r, !r) -> !r
  %q = "stablehlo.rsqrt"(%scaled) : (!r) -> !r
  %u = "stablehlo.power"(%o, %s) : (!r, !r) -> !r
  %y = "stablehlo.dot"(%z, %w) : (!m, tensor<16x16xf32>) -> !m
  %g = "stablehlo.dot"(%y, %v) : (!m, tensor<16xf32>) -> !r
  %d0 = "stablehlo.multiply"(%r, %g) : (!r, !r) -> !r
  %d1 = "stablehlo.multiply"(%q, %g) : (!r, !r) -> !r
  %d2 = "stablehlo.multiply"(%u, %g) : (!r, !r) -> !r
  return %y, %d0, %d1, %d2 : !m, !r, !r, !r
}

// A value that repeats a statistic is none. (It is returned, so it is saved
// although it could be computed again from one.)

// CHECK-LABEL: func.func @repeated_statistic(
// CHECK:         %[[B:.*]] = "stablehlo.broadcast_in_dim"
// CHECK-NEXT:    act.compressed_save %[[B]] :
// CHECK:         return
func.func @repeated_statistic(%x: !t, %w: !t) -> (!t, !t, !t) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %r = "stablehlo.reduce"(%z, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: !f, %c: !f):
    %sum = "stablehlo.add"(%a, %c) : (!f, !f) -> !f
    "stablehlo.return"(%sum) : (!f) -> ()
  }) : (!t, !f) -> tensor<128xf32>
  %b = "stablehlo.broadcast_in_dim"(%r) <{broadcast_dimensions = array<i64: 0>}> : (tensor<128xf32>) -> !t
  %y = "stablehlo.dot"(%b, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%b, %g) : (!t, !t) -> !t
  return %y, %d, %b : !t, !t, !t
}

// A reduction over windows keeps its axes: its result is an activation.

// CHECK-LABEL: func.func @window_reduction(
// CHECK:         act.compressed_save %{{[^ ]+}} : tensor<128x128xf32>
// CHECK:         return
func.func @window_reduction(%x: !t, %w: !t) -> (!t, !t) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %r = "stablehlo.reduce_window"(%z, %zero) <{window_dimensions = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: !f, %c: !f):
    %max = "stablehlo.maximum"(%a, %c) : (!f, !f) -> !f
    "stablehlo.return"(%max) : (!f) -> ()
  }) : (!t, !f) -> !t
  %y = "stablehlo.dot"(%r, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%r, %g) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// A fill of -1e30 would take the whole range of a code. The property passes
// through what follows until the range is squashed.

// CHECK-LABEL: func.func @mask_fill(
// CHECK:         %[[S:.*]] = "stablehlo.select"
// CHECK-NOT:     act.compressed_save %{{[^ ]+}} :
// CHECK:         %[[M:.*]] = "stablehlo.multiply"
// CHECK-NEXT:    act.compressed_save %[[M]] exact <mask_fill>
// CHECK:         return
func.func @mask_fill(%x: !t, %w: !t, %p: !p) -> (!t, !t, !t) {
  %huge = "stablehlo.constant"() <{value = dense<-1.0e30> : !f}> : () -> !f
  %fill = "stablehlo.broadcast_in_dim"(%huge) <{broadcast_dimensions = array<i64>}> : (!f) -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.select"(%p, %z, %fill) : (!p, !t, !t) -> !t
  %m = "stablehlo.multiply"(%s, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%m, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%m, %g) : (!t, !t) -> !t
  return %y, %d, %m : !t, !t, !t
}

// CHECK-LABEL: func.func @squashed(
// CHECK:         %[[E:.*]] = "stablehlo.exponential"
// CHECK:         %[[N:.*]] = "stablehlo.negate"(%[[E]])
// CHECK-NEXT:    act.compressed_save %[[N]] :
// CHECK:         return
func.func @squashed(%x: !t, %w: !t, %p: !p) -> (!t, !t, !t) {
  %fill = "stablehlo.constant"() <{value = dense<-1.0e30> : !t}> : () -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.select"(%p, %z, %fill) : (!p, !t, !t) -> !t
  %e = "stablehlo.exponential"(%s) : (!t) -> !t
  %n = "stablehlo.negate"(%e) : (!t) -> !t
  %y = "stablehlo.dot"(%n, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%n, %g) : (!t, !t) -> !t
  return %y, %d, %n : !t, !t, !t
}

// A contraction ends it, too. 1e3 is not huge.

// CHECK-LABEL: func.func @not_huge(
// CHECK:         %[[C:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[C]] :
// CHECK:         %[[S:.*]] = "stablehlo.select"
// CHECK-NEXT:    act.compressed_save %[[S]] {id = 1 : i64} :
// CHECK:         return
func.func @not_huge(%x: !t, %w: !t, %p: !p) -> (!t, !t, !t) {
  %huge = "stablehlo.constant"() <{value = dense<-1.0e30> : !t}> : () -> !t
  %fill = "stablehlo.constant"() <{value = dense<-1.0e3> : !t}> : () -> !t
  %f = "stablehlo.select"(%p, %x, %huge) : (!p, !t, !t) -> !t
  %c = "stablehlo.dot"(%f, %w) : (!t, !t) -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.select"(%p, %z, %fill) : (!p, !t, !t) -> !t
  %y = "stablehlo.dot"(%c, %s) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%c, %g, %s) : (!t, !t, !t) -> !t
  return %y, %d, %s : !t, !t, !t
}

// What backward compares or sorts by is saved as forward had it, and exactly.

// CHECK-LABEL: func.func @ordered(
// CHECK:         %[[S:.*]] = "stablehlo.sine"
// CHECK-NEXT:    act.compressed_save %[[S]] exact <ordered> {{.*}}: tensor
// CHECK:         %[[C:.*]] = "stablehlo.cosine"
// CHECK-NEXT:    act.compressed_save %[[C]] exact <ordered> {{.*}}: tensor
// CHECK:         return
func.func @ordered(%x: !t, %w: !t) -> (!t, !p, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %c = "stablehlo.cosine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %c) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.compare"(%s, %g) : (!t, !t) -> !p
  %e:2 = "stablehlo.sort"(%c, %g) <{dimension = 0 : i64}> ({
  ^bb0(%a: !f, %b: !f, %v: !f, %u: !f):
    %lt = "stablehlo.compare"(%a, %b) : (!f, !f) -> tensor<i1>
    "stablehlo.return"(%lt) : (tensor<i1>) -> ()
  }) : (!t, !t) -> (!t, !t)
  %f = "stablehlo.multiply"(%z, %g) : (!t, !t) -> !t
  return %y, %d, %e#1, %f : !t, !p, !t, !t
}

// A comparison of floats may come out differently on a rounded value: its result
// is saved although its operand is, too. With bits=0 nothing is rounded.

// CHECK-LABEL: func.func @float_compare(
// LOSSY:         %[[P:.*]] = "stablehlo.compare"
// LOSSY-NEXT:    act.compressed_save %[[P]] exact <predicate>
// BITS0-NOT:     exact <predicate>
// BITS0:         act.dequantize_load
// BITS0:         "stablehlo.compare"
// CHECK:         return
func.func @float_compare(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %p = "stablehlo.compare"(%z, %w) : (!t, !t) -> !p
  %s = "stablehlo.select"(%p, %z, %w) : (!p, !t, !t) -> !t
  %y = "stablehlo.dot"(%s, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.select"(%p, %z, %g) : (!p, !t, !t) -> !t
  return %y, %d : !t, !t
}

// Comparisons of what comes from arguments and constants alone, and of integers,
// are computed again: their operands are what they were.

// CHECK-LABEL: func.func @exact_compare(
// CHECK:         act.compressed_save %{{.*}} exact <integer>
// CHECK-NOT:     act.compressed_save
// CHECK:         "stablehlo.negate"
// CHECK:         "stablehlo.compare"(%{{.*}}, %{{.*}}) : (tensor<128x128xf32>
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:    "stablehlo.compare"(%[[L]], %{{.*}}) : (tensor<128x128xi32>
// CHECK-NOT:     act.dequantize_load
// CHECK:         return
func.func @exact_compare(%x: !t, %w: !t, %i: !i) -> (!t, !t, !i) {
  %n = "stablehlo.sine"(%x) : (!t) -> !t
  %p = "stablehlo.compare"(%n, %w) : (!t, !t) -> !p
  %j = "stablehlo.dot"(%i, %i) : (!i, !i) -> !i
  %q = "stablehlo.compare"(%j, %i) : (!i, !i) -> !p
  %m = "stablehlo.select"(%q, %x, %w) : (!p, !t, !t) -> !t
  %y = "stablehlo.dot"(%m, %n) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %a = "stablehlo.and"(%p, %q) : (!p, !p) -> !p
  %d = "stablehlo.select"(%a, %x, %g) : (!p, !t, !t) -> !t
  %e = "stablehlo.clamp"(%i, %j, %i) : (!i, !i, !i) -> !i
  return %y, %d, %e : !t, !t, !i
}

// Floats that a loop returns may be gradients: they are exact. Small values are
// not worth an encoding, and some types have none.

// CHECK-LABEL: func.func @others(
// CHECK-DAG:     act.compressed_save %{{.*}} exact <loop_carried> {{.*}}: tensor<128x128xf32>
// CHECK-DAG:     act.compressed_save %{{.*}} exact <small> {{.*}}: tensor<127x128xf32>
// CHECK-DAG:     act.compressed_save %{{.*}} exact <unsupported> {{.*}}: tensor<128x128xcomplex<f32>>
// CHECK-DAG:     act.compressed_save %{{.*}} exact <unsupported> {{.*}}: tensor<f32>
// CHECK-DAG:     act.compressed_save %{{.*}} exact <unsupported> {{.*}}: tensor<128x128xf8E4M3FN>
// CHECK-DAG:     act.compressed_save %{{.*}} exact <unsupported> {{.*}}: tensor<?x128xf32>
// CHECK-NOT:     act.compressed_save
// CHECK:         return
func.func @others(%x: !t, %w: !t, %s: tensor<127x128xf32>, %c: tensor<128x128xcomplex<f32>>, %e: tensor<128x128xf8E4M3FN>, %d: tensor<?x128xf32>)
    -> (!t, !t, tensor<127x128xf32>, tensor<128x128xcomplex<f32>>, !f, tensor<128x128xf8E4M3FN>, tensor<?x128xf32>) {
  %l = "stablehlo.while"(%x) ({
  ^bb0(%a: !t):
    %p = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: !t):
    "stablehlo.return"(%a) : (!t) -> ()
  }) : (!t) -> !t
  %small = "stablehlo.dot"(%s, %w) : (tensor<127x128xf32>, !t) -> tensor<127x128xf32>
  %complex = "stablehlo.dot"(%c, %c) : (tensor<128x128xcomplex<f32>>, tensor<128x128xcomplex<f32>>) -> tensor<128x128xcomplex<f32>>
  %scalar = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (!t, !t) -> !f
  %f8 = "stablehlo.dot"(%e, %e) : (tensor<128x128xf8E4M3FN>, tensor<128x128xf8E4M3FN>) -> tensor<128x128xf8E4M3FN>
  %dyn = "stablehlo.dot"(%d, %w) : (tensor<?x128xf32>, !t) -> tensor<?x128xf32>
  %y = "stablehlo.dot"(%l, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d0 = "stablehlo.multiply"(%l, %g) : (!t, !t) -> !t
  %d1 = "stablehlo.negate"(%small) : (tensor<127x128xf32>) -> tensor<127x128xf32>
  %d2 = "stablehlo.negate"(%complex) : (tensor<128x128xcomplex<f32>>) -> tensor<128x128xcomplex<f32>>
  %d3 = "stablehlo.negate"(%scalar) : (!f) -> !f
  %d4 = "stablehlo.negate"(%f8) : (tensor<128x128xf8E4M3FN>) -> tensor<128x128xf8E4M3FN>
  %d5 = "stablehlo.negate"(%dyn) : (tensor<?x128xf32>) -> tensor<?x128xf32>
  return %y, %d0, %d1, %d2, %d3, %d4, %d5 : !t, !t, tensor<127x128xf32>, tensor<128x128xcomplex<f32>>, !f, tensor<128x128xf8E4M3FN>, tensor<?x128xf32>
}
