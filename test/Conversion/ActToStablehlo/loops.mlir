// Stacks become tensors that whiles carry, and noise differs between iterations.

// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s
// RUN: act-opt %s --convert-act-to-stablehlo --mlir-print-op-generic | act-opt | FileCheck %s

// CHECK-NOT: act.

#lt = #stablehlo<comparison_direction LT>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<8x64xf32>
!q = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!qs = !act.stack<6 x !q>

// A save of three parts makes three carried tensors, where the stack was, in all
// regions of both loops. What is read of them waits together. The salt depends on
// the counter. Attributes of the loop stay.

// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[G0:.*]]: tensor<8x64xf32>)
// CHECK-DAG:     %[[C0:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-DAG:     %[[E0:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<ui8>) -> tensor<6x8x1x32xui8>
// CHECK-DAG:     %[[E1:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<bf16>) -> tensor<6x8x1x1xbf16>
// CHECK-NEXT:    "stablehlo.constant"
// CHECK-NEXT:    %[[E2:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<bf16>) -> tensor<6x8x1x1xbf16>
// CHECK-NEXT:    %[[F:.*]]:5 = "stablehlo.while"(%[[C0]], %[[E0]], %[[E1]], %[[E2]], %[[X]])
// CHECK-NEXT:    ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<6x8x1x32xui8>, %{{.*}}: tensor<6x8x1x1xbf16>, %{{.*}}: tensor<6x8x1x1xbf16>, %{{.*}}: tensor<8x64xf32>):
// CHECK-NEXT:      "stablehlo.compare"(%[[I]],
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[S0:.*]]: tensor<6x8x1x32xui8>, %[[S1:.*]]: tensor<6x8x1x1xbf16>, %[[S2:.*]]: tensor<6x8x1x1xbf16>, %[[H:.*]]: tensor<8x64xf32>):
// CHECK-NEXT:      %[[K:.*]] = "stablehlo.constant"() <{value = dense<3793791033> : tensor<ui32>}>
// CHECK-NEXT:      %[[N:.*]] = "stablehlo.convert"(%[[I]]) : (tensor<i32>) -> tensor<ui32>
// CHECK-NEXT:      %[[A:.*]] = "stablehlo.constant"() <{value = dense<2246822519> : tensor<ui32>}>
// CHECK-NEXT:      %[[M:.*]] = "stablehlo.multiply"(%[[N]], %[[A]])
// CHECK-NEXT:      %[[SALT:.*]] = "stablehlo.add"(%[[K]], %[[M]])
// CHECK-NEXT:      %[[C:.*]]:3 = func.call @act_save_group_quant4_8x64xf32(%[[H]], %[[SALT]])
// CHECK-NEXT:      %[[R0:.*]] = "stablehlo.reshape"(%[[C]]#0) : (tensor<8x1x32xui8>) -> tensor<1x8x1x32xui8>
// CHECK-NEXT:      %[[Z:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT:      %[[T0:.*]] = "stablehlo.dynamic_update_slice"(%[[S0]], %[[R0]], %[[I]], %[[Z]], %[[Z]], %[[Z]])
// CHECK:           %[[R1:.*]] = "stablehlo.reshape"(%[[C]]#1)
// CHECK:           %[[T1:.*]] = "stablehlo.dynamic_update_slice"(%[[S1]], %[[R1]], %[[I]],
// CHECK:           %[[R2:.*]] = "stablehlo.reshape"(%[[C]]#2)
// CHECK:           %[[T2:.*]] = "stablehlo.dynamic_update_slice"(%[[S2]], %[[R2]], %[[I]],
// CHECK-NEXT:      %[[Y:.*]] = "stablehlo.tanh"(%[[H]])
// CHECK-NEXT:      %[[I1:.*]] = "stablehlo.add"(%[[I]],
// CHECK-NEXT:      "stablehlo.return"(%[[I1]], %[[T0]], %[[T1]], %[[T2]], %[[Y]])
// CHECK-NEXT:    }) {mhlo.name = "forward"}
// CHECK-NEXT:    %[[B:.*]]:5 = "stablehlo.while"(%[[F]]#1, %[[F]]#2, %[[F]]#3, %[[C0]], %[[G0]])
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[S0:.*]]: tensor<6x8x1x32xui8>, %[[S1:.*]]: tensor<6x8x1x1xbf16>, %[[S2:.*]]: tensor<6x8x1x1xbf16>, %[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<8x64xf32>):
// CHECK-NEXT:      %[[K:.*]] = "stablehlo.subtract"(%{{.*}}, %[[J]])
// CHECK-NEXT:      %[[Z:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT:      %[[T0:.*]] = "stablehlo.dynamic_slice"(%[[S0]], %[[K]], %[[Z]], %[[Z]], %[[Z]]) <{slice_sizes = array<i64: 1, 8, 1, 32>}>
// CHECK-NEXT:      %[[R0:.*]] = "stablehlo.reshape"(%[[T0]]) : (tensor<1x8x1x32xui8>) -> tensor<8x1x32xui8>
// CHECK:           %[[T1:.*]] = "stablehlo.dynamic_slice"(%[[S1]], %[[K]],
// CHECK-NEXT:      %[[R1:.*]] = "stablehlo.reshape"(%[[T1]])
// CHECK:           %[[T2:.*]] = "stablehlo.dynamic_slice"(%[[S2]], %[[K]],
// CHECK-NEXT:      %[[R2:.*]] = "stablehlo.reshape"(%[[T2]])
// CHECK-NEXT:      %[[H:.*]]:4 = "stablehlo.optimization_barrier"(%[[R0]], %[[R1]], %[[R2]], %[[G]])
// CHECK-NEXT:      %[[L:.*]] = func.call @act_load_group_quant4_8x64xf32(%[[H]]#0, %[[H]]#1, %[[H]]#2)
// CHECK-NEXT:      %[[G1:.*]] = "stablehlo.multiply"(%[[H]]#3, %[[L]])
// CHECK-NEXT:      %[[J1:.*]] = "stablehlo.add"(%[[J]],
// CHECK-NEXT:      "stablehlo.return"(%[[S0]], %[[S1]], %[[S2]], %[[J1]], %[[G1]])
// CHECK:         return %[[B]]#4
func.func @parts(%x: !t, %g0: !t) -> !t {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %empty = act.empty_stack : !qs
  %f:3 = "stablehlo.while"(%c0, %empty, %x) ({
  ^bb0(%i: !i, %s: !qs, %h: !t):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %s: !qs, %h: !t):
    %c = act.compressed_save %h : !t to !q
    %s1 = act.stack_push %c, %s[%i] : !i, !qs
    %y = "stablehlo.tanh"(%h) : (!t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %s1, %y) : (!i, !qs, !t) -> ()
  }) {mhlo.name = "forward"} : (!i, !qs, !t) -> (!i, !qs, !t)
  %b:3 = "stablehlo.while"(%f#1, %c0, %g0) ({
  ^bb0(%s: !qs, %j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%s: !qs, %j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %c = act.stack_read %s[%k] : !i, !qs
    %cb, %gb = act.barrier %c, %g : !q, !t
    %h = act.dequantize_load %cb : !q to !t
    %g1 = "stablehlo.multiply"(%gb, %h) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%s, %j1, %g1) : (!qs, !i, !t) -> ()
  }) : (!qs, !i, !t) -> (!qs, !i, !t)
  return %b#2 : !t
}

// Stacks of stacks have two leading axes, the outer one first. The salt depends on
// both counters, in different ways. A raw save is stacked as it is; of its barrier
// nothing is left.

// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[N:.*]]: tensor<i32>)
// CHECK:         %[[E0:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<ui8>) -> tensor<6x3x8x1x32xui8>
// CHECK:         %[[R:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<f32>) -> tensor<6x8x64xf32>
// CHECK-NEXT:    %[[F:.*]]:6 = "stablehlo.while"(%{{.*}}, %[[E0]], %{{.*}}, %{{.*}}, %[[R]], %[[X]])
// CHECK:           "stablehlo.return"
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[S0:.*]]: tensor<6x3x8x1x32xui8>, %{{.*}}: tensor<6x3x8x1x1xbf16>, %{{.*}}: tensor<6x3x8x1x1xbf16>, %[[RS:.*]]: tensor<6x8x64xf32>, %[[H:.*]]: tensor<8x64xf32>):
// CHECK-NEXT:      %[[HR:.*]] = "stablehlo.reshape"(%[[H]]) : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
// CHECK:           "stablehlo.dynamic_update_slice"(%[[RS]], %[[HR]], %[[I]],
// CHECK:           %[[D0:.*]] = "stablehlo.broadcast_in_dim"(%{{.*}}) {{.*}} : (tensor<ui8>) -> tensor<3x8x1x32xui8>
// CHECK:           %[[A:.*]]:5 = "stablehlo.while"(%{{.*}}, %[[H]], %[[D0]], %{{.*}}, %{{.*}})
// CHECK:             "stablehlo.return"
// CHECK:           ^bb0(%[[J:.*]]: tensor<i32>, %[[B:.*]]: tensor<8x64xf32>, %[[B0:.*]]: tensor<3x8x1x32xui8>,
// CHECK-NEXT:        %[[K:.*]] = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
// CHECK-NEXT:        %[[JU:.*]] = "stablehlo.convert"(%[[J]])
// CHECK-NEXT:        %[[JF:.*]] = "stablehlo.constant"() <{value = dense<2246822519> : tensor<ui32>}>
// CHECK-NEXT:        %[[JM:.*]] = "stablehlo.multiply"(%[[JU]], %[[JF]])
// CHECK-NEXT:        %[[KJ:.*]] = "stablehlo.add"(%[[K]], %[[JM]])
// CHECK-NEXT:        %[[IU:.*]] = "stablehlo.convert"(%[[I]])
// CHECK-NEXT:        %[[IF:.*]] = "stablehlo.constant"() <{value = dense<562700379> : tensor<ui32>}>
// CHECK-NEXT:        %[[IM:.*]] = "stablehlo.multiply"(%[[IU]], %[[IF]])
// CHECK-NEXT:        %[[KJI:.*]] = "stablehlo.add"(%[[KJ]], %[[IM]])
// CHECK-NEXT:        %[[C:.*]]:3 = func.call @act_save_group_quant4_8x64xf32(%[[B]], %[[KJI]])
// CHECK:             "stablehlo.dynamic_update_slice"(%[[B0]], %{{.*}}, %[[J]],
// CHECK:           %[[A0:.*]] = "stablehlo.reshape"(%[[A]]#2) : (tensor<3x8x1x32xui8>) -> tensor<1x3x8x1x32xui8>
// CHECK:           "stablehlo.dynamic_update_slice"(%[[S0]], %[[A0]], %[[I]],
// CHECK-NOT:     "stablehlo.optimization_barrier"
// CHECK:         %[[O:.*]] = "stablehlo.dynamic_slice"(%[[F]]#1, %[[N]], %{{.*}}) <{slice_sizes = array<i64: 1, 3, 8, 1, 32>}>
// CHECK-NEXT:    %[[OR:.*]] = "stablehlo.reshape"(%[[O]]) : (tensor<1x3x8x1x32xui8>) -> tensor<3x8x1x32xui8>
// CHECK:         "stablehlo.dynamic_slice"(%[[OR]], %{{.*}}) <{slice_sizes = array<i64: 1, 8, 1, 32>}>
// CHECK:         %[[L:.*]] = call @act_load
// CHECK:         %[[RR:.*]] = "stablehlo.dynamic_slice"(%[[F]]#4, %[[N]],
// CHECK-NEXT:    %[[RL:.*]] = "stablehlo.reshape"(%[[RR]])
// CHECK-NEXT:    return %[[L]], %[[RL]]
!raw = !act.compressed<tensor<8x64xf32>, #act.raw>
!raws = !act.stack<6 x !raw>
!in = !act.stack<3 x !q>
!out = !act.stack<6 x !in>
func.func @nested(%x: !t, %n: !i) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c3 = "stablehlo.constant"() <{value = dense<3> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %e = act.empty_stack : !out
  %r = act.empty_stack : !raws
  %f:4 = "stablehlo.while"(%c0, %e, %r, %x) ({
  ^bb0(%i: !i, %s: !out, %rs: !raws, %h: !t):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %s: !out, %rs: !raws, %h: !t):
    %u = act.compressed_save %h : !t to !raw
    %hb, %ub = act.barrier %h, %u : !t, !raw
    %rs1 = act.stack_push %ub, %rs[%i] : !i, !raws
    %d = act.empty_stack : !in
    %a:3 = "stablehlo.while"(%c0, %hb, %d) ({
    ^bb0(%j: !i, %b: !t, %bs: !in):
      %p = "stablehlo.compare"(%j, %c3) <{comparison_direction = #lt}> : (!i, !i) -> !p
      "stablehlo.return"(%p) : (!p) -> ()
    }, {
    ^bb0(%j: !i, %b: !t, %bs: !in):
      %c = act.compressed_save %b {id = 3 : i64} : !t to !q
      %b1 = "stablehlo.tanh"(%b) : (!t) -> !t
      %bs1 = act.stack_push %c, %bs[%j] : !i, !in
      %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
      "stablehlo.return"(%j1, %b1, %bs1) : (!i, !t, !in) -> ()
    }) : (!i, !t, !in) -> (!i, !t, !in)
    %s1 = act.stack_push %a#2, %s[%i] : !i, !out
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %s1, %rs1, %a#1) : (!i, !out, !raws, !t) -> ()
  }) : (!i, !out, !raws, !t) -> (!i, !out, !raws, !t)
  %v = act.stack_read %f#1[%n] : !i, !out
  %o = act.stack_read %v[%c1] : !i, !in
  %l = act.dequantize_load %o : !q to !t
  %k = act.stack_read %f#2[%n] : !i, !raws
  %z = act.dequantize_load %k : !raw to !t
  return %l, %z : !t, !t
}

// A step in a loop has no stack, but its noise differs from iteration to iteration as
// well. A loop whose iterations are not counted adds nothing.

// CHECK-LABEL: func.func @step_in_loop(
// CHECK:         "stablehlo.while"(
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<8x64xf32>):
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<8x64xf32>):
// CHECK:           "stablehlo.convert"(%[[I]])
// CHECK:           %[[SALT:.*]] = "stablehlo.add"
// CHECK-NEXT:      call @act_save_group_quant4_8x64xf32(%[[H]], %[[SALT]])
// CHECK:         "stablehlo.while"(
// CHECK:           "stablehlo.return"
// CHECK:           %[[SALT:.*]] = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
// CHECK-NEXT:      call @act_save_group_quant4_8x64xf32(%{{.*}}, %[[SALT]])
// CHECK:         return %
func.func @step_in_loop(%x: !t, %n: !i) -> !t {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %f:2 = "stablehlo.while"(%c0, %x) ({
  ^bb0(%i: !i, %h: !t):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t):
    %c = act.compressed_save %h : !t to !q
    %l = act.dequantize_load %c : !q to !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %l) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  %g:2 = "stablehlo.while"(%c0, %f#1) ({
  ^bb0(%i: !i, %h: !t):
    %p = "stablehlo.compare"(%i, %n) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t):
    %c = act.compressed_save %h {id = 3 : i64} : !t to !q
    %l = act.dequantize_load %c : !q to !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %l) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %g#1 : !t
}

// Nor does a loop of another dialect, whose counter is no tensor.

// CHECK-LABEL: func.func @scf_for(
// CHECK:         scf.for
// CHECK-NEXT:      %[[SALT:.*]] = "stablehlo.constant"() <{value = dense<3793791033> : tensor<ui32>}>
// CHECK-NEXT:      func.call @act_save_group_quant4_8x64xf32(%{{.*}}, %[[SALT]])
func.func @scf_for(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%y = %x) -> !t {
    %c = act.compressed_save %y : !t to !q
    %l = act.dequantize_load %c : !q to !t
    scf.yield %l : !t
  }
  return %r : !t
}
