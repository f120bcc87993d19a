// Encodings of what loops save: the type goes through stacks and loops, and all
// iterations count for the size.

// RUN: act-opt %s --act-choose-encodings | FileCheck %s
// RUN: act-opt %s --act-choose-encodings \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<64x64xf32>
!c = !act.compressed<tensor<64x64xf32>, #act.raw>
!s = !act.stack<6 x !c>

// 4096 elements are too few for themselves, 6 times as many are not. Everything that
// the save is passed on as has its type.

// REMARK: remark: [Passed] Encoding | Category:act | Remark="stored as ", Remark="#act.group_quant<bits = 4, group = 64>", Remark=", saves ", Remark=84480, Remark=" of ", Remark=98304, Remark=" bytes"
// CHECK-LABEL: func.func @stacked(
// CHECK:         %[[E:.*]] = act.empty_stack : <6 x !act.compressed<tensor<64x64xf32>, #[[Q:act.group_quant<bits = 4, group = 64>]]>>
// CHECK-NEXT:    %[[F:.*]]:2 = scf.for {{.*}} -> (tensor<64x64xf32>, !act.stack<6 x !act.compressed<tensor<64x64xf32>, #[[Q]]>>)
// CHECK-NEXT:      act.compressed_save %{{.*}} to <tensor<64x64xf32>, #[[Q]]>
// CHECK-NEXT:      act.barrier {{.*}} : tensor<64x64xf32>, !act.compressed<tensor<64x64xf32>, #[[Q]]>
// CHECK-NEXT:      act.stack_push {{.*}} : index, <6 x !act.compressed<tensor<64x64xf32>, #[[Q]]>>
// CHECK:         scf.for {{.*}} -> (tensor<64x64xf32>, !act.stack<6 x !act.compressed<tensor<64x64xf32>, #[[Q]]>>)
// CHECK-NEXT:      act.stack_read {{.*}} : index, <6 x !act.compressed<tensor<64x64xf32>, #[[Q]]>>
// CHECK-NEXT:      act.barrier {{.*}} : !act.compressed<tensor<64x64xf32>, #[[Q]]>, tensor<64x64xf32>
// CHECK-NEXT:      act.dequantize_load {{.*}} : <tensor<64x64xf32>, #[[Q]]> to tensor<64x64xf32>
// CHECK-NOT:     act.raw
func.func @stacked(%x: !t, %g0: !t) -> (!t, !t) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %e = act.empty_stack : !s
  %f:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x, %s = %e) -> (!t, !s) {
    %c = act.compressed_save %h : !t to !c
    %hb, %cb = act.barrier %h, %c : !t, !c
    %s1 = act.stack_push %cb, %s[%i] : index, !s
    %y = math.tanh %hb : !t
    scf.yield %y, %s1 : !t, !s
  }
  %b:2 = scf.for %j = %c0 to %c6 step %c1 iter_args(%g = %g0, %s = %f#1) -> (!t, !s) {
    %c = act.stack_read %s[%j] : index, !s
    %cb, %gb = act.barrier %c, %g : !c, !t
    %h = act.dequantize_load %cb : !c to !t
    %g1 = arith.mulf %gb, %h : !t
    scf.yield %g1, %s : !t, !s
  }
  return %f#0, %b#0 : !t, !t
}

// A save that no stack collects is one, however often the loop runs.

// CHECK-LABEL: func.func @not_stacked(
// CHECK:         act.compressed_save %{{.*}} to <tensor<64x64xf32>, #act.raw>
func.func @not_stacked(%x: !t) -> !t {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %f = scf.for %i = %c0 to %c6 step %c1 iter_args(%h = %x) -> !t {
    %c = act.compressed_save %h : !t to !c
    %l = act.dequantize_load %c : !c to !t
    scf.yield %l : !t
  }
  return %f : !t
}

// The limits: 16384 elements in all (2 rows of 8192, not of 8191) and 1024 in a row,
// be the rows as many as they like. The same for predicates.

// CHECK-LABEL: func.func @limits(
// CHECK-SAME:    tensor<8191xf32>
// CHECK:         act.compressed_save %{{.*}} to <tensor<8192xf32>, #act.group_quant<
// CHECK:         act.compressed_save %{{.*}} to <tensor<8191xf32>, #act.raw>
// CHECK:         act.compressed_save %{{.*}} to <tensor<1024xf32>, #act.group_quant<
// CHECK:         act.compressed_save %{{.*}} to <tensor<1023xf32>, #act.raw>
// CHECK:         act.compressed_save %{{.*}} to <tensor<1024xi1>, #act.mask>
// CHECK:         act.compressed_save %{{.*}} to <tensor<512xi1>, #act.raw>
func.func @limits(%a: tensor<8192xf32>, %b: tensor<8191xf32>, %c: tensor<1024xf32>, %d: tensor<1023xf32>, %e: tensor<1024xi1>, %f: tensor<512xi1>, %i: index) {
  %a0 = act.empty_stack : !act.stack<2 x !act.compressed<tensor<8192xf32>, #act.raw>>
  %a1 = act.compressed_save %a : tensor<8192xf32> to !act.compressed<tensor<8192xf32>, #act.raw>
  %a2 = act.stack_push %a1, %a0[%i] : index, !act.stack<2 x !act.compressed<tensor<8192xf32>, #act.raw>>
  %b0 = act.empty_stack : !act.stack<2 x !act.compressed<tensor<8191xf32>, #act.raw>>
  %b1 = act.compressed_save %b : tensor<8191xf32> to !act.compressed<tensor<8191xf32>, #act.raw>
  %b2 = act.stack_push %b1, %b0[%i] : index, !act.stack<2 x !act.compressed<tensor<8191xf32>, #act.raw>>
  %c0 = act.empty_stack : !act.stack<16 x !act.compressed<tensor<1024xf32>, #act.raw>>
  %c1 = act.compressed_save %c : tensor<1024xf32> to !act.compressed<tensor<1024xf32>, #act.raw>
  %c2 = act.stack_push %c1, %c0[%i] : index, !act.stack<16 x !act.compressed<tensor<1024xf32>, #act.raw>>
  %d0 = act.empty_stack : !act.stack<1000 x !act.compressed<tensor<1023xf32>, #act.raw>>
  %d1 = act.compressed_save %d : tensor<1023xf32> to !act.compressed<tensor<1023xf32>, #act.raw>
  %d2 = act.stack_push %d1, %d0[%i] : index, !act.stack<1000 x !act.compressed<tensor<1023xf32>, #act.raw>>
  %e0 = act.empty_stack : !act.stack<16 x !act.compressed<tensor<1024xi1>, #act.raw>>
  %e1 = act.compressed_save %e exact <predicate> : tensor<1024xi1> to !act.compressed<tensor<1024xi1>, #act.raw>
  %e2 = act.stack_push %e1, %e0[%i] : index, !act.stack<16 x !act.compressed<tensor<1024xi1>, #act.raw>>
  %f0 = act.empty_stack : !act.stack<1000 x !act.compressed<tensor<512xi1>, #act.raw>>
  %f1 = act.compressed_save %f exact <predicate> : tensor<512xi1> to !act.compressed<tensor<512xi1>, #act.raw>
  %f2 = act.stack_push %f1, %f0[%i] : index, !act.stack<1000 x !act.compressed<tensor<512xi1>, #act.raw>>
  return
}

// Stacks of stacks count the product of their sizes: 4096 x 2 x 2.

// CHECK-LABEL: func.func @nested(
// CHECK:         act.empty_stack : <2 x !act.stack<2 x !act.compressed<tensor<64x64xf32>, #act.group_quant<bits = 4, group = 64>>>>
// CHECK:         act.stack_read {{.*}} : index, <2 x !act.stack<2 x !act.compressed<tensor<64x64xf32>, #act.group_quant<bits = 4, group = 64>>>>
!inner = !act.stack<2 x !c>
!outer = !act.stack<2 x !inner>
func.func @nested(%x: !t, %i: index) -> !t {
  %o = act.empty_stack : !outer
  %e = act.empty_stack : !inner
  %c = act.compressed_save %x : !t to !c
  %s = act.stack_push %c, %e[%i] : index, !inner
  %p = act.stack_push %s, %o[%i] : index, !outer
  %q = act.stack_read %p[%i] : index, !outer
  %r = act.stack_read %q[%i] : index, !inner
  %l = act.dequantize_load %r : !c to !t
  return %l : !t
}
