// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s

!save = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!mask = !act.compressed<tensor<8xi1>, #act.mask>
!saves = !act.stack<6 x !save>
!masks = !act.stack<3 x !act.stack<6 x !mask>>

// Stacks of saves and of stacks; a place is an index, an integer or a rank-0 tensor.

// CHECK-LABEL: func.func @stacks(
// CHECK-SAME:    %[[A:.*]]: !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>, %[[I:.*]]: index, %[[J:.*]]: i32, %[[K:.*]]: tensor<ui64>)
// CHECK-SAME:    -> (!act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>>, !act.stack<3 x !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>>)
func.func @stacks(%a: !save, %i: index, %j: i32, %k: tensor<ui64>) -> (!saves, !masks) {
  // CHECK-NEXT: %[[S0:.*]] = act.empty_stack : <6 x !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>>
  // GENERIC: "act.empty_stack"() : () -> !act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>>
  %s0 = act.empty_stack : !saves
  // CHECK-NEXT: %[[S1:.*]] = act.stack_push %[[A]], %[[S0]][%[[I]]] : index, <6 x !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>>
  // GENERIC: "act.stack_push"(%{{.*}}, %{{.*}}, %{{.*}}) : (!act.compressed<tensor<8x64xf32>, {{.*}}>, !act.stack<6 x {{.*}}>, index) -> !act.stack<6 x
  %s1 = act.stack_push %a, %s0[%i] : index, !saves
  // CHECK-NEXT: %[[B:.*]] = act.stack_read %[[S1]][%[[J]]] {name = "b"} : i32, <6 x
  // GENERIC: "act.stack_read"(%{{.*}}, %{{.*}}) {name = "b"} : (!act.stack<6 x {{.*}}>, i32) -> !act.compressed<tensor<8x64xf32>,
  %b = act.stack_read %s1[%j] {name = "b"} : i32, !saves
  // CHECK-NEXT: %[[S2:.*]] = act.stack_push %[[B]], %[[S1]][%[[K]]] {name = "c"} : tensor<ui64>, <6 x
  %s2 = act.stack_push %b, %s1[%k] {name = "c"} : tensor<ui64>, !saves
  // CHECK-NEXT: %[[M0:.*]] = act.empty_stack {name = "d"} : <3 x !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>>
  %m0 = act.empty_stack {name = "d"} : !masks
  // CHECK-NEXT: %[[R:.*]] = act.stack_read %[[M0]][%[[K]]] : tensor<ui64>, <3 x !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>>
  %r = act.stack_read %m0[%k] : tensor<ui64>, !masks
  // CHECK-NEXT: %[[M1:.*]] = act.stack_push %[[R]], %[[M0]][%[[K]]] : tensor<ui64>, <3 x !act.stack<6 x
  %m1 = act.stack_push %r, %m0[%k] : tensor<ui64>, !masks
  // CHECK-NEXT: return %[[S2]], %[[M1]]
  return %s2, %m1 : !saves, !masks
}

// Barriers hold stacks too.

// CHECK-LABEL: func.func @barrier(
// CHECK:         act.barrier %{{.*}}, %{{.*}} : !act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>>, tensor<4xf32>
func.func @barrier(%s: !saves, %g: tensor<4xf32>) -> !saves {
  %s1, %g1 = act.barrier %s, %g : !saves, tensor<4xf32>
  return %s1 : !saves
}

// CHECK-LABEL: func.func @joint(
// CHECK-NEXT:    act.joint_loop 6 {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: tensor<i32>, %[[H:.*]]: tensor<8x8xf32>, %[[J:.*]]: tensor<i32>, %[[G:.*]]: tensor<8x8xf32>):
// CHECK-NEXT:      %[[X:.*]] = act.loop_state %[[H]] : tensor<8x8xf32>
// CHECK-NEXT:      act.turning_point %[[X]], %[[I]] : tensor<8x8xf32>, tensor<i32>
// CHECK-NEXT:      %[[D:.*]] = act.loop_state %[[G]] {name = "g"} : tensor<8x8xf32>
// CHECK-NEXT:      act.joint_yield %[[D]] : tensor<8x8xf32>
// CHECK-NEXT:    } {name = "loop"}
// GENERIC:       "act.joint_loop"() <{trip_count = 6 : i64}> ({
// GENERIC:         "act.turning_point"(%{{.*}}, %{{.*}}) : (tensor<8x8xf32>, tensor<i32>) -> ()
// GENERIC:         "act.joint_yield"(%{{.*}}) : (tensor<8x8xf32>) -> ()
// GENERIC-NEXT:  }) {name = "loop"} : () -> ()
func.func @joint() {
  act.joint_loop 6 {
  ^bb0(%i: tensor<i32>, %h: tensor<8x8xf32>, %j: tensor<i32>, %g: tensor<8x8xf32>):
    %x = act.loop_state %h : tensor<8x8xf32>
    act.turning_point %x, %i : tensor<8x8xf32>, tensor<i32>
    %d = act.loop_state %g {name = "g"} : tensor<8x8xf32>
    act.joint_yield %d : tensor<8x8xf32>
  } {name = "loop"}
  return
}

// Nothing carried.

// CHECK-LABEL: func.func @joint_empty(
// CHECK-NEXT:    act.joint_loop 1 {
// CHECK-NEXT:      act.turning_point
// CHECK-NEXT:      act.joint_yield
// CHECK-NEXT:    }
func.func @joint_empty() {
  act.joint_loop 1 {
    act.turning_point
    act.joint_yield
  }
  return
}
