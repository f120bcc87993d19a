// Loops that are no pair, and what the report says of them.

// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --implicit-check-not=act.stack_ --implicit-check-not=act.empty_stack
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition),act-report)' -o /dev/null | FileCheck %s --check-prefix=JSON

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// A second pass over a sequence that runs from its end, as in a bidirectional RNN,
// reads what the first wrote in opposite order. But it is forward.

// CHECK-LABEL: func.func @both_directions(
// CHECK:         %[[F:.*]]:3 = "stablehlo.while"(
// CHECK:           "stablehlo.dynamic_update_slice"
// CHECK:         %[[B:.*]]:2 = "stablehlo.while"(
// CHECK:           "stablehlo.dynamic_slice"(%[[F]]#2,
// CHECK:         %[[C:.*]] = act.compressed_save %[[B]]#1 exact <loop_carried>
// JSON:      "function": "both_directions",
// JSON:      "loop_pairs": 0,
// JSON:      "unpaired_loops": []
func.func @both_directions(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
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
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:2 = "stablehlo.while"(%c0, %f#1) ({
  ^bb0(%j: !i, %a: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %a: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %a1 = "stablehlo.dot"(%a, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %a1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  %y = "stablehlo.dot"(%b#1, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.dot"(%b#1, %g) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// Besides its rows backward reads the whole stack.

// CHECK-LABEL: func.func @whole(
// JSON:      "function": "whole",
// JSON:      "loop_pairs": 0,
// JSON:      "unpaired_loops": [
// JSON-NEXT:   "the stack of result 2 of the forward loop stays: backward uses it whole in stablehlo.multiply"
// JSON-NEXT: ]
func.func @whole(%x: !t, %w: !t, %g0: !t, %a0: !s) -> (!t, !t, !s) {
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
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:3 = "stablehlo.while"(%c0, %g0, %a0) ({
  ^bb0(%j: !i, %g: !t, %a: !s):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %a: !s):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %h) : (!t, !t) -> !t
    %a1 = "stablehlo.multiply"(%a, %f#2) : (!s, !s) -> !s
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1, %a1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  return %f#1, %b#1, %b#2 : !t, !t, !s
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// Two stacks: backward reads one from the start like forward wrote it, and one at a
// place that only an argument knows. The third, which it reads from the end, would
// make the loops a pair, but forward writes it at twice the counter.

// CHECK-LABEL: func.func @order(
// JSON:      "function": "order",
// JSON:      "loop_pairs": 0,
// JSON:      "unpaired_loops": [
// JSON-NEXT:   "the stack of result 2 of the forward loop stays: backward does not read it in the opposite order",
// JSON-NEXT:   "the stack of result 3 of the forward loop stays: backward does not read it in the opposite order"
// JSON-NEXT: ]
func.func @order(%x: !t, %w: !t, %g0: !t, %at: !i) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:5 = "stablehlo.while"(%c0, %x, %zeros, %zeros, %zeros) ({
  ^bb0(%i: !i, %h: !t, %as: !s, %bs: !s, %cs: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %as: !s, %bs: !s, %cs: !s):
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %as1 = "stablehlo.dynamic_update_slice"(%as, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %bs1 = "stablehlo.dynamic_update_slice"(%bs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %ii = "stablehlo.add"(%i, %i) : (!i, !i) -> !i
    %cs1 = "stablehlo.dynamic_update_slice"(%cs, %hr, %ii, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %as1, %bs1, %cs1) : (!i, !t, !s, !s, !s) -> ()
  }) : (!i, !t, !s, !s, !s) -> (!i, !t, !s, !s, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %ar = "stablehlo.dynamic_slice"(%f#2, %j, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %br = "stablehlo.dynamic_slice"(%f#3, %at, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %cr = "stablehlo.dynamic_slice"(%f#4, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %m = "stablehlo.clamp"(%ar, %br, %cr) : (!r, !r, !r) -> !r
    %h = "stablehlo.reshape"(%m) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// The loops run 6 and 5 times.

// CHECK-LABEL: func.func @trip_counts(
// JSON:      "function": "trip_counts",
// JSON:      "loop_pairs": 0,
func.func @trip_counts(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
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
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c5) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// How often the loops run is an argument. Their carried values are opaque: what
// backward reads of them is saved in full, what is around them as ever.

// CHECK-LABEL: func.func @unknown_trip_count(
// CHECK:         %[[F:.*]]:3 = "stablehlo.while"(
// CHECK:         act.compressed_save %[[F]]#2 exact <loop_carried> : tensor<6x128x128xf32>
// CHECK:         %[[Y:.*]] = "stablehlo.dot"(
// CHECK-NEXT:    act.compressed_save %[[Y]] {id = 1 : i64} : tensor<128x128xf32>
// CHECK:         act.dequantize_load
// CHECK:         act.dequantize_load
// CHECK:         "stablehlo.while"(
// JSON:      "function": "unknown_trip_count",
// JSON:      "loop_pairs": 0,
func.func @unknown_trip_count(%x: !t, %w: !t, %n: !i) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:3 = "stablehlo.while"(%c0, %x, %zeros) ({
  ^bb0(%i: !i, %h: !t, %hs: !s):
    %p = "stablehlo.compare"(%i, %n) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %hs: !s):
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %y = "stablehlo.dot"(%f#1, %w) : (!t, !t) -> !t
  %l = "stablehlo.dot"(%y, %w) : (!t, !t) -> !t
  %m = "stablehlo.negate"(%l) : (!t) -> !t
  %g0 = "stablehlo.dot"(%m, %y) : (!t, !t) -> !t
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %n) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %l, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!u = tensor<64x256xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// Backward gives the rows another shape than forward's at once.

// CHECK-LABEL: func.func @form(
// JSON:      "function": "form",
// JSON:      "loop_pairs": 0,
// JSON:      "unpaired_loops": [
// JSON-NEXT:   "the stack of result 2 of the forward loop stays: backward reads rows in an unknown form"
// JSON-NEXT: ]
func.func @form(%x: !t, %w: !t, %g0: !u) -> (!t, !u) {
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
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !u):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !u):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !u
    %g1 = "stablehlo.multiply"(%g, %h) : (!u, !u) -> !u
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !u) -> ()
  }) : (!i, !u) -> (!i, !u)
  return %f#1, %b#1 : !t, !u
}

// -----

!t = tensor<128x128xf32>
!s = tensor<6x128x128xf32>

// The forward loop carries a number.

// CHECK-LABEL: func.func @no_tensor(
// JSON:      "function": "no_tensor",
// JSON:      "loop_pairs": 0,
// JSON:      "unpaired_loops": [
// JSON-NEXT:   "the forward loop carries a value that is no tensor"
// JSON-NEXT: ]
func.func @no_tensor(%x: !t, %w: !t, %g0: !t, %n0: f32) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:3 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty, %n = %n0) -> (!t, !s, f32) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    %m = arith.mulf %n, %n : f32
    scf.yield %y, %next, %m : !t, !s, f32
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}

// -----

// The stand-in dialect takes whiles that the real one rejects.

// CHECK-LABEL: func.func @no_bodies(
// CHECK:         "stablehlo.while"(%{{.*}}) ({
// CHECK:         "stablehlo.while"() :
// CHECK:         act.compressed_save
!t = tensor<128x128xf32>
func.func @no_bodies(%x: !t, %w: !t) -> (!t, !t) {
  %a = "stablehlo.while"(%x) ({}, {}) : (!t) -> !t
  "stablehlo.while"() : () -> ()
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %w) : (!t, !t) -> !t
  %d = "stablehlo.dot"(%s, %y) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
