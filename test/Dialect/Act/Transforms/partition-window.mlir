// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{window=3},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,THREE

!t = tensor<128x128xf32>

// A load is shared by operations at most `window` contractions of backward apart:
// the first two and, with window=3, all but the last.

// CHECK-LABEL: func.func @window(
// CHECK:         "stablehlo.negate"
// CHECK-NEXT:    act.barrier
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.sine"(%[[L]])
// CHECK-NEXT:    %[[A:.*]] = "stablehlo.clamp"(%[[L]], %{{.*}}, %[[S]])
// CHECK-NEXT:    %[[B:.*]] = "stablehlo.dot"(%[[L]], %[[A]])
// CHECK-NEXT:    %[[C:.*]] = "stablehlo.dot"(%[[L]], %[[B]])
// ONE-NEXT:      %[[BAR:.*]]:2 = act.barrier %{{.*}}, %[[C]]
// ONE-NEXT:      %[[L2:.*]] = act.dequantize_load %[[BAR]]#0
// ONE-NEXT:      %[[S2:.*]] = "stablehlo.sine"(%[[L2]])
// ONE-NEXT:      %[[D:.*]] = "stablehlo.dot"(%[[S2]], %[[BAR]]#1)
// THREE-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[S]], %[[C]])
// ONE-NEXT:      %[[E:.*]] = "stablehlo.dot"(%[[L2]], %[[D]])
// THREE-NEXT:    %[[E:.*]] = "stablehlo.dot"(%[[L]], %[[D]])
// CHECK-NEXT:    %[[LAST:.*]]:2 = act.barrier %{{.*}}, %[[E]]
// CHECK-NEXT:    %[[L3:.*]] = act.dequantize_load %[[LAST]]#0
// CHECK-NEXT:    %[[F:.*]] = "stablehlo.multiply"(%[[L3]], %[[LAST]]#1)
// CHECK-NEXT:    return %{{.*}}, %[[F]]
func.func @window(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%z, %s) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %a = "stablehlo.clamp"(%z, %g, %s) : (!t, !t, !t) -> !t
  %b = "stablehlo.dot"(%z, %a) : (!t, !t) -> !t
  %c = "stablehlo.dot"(%z, %b) : (!t, !t) -> !t
  %d = "stablehlo.dot"(%s, %c) : (!t, !t) -> !t
  %e = "stablehlo.dot"(%z, %d) : (!t, !t) -> !t
  %f = "stablehlo.multiply"(%z, %e) : (!t, !t) -> !t
  return %y, %f : !t, !t
}
