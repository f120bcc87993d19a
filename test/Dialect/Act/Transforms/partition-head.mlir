// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

!t = tensor<128x128xf32>
!i = tensor<128x128xi32>

// The first load of backward waits for what backward reads of the head, here the
// last product %y itself: it is the latest value there is. The primal result is
// returned as forward made it.

// CHECK-LABEL: func.func @first_load(
// CHECK:         %[[F:.*]]:2 = act.barrier
// CHECK:         %[[Y:.*]] = "stablehlo.dot"(%[[F]]#0
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[F]]#1, %[[Y]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[L]], %[[B]]#1)
// CHECK-NEXT:    return %[[Y]], %[[D]]
func.func @first_load(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %d = "stablehlo.dot"(%z, %y) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// What the head makes of arguments alone, such as the indices of labels, exists
// from the start of the step: the load waits for %y, though %j is newer.

// CHECK-LABEL: func.func @labels(
// CHECK:         %[[Y:.*]] = "stablehlo.dot"(%{{.*}}#0
// CHECK-NEXT:    %[[J:.*]] = "stablehlo.add"
// CHECK-NEXT:    "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[Y]]
// CHECK-NEXT:    act.dequantize_load %[[B]]#0
func.func @labels(%x: !t, %w: !t, %i: !i) -> (!t, !t, !i, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %j = "stablehlo.add"(%i, %i) : (!i, !i) -> !i
  %p = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.cosine"(%z) : (!t) -> !t
  %k = "stablehlo.multiply"(%j, %j) : (!i, !i) -> !i
  %e = "stablehlo.abs"(%y) : (!t) -> !t
  return %p, %d, %k, %e : !t, !t, !i, !t
}
