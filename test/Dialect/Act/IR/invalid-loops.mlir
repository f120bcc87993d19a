// One case for each numbered constraint in LoopOps.td and of the type of stacks.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// stack C1
// expected-error @+1 {{expects a positive size, got 0}}
func.func private @f(!act.stack<0 x !act.compressed<tensor<8xi1>, #act.mask>>)

// -----

// stack C1
// expected-error @+1 {{expects a positive size, got -1}}
func.func private @f(!act.stack<-1 x !act.compressed<tensor<8xi1>, #act.mask>>)

// -----

// stack C2
// expected-error @+1 {{expects elements that are compressed or stacks, got 'tensor<8xi1>'}}
func.func private @f(!act.stack<6 x tensor<8xi1>>)

// -----

// stack: what it holds is checked as elsewhere
// expected-error @+2 {{mask expects element type i1, got 'f32'}}
// expected-error @+1 {{failed to parse Act_StackType parameter 'elementType'}}
func.func private @f(!act.stack<6 x !act.compressed<tensor<8xf32>, #act.mask>>)

// -----

// empty_stack: the result is a stack
func.func @f() {
  // expected-error @+1 {{invalid kind of type specified}}
  %0 = act.empty_stack : !act.compressed<tensor<8xi1>, #act.mask>
  return
}

// -----

// stack_push C1: the element
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%c: !act.compressed<tensor<8xi1>, #act.raw>, %s: !act.stack<6 x !save>, %i: index) {
  // expected-error @+1 {{'act.stack_push' op failed to verify that 'value' is an element of 'stack'}}
  %0 = "act.stack_push"(%c, %s, %i) : (!act.compressed<tensor<8xi1>, #act.raw>, !act.stack<6 x !save>, index) -> !act.stack<6 x !save>
  return
}

// -----

// stack_push C1: one level too deep
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%c: !save, %s: !act.stack<3 x !act.stack<6 x !save>>, %i: index) {
  // expected-error @+1 {{'act.stack_push' op failed to verify that 'value' is an element of 'stack'}}
  %0 = "act.stack_push"(%c, %s, %i) : (!save, !act.stack<3 x !act.stack<6 x !save>>, index) -> !act.stack<3 x !act.stack<6 x !save>>
  return
}

// -----

// stack_push C1: the result
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%c: !save, %s: !act.stack<6 x !save>, %i: index) {
  // expected-error @+1 {{'act.stack_push' op failed to verify that all of {stack, result} have same type}}
  %0 = "act.stack_push"(%c, %s, %i) : (!save, !act.stack<6 x !save>, index) -> !act.stack<5 x !save>
  return
}

// -----

// stack_push: the place
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%c: !save, %s: !act.stack<6 x !save>, %i: tensor<1xi32>) {
  // expected-error @+1 {{'act.stack_push' op operand #2 must be integer, index or rank-0 tensor of integers, but got 'tensor<1xi32>'}}
  %0 = act.stack_push %c, %s[%i] : tensor<1xi32>, !act.stack<6 x !save>
  return
}

// -----

// stack_read C1
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%s: !act.stack<3 x !act.stack<6 x !save>>, %i: index) {
  // expected-error @+1 {{'act.stack_read' op failed to verify that 'result' is an element of 'stack'}}
  %0 = "act.stack_read"(%s, %i) : (!act.stack<3 x !act.stack<6 x !save>>, index) -> !save
  return
}

// -----

// stack_read: the place
!save = !act.compressed<tensor<8xi1>, #act.mask>
func.func @f(%s: !act.stack<6 x !save>, %i: f32) {
  // expected-error @+1 {{'act.stack_read' op operand #1 must be integer, index or rank-0 tensor of integers, but got 'f32'}}
  %0 = act.stack_read %s[%i] : f32, !act.stack<6 x !save>
  return
}

// -----

// joint_loop C1: no turning point
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op expects one act.turning_point, got 0}}
  act.joint_loop 6 {
    act.joint_yield
  }
  return
}

// -----

// joint_loop C1: two turning points
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op expects one act.turning_point, got 2}}
  act.joint_loop 6 {
    act.turning_point
    act.turning_point
    act.joint_yield
  }
  return
}

// -----

// joint_loop C2
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op attribute 'trip_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  act.joint_loop 0 {
    act.turning_point
    act.joint_yield
  }
  return
}

// -----

// joint_loop: the terminator
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op expects a body that ends in act.joint_yield}}
  act.joint_loop 6 {
    act.turning_point
    "stablehlo.return"() : () -> ()
  }
  return
}

// -----

// joint_loop: one block
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op expects region #0 to have 0 or 1 blocks}}
  act.joint_loop 6 {
    act.turning_point
    act.joint_yield
  ^second:
    act.joint_yield
  }
  return
}

// -----

// joint_loop: an empty body
func.func @f() {
  // expected-error @+1 {{'act.joint_loop' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  "act.joint_loop"() <{trip_count = 6 : i64}> ({}) : () -> ()
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.turning_point' op expects parent op 'act.joint_loop'}}
  act.turning_point %x : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.loop_state' op expects parent op 'act.joint_loop'}}
  %0 = act.loop_state %x : tensor<8xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'act.joint_yield' op expects parent op 'act.joint_loop'}}
  act.joint_yield
}

// -----

// loop_state: the type of its operand
func.func @f(%x: tensor<8xf32>) {
  act.joint_loop 6 {
    // expected-error @+1 {{'act.loop_state' op failed to verify that all of {value, result} have same type}}
    %0 = "act.loop_state"(%x) : (tensor<8xf32>) -> tensor<4xf32>
    act.turning_point
    act.joint_yield
  }
  return
}
