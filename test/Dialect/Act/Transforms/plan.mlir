// RUN: act-opt %s --act-plan="memory-budget=5000000" | FileCheck %s --check-prefix=KEEP
// RUN: act-opt %s --act-plan="memory-budget=3200000" | FileCheck %s --check-prefix=RAW
// RUN: act-opt %s --act-plan="memory-budget=2900000" | FileCheck %s --check-prefix=CODES
// RUN: act-opt %s --act-plan="memory-budget=1000 least=true bits=2" | FileCheck %s --check-prefix=LEAST
// RUN: act-opt %s --act-plan="memory-budget=3000000 bits=0 least=true" | FileCheck %s --check-prefix=EXACT
// RUN: act-opt %s --act-plan="memory-budget=3500000" \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: act-opt %s --pass-pipeline='builtin.module(act-plan{memory-budget=3000000},func.func(act-verify-partition),act-report{output=%t.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: act-opt %s --pass-pipeline='builtin.module(act-plan{memory-budget=4700000},func.func(act-verify-partition),act-report{output=%t.json})' -o /dev/null
// RUN: FileCheck %s --check-prefix=KEPT < %t.json
// RUN: not act-opt %s --act-plan="memory-budget=1000" 2>&1 | FileCheck %s --check-prefix=INFEASIBLE
// RUN: not act-opt %s --act-plan 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not act-opt %s --act-plan="memory-budget=1000 bits=3" 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not act-opt %s --act-plan="memory-budget=1000 error-budget=-1" 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not act-opt %s --act-plan="memory-budget=2000000 error-budget=1e-9 bits=4" 2>&1 | FileCheck %s --check-prefix=EXCLUDED
// RUN: not act-opt %s --act-plan="memory-budget=3000000 rules=%t.none" 2>&1 | FileCheck %s --check-prefix=RULES
// RUN: not act-opt %s --act-plan="memory-budget=3000000 profile=%t.none" 2>&1 | FileCheck %s --check-prefix=PROFILE

// With room for all that backward reads it is kept.

// KEEP-LABEL: func.func @step
// KEEP-SAME:  act.plan = {bound = 0.000000e+00 : f64, budget = 5000000 : i64, cost = 0.000000e+00 : f64, error = 0.000000e+00 : f64, kept = 4 : i64, least = {{[0-9]+}} : i64, lower_bound = {{[0-9]+}} : i64, peak = {{[0-9]+}} : i64, recompute = "none", recomputed = 0 : i64, window = {{[13]}} : i64}
// KEEP:       "stablehlo.dot"({{.*}}) {act.kept}
// KEEP-NEXT:  "stablehlo.tanh"({{.*}}) {act.kept}
// KEEP-NOT:   act.compressed_save

// With less, the tangents are computed again from products that are saved whole;

// RAW-LABEL: func.func @step
// RAW-NOT:   act.kept
// RAW:       act.compressed_save {{.*}} #act.raw> key "z1#
// RAW:       act.compressed_save {{.*}} #act.raw> key "z2#

// with still less, from codes of the one that is alive at the peak: the last product
// is read again before it.

// CODES-LABEL: func.func @step
// CODES:       act.compressed_save {{.*}} #act.group_quant<bits = 8, group = 256>> key "z1#
// CODES:       act.compressed_save {{.*}} #act.raw> key "z2#

// LEAST-LABEL: func.func @step
// LEAST:       act.compressed_save {{.*}} #act.group_quant<bits = 2, group = 64>> key "z1#

// EXACT-LABEL: func.func @step
// EXACT:       act.compressed_save {{.*}} #act.raw> key "z1#

// REMARK: [Passed] Plan | Category:act | Remark="peak

// REPORT:      "plan": {
// REPORT-NEXT:   "bound": {{[0-9.]+}},
// REPORT-NEXT:   "budget": 3000000,
// REPORT:        "peak": {{2[0-9]+}},
// REPORT-NEXT:   "recompute": "none",

// KEPT: "not_compressed": [
// KEPT:   "reason": "kept as it is: the budget allows it"

// INFEASIBLE: error: act-plan expects memory-budget to be at least 2244608 bytes, the least peak that the model of this step reaches with 4 bits, got 1000
// BUDGET: error: act-plan expects memory-budget to be at least 1 byte, got 0
// BITS: error: act-plan expects bits to be 0, 1, 2, 4 or 8, got 3
// ERROR: error: act-plan expects an error-budget that is not negative
// EXCLUDED: error: act-plan expects memory-budget to be at least 3145728 bytes
// RULES: error: cannot read rules file
// PROFILE: error: cannot read profile

!t = tensor<512x512xf32>
!s = tensor<f32>
func.func @step(%x: !t, %u: !t, %v: !t, %w: !t) -> (!t, !t, !t, !t) {
  %z1 = "stablehlo.dot"(%x, %u) : (!t, !t) -> !t loc("z1")
  %h1 = "stablehlo.tanh"(%z1) : (!t) -> !t loc("h1")
  %z2 = "stablehlo.dot"(%h1, %v) : (!t, !t) -> !t loc("z2")
  %h2 = "stablehlo.tanh"(%z2) : (!t) -> !t loc("h2")
  %y = "stablehlo.dot"(%h2, %w) : (!t, !t) -> !t loc("y")
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dw = "stablehlo.dot"(%h2, %g) : (!t, !t) -> !t
  %dh2 = "stablehlo.dot"(%g, %w) : (!t, !t) -> !t
  %c2 = "stablehlo.cosine"(%z2) : (!t) -> !t
  %dz2 = "stablehlo.multiply"(%dh2, %c2) : (!t, !t) -> !t
  %dv = "stablehlo.dot"(%h1, %dz2) : (!t, !t) -> !t
  %dh1 = "stablehlo.dot"(%dz2, %v) : (!t, !t) -> !t
  %c1 = "stablehlo.cosine"(%z1) : (!t) -> !t
  %dz1 = "stablehlo.multiply"(%dh1, %c1) : (!t, !t) -> !t
  %du = "stablehlo.dot"(%x, %dz1) : (!t, !t) -> !t
  return %y, %dw, %dv, %du : !t, !t, !t, !t
}
