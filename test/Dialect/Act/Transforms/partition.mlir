// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition))' --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition))' \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<128x128xf32>

// The smallest whole step. %s is computed again from %z; its save waits in
// forward, so that %z dies there; a load in backward waits for the cotangent that
// its user reads (%g), or else for the newest one (%dh).

// REMARK: [Passed] Partition | Category:act | Remark="saved ", Remark=1, Remark=" values, cloned ", Remark=1,
// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>, %[[W:.*]]: tensor<128x128xf32>, %[[V:.*]]: tensor<128x128xf32>)
// CHECK-NEXT:    %[[Z:.*]] = "stablehlo.dot"(%[[X]], %[[W]])
// CHECK-NEXT:    %[[C:.*]] = act.compressed_save %[[Z]] : tensor<128x128xf32> to <tensor<128x128xf32>, #act.raw>
// CHECK-NEXT:    %[[F:.*]]:2 = act.barrier %[[Z]], %[[C]] :
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.sine"(%[[F]]#0)
// CHECK-NEXT:    %[[Y:.*]] = "stablehlo.dot"(%[[S]], %[[V]])
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"(%[[Y]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[F]]#1, %[[G]] :
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0 : <tensor<128x128xf32>, #act.raw> to tensor<128x128xf32>
// CHECK-NEXT:    %[[S1:.*]] = "stablehlo.sine"(%[[L]])
// CHECK-NEXT:    %[[DV:.*]] = "stablehlo.dot"(%[[S1]], %[[B]]#1)
// CHECK-NEXT:    %[[DH:.*]] = "stablehlo.dot"(%[[B]]#1, %[[V]])
// CHECK-NEXT:    %[[B2:.*]]:2 = act.barrier %[[F]]#1, %[[DH]] :
// CHECK-NEXT:    %[[L2:.*]] = act.dequantize_load %[[B2]]#0
// CHECK-NEXT:    %[[COS:.*]] = "stablehlo.cosine"(%[[L2]])
// CHECK-NEXT:    %[[DZ:.*]] = "stablehlo.multiply"(%[[B2]]#1, %[[COS]])
// CHECK-NEXT:    return %[[Y]], %[[DV]], %[[DZ]]

// LOC-LABEL: func.func @step(
// LOC:       "stablehlo.sine"(%{{.*}}) {{.*}} loc(#[[SINE:.*]])
// LOC:       act.dequantize_load
// LOC-NEXT:  "stablehlo.sine"(%{{.*}}) {{.*}} loc(#[[COPY:.*]])
// LOC-DAG:   #[[SINE]] = loc("jvp()/sin"(
// LOC-DAG:   #[[COPY]] = loc("act.recompute/jvp()/sin"(#[[SINE]]))
func.func @step(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t loc("jvp()/sin"("step.py":1:1))
  %y = "stablehlo.dot"(%s, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dv = "stablehlo.dot"(%s, %g) : (!t, !t) -> !t
  %dh = "stablehlo.dot"(%g, %v) : (!t, !t) -> !t
  %cos = "stablehlo.cosine"(%z) : (!t) -> !t
  %dz = "stablehlo.multiply"(%dh, %cos) : (!t, !t) -> !t
  return %y, %dv, %dz : !t, !t, !t
}

// What the forward barrier returns is for forward only: neither backward nor the
// terminator reads it. The terminator takes what the barrier of a load returns.

// CHECK-LABEL: func.func @forward_barrier(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    %[[C:.*]] = act.compressed_save %[[Z]]
// CHECK-NEXT:    %[[F:.*]]:2 = act.barrier %[[Z]], %[[C]]
// CHECK-NEXT:    %[[Y:.*]] = "stablehlo.dot"(%[[F]]#0,
// CHECK-NEXT:    %[[Y2:.*]] = "stablehlo.dot"(%[[F]]#0, %[[Y]])
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"(%[[Y2]])
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[F]]#1, %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"(%[[L]], %[[B]]#1)
// CHECK-NEXT:    return %[[Y2]], %[[D]], %[[Z]], %[[B]]#1
func.func @forward_barrier(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %v) : (!t, !t) -> !t
  %y2 = "stablehlo.dot"(%z, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y2) : (!t) -> !t
  %d = "stablehlo.dot"(%z, %g) : (!t, !t) -> !t
  return %y2, %d, %z, %g : !t, !t, !t, !t
}

// An operation has one barrier for all that it loads, and saves have numbers.

// CHECK-LABEL: func.func @one_barrier(
// CHECK:         %[[CA:.*]] = act.compressed_save %{{[^ ]+}} : tensor
// CHECK-NEXT:    %[[FA:.*]]:2 = act.barrier %{{.*}}, %[[CA]]
// CHECK:         %[[CB:.*]] = act.compressed_save %{{.*}} {id = 1 : i64}
// CHECK-NEXT:    %[[FB:.*]]:2 = act.barrier %{{.*}}, %[[CB]]
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:3 = act.barrier %[[FA]]#1, %[[FB]]#1, %[[G]]
// CHECK-NEXT:    %[[LA:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[LB:.*]] = act.dequantize_load %[[B]]#1
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.clamp"(%[[LA]], %[[B]]#2, %[[LB]])
// CHECK-NEXT:    return %{{.*}}, %[[D]]
func.func @one_barrier(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b = "stablehlo.dot"(%a, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%b, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%a, %g, %b) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// Equal values of forward, %a and %b, %s and %t, are saved once and computed again
// once; the copy of %u reads the load of %a. Forward keeps both: merging them would change what XLA computes. Equal
// operations of backward, %d and %e, are merged.

// CHECK-LABEL: func.func @equal_values(
// CHECK:         %[[A:.*]] = "stablehlo.dot"
// CHECK-NEXT:    %[[C:.*]] = act.compressed_save %[[A]]
// CHECK-NEXT:    %[[F:.*]]:2 = act.barrier %[[A]], %[[C]]
// CHECK-NEXT:    %[[A2:.*]] = "stablehlo.dot"
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.sine"(%[[F]]#0)
// CHECK-NEXT:    %[[T:.*]] = "stablehlo.sine"(%[[A2]])
// CHECK-NEXT:    %[[U:.*]] = "stablehlo.cosine"(%[[A2]])
// CHECK-NEXT:    "stablehlo.clamp"(%[[S]], %[[T]], %[[U]])
// CHECK-NEXT:    "stablehlo.dot"
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[F]]#1, %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[S1:.*]] = "stablehlo.sine"(%[[L]])
// CHECK-NEXT:    %[[M:.*]] = "stablehlo.clamp"(%[[L]], %[[B]]#1, %[[S1]])
// CHECK-NEXT:    %[[U1:.*]] = "stablehlo.cosine"(%[[L]])
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.clamp"(%[[S1]], %[[M]], %[[U1]])
// CHECK-NEXT:    return %{{.*}}, %[[D]], %[[D]]
func.func @equal_values(%x: !t, %w: !t) -> (!t, !t, !t) {
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t loc("a")
  %b = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t loc("b")
  %s = "stablehlo.sine"(%a) : (!t) -> !t
  %t = "stablehlo.sine"(%b) : (!t) -> !t
  %u = "stablehlo.cosine"(%b) : (!t) -> !t
  %n = "stablehlo.clamp"(%s, %t, %u) : (!t, !t, !t) -> !t
  %y = "stablehlo.dot"(%n, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %m = "stablehlo.clamp"(%a, %g, %s) : (!t, !t, !t) -> !t
  %d = "stablehlo.clamp"(%t, %m, %u) : (!t, !t, !t) -> !t loc("d")
  %e = "stablehlo.clamp"(%s, %m, %u) : (!t, !t, !t) -> !t loc("e")
  return %y, %d, %e : !t, !t, !t
}

// Values that a region of a backward operation reads are loaded in front of the
// operation, equal ones once.

// CHECK-LABEL: func.func @captured(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>, %[[W:.*]]: tensor<128x128xf32>, %[[P:.*]]: tensor<i1>)
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %{{.*}}#1, %[[G]]
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#0
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.sine"(%[[L]])
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.if"(%[[P]]) ({
// CHECK-NEXT:      %[[M:.*]] = "stablehlo.multiply"(%[[S]], %[[B]]#1)
// CHECK-NEXT:      "stablehlo.return"(%[[M]])
// CHECK-NEXT:    }, {
// CHECK-NEXT:      "stablehlo.return"(%[[L]])
// CHECK-NEXT:    })
// CHECK-NEXT:    return %{{.*}}, %[[D]]
func.func @captured(%x: !t, %w: !t, %p: tensor<i1>) -> (!t, !t) {
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%a) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %b) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.if"(%p) ({
    %m = "stablehlo.multiply"(%s, %g) : (!t, !t) -> !t
    "stablehlo.return"(%m) : (!t) -> ()
  }, {
    "stablehlo.return"(%b) : (!t) -> ()
  }) : (tensor<i1>) -> !t
  return %y, %d : !t, !t
}

// An operation with several results is cloned once. A result that was saved is
// loaded even if the clone makes it, too: backward compares %p#1, which must be
// the value that forward had.

// CHECK-LABEL: func.func @multiple_results(
// CHECK:         "stablehlo.map"
// CHECK:         act.compressed_save %{{.*}}#1 exact <ordered>
// CHECK:         %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:    %[[P:.*]]:2 = "stablehlo.map"(%[[L]])
// CHECK-NOT:     "stablehlo.map"
// CHECK:         "stablehlo.clamp"(%[[P]]#0, %{{.*}}, %[[P]]#0)
// CHECK:         %[[L2:.*]] = act.dequantize_load
// CHECK-NEXT:    "stablehlo.compare"(%{{.*}}, %[[L2]])
// CHECK-NEXT:    "stablehlo.clamp"(%[[L2]], %[[L]], %[[P]]#0)
func.func @multiple_results(%x: !t, %w: !t) -> (!t, !t, tensor<128x128xi1>, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %p:2 = "stablehlo.map"(%z) ({
  ^bb0(%a: tensor<f32>):
    %s = "stablehlo.sine"(%a) : (tensor<f32>) -> tensor<f32>
    %c = "stablehlo.cosine"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s, %c) : (tensor<f32>, tensor<f32>) -> ()
  }) : (!t) -> (!t, !t)
  %y = "stablehlo.dot"(%p#0, %p#1) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%p#0, %g, %p#0) : (!t, !t, !t) -> !t
  %m = "stablehlo.compare"(%g, %p#1) : (!t, !t) -> tensor<128x128xi1>
  %e = "stablehlo.clamp"(%p#1, %z, %p#0) : (!t, !t, !t) -> !t
  return %y, %d, %m, %e : !t, !t, tensor<128x128xi1>, !t
}

// Both results of a clone are used.

// CHECK-LABEL: func.func @two_results(
// CHECK:         act.dequantize_load
// CHECK-NEXT:    %[[P:.*]]:2 = "stablehlo.map"
// CHECK-NOT:     "stablehlo.map"
// CHECK:         "stablehlo.clamp"(%[[P]]#0, %{{.*}}, %[[P]]#1)
func.func @two_results(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %p:2 = "stablehlo.map"(%z) ({
  ^bb0(%a: tensor<f32>):
    %s = "stablehlo.sine"(%a) : (tensor<f32>) -> tensor<f32>
    %c = "stablehlo.cosine"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s, %c) : (tensor<f32>, tensor<f32>) -> ()
  }) : (!t) -> (!t, !t)
  %y = "stablehlo.dot"(%p#0, %p#1) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.clamp"(%p#0, %g, %p#1) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// Constants are read where they are.

// CHECK-LABEL: func.func @constants(
// CHECK:         %[[K:.*]] = "stablehlo.constant"
// CHECK:         %[[I:.*]] = "stablehlo.iota"
// CHECK:         %[[L:.*]] = act.dequantize_load
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.multiply"(%[[L]], %[[K]])
// CHECK-NEXT:    %[[M:.*]] = "stablehlo.clamp"(%[[S]], %{{.*}}, %[[L]])
// CHECK-NEXT:    "stablehlo.multiply"(%[[M]], %[[I]])
func.func @constants(%x: !t, %w: !t) -> (!t, !t) {
  %k = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> !t
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.multiply"(%a, %k) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%s, %i) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %m = "stablehlo.clamp"(%s, %g, %a) : (!t, !t, !t) -> !t
  %d = "stablehlo.multiply"(%m, %i) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// The attribute of the function counts, not the option; a primal result that was
// computed behind the first gradient is moved to forward.

// CHECK-LABEL: func.func @primal_results(
// CHECK:         "stablehlo.sine"
// CHECK:         %[[Y:.*]] = "stablehlo.dot"
// CHECK-NEXT:    %[[M:.*]] = "stablehlo.abs"(%[[Y]])
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.negate"(%[[Y]])
// CHECK-NEXT:    act.barrier %{{.*}}, %[[G]]
// CHECK-NEXT:    act.dequantize_load
// CHECK-NEXT:    %[[D:.*]] = "stablehlo.dot"
// CHECK-NEXT:    return %[[Y]], %[[M]], %[[D]]
func.func @primal_results(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t) attributes {act.primal_results = 2 : i64} {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t loc("transpose(jvp())/neg")
  %d = "stablehlo.dot"(%s, %g) : (!t, !t) -> !t loc("transpose(jvp())/dot")
  %m = "stablehlo.abs"(%y) : (!t) -> !t loc("abs")
  return %y, %m, %d : !t, !t, !t
}
