// Loops of scf that are no pair, or whose stacks stay. act must see that, or it would
// lose what somebody still reads.

// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

!t = tensor<128x128xf32>
!s = tensor<6x128x128xf32>

// The loop counts by twos: its counter is not the number of the iteration.

// CHECK-LABEL: func.func @step_of_two(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @step_of_two(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c2 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %b = scf.for %j = %c0 to %c6 step %c2 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}

// The loops run 6 times over 7 rows: one is never written.

// CHECK-LABEL: func.func @rows(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @rows(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : tensor<7x128x128xf32>
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, tensor<7x128x128xf32>) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into tensor<7x128x128xf32>
    scf.yield %y, %next : !t, tensor<7x128x128xf32>
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : tensor<7x128x128xf32> to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}

// Half a row is no row.

// CHECK-LABEL: func.func @half(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @half(%x: !t, %w: !t, %g0: tensor<64x128xf32>) -> (!t, tensor<64x128xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> tensor<64x128xf32> {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 64, 128] [1, 1, 1] : !s to tensor<64x128xf32>
    %g1 = arith.mulf %g, %h : tensor<64x128xf32>
    scf.yield %g1 : tensor<64x128xf32>
  }
  return %f#0, %b : !t, tensor<64x128xf32>
}

// Forward reads the stack while it is being written.

// CHECK-LABEL: func.func @read_while_written(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @read_while_written(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %old = tensor.extract_slice %stack[0, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %z = arith.addf %y, %old : !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %z, %next : !t, !s
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}

// The number of iterations is an argument.

// CHECK-LABEL: func.func @argument(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @argument(%x: !t, %w: !t, %g0: !t, %n: index) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %last = arith.subi %n, %c1 : index
  %b = scf.for %j = %c0 to %n step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %last, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}

// A while and a for that count in different types: what backward makes again cannot
// read the counter of the other.

// CHECK-LABEL: func.func @counter_types(
// CHECK-NOT:     act.
// CHECK:         return %
func.func @counter_types(%x: !t, %ws: !s, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %i6 = arith.constant 6 : i32
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:4 = scf.while (%i = %i0, %h = %x, %us = %empty, %hs = %empty) : (i32, !t, !s, !s) -> (i32, !t, !s, !s) {
    %more = arith.cmpi slt, %i, %i6 : i32
    scf.condition(%more) %i, %h, %us, %hs : i32, !t, !s, !s
  } do {
  ^bb0(%i: i32, %h: !t, %us: !s, %hs: !s):
    %k = arith.index_cast %i : i32 to index
    %w = tensor.extract_slice %ws[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %u = arith.mulf %w, %w : !t
    %y = linalg.matmul ins(%h, %u : !t, !t) outs(%out : !t) -> !t
    %us1 = tensor.insert_slice %u into %us[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    %hs1 = tensor.insert_slice %h into %hs[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    %n = arith.addi %i, %i1 : i32
    scf.yield %n, %y, %us1, %hs1 : i32, !t, !s, !s
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#3[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %m = arith.mulf %g, %h : !t
    %u = tensor.extract_slice %f#2[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%m, %u : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#1, %b : !t, !t
}

// Backward reads a view of the stack whole, besides its rows. Saved or not, the stack
// has to be there in full.

// CHECK-LABEL: func.func @captured_view(
// CHECK:         %[[F:.*]]:{{[23]}} = scf.for
// CHECK:           tensor.insert_slice
// CHECK:         %[[V:.*]] = tensor.collapse_shape %[[F]]#1
// CHECK:         scf.for
// CHECK:           arith.mulf %{{.*}}, %[[V]]
// CHECK:         return %
!v = tensor<6x16384xf32>
func.func @captured_view(%x: !t, %w: !t, %g0: !t) -> (!t, !t, !v) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %a0 = tensor.empty() : !v
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %view = tensor.collapse_shape %f#1 [[0], [1, 2]] : !s into !v
  %b:2 = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0, %a = %a0) -> (!t, !v) {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    %a1 = arith.mulf %a, %view : !v
    scf.yield %g1, %a1 : !t, !v
  }
  return %f#0, %b#0, %b#1 : !t, !t, !v
}

// Backward hands the stack on in another carried value, which is a result.

// CHECK-LABEL: func.func @handed_on(
// CHECK:         scf.for
// CHECK:           tensor.insert_slice
// CHECK:         scf.for
// CHECK:           scf.yield
// CHECK:         return %
func.func @handed_on(%x: !t, %w: !t, %g0: !t) -> (!t, !t, !s) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %b:3 = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0, %hs = %f#1, %last = %empty) -> (!t, !s, !s) {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %hs[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1, %hs, %hs : !t, !s, !s
  }
  return %f#0, %b#0, %b#2 : !t, !t, !s
}

// Two loops of backward read the stack, as two gradients of one function do. For each
// the other one needs it whole.

// CHECK-LABEL: func.func @two_backward_loops(
// CHECK:         %[[F:.*]]:2 = scf.for
// CHECK:           tensor.insert_slice
// CHECK-NOT:     act.empty_stack
// CHECK:         scf.for
// CHECK:           tensor.extract_slice %[[F]]#1
// CHECK:         scf.for
// CHECK:           tensor.extract_slice %[[F]]#1
// CHECK:         return %
func.func @two_backward_loops(%x: !t, %w: !t, %g0: !t) -> (!t, !t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %a = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %a) -> !t {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%h, %g : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %a, %b : !t, !t, !t
}
