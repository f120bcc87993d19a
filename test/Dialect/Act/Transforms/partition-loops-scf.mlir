// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,func.func(act-verify-partition))' | FileCheck %s --check-prefix=ENC

// Loops of scf over linalg: what forward writes row by row and backward reads
// the other way round crosses in stacks of saves.

#id = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @scan_for(
// CHECK:         %[[EMPTY:.*]] = act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.raw>>
// CHECK:         %[[F:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} iter_args(%[[H:.*]] = %{{.*}}, %[[S:.*]] = %[[EMPTY]])
// CHECK:           %[[C:.*]] = act.compressed_save %[[H]] :
// CHECK:           %[[B:.*]]:2 = act.barrier %[[H]], %[[C]]
// CHECK:           linalg.matmul ins(%[[B]]#0,
// CHECK:           %[[P:.*]] = act.stack_push %[[B]]#1, %[[S]][%[[I]]] : index
// CHECK:           scf.yield %{{.*}}, %[[P]]
// CHECK:         scf.for %[[J:.*]] = %{{.*}} iter_args(%[[G:.*]] = %{{.*}}, %[[DW:.*]] = %{{.*}}, %[[S2:.*]] = %[[F]]#1)
// CHECK:           %[[R:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK:           %[[C2:.*]] = act.stack_read %[[S2]][%[[R]]]
// CHECK:           %[[B2:.*]]:2 = act.barrier %[[C2]], %[[G]]
// CHECK:           act.dequantize_load %[[B2]]#0
// CHECK:           scf.yield %{{.*}}, %{{.*}}, %[[S2]]
// ENC-LABEL: func.func @scan_for(
// ENC:         act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>>
// ENC:         act.dequantize_load %{{.*}} : <tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>
!t = tensor<128x128xf32>
!s = tensor<6x128x128xf32>
func.func @scan_for(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %zeros = arith.constant dense<0.0> : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %init = tensor.empty() : !t
    %fill = linalg.fill ins(%zero : f32) outs(%init : !t) -> !t
    %z = linalg.matmul ins(%h, %w : !t, !t) outs(%fill : !t) -> !t
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%z : !t) outs(%init : !t) {
    ^bb0(%a: f32, %o: f32):
      %sin = math.sin %a : f32
      linalg.yield %sin : f32
    } -> !t
    %next = tensor.insert_slice %h into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %b:2 = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0, %dw = %zeros) -> (!t, !t) {
    %r = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%r, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %dw1 = linalg.matmul ins(%h, %g : !t, !t) outs(%dw : !t) -> !t
    %init = tensor.empty() : !t
    %fill = linalg.fill ins(%zero : f32) outs(%init : !t) -> !t
    %g1 = linalg.matmul ins(%g, %w : !t, !t) outs(%fill : !t) -> !t
    scf.yield %g1, %dw1 : !t, !t
  }
  return %f#0, %b#1 : !t, !t
}

// `scf.while`. Backward carries the stack, and slices keep the first axis: views add
// and drop it.

// CHECK-LABEL: func.func @scan_while(
// CHECK:         %[[EMPTY:.*]] = act.empty_stack
// CHECK:         %[[F:.*]]:3 = scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[S:.*]] = %[[EMPTY]])
// CHECK-NEXT:      %[[MORE:.*]] = arith.cmpi slt
// CHECK-NEXT:      scf.condition(%[[MORE]]) %{{.*}}, %{{.*}}, %[[S]]
// CHECK:         ^bb0(%[[I:.*]]: index, %[[H:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack
// CHECK-NEXT:      act.compressed_save %[[H]] :
// CHECK:           act.stack_push %{{.*}}, %[[S]][%[[I]]] : index
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %[[F]]#2)
// CHECK:         ^bb0(%[[J:.*]]: index, %[[G:.*]]: tensor<128x128xf32>, %[[S:[^:]*]]: !act.stack
// CHECK:           %[[K:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK-NEXT:      act.stack_read %[[S]][%[[K]]]
// CHECK-NOT:       tensor.extract_slice
// CHECK:           scf.yield %{{.*}}, %{{.*}}, %[[S]]
// ENC-LABEL: func.func @scan_while(
// ENC-NOT:     act.raw
!r = tensor<1x128x128xf32>
func.func @scan_while(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:3 = scf.while (%i = %c0, %h = %x, %stack = %empty) : (index, !t, !s) -> (index, !t, !s) {
    %more = arith.cmpi slt, %i, %c6 : index
    scf.condition(%more) %i, %h, %stack : index, !t, !s
  } do {
  ^bb0(%i: index, %h: !t, %stack: !s):
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %row = tensor.expand_shape %h [[0, 1], [2]] output_shape [1, 128, 128] : !t into !r
    %next = tensor.insert_slice %row into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !r into !s
    %i1 = arith.addi %i, %c1 : index
    scf.yield %i1, %y, %next : index, !t, !s
  }
  %b:3 = scf.while (%j = %c0, %g = %g0, %stack = %f#2) : (index, !t, !s) -> (index, !t, !s) {
    %more = arith.cmpi ult, %j, %c6 : index
    scf.condition(%more) %j, %g, %stack : index, !t, !s
  } do {
  ^bb0(%j: index, %g: !t, %stack: !s):
    %k = arith.subi %c5, %j : index
    %row = tensor.extract_slice %stack[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !r
    %h = tensor.collapse_shape %row [[0, 1], [2]] : !r into !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    %j1 = arith.addi %j, %c1 : index
    scf.yield %j1, %g1, %stack : index, !t, !s
  }
  return %f#1, %b#1 : !t, !t
}

// Two stacks of different types keep theirs.

// CHECK-LABEL: func.func @two_stacks(
// ENC-LABEL: func.func @two_stacks(
// ENC-DAG:     act.empty_stack : <6 x !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>>
// ENC-DAG:     act.empty_stack : <6 x !act.compressed<tensor<64x256xf32>, #act.group_quant<bits = 4, group = 64>>>
// ENC-DAG:     act.dequantize_load %{{.*}} : <tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>
// ENC-DAG:     act.dequantize_load %{{.*}} : <tensor<64x256xf32>, #act.group_quant<bits = 4, group = 64>>
!u = tensor<64x256xf32>
!v = tensor<256x256xf32>
!us = tensor<6x64x256xf32>
func.func @two_stacks(%x: !t, %w: !t, %g0: !t, %u0: !u, %v: !v) -> (!t, !t, !u) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %emptyu = tensor.empty() : !us
  %out = tensor.empty() : !t
  %outu = tensor.empty() : !u
  %f:4 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %u = %u0, %hs = %empty, %us = %emptyu) -> (!t, !u, !s, !us) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %q = linalg.matmul ins(%u, %v : !u, !v) outs(%outu : !u) -> !u
    %hs1 = tensor.insert_slice %h into %hs[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    %us1 = tensor.insert_slice %u into %us[%i, 0, 0] [1, 64, 256] [1, 1, 1] : !u into !us
    scf.yield %y, %q, %hs1, %us1 : !t, !u, !s, !us
  }
  %b:2 = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0, %gu = %u0) -> (!t, !u) {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#2[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %u = tensor.extract_slice %f#3[%k, 0, 0] [1, 64, 256] [1, 1, 1] : !us to !u
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    %m = arith.mulf %u, %gu : !u
    scf.yield %g1, %m : !t, !u
  }
  return %f#0, %b#0, %b#1 : !t, !t, !u
}

// The row that is written is a view of something else, which only the write reads: it
// is a value of forward like any other.

// CHECK-LABEL: func.func @view_as_row(
// CHECK:         scf.for
// CHECK:           %[[M:.*]] = arith.mulf
// CHECK:           act.stack_push
// CHECK:         scf.for
// CHECK:           act.stack_read
// CHECK:           act.dequantize_load
// ENC-LABEL: func.func @view_as_row(
// ENC-NOT:     act.raw
!q = tensor<128x2x64xf32>
func.func @view_as_row(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : !s
  %out = tensor.empty() : !t
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %stack = %empty) -> (!t, !s) {
    %y = linalg.matmul ins(%h, %w : !t, !t) outs(%out : !t) -> !t
    %e = tensor.expand_shape %y [[0], [1, 2]] output_shape [128, 2, 64] : !t into !q
    %m = arith.mulf %e, %e : !q
    %c = tensor.collapse_shape %m [[0], [1, 2]] : !q into !t
    %next = tensor.insert_slice %c into %stack[%i, 0, 0] [1, 128, 128] [1, 1, 1] : !t into !s
    scf.yield %y, %next : !t, !s
  }
  %b = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0) -> (!t) {
    %k = arith.subi %c5, %j : index
    %h = tensor.extract_slice %f#1[%k, 0, 0] [1, 128, 128] [1, 1, 1] : !s to !t
    %g1 = linalg.matmul ins(%g, %h : !t, !t) outs(%out : !t) -> !t
    scf.yield %g1 : !t
  }
  return %f#0, %b : !t, !t
}
