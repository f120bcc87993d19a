// What the conversion does not accept of loops. Stacks are carried by whiles, and
// nothing else.

// RUN: act-opt %s --convert-act-to-stablehlo --split-input-file --verify-diagnostics

!saves = !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>

// expected-error @+1 {{'func.func' op expects a signature without compressed values, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
func.func @argument(%s: !saves, %i: tensor<i32>) {
  %0 = act.stack_read %s[%i] : tensor<i32>, !saves
  return
}

// -----

!saves = !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>

func.func @scf_for(%m: tensor<8xi1>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = act.empty_stack : !saves
  // expected-error @+1 {{'scf.for' op expects block arguments that are not compressed, got '!act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>'}}
  %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%s = %e) -> !saves {
    scf.yield %s : !saves
  }
  return
}

// -----

!saves = !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>

func.func @other_operation(%p: tensor<i1>) {
  %e = act.empty_stack : !saves
  // expected-error @+1 {{'stablehlo.select' op expects operands and results that are not compressed, got '!act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>'}}
  %r = "stablehlo.select"(%p, %e, %e) : (tensor<i1>, !saves, !saves) -> !saves
  return
}

// -----

!save = !act.compressed<tensor<8xi1>, #act.mask>

// A save that is no stack is not carried.
func.func @carried_save(%m: tensor<8xi1>) {
  %c = act.compressed_save %m : tensor<8xi1> to !save
  // expected-error @+1 {{'stablehlo.while' op expects block arguments that are not compressed, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
  %r = "stablehlo.while"(%c) ({
  ^bb0(%a: !save):
    %p = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: !save):
    "stablehlo.return"(%a) : (!save) -> ()
  }) : (!save) -> !save
  return
}

// -----

!saves = !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>

// A branch does not return a stack.
func.func @branch(%p: tensor<i1>) {
  %e = act.empty_stack : !saves
  // expected-error @+1 {{'stablehlo.if' op expects operands and results that are not compressed, got '!act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>'}}
  %r = "stablehlo.if"(%p) ({
    "stablehlo.return"(%e) : (!saves) -> ()
  }, {
    "stablehlo.return"(%e) : (!saves) -> ()
  }) : (tensor<i1>) -> !saves
  return
}

// -----

!saves = !act.stack<6 x !act.compressed<tensor<8xi1>, #act.mask>>

// Places are what dynamic_slice takes.
func.func @place(%i: index) {
  %e = act.empty_stack : !saves
  // expected-error @+1 {{'act.stack_read' op expects a rank-0 tensor as place, got 'index'}}
  %r = act.stack_read %e[%i] : index, !saves
  return
}

// -----

// Exists only while act-partition works.
func.func @joint() {
  // expected-error @+1 {{'act.joint_loop' op expects an operation with a StableHLO lowering}}
  act.joint_loop 6 {
    act.turning_point
    act.joint_yield
  }
  return
}
