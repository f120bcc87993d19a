// States of running ranges become arguments and results of the step.

// RUN: act-opt %s --act-running-ranges --split-input-file | FileCheck %s
// RUN: act-opt %s --act-running-ranges=decay=0.5 --split-input-file | FileCheck %s --check-prefix=DECAY

#lt = #stablehlo<comparison_direction LT>
!t = tensor<8x64xf32>
!c = !act.compressed<!t, #act.axis_quant<bits = 8, axis = 1, range = running>>

// Behind all other arguments and results, which keep their attributes, in the order of
// the saves. A name is the key, or the id of a save without one; the third has a name
// that is taken.
// CHECK-LABEL: func.func @names(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x64xf32> {jax.buffer_donor = true},
// CHECK-SAME:    %[[S0:[^:]*]]: tensor<2x64xf32> {act.range = "dot#12"},
// CHECK-SAME:    %[[S1:[^:]*]]: tensor<2x64xf32> {act.range = "save7"},
// CHECK-SAME:    %[[S2:[^:]*]]: tensor<2x64xf32> {act.range = "dot#12.2"})
// CHECK-SAME:    -> (tensor<8x64xf32> {jax.result_info = "y"}, tensor<2x64xf32> {act.range = "dot#12"}, tensor<2x64xf32> {act.range = "save7"}, tensor<2x64xf32> {act.range = "dot#12.2"})
// CHECK-NEXT:    %[[N0:.*]], %[[R0:.*]] = act.update_range %[[X]], %[[S0]] axis 1 decay 9.000000e-01
// CHECK-NEXT:    act.compressed_save %[[X]] range(%[[R0]] : tensor<2x64xf32>)
// CHECK-NEXT:    %[[N1:.*]], %[[R1:.*]] = act.update_range %[[X]], %[[S1]] axis 1
// CHECK-NEXT:    act.compressed_save %[[X]] range(%[[R1]] : tensor<2x64xf32>)
// CHECK-NEXT:    %[[N2:.*]], %[[R2:.*]] = act.update_range %[[X]], %[[S2]] axis 1
// CHECK-NEXT:    act.compressed_save %[[X]] range(%[[R2]] : tensor<2x64xf32>)
// CHECK-NEXT:    return %[[X]], %[[N0]], %[[N1]], %[[N2]]
// DECAY-LABEL: func.func @names(
// DECAY:         act.update_range {{.*}} decay 5.000000e-01
func.func @names(%x: !t {jax.buffer_donor = true}) -> (!t {jax.result_info = "y"}) {
  %s = act.empty_range : tensor<2x64xf32>
  %n0, %r0 = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  %c0 = act.compressed_save %x range(%r0 : tensor<2x64xf32>) {id = 2 : i64} : !t to !c key "dot#12"
  %n1, %r1 = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  %c1 = act.compressed_save %x range(%r1 : tensor<2x64xf32>) {id = 7 : i64} : !t to !c
  %n2, %r2 = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  %c2 = act.compressed_save %x range(%r2 : tensor<2x64xf32>) : !t to !c key "dot#12"
  return %x : !t
}

// What has a state already keeps it.
// CHECK-LABEL: func.func @given(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x64xf32>, %[[S:[^:]*]]: tensor<2x64xf32>) -> tensor<2x64xf32> {
// CHECK-NEXT:    act.update_range %[[X]], %[[S]] axis 1 decay 9.000000e-01
func.func @given(%x: !t, %s: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  return %n : tensor<2x64xf32>
}

// -----

#lt = #stablehlo<comparison_direction LT>
!i = tensor<i32>
!t = tensor<8x64xf32>
!c = !act.compressed<!t, #act.axis_quant<bits = 8, axis = 1, range = running>>
!cs = !act.stack<6 x !c>

// A loop that collects saves: iterations have rows of their own. The counter is not
// the first that it carries.
// CHECK-LABEL: func.func @layers(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x64xf32>, %[[S:[^:]*]]: tensor<6x2x64xf32> {act.range = "h#1"})
// CHECK-SAME:    -> (tensor<8x64xf32>, tensor<6x2x64xf32> {act.range = "h#1"})
// CHECK:         %[[F:.*]]:4 = "stablehlo.while"(%{{.*}}, %[[X]], %{{.*}}, %[[S]])
// CHECK:           "stablehlo.compare"
// CHECK:         ^bb0(%[[T:.*]]: !act.stack<{{.*}}>, %[[H:.*]]: tensor<8x64xf32>, %[[I:.*]]: tensor<i32>, %[[A:.*]]: tensor<6x2x64xf32>):
// CHECK-NEXT:      %[[Z:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT:      %[[W:.*]] = "stablehlo.dynamic_slice"(%[[A]], %[[I]], %[[Z]], %[[Z]]) <{slice_sizes = array<i64: 1, 2, 64>}>
// CHECK-NEXT:      %[[V:.*]] = "stablehlo.reshape"(%[[W]]) : (tensor<1x2x64xf32>) -> tensor<2x64xf32>
// CHECK-NEXT:      %[[N:.*]], %[[R:.*]] = act.update_range %[[H]], %[[V]]
// CHECK-NEXT:      act.compressed_save %[[H]] range(%[[R]]
// CHECK:           %[[Y:.*]] = "stablehlo.tanh"(%[[H]])
// CHECK:           %[[U:.*]] = "stablehlo.reshape"(%[[N]]) : (tensor<2x64xf32>) -> tensor<1x2x64xf32>
// CHECK:           %[[B:.*]] = "stablehlo.dynamic_update_slice"(%[[A]], %[[U]], %[[I]],
// CHECK-NEXT:      "stablehlo.return"(%{{.*}}, %[[Y]], %{{.*}}, %[[B]])
// CHECK:         }) {mhlo.name = "forward"}
// CHECK-NEXT:    return %[[F]]#1, %[[F]]#3
func.func @layers(%x: !t) -> !t {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %e = act.empty_stack : !cs
  %f:3 = "stablehlo.while"(%e, %x, %c0) ({
  ^bb0(%t: !cs, %h: !t, %i: !i):
    %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%t: !cs, %h: !t, %i: !i):
    %s = act.empty_range : tensor<2x64xf32>
    %n, %r = act.update_range %h, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
    %c = act.compressed_save %h range(%r : tensor<2x64xf32>) : !t to !c key "h#1"
    %t1 = act.stack_push %c, %t[%i] : !i, !cs
    %y = "stablehlo.tanh"(%h) : (!t) -> !t
    %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%t1, %y, %i1) : (!cs, !t, !i) -> ()
  }) {mhlo.name = "forward"} : (!cs, !t, !i) -> (!cs, !t, !i)
  return %f#1 : !t
}

// -----

!t = tensor<8x64xf32>
!c = !act.compressed<!t, #act.axis_quant<bits = 8, axis = 1, range = running>>

// Steps inside of a loop update one state in turn, here in two loops, with a second
// state outside of them, behind.
// CHECK-LABEL: func.func @steps(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<8x64xf32>, %[[S:[^:]*]]: tensor<2x64xf32> {act.range = "save0"}, %[[Q:[^:]*]]: tensor<2x64xf32> {act.range = "save1"})
// CHECK:         %[[O:.*]]:2 = scf.for %{{.*}} iter_args(%[[G:.*]] = %[[X]], %[[A:.*]] = %[[S]])
// CHECK-NEXT:      %[[L:.*]]:2 = scf.for %{{.*}} iter_args(%[[H:.*]] = %[[G]], %[[B:.*]] = %[[A]])
// CHECK-NEXT:        %[[N:.*]], %[[R:.*]] = act.update_range %[[H]], %[[B]]
// CHECK-NEXT:        act.compressed_save %[[H]] range(%[[R]]
// CHECK-NEXT:        %[[Y:.*]] = math.tanh %[[H]]
// CHECK-NEXT:        scf.yield %[[Y]], %[[N]]
// CHECK:           scf.yield %[[L]]#0, %[[L]]#1
// CHECK:         %[[M:.*]], %{{.*}} = act.update_range %[[O]]#0, %[[Q]]
// CHECK:         return %[[O]]#0, %[[O]]#1, %[[M]]
func.func @steps(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %o = scf.for %i = %c0 to %c4 step %c1 iter_args(%g = %x) -> !t {
    %l = scf.for %j = %c0 to %c4 step %c1 iter_args(%h = %g) -> !t {
      %s = act.empty_range : tensor<2x64xf32>
      %n, %r = act.update_range %h, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
      %c = act.compressed_save %h range(%r : tensor<2x64xf32>) : !t to !c
      %y = math.tanh %h : !t
      scf.yield %y : !t
    }
    scf.yield %l : !t
  }
  %s = act.empty_range : tensor<2x64xf32>
  %n, %r = act.update_range %o, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  %c = act.compressed_save %o range(%r : tensor<2x64xf32>) {id = 1 : i64} : !t to !c
  return %o : !t
}
