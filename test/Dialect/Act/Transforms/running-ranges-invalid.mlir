// RUN: act-opt %s --act-running-ranges --split-input-file --verify-diagnostics
// RUN: echo "module {}" | not act-opt --act-running-ranges=decay=1 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: act-running-ranges expects a decay of at least 0 and less than 1, got 1
// RUN: echo "module {}" | not act-opt --act-running-ranges=decay=-0.1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: act-running-ranges expects a decay of at least 0 and less than 1, got -

!t = tensor<8x64xf32>

func.func @branch(%x: !t, %p: i1) {
  scf.if %p {
    %s = act.empty_range : tensor<2x64xf32>
    // expected-error @+1 {{'act.update_range' op expects to be in functions and in bodies of loops that carry values, got one in 'scf.if'}}
    %n, %r = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  }
  return
}

// -----

!t = tensor<8x64xf32>
!c = !act.compressed<!t, #act.axis_quant<bits = 8, axis = 1, range = running>>
!cs = !act.stack<6 x !c>

func.func @index(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = act.empty_stack : !cs
  // expected-note @+1 {{this one does not}}
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %t = %e) -> (!t, !cs) {
    %s = act.empty_range : tensor<2x64xf32>
    // expected-error @+1 {{'act.update_range' op expects loops that collect what is saved to count in a tensor}}
    %n, %r = act.update_range %h, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
    %c = act.compressed_save %h range(%r : tensor<2x64xf32>) : !t to !c
    %t1 = act.stack_push %c, %t[%i] : index, !cs
    scf.yield %h, %t1 : !t, !cs
  }
  return %f#0 : !t
}

// -----

!t = tensor<8x64xf32>

func.func @caller(%x: !t) {
  call @callee(%x) : (!t) -> ()
  return
}
// expected-error @+1 {{'func.func' op expects that nothing calls a function that gets states: run act-inline first}}
func.func @callee(%x: !t) {
  %s = act.empty_range : tensor<2x64xf32>
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x64xf32>
  return
}
