// RUN: act-opt %s --act-compress="bits=8 window=3 cut=source report=%t.json" | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: act-opt %s --act-compress=bits=0 | FileCheck %s --check-prefix=BITS0
// RUN: act-opt %s --act-compress="bits=8 codecs=ops" | FileCheck %s --check-prefix=OPS
// RUN: act-opt %s --act-compress=average-bits=2 -o /dev/null
// RUN: act-opt %s --act-compress=recompute=growing -o /dev/null
// RUN: not act-opt %s --act-compress=primal-results=5 2>&1 | FileCheck %s --check-prefix=PRIMAL
// RUN: not act-opt %s --act-compress=rules=%t.none 2>&1 | FileCheck %s --check-prefix=RULES

// The whole pipeline: calls are gone, forward computes as before, nothing of the
// dialect is left.

// CHECK-NOT:   {{[^.]}}act.{{[a-z]}}
// CHECK-LABEL: func.func @step(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK:         "stablehlo.optimization_barrier"(%[[Z]],
// CHECK:         "stablehlo.sine"
// CHECK:         "stablehlo.dot"
// CHECK:         "stablehlo.negate"
// CHECK:         "stablehlo.optimization_barrier"
// CHECK:         "stablehlo.sine"
// CHECK:         return
// CHECK-NOT:   @layer

// With codecs=ops saves and loads are operations, for targets with kernels.
// OPS:         act.encode
// OPS:         "stablehlo.optimization_barrier"
// OPS:         act.decode
// OPS-NOT:     call @

// With bits=0 nothing is encoded.
// BITS0-NOT:   xui8>

// REPORT:      "function": "step",
// REPORT:      "encoding": "#act.group_quant<bits = 8, group = 256, merge = 2>",

// PRIMAL: error: {{.*}}expects at most 2 primal results
// RULES: error: cannot read rules file

!t = tensor<128x128xf32>
func.func @step(%x: !t, %w: !t) -> (!t, !t) {
  %s = func.call @layer(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%s, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %d = "stablehlo.multiply"(%s, %g) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
func.func private @layer(%x: !t, %w: !t) -> !t {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  return %s : !t
}
