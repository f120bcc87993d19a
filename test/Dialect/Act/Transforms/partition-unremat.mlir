// What a framework computes again behind an `optimization_barrier`
// (`jax.checkpoint`), as it is and undone.

// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,REMAT
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{unremat},act-verify-partition))' --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefixes=CHECK,UNREMAT

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// As it is, nothing crosses: backward makes %z again from arguments. Undone, %z1 is
// %z, which is saved, and backward has one product less.

// CHECK-LABEL:  func.func @checkpoint(
// REMAT-NOT:      act.
// REMAT:          "stablehlo.optimization_barrier"
// REMAT-NEXT:     "stablehlo.dot"
// REMAT-NOT:      act.
// UNREMAT:        %[[Z:.*]] = "stablehlo.dot"
// UNREMAT-NEXT:   act.compressed_save %[[Z]]
// UNREMAT-NOT:    "stablehlo.optimization_barrier"
// UNREMAT:        "stablehlo.negate"
// UNREMAT-NEXT:   %[[B:.*]]:2 = act.barrier
// UNREMAT-NEXT:   %[[L:.*]] = act.dequantize_load %[[B]]#0
// UNREMAT-NEXT:   %[[S:.*]] = "stablehlo.sine"(%[[L]])
// UNREMAT-NEXT:   "stablehlo.dot"(%[[S]], %[[B]]#1)
// UNREMAT-NEXT:   "stablehlo.dot"(%[[B]]#1,
// UNREMAT-NOT:    "stablehlo.dot"
// CHECK:          return %
func.func @checkpoint(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %b:3 = "stablehlo.optimization_barrier"(%x, %w, %g) : (!t, !t, !t) -> (!t, !t, !t)
  %z1 = "stablehlo.dot"(%b#0, %b#1) : (!t, !t) -> !t
  %s1 = "stablehlo.sine"(%z1) : (!t) -> !t
  %dv = "stablehlo.dot"(%s1, %b#2) : (!t, !t) -> !t
  %ds = "stablehlo.dot"(%b#2, %v) : (!t, !t) -> !t
  %cos = "stablehlo.cosine"(%z1) : (!t) -> !t
  %dz = "stablehlo.multiply"(%ds, %cos) : (!t, !t) -> !t
  return %y, %dv, %dz : !t, !t, !t
}

// Backward also computes a factor, %k, that forward does not have and that depends
// on no cotangent. It becomes a part of forward, in front of the head, and its
// location does not say backward any more.

// CHECK-LABEL:  func.func @factor(
// REMAT:          act.dequantize_load
// REMAT-NEXT:     "stablehlo.optimization_barrier"
// REMAT-NEXT:     "stablehlo.cosine"
// REMAT-NEXT:     "stablehlo.dot"{{.*}} loc("jit(f)/transpose(jvp())/checkpoint/dot")
// UNREMAT:        "stablehlo.sine"
// UNREMAT-NEXT:   "stablehlo.cosine"
// UNREMAT-NEXT:   %[[K:.*]] = "stablehlo.dot"
// UNREMAT-NOT:    transpose(
// UNREMAT-NEXT:   act.compressed_save %[[K]]
// UNREMAT-NEXT:   act.barrier
// UNREMAT-NEXT:   %[[Y:.*]] = "stablehlo.dot"
// UNREMAT-NEXT:   %[[G:.*]] = "stablehlo.negate"(%[[Y]])
// UNREMAT-NEXT:   %[[B:.*]]:2 = act.barrier %{{.*}}, %[[G]]
// UNREMAT-NEXT:   %[[L:.*]] = act.dequantize_load %[[B]]#0
// UNREMAT-NEXT:   "stablehlo.multiply"(%[[B]]#1, %[[L]])
// CHECK:          return %
func.func @factor(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %b:2 = "stablehlo.optimization_barrier"(%z, %g) : (!t, !t) -> (!t, !t)
  %cos = "stablehlo.cosine"(%b#0) : (!t) -> !t loc("jit(f)/transpose(jvp())/checkpoint/cos")
  %k = "stablehlo.dot"(%cos, %w) : (!t, !t) -> !t loc("jit(f)/transpose(jvp())/checkpoint/dot")
  %dz = "stablehlo.multiply"(%b#1, %k) : (!t, !t) -> !t
  return %y, %dz : !t, !t
}

// Barriers of forward stay: they are not there to hold recomputation apart.

// CHECK-LABEL:  func.func @forward_barrier(
// CHECK:          "stablehlo.optimization_barrier"
// CHECK:          return %
func.func @forward_barrier(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b:2 = "stablehlo.optimization_barrier"(%z, %w) : (!t, !t) -> (!t, !t)
  %y = "stablehlo.dot"(%b#0, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.dot"(%z, %g) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// A loop whose body is a checkpoint: what it carries is stacked, the rest computed
// again. Undone, the factor %cos is saved instead of %h, and backward has one product
// less.

// CHECK-LABEL:  func.func @loop(
// CHECK:          act.empty_stack
// CHECK-NOT:      act.empty_stack
// CHECK:          "stablehlo.while"
// CHECK:            "stablehlo.return"
// CHECK:          ^bb0(%[[I:[^:]*]]: tensor<i32> {{.*}}, %[[H:[^:]*]]: tensor<128x128xf32>
// REMAT-NEXT:       act.compressed_save %[[H]]
// UNREMAT-NEXT:     %[[Z:.*]] = "stablehlo.dot"(%[[H]],
// UNREMAT:          %[[COS:.*]] = "stablehlo.cosine"(%[[Z]])
// UNREMAT-NEXT:     act.compressed_save %[[COS]]
// CHECK-NOT:        act.compressed_save
// CHECK:          "stablehlo.while"
// CHECK:            act.stack_read
// CHECK-NEXT:       %[[BL:.*]]:2 = act.barrier
// CHECK-NEXT:       %[[L:.*]] = act.dequantize_load
// REMAT-NEXT:       %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%[[L]],
// REMAT-NEXT:       %[[Z:.*]] = "stablehlo.dot"(%[[B]]#0,
// REMAT-NEXT:       "stablehlo.cosine"(%[[Z]])
// UNREMAT-NEXT:     "stablehlo.multiply"(%[[L]], %[[BL]]#1)
// UNREMAT-NEXT:     "stablehlo.dot"
// UNREMAT-NOT:      "stablehlo.dot"
// CHECK:          return %
func.func @loop(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:3 = "stablehlo.while"(%c0, %x, %zeros) ({
  ^bb0(%i: !i, %h: !t, %hs: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %hs: !s):
    %z = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %y = "stablehlo.sine"(%z) : (!t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %o:2 = "stablehlo.optimization_barrier"(%h, %g) : (!t, !t) -> (!t, !t)
    %z = "stablehlo.dot"(%o#0, %w) : (!t, !t) -> !t
    %cos = "stablehlo.cosine"(%z) : (!t) -> !t
    %dz = "stablehlo.multiply"(%cos, %o#1) : (!t, !t) -> !t
    %g1 = "stablehlo.dot"(%dz, %w) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %b#1 : !t, !t
}

// `reduce_precision` to the precision that a value has, JAX's mark of what a
// checkpoint policy saves, is the same value: it is saved once. To a lower one it
// is another, which is computed again.

// CHECK-LABEL:  func.func @precision(
// CHECK:          %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:     act.compressed_save %[[Z]]
// CHECK-NOT:      act.compressed_save
// CHECK:          "stablehlo.negate"
// CHECK:          %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:     %[[H:.*]] = "stablehlo.reduce_precision"(%[[L]]) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}>
// CHECK-NEXT:     "stablehlo.clamp"(%[[L]], %{{.*}}, %[[H]])
// CHECK:          return %
func.func @precision(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %r = "stablehlo.reduce_precision"(%z) <{exponent_bits = 8 : i32, mantissa_bits = 23 : i32}> : (!t) -> !t
  %h = "stablehlo.reduce_precision"(%z) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (!t) -> !t
  %m = "stablehlo.clamp"(%z, %h, %r) : (!t, !t, !t) -> !t
  %y = "stablehlo.dot"(%m, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%r, %g, %h) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}
