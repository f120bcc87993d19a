// RUN: act-opt %s --act-choose-encodings=average-bits=5.2 | FileCheck %s

// A budget is an average over all that is saved: with %a, of which there are 5, in
// 4.5 bits per element and %b in 8.125 it is 5.1. One of each would make 6.3, and %b
// would lose bits too.

// CHECK-LABEL: func.func @budget(
// CHECK:         act.compressed_save %{{.*}} : {{.*}}, #act.group_quant<bits = 4, group = 64>>
// CHECK:         act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 8, group = 256, merge = 2>>
!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!s = !act.stack<5 x !c>
func.func @budget(%a: !t, %b: !t, %i: index) {
  %s = act.empty_stack : !s
  %ca = act.compressed_save %a : !t to !c
  %s1 = act.stack_push %ca, %s[%i] : index, !s
  %cb = act.compressed_save %b {id = 1 : i64} : !t to !c
  return
}
