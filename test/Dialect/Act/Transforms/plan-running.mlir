// RUN: echo '[{"axis": "last", "bits": 8, "range": "running"}]' > %t.json
// RUN: not act-opt %s --act-plan="memory-budget=3000000 rules=%t.json" 2>&1 | FileCheck %s
// RUN: echo '[{"name": "z1", "encoding": "float<type = bf16>"}]' > %t.json
// RUN: act-opt %s --act-plan="memory-budget=3000000 rules=%t.json" | FileCheck %s --check-prefix=RULES

// CHECK: act-plan expects rules without running ranges, which change the signature of the step

!t = tensor<512x512xf32>
// RULES: act.compressed_save {{.*}} #act.float<type = bf16>> key "z1#
func.func @step(%x: !t, %u: !t, %v: !t, %w: !t) -> (!t, !t, !t) {
  %z1 = "stablehlo.dot"(%x, %u) : (!t, !t) -> !t loc("z1")
  %h1 = "stablehlo.tanh"(%z1) : (!t) -> !t loc("h1")
  %y = "stablehlo.dot"(%h1, %w) : (!t, !t) -> !t loc("y")
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dw = "stablehlo.dot"(%h1, %g) : (!t, !t) -> !t
  %dh1 = "stablehlo.dot"(%g, %w) : (!t, !t) -> !t
  %c1 = "stablehlo.cosine"(%z1) : (!t) -> !t
  %dz1 = "stablehlo.multiply"(%dh1, %c1) : (!t, !t) -> !t
  %du = "stablehlo.dot"(%x, %dz1) : (!t, !t) -> !t
  return %y, %dw, %du : !t, !t, !t
}
