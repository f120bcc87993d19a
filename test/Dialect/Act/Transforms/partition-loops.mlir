// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,func.func(act-verify-partition))' | FileCheck %s --check-prefix=ENC
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition))' \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// A scan over stacked weights, as JAX writes it. What was stacked in full is
// saved row by row; weights, which both loops slice, are neither saved nor
// stacked, and in backward the slice waits for the cotangent by its index.

// CHECK-LABEL: func.func @scan(
// CHECK-SAME:    %[[W:.*]]: tensor<6x128x128xf32>, %[[X:.*]]: tensor<128x128xf32>, %[[G0:.*]]: tensor<128x128xf32>)
// CHECK:         %[[E1:.*]] = act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.raw>>
// CHECK-NEXT:    %[[E2:.*]] = act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.raw>>
// CHECK-NEXT:    %[[F:.*]]:5 = "stablehlo.while"(%[[W]], %{{.*}}, %[[X]], %[[E1]], %[[E2]])
// CHECK:         ^bb0(%[[WS:.*]]: tensor<6x128x128xf32>, %[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<128x128xf32>, %[[S1:[^:]*]]: !act.stack<{{.*}}>, %[[S2:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:      compare
// CHECK:         ^bb0(%[[WS:.*]]: tensor<6x128x128xf32>, %[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<128x128xf32>, %[[S1:[^:]*]]: !act.stack<{{.*}}>, %[[S2:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:      %[[CH:.*]] = act.compressed_save %[[H]] : tensor<128x128xf32>
// CHECK-NEXT:      %[[BH:.*]]:2 = act.barrier %[[H]], %[[CH]]
// CHECK-NEXT:      %[[WR:.*]] = "stablehlo.dynamic_slice"(%[[WS]], %[[I]],
// CHECK-NEXT:      %[[WI:.*]] = "stablehlo.reshape"(%[[WR]])
// CHECK-NEXT:      "stablehlo.dot"(%[[BH]]#0, %[[WI]])
// CHECK-NEXT:      %[[Y:.*]] = "stablehlo.tanh"
// CHECK-NEXT:      %[[CY:.*]] = act.compressed_save %[[Y]] {id = 1 : i64}
// CHECK-NEXT:      %[[BY:.*]]:2 = act.barrier %[[Y]], %[[CY]]
// CHECK-NEXT:      %[[NEXT:.*]] = "stablehlo.add"(%[[I]],
// CHECK-NEXT:      %[[P1:.*]] = act.stack_push %[[BY]]#1, %[[S1]][%[[I]]]
// CHECK-NEXT:      %[[P2:.*]] = act.stack_push %[[BH]]#1, %[[S2]][%[[I]]]
// CHECK-NEXT:      "stablehlo.return"(%[[WS]], %[[NEXT]], %[[BY]]#0, %[[P1]], %[[P2]])
// CHECK:         %[[B:.*]]:6 = "stablehlo.while"(%[[W]], %{{.*}}, %[[G0]], %{{.*}}, %[[F]]#3, %[[F]]#4)
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[WS:.*]]: tensor<6x128x128xf32>, %[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<128x128xf32>, %[[DWS:.*]]: tensor<6x128x128xf32>, %[[S1:[^:]*]]: !act.stack<{{.*}}>, %[[S2:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:      %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}>
// CHECK-NEXT:      %[[K:.*]] = "stablehlo.subtract"(%[[LAST]], %[[J]])
// CHECK:           %[[CY:.*]] = act.stack_read %[[S1]][%[[K]]]
// CHECK-NEXT:      %[[BY:.*]]:2 = act.barrier %[[CY]], %[[G]]
// CHECK-NEXT:      %[[Y:.*]] = act.dequantize_load %[[BY]]#0
// CHECK-NEXT:      %[[DZ:.*]] = "stablehlo.multiply"(%[[BY]]#1, %[[Y]])
// CHECK-NEXT:      %[[CH:.*]] = act.stack_read %[[S2]][%[[K]]]
// CHECK-NEXT:      %[[BH:.*]]:2 = act.barrier %[[CH]], %[[DZ]]
// CHECK-NEXT:      %[[H:.*]] = act.dequantize_load %[[BH]]#0
// CHECK-NEXT:      %[[DW:.*]] = "stablehlo.dot"(%[[H]], %[[BH]]#1)
// CHECK-NEXT:      %[[BW:.*]]:2 = act.barrier %[[K]], %[[BH]]#1
// CHECK-NEXT:      %[[WR:.*]] = "stablehlo.dynamic_slice"(%[[WS]], %[[BW]]#0,
// CHECK-NEXT:      %[[WI:.*]] = "stablehlo.reshape"(%[[WR]])
// CHECK-NEXT:      %[[G1:.*]] = "stablehlo.dot"(%[[BW]]#1, %[[WI]])
// CHECK-NEXT:      %[[DWR:.*]] = "stablehlo.reshape"(%[[DW]])
// CHECK-NEXT:      %[[DWS1:.*]] = "stablehlo.dynamic_update_slice"(%[[DWS]], %[[DWR]], %[[K]],
// CHECK-NEXT:      %[[NEXT:.*]] = "stablehlo.add"(%[[J]],
// CHECK-NEXT:      "stablehlo.return"(%[[WS]], %[[NEXT]], %[[G1]], %[[DWS1]], %[[S1]], %[[S2]])
// CHECK:         return %[[F]]#2, %[[B]]#2, %[[B]]#3

// The encoding of a save is that of the stack, in all regions of both loops.

// ENC-LABEL: func.func @scan(
// ENC-COUNT-2: act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = {{64|256, merge = 2}}>>>
// ENC-NOT:     act.raw
// ENC:         return %
func.func @scan(%w: !s, %x: !t, %g0: !t) -> (!t, !t, !s) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:5 = "stablehlo.while"(%w, %c0, %x, %zeros, %zeros) ({
  ^bb0(%ws: !s, %i: !i, %h: !t, %hs: !s, %ys: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%ws: !s, %i: !i, %h: !t, %hs: !s, %ys: !s):
    %wr = "stablehlo.dynamic_slice"(%ws, %i, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %wi = "stablehlo.reshape"(%wr) : (!r) -> !t
    %z = "stablehlo.dot"(%h, %wi) : (!t, !t) -> !t
    %y = "stablehlo.tanh"(%z) : (!t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %yr = "stablehlo.broadcast_in_dim"(%y) <{broadcast_dimensions = array<i64: 1, 2>}> : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%ws, %i1, %y, %hs1, %ys1) : (!s, !i, !t, !s, !s) -> ()
  }) : (!s, !i, !t, !s, !s) -> (!s, !i, !t, !s, !s)
  // REMARK: partition-loops.mlir:[[@LINE+2]]:{{.*}}: remark: [Passed] Partition | Category:act | Remark="saved ", Remark=2,
  // REMARK: partition-loops.mlir:[[@LINE+1]]:{{.*}}: remark: [Passed] Partition | Category:act | Remark="paired two loops of ", Remark=6, Remark=" iterations"
  %b:6 = "stablehlo.while"(%w, %f#3, %f#4, %c0, %g0, %zeros) ({
  ^bb0(%ws: !s, %hs: !s, %ys: !s, %j: !i, %g: !t, %dws: !s):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%ws: !s, %hs: !s, %ys: !s, %j: !i, %g: !t, %dws: !s):
    %k0 = "stablehlo.subtract"(%c6, %j) : (!i, !i) -> !i
    %k = "stablehlo.subtract"(%k0, %c1) : (!i, !i) -> !i
    %wr = "stablehlo.dynamic_slice"(%ws, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %wi = "stablehlo.reshape"(%wr) : (!r) -> !t
    %hr = "stablehlo.dynamic_slice"(%hs, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %yr = "stablehlo.dynamic_slice"(%ys, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %dz = "stablehlo.multiply"(%g, %y) : (!t, !t) -> !t
    %dw = "stablehlo.dot"(%h, %dz) : (!t, !t) -> !t
    %g1 = "stablehlo.dot"(%dz, %wi) : (!t, !t) -> !t
    %dwr = "stablehlo.reshape"(%dw) : (!t) -> !r
    %dws1 = "stablehlo.dynamic_update_slice"(%dws, %dwr, %k, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%ws, %hs, %ys, %j1, %g1, %dws1) : (!s, !s, !s, !i, !t, !s) -> ()
  }) : (!s, !s, !s, !i, !t, !s) -> (!s, !s, !s, !i, !t, !s)
  return %f#2, %b#4, %b#5 : !t, !t, !s
}

// A reversed scan: forward writes from the end, backward reads from the start, by
// capture. Saves are stacked by the counter all the same.

// CHECK-LABEL: func.func @reversed(
// CHECK:         %[[F:.*]]:3 = "stablehlo.while"(
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack
// CHECK-NEXT:      act.compressed_save %[[H]]
// CHECK:           act.stack_push %{{.*}}, %[[S]][%[[I]]]
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#2)
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack
// CHECK-NEXT:      %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}>
// CHECK-NEXT:      %[[K:.*]] = "stablehlo.subtract"(%[[LAST]], %[[J]])
// CHECK-NEXT:      %[[C:.*]] = act.stack_read %[[S]][%[[K]]]
// CHECK-NEXT:      %[[B:.*]]:2 = act.barrier %[[C]], %[[G]]
// CHECK-NEXT:      %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:      "stablehlo.dot"(%[[B]]#1, %[[L]])
// CHECK-NOT:       "stablehlo.dynamic_slice"
// CHECK:         return %
func.func @reversed(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
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
    %k = "stablehlo.subtract"(%c5, %i) : (!i, !i) -> !i
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %k, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%c1, %i) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %hr = "stablehlo.dynamic_slice"(%f#2, %j, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %b#1 : !t, !t
}

// The stack of %y is a result of the step, in full. Backward reads its rows from
// there, %e is computed again from them, and %z alone is saved.

// CHECK-LABEL: func.func @kept(
// CHECK:         %[[F:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:           "stablehlo.return"
// CHECK:           %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:      act.compressed_save %[[Z]]
// CHECK-NOT:       act.compressed_save
// CHECK:           %[[Y:.*]] = "stablehlo.sine"
// CHECK:           %[[YR:.*]] = "stablehlo.reshape"(%[[Y]])
// CHECK-NEXT:      "stablehlo.dynamic_update_slice"(%{{.*}}, %[[YR]],
// CHECK-NOT:       "stablehlo.dynamic_update_slice"
// CHECK:         %[[B:.*]]:3 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#3)
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack
// CHECK:           %[[K:.*]] = "stablehlo.subtract"(%{{.*}}, %[[J]])
// CHECK:           %[[YR:.*]] = "stablehlo.dynamic_slice"(%[[F]]#2,
// CHECK-NEXT:      %[[Y:.*]] = "stablehlo.reshape"(%[[YR]])
// CHECK-NEXT:      %[[BY:.*]]:2 = act.barrier %[[Y]], %[[G]]
// CHECK-NEXT:      %[[E:.*]] = "stablehlo.exponential"(%[[BY]]#0)
// CHECK-NEXT:      %[[M:.*]] = "stablehlo.clamp"(%[[Y]], %[[BY]]#1, %[[E]])
// CHECK-NEXT:      %[[C:.*]] = act.stack_read %[[S]][%[[K]]]
// CHECK-NEXT:      act.barrier %[[C]], %[[M]]
// CHECK:         return %[[F]]#1, %[[F]]#2, %[[B]]#1
func.func @kept(%x: !t, %w: !t, %g0: !t) -> (!t, !s, !t) attributes {act.primal_results = 2 : i64} {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:5 = "stablehlo.while"(%c0, %x, %zeros, %zeros, %zeros) ({
  ^bb0(%i: !i, %h: !t, %zs: !s, %ys: !s, %es: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %zs: !s, %ys: !s, %es: !s):
    %z = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %y = "stablehlo.sine"(%z) : (!t) -> !t
    %e = "stablehlo.exponential"(%y) : (!t) -> !t
    %zr = "stablehlo.reshape"(%z) : (!t) -> !r
    %zs1 = "stablehlo.dynamic_update_slice"(%zs, %zr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %er = "stablehlo.reshape"(%e) : (!t) -> !r
    %es1 = "stablehlo.dynamic_update_slice"(%es, %er, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %zs1, %ys1, %es1) : (!i, !t, !s, !s, !s) -> ()
  }) : (!i, !t, !s, !s, !s) -> (!i, !t, !s, !s, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %zr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %z = "stablehlo.reshape"(%zr) : (!r) -> !t
    %yr = "stablehlo.dynamic_slice"(%f#3, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %er = "stablehlo.dynamic_slice"(%f#4, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %e = "stablehlo.reshape"(%er) : (!r) -> !t
    %m = "stablehlo.clamp"(%y, %g, %e) : (!t, !t, !t) -> !t
    %cos = "stablehlo.cosine"(%z) : (!t) -> !t
    %n = "stablehlo.multiply"(%cos, %m) : (!t, !t) -> !t
    %g1 = "stablehlo.dot"(%n, %w) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %f#3, %b#1 : !t, !s, !t
}

// A later loop of forward reads the stack too. Forward makes it as before, but it
// is not needed in backward, which reads saves.

// CHECK-LABEL: func.func @used_by_forward(
// CHECK:         %[[F:.*]]:4 = "stablehlo.while"(
// CHECK:           %[[Y:.*]] = "stablehlo.dot"
// CHECK-NEXT:      %[[C:.*]] = act.compressed_save %[[Y]]
// CHECK-NEXT:      %[[B:.*]]:2 = act.barrier %[[Y]], %[[C]]
// CHECK-NEXT:      %[[YR:.*]] = "stablehlo.reshape"(%[[B]]#0)
// CHECK-NEXT:      %[[YS:.*]] = "stablehlo.dynamic_update_slice"(%{{.*}}, %[[YR]],
// CHECK:           "stablehlo.return"(%{{.*}}, %[[B]]#0, %[[YS]], %{{.*}})
// CHECK:         "stablehlo.while"(%{{.*}}, %[[F]]#1)
// CHECK:           "stablehlo.dynamic_slice"(%[[F]]#2,
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#3)
// CHECK-NOT:     %[[F]]#2
// CHECK:         return %
func.func @used_by_forward(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:3 = "stablehlo.while"(%c0, %x, %zeros) ({
  ^bb0(%i: !i, %h: !t, %ys: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %ys: !s):
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %ys1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %d:2 = "stablehlo.while"(%c0, %f#1) ({
  ^bb0(%i: !i, %a: !t):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %a: !t):
    %yr = "stablehlo.dynamic_slice"(%f#2, %i, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %a1 = "stablehlo.maximum"(%a, %y) : (!t, !t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %a1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %yr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %g1 = "stablehlo.dot"(%g, %y) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %d#1, %b#1 : !t, !t
}

// Between the loops the stack is reshaped there and back, as `unroll=2` does it;
// nothing is left of that. Constants cross for nothing: %two stands where it stood,
// %own, which equals %k of forward, is made in backward again.

// CHECK-LABEL: func.func @views(
// CHECK:         %[[F:.*]]:3 = "stablehlo.while"(
// CHECK:           %[[Y:.*]] = "stablehlo.dot"
// CHECK-NEXT:      act.compressed_save %[[Y]]
// CHECK-NOT:       act.compressed_save
// CHECK:         %[[TWO:.*]] = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<128x128xf32>}>
// CHECK-NOT:     "stablehlo.reshape"
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#2)
// CHECK:           %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:      %[[OWN:.*]] = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<128x128xf32>}>
// CHECK-NEXT:      "stablehlo.clamp"(%[[L]], %[[TWO]], %[[OWN]])
// CHECK-NOT:     "stablehlo.reshape"
// CHECK:         return %
!ss = tensor<2x3x128x128xf32>
func.func @views(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:3 = "stablehlo.while"(%c0, %x, %zeros) ({
  ^bb0(%i: !i, %h: !t, %ys: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %ys: !s):
    %k = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %y2 = "stablehlo.multiply"(%k, %y) : (!t, !t) -> !t
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y2, %ys1) : (!i, !t, !s) -> ()
  }) : (!i, !t, !s) -> (!i, !t, !s)
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %two = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
  %there = "stablehlo.reshape"(%f#2) : (!s) -> !ss
  %back = "stablehlo.reshape"(%there) : (!ss) -> !s
  %b:3 = "stablehlo.while"(%back, %c0, %g0) ({
  ^bb0(%ys: !s, %j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%ys: !s, %j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %yr = "stablehlo.dynamic_slice"(%ys, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %own = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
    %m = "stablehlo.clamp"(%y, %two, %own) : (!t, !t, !t) -> !t
    %g1 = "stablehlo.dot"(%g, %m) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%ys, %j1, %g1) : (!s, !i, !t) -> ()
  }) : (!s, !i, !t) -> (!s, !i, !t)
  return %f#1, %b#2 : !t, !t
}

// A scan in a scan: stacks of stacks. The inner loops are a pair in one iteration
// of the outer ones. %u is saved by the outer loop; backward reads its row inside
// a branch.

// CHECK-LABEL: func.func @nested(
// CHECK:         %[[E1:.*]] = act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.raw>>
// CHECK-NEXT:    %[[E2:.*]] = act.empty_stack : <6 x !act.stack<3 x !act.compressed<tensor<128x128xf32>, #act.raw>>>
// CHECK-NEXT:    %[[F:.*]]:4 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[E1]], %[[E2]])
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<128x128xf32>, %[[S1:[^:]*]]: !act.stack<{{.*}}>, %[[S2:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:      %[[E:.*]] = act.empty_stack : <3 x !act.compressed<tensor<128x128xf32>, #act.raw>>
// CHECK-NEXT:      %[[A:.*]]:3 = "stablehlo.while"(%{{.*}}, %[[H]], %[[E]])
// CHECK:             "stablehlo.return"
// CHECK:           ^bb0(%[[K:.*]]: tensor<i32>, %[[B:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:        act.compressed_save %[[B]]
// CHECK:             act.stack_push %{{.*}}, %[[S]][%[[K]]]
// CHECK:           %[[U:.*]] = "stablehlo.dot"(%[[A]]#1,
// CHECK-NEXT:      %[[C:.*]] = act.compressed_save %[[U]]
// CHECK-NEXT:      %[[BU:.*]]:2 = act.barrier %[[U]], %[[C]]
// CHECK:           act.stack_push %[[BU]]#1, %[[S1]][%[[I]]]
// CHECK-NEXT:      act.stack_push %[[A]]#2, %[[S2]][%[[I]]]
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#2, %[[F]]#3)
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<128x128xf32>, %[[S1:[^:]*]]: !act.stack<{{.*}}>, %[[S2:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:      %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}>
// CHECK-NEXT:      %[[R:.*]] = "stablehlo.subtract"(%[[LAST]], %[[J]])
// CHECK-NEXT:      %[[C:.*]] = act.stack_read %[[S1]][%[[R]]]
// CHECK-NEXT:      %[[BU:.*]]:2 = act.barrier %[[C]], %[[G]]
// CHECK-NEXT:      %[[U:.*]] = act.dequantize_load %[[BU]]#0
// CHECK-NEXT:      %[[V:.*]] = "stablehlo.if"
// CHECK-NEXT:        "stablehlo.multiply"(%[[U]], %[[BU]]#1)
// CHECK:           %[[INNER:.*]] = act.stack_read %[[S2]][%[[R]]]
// CHECK-NEXT:      "stablehlo.while"(%{{.*}}, %[[V]], %[[INNER]])
// CHECK:             "stablehlo.return"
// CHECK:           ^bb0(%[[L:.*]]: tensor<i32>, %[[B:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack<{{.*}}>):
// CHECK-NEXT:        %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}>
// CHECK-NEXT:        %[[M:.*]] = "stablehlo.subtract"(%[[LAST]], %[[L]])
// CHECK-NEXT:        %[[C:.*]] = act.stack_read %[[S]][%[[M]]]
// CHECK-NEXT:        act.barrier %[[C]], %[[B]]
// CHECK:         return %

// ENC-LABEL: func.func @nested(
// ENC:         act.empty_stack : <6 x !act.stack<3 x !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>>>
// ENC-NOT:     act.raw
// ENC:         return %
!q = tensor<3x128x128xf32>
!n = tensor<6x3x128x128xf32>
!nr = tensor<1x3x128x128xf32>
func.func @nested(%x: !t, %w: !t, %g0: !t, %which: !p) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c2 = "stablehlo.constant"() <{value = dense<2> : !i}> : () -> !i
  %c3 = "stablehlo.constant"() <{value = dense<3> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %inner = "stablehlo.constant"() <{value = dense<0.0> : !q}> : () -> !q
  %outer = "stablehlo.constant"() <{value = dense<0.0> : !n}> : () -> !n
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:4 = "stablehlo.while"(%c0, %x, %outer, %zeros) ({
  ^bb0(%i: !i, %h: !t, %as: !n, %us: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %as: !n, %us: !s):
    %a:3 = "stablehlo.while"(%c0, %h, %inner) ({
    ^bb0(%k: !i, %b: !t, %bs: !q):
      %p = "stablehlo.compare"(%k, %c3) <{comparison_direction = #lt}> : (!i, !i) -> !p
      "stablehlo.return"(%p) : (!p) -> ()
    }, {
    ^bb0(%k: !i, %b: !t, %bs: !q):
      %b1 = "stablehlo.dot"(%b, %w) : (!t, !t) -> !t
      %br = "stablehlo.reshape"(%b) : (!t) -> !r
      %bs1 = "stablehlo.dynamic_update_slice"(%bs, %br, %k, %c0, %c0) : (!q, !r, !i, !i, !i) -> !q
      %k1 = "stablehlo.add"(%k, %c1) : (!i, !i) -> !i
      "stablehlo.return"(%k1, %b1, %bs1) : (!i, !t, !q) -> ()
    }) : (!i, !t, !q) -> (!i, !t, !q)
    %ar = "stablehlo.reshape"(%a#2) : (!q) -> !nr
    %as1 = "stablehlo.dynamic_update_slice"(%as, %ar, %i, %c0, %c0, %c0) : (!n, !nr, !i, !i, !i, !i) -> !n
    %u = "stablehlo.dot"(%a#1, %w) : (!t, !t) -> !t
    %ur = "stablehlo.reshape"(%u) : (!t) -> !r
    %us1 = "stablehlo.dynamic_update_slice"(%us, %ur, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %u, %as1, %us1) : (!i, !t, !n, !s) -> ()
  }) : (!i, !t, !n, !s) -> (!i, !t, !n, !s)
  %d:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %v = "stablehlo.if"(%which) ({
      %ur = "stablehlo.dynamic_slice"(%f#3, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
      %u = "stablehlo.reshape"(%ur) : (!r) -> !t
      %m = "stablehlo.multiply"(%u, %g) : (!t, !t) -> !t
      "stablehlo.return"(%m) : (!t) -> ()
    }, {
      "stablehlo.return"(%g) : (!t) -> ()
    }) : (!p) -> !t
    %ar = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0, %c0) <{slice_sizes = array<i64: 1, 3, 128, 128>}> : (!n, !i, !i, !i, !i) -> !nr
    %a = "stablehlo.reshape"(%ar) : (!nr) -> !q
    // REMARK: partition-loops.mlir:[[@LINE+2]]:{{.*}}: remark: [Passed] {{.*}} Remark="saved ", Remark=1,
    // REMARK: partition-loops.mlir:[[@LINE+1]]:{{.*}}: remark: [Passed] {{.*}} Remark="paired two loops of ", Remark=3,
    %e:3 = "stablehlo.while"(%c0, %v, %a) ({
    ^bb0(%l: !i, %b: !t, %bs: !q):
      %p = "stablehlo.compare"(%l, %c3) <{comparison_direction = #lt}> : (!i, !i) -> !p
      "stablehlo.return"(%p) : (!p) -> ()
    }, {
    ^bb0(%l: !i, %b: !t, %bs: !q):
      %m = "stablehlo.subtract"(%c2, %l) : (!i, !i) -> !i
      %hr = "stablehlo.dynamic_slice"(%bs, %m, %c0, %c0) <{slice_sizes = #row}> : (!q, !i, !i, !i) -> !r
      %h = "stablehlo.reshape"(%hr) : (!r) -> !t
      %b1 = "stablehlo.dot"(%b, %h) : (!t, !t) -> !t
      %l1 = "stablehlo.add"(%l, %c1) : (!i, !i) -> !i
      "stablehlo.return"(%l1, %b1, %bs) : (!i, !t, !q) -> ()
    }) : (!i, !t, !q) -> (!i, !t, !q)
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %e#1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  // REMARK: partition-loops.mlir:[[@LINE-35]]:{{.*}}: remark: [Passed] {{.*}} Remark="saved ", Remark=1,
  // REMARK: partition-loops.mlir:[[@LINE-36]]:{{.*}}: remark: [Passed] {{.*}} Remark="paired two loops of ", Remark=6,
  return %f#1, %d#1 : !t, !t
}

// Two layers of an RNN. The second loop reads rows of what the first wrote, so it
// saves them itself; the stack of the first, which backward of the second layer
// would have kept whole, dies in forward.

// CHECK-LABEL: func.func @two_layers(
// CHECK:         %[[F:.*]]:4 = "stablehlo.while"(
// CHECK:           act.compressed_save
// CHECK-NOT:       act.compressed_save
// CHECK:         %[[E:.*]]:5 = "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#2, %{{.*}}, %{{.*}})
// CHECK:           %[[YR:.*]] = "stablehlo.dynamic_slice"
// CHECK-NEXT:      %[[Y:.*]] = "stablehlo.reshape"(%[[YR]])
// CHECK-NEXT:      %[[C:.*]] = act.compressed_save %[[Y]]
// CHECK-NEXT:      %[[B:.*]]:2 = act.barrier %[[Y]], %[[C]]
// CHECK-NEXT:      "stablehlo.dot"(%[[B]]#0,
// CHECK:           act.stack_push %[[B]]#1,
// CHECK-NOT:     %[[F]]#2
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %{{.*}}, %[[E]]#3, %[[E]]#4)
// CHECK:         "stablehlo.while"(%{{.*}}, %{{.*}}, %[[F]]#3)
// CHECK:         return %
func.func @two_layers(%x: !t, %w: !t, %v: !t, %g0: !t) -> (!t, !t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:4 = "stablehlo.while"(%c0, %x, %zeros, %zeros) ({
  ^bb0(%i: !i, %h: !t, %hs: !s, %ys: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %hs: !s, %ys: !s):
    %y = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1, %ys1) : (!i, !t, !s, !s) -> ()
  }) : (!i, !t, !s, !s) -> (!i, !t, !s, !s)
  %e:4 = "stablehlo.while"(%c0, %x, %f#3, %zeros) ({
  ^bb0(%i: !i, %a: !t, %ys: !s, %as: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %a: !t, %ys: !s, %as: !s):
    %yr = "stablehlo.dynamic_slice"(%ys, %i, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %b = "stablehlo.dot"(%y, %v) : (!t, !t) -> !t
    %a1 = "stablehlo.multiply"(%b, %a) : (!t, !t) -> !t
    %ar = "stablehlo.reshape"(%a) : (!t) -> !r
    %as1 = "stablehlo.dynamic_update_slice"(%as, %ar, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %a1, %ys, %as1) : (!i, !t, !s, !s) -> ()
  }) : (!i, !t, !s, !s) -> (!i, !t, !s, !s)
  %d:3 = "stablehlo.while"(%c0, %g0, %zeros) ({
  ^bb0(%j: !i, %g: !t, %gs: !s):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %gs: !s):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %yr = "stablehlo.dynamic_slice"(%f#3, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %ar = "stablehlo.dynamic_slice"(%e#3, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %a = "stablehlo.reshape"(%ar) : (!r) -> !t
    %m = "stablehlo.multiply"(%g, %a) : (!t, !t) -> !t
    %g1 = "stablehlo.dot"(%y, %m) : (!t, !t) -> !t
    %mr = "stablehlo.reshape"(%m) : (!t) -> !r
    %gs1 = "stablehlo.dynamic_update_slice"(%gs, %mr, %k, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1, %gs1) : (!i, !t, !s) -> ()
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
    %mr = "stablehlo.dynamic_slice"(%d#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %m = "stablehlo.reshape"(%mr) : (!r) -> !t
    %s = "stablehlo.add"(%g, %m) : (!t, !t) -> !t
    %g1 = "stablehlo.dot"(%h, %s) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %e#1, %d#1, %b#1 : !t, !t, !t
}
