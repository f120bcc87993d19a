// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,act-report)' -o /dev/null | FileCheck %s --check-prefix=JSON

// Loops that run whole steps: each iteration has a forward and a backward part, and
// is partitioned like a function. Backward is known by JAX's locations.

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
#back = loc("jit(f)/transpose(jvp())/back")
!f = tensor<f32>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<4x128x128xf32>

// Gradient accumulation. Forward ends with the loss of the iteration, which is added
// up. Only %z is saved, one copy: neither the sums nor gradients are, and the slice
// of the data is made again.

// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME:    %[[XS:.*]]: tensor<4x128x128xf32>,
// CHECK-NOT:     act.empty_stack
// CHECK:         %[[F:.*]]:4 = "stablehlo.while"(
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[LOSS:.*]]: tensor<f32>, %[[DW:.*]]: tensor<128x128xf32>, %[[DV:.*]]: tensor<128x128xf32>):
// CHECK:           %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:      %[[C:.*]] = act.compressed_save %[[Z]]
// CHECK-NEXT:      %[[BZ:.*]]:2 = act.barrier %[[Z]], %[[C]]
// CHECK-NEXT:      "stablehlo.sine"(%[[BZ]]#0)
// CHECK-NOT:       act.compressed_save
// CHECK:           %[[L:.*]] = "stablehlo.reduce"
// CHECK:           %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:      act.barrier %[[BZ]]#1, %[[G]]
// CHECK-NEXT:      act.dequantize_load
// CHECK:           %[[DZ:.*]] = "stablehlo.multiply"
// CHECK-NEXT:      %[[BX:.*]]:2 = act.barrier %[[I]], %[[DZ]]
// CHECK-NEXT:      %[[XR:.*]] = "stablehlo.dynamic_slice"(%[[XS]], %[[BX]]#0,
// CHECK-NEXT:      %[[X:.*]] = "stablehlo.reshape"(%[[XR]])
// CHECK-NEXT:      %[[DWI:.*]] = "stablehlo.dot"(%[[X]], %[[BX]]#1)
// CHECK-NEXT:      "stablehlo.add"(%[[LOSS]], %[[L]])
// CHECK-NEXT:      "stablehlo.add"(%[[DW]], %[[DWI]])
// CHECK:         return %[[F]]#1
// JSON:      "function": "accumulate",
// JSON:      "boundaries": 1,
// JSON-NEXT: "loop_pairs": 0,
// JSON:      "raw_bytes": 65536,
// JSON:      "copies": 1,
// JSON-NOT:  "copies"
func.func @accumulate(%xs: !s, %w: !t, %v: !t) -> (!f, !t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !t}> : () -> !t
  %f:4 = "stablehlo.while"(%c0, %zero, %zeros, %zeros) ({
  ^bb0(%i: !i, %loss: !f, %dw: !t, %dv: !t):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %loss: !f, %dw: !t, %dv: !t):
    %xr = "stablehlo.dynamic_slice"(%xs, %i, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %x = "stablehlo.reshape"(%xr) : (!r) -> !t
    %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
    %s = "stablehlo.sine"(%z) : (!t) -> !t
    %y = "stablehlo.dot"(%s, %v) : (!t, !t) -> !t
    %l = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: !f, %b: !f):
      %c = "stablehlo.add"(%a, %b) : (!f, !f) -> !f
      "stablehlo.return"(%c) : (!f) -> ()
    }) : (!t, !f) -> !f
    %g = "stablehlo.negate"(%y) : (!t) -> !t loc(#back)
    %dvi = "stablehlo.dot"(%s, %g) : (!t, !t) -> !t loc(#back)
    %ds = "stablehlo.dot"(%g, %v) : (!t, !t) -> !t loc(#back)
    %cos = "stablehlo.cosine"(%z) : (!t) -> !t loc(#back)
    %dz = "stablehlo.multiply"(%ds, %cos) : (!t, !t) -> !t loc(#back)
    %dwi = "stablehlo.dot"(%x, %dz) : (!t, !t) -> !t loc(#back)
    %loss1 = "stablehlo.add"(%loss, %l) : (!f, !f) -> !f
    %dw1 = "stablehlo.add"(%dw, %dwi) : (!t, !t) -> !t
    %dv1 = "stablehlo.add"(%dv, %dvi) : (!t, !t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %loss1, %dw1, %dv1) : (!i, !f, !t, !t) -> ()
  }) : (!i, !f, !t, !t) -> (!i, !f, !t, !t)
  return %f#1, %f#2, %f#3 : !f, !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#back = loc("jit(f)/transpose(jvp())/back")
!f = tensor<f32>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!l = tensor<4xf32>

// Several steps per call, each of which updates the weights and writes its loss to
// a stack. The loss is computed behind the first gradient and moved to forward.

// CHECK-LABEL: func.func @loss_stack(
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[W:.*]]: tensor<128x128xf32>, %[[LS:.*]]: tensor<4xf32>):
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[W:.*]]: tensor<128x128xf32>, %[[LS:.*]]: tensor<4xf32>):
// CHECK-NEXT:      %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:      act.compressed_save %[[Z]]
// CHECK:           %[[Y:.*]] = "stablehlo.dot"
// CHECK-NEXT:      %[[L:.*]] = "stablehlo.reduce"(%[[Y]],
// CHECK:           "stablehlo.negate"(%[[Y]])
// CHECK-NEXT:      act.barrier
// CHECK-NEXT:      act.dequantize_load
// CHECK:           "stablehlo.reshape"(%[[L]])
// CHECK:         return %
// JSON:      "function": "loss_stack",
// JSON:      "boundaries": 1,
// JSON-NEXT: "loop_pairs": 0,
// JSON:      "raw_bytes": 65536,
func.func @loss_stack(%x: !t, %w0: !t) -> (!l, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !l}> : () -> !l
  %f:3 = "stablehlo.while"(%c0, %w0, %zeros) ({
  ^bb0(%i: !i, %w: !t, %ls: !l):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %w: !t, %ls: !l):
    %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
    %s = "stablehlo.sine"(%z) : (!t) -> !t
    %y = "stablehlo.dot"(%s, %x) : (!t, !t) -> !t
    %g = "stablehlo.negate"(%y) : (!t) -> !t loc(#back)
    %l = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: !f, %b: !f):
      %c = "stablehlo.add"(%a, %b) : (!f, !f) -> !f
      "stablehlo.return"(%c) : (!f) -> ()
    }) : (!t, !f) -> !f
    %cos = "stablehlo.cosine"(%z) : (!t) -> !t loc(#back)
    %dz = "stablehlo.multiply"(%g, %cos) : (!t, !t) -> !t loc(#back)
    %dw = "stablehlo.dot"(%x, %dz) : (!t, !t) -> !t loc(#back)
    %w1 = "stablehlo.subtract"(%w, %dw) : (!t, !t) -> !t
    %lr = "stablehlo.reshape"(%l) : (!f) -> tensor<1xf32>
    %ls1 = "stablehlo.dynamic_update_slice"(%ls, %lr, %i) : (!l, tensor<1xf32>, !i) -> !l
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %w1, %ls1) : (!i, !t, !l) -> ()
  }) : (!i, !t, !l) -> (!i, !t, !l)
  return %f#2, %f#1 : !l, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#back = loc("jit(f)/transpose(jvp())/back")
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>

// No loss: backward begins with the first operation that is known to be of it. The
// head is %y then, which backward reads at once.

// CHECK-LABEL: func.func @no_loss(
// CHECK:           %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:      act.compressed_save %[[Z]]
// CHECK-NOT:       act.compressed_save
// CHECK:           %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:      act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:      act.dequantize_load
// CHECK:         return %
// JSON:      "function": "no_loss",
// JSON:      "boundaries": 1,
// JSON:      "forward_operations": 5,
func.func @no_loss(%x: !t, %w0: !t) -> !t {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %f:2 = "stablehlo.while"(%c0, %w0) ({
  ^bb0(%i: !i, %w: !t):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %w: !t):
    %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
    %s = "stablehlo.sine"(%z) : (!t) -> !t
    %y = "stablehlo.dot"(%s, %x) : (!t, !t) -> !t
    %g = "stablehlo.negate"(%y) : (!t) -> !t loc(#back)
    %cos = "stablehlo.cosine"(%z) : (!t) -> !t loc(#back)
    %dz = "stablehlo.multiply"(%g, %cos) : (!t, !t) -> !t loc(#back)
    %dw = "stablehlo.dot"(%x, %dz) : (!t, !t) -> !t loc(#back)
    %w1 = "stablehlo.subtract"(%w, %dw) : (!t, !t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %w1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1 : !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
#back = loc("jit(f)/transpose(jvp())/back")
!f = tensor<f32>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// Accumulation around a scan: the scan and its backward are a pair in the iteration
// of the outer loop, and the stack lives as long as that.

// CHECK-LABEL: func.func @inner_pair(
// CHECK:         "stablehlo.while"(
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[LOSS:.*]]: tensor<f32>, %[[SUM:.*]]: tensor<128x128xf32>):
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[LOSS:.*]]: tensor<f32>, %[[SUM:.*]]: tensor<128x128xf32>):
// CHECK-NEXT:      %[[E:.*]] = act.empty_stack : <6 x
// CHECK-NEXT:      %[[A:.*]]:3 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[E]])
// CHECK:             act.stack_push
// CHECK:           "stablehlo.reduce"
// CHECK:           "stablehlo.while"(%{{.*}}, %{{.*}}, %[[A]]#2)
// CHECK:             act.stack_read
// CHECK-NEXT:        act.barrier
// CHECK-NEXT:        act.dequantize_load
// CHECK:         return %
// JSON:      "function": "inner_pair",
// JSON:      "boundaries": 2,
// JSON-NEXT: "loop_pairs": 1,
// JSON:      "copies": 6,
// JSON-NOT:  "copies"
func.func @inner_pair(%x: !t, %w: !t) -> (!f, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !t}> : () -> !t
  %empty = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:3 = "stablehlo.while"(%c0, %zero, %zeros) ({
  ^bb0(%i: !i, %loss: !f, %sum: !t):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %loss: !f, %sum: !t):
    %a:3 = "stablehlo.while"(%c0, %x, %empty) ({
    ^bb0(%k: !i, %h: !t, %hs: !s):
      %p = "stablehlo.compare"(%k, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
      "stablehlo.return"(%p) : (!p) -> ()
    }, {
    ^bb0(%k: !i, %h: !t, %hs: !s):
      %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
      %hr = "stablehlo.reshape"(%h) : (!t) -> !r
      %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %k, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
      %k1 = "stablehlo.add"(%k, %c1) : (!i, !i) -> !i
      "stablehlo.return"(%k1, %y, %hs1) : (!i, !t, !s) -> ()
    }) : (!i, !t, !s) -> (!i, !t, !s)
    %l = "stablehlo.reduce"(%a#1, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%u: !f, %v: !f):
      %c = "stablehlo.add"(%u, %v) : (!f, !f) -> !f
      "stablehlo.return"(%c) : (!f) -> ()
    }) : (!t, !f) -> !f
    %g0 = "stablehlo.negate"(%a#1) : (!t) -> !t loc(#back)
    %b:2 = "stablehlo.while"(%c0, %g0) ({
    ^bb0(%k: !i, %g: !t):
      %p = "stablehlo.compare"(%k, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p loc(#back)
      "stablehlo.return"(%p) : (!p) -> () loc(#back)
    }, {
    ^bb0(%k: !i, %g: !t):
      %j = "stablehlo.subtract"(%c5, %k) : (!i, !i) -> !i loc(#back)
      %hr = "stablehlo.dynamic_slice"(%a#2, %j, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r loc(#back)
      %h = "stablehlo.reshape"(%hr) : (!r) -> !t loc(#back)
      %g1 = "stablehlo.dot"(%h, %g) : (!t, !t) -> !t loc(#back)
      %k1 = "stablehlo.add"(%k, %c1) : (!i, !i) -> !i loc(#back)
      "stablehlo.return"(%k1, %g1) : (!i, !t) -> () loc(#back)
    }) : (!i, !t) -> (!i, !t) loc(#back)
    %loss1 = "stablehlo.add"(%loss, %l) : (!f, !f) -> !f
    %sum1 = "stablehlo.add"(%sum, %b#1) : (!t, !t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %loss1, %sum1) : (!i, !f, !t) -> ()
  }) : (!i, !f, !t) -> (!i, !f, !t)
  return %f#1, %f#2 : !f, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
!f = tensor<f32>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>

// A loop that adds up a scalar but has no backward part, as in inference. It is left
// alone, and the step around it is partitioned.

// CHECK-LABEL: func.func @scalar_sum(
// CHECK:         "stablehlo.while"
// CHECK-NOT:     act.
// CHECK:         }) : (tensor<i32>, tensor<f32>, tensor<128x128xf32>)
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Z]]
// JSON:      "function": "scalar_sum",
// JSON:      "boundaries": 1,
// JSON:      "raw_bytes": 65536,
func.func @scalar_sum(%x: !t, %w: !t) -> (!f, !t, !t) attributes {act.primal_results = 2 : i64} {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %f:3 = "stablehlo.while"(%c0, %zero, %x) ({
  ^bb0(%i: !i, %sum: !f, %h: !t):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %sum: !f, %h: !t):
    %z = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %s = "stablehlo.sine"(%z) : (!t) -> !t
    %l = "stablehlo.reduce"(%s, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: !f, %b: !f):
      %c = "stablehlo.add"(%a, %b) : (!f, !f) -> !f
      "stablehlo.return"(%c) : (!f) -> ()
    }) : (!t, !f) -> !f
    %m = "stablehlo.dot"(%s, %z) : (!t, !t) -> !t
    %sum1 = "stablehlo.add"(%sum, %l) : (!f, !f) -> !f
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %sum1, %m) : (!i, !f, !t) -> ()
  }) : (!i, !f, !t) -> (!i, !f, !t)
  %z = "stablehlo.dot"(%f#2, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.dot"(%z, %g) : (!t, !t) -> !t
  return %f#1, %y, %d : !f, !t, !t
}
