// RUN: split-file %s %t
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=6.5 profile=%t/first.json" | FileCheck %s --check-prefix=FIRST
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=6.5 profile=%t/second.json" | FileCheck %s --check-prefix=SECOND
// RUN: act-opt %t/step.mlir --act-choose-encodings="error-budget=0.02 profile=%t/second.json" | FileCheck %s --check-prefix=SECOND
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=6.5 profile=%t/part.json" 2>&1 | FileCheck %s --check-prefixes=PART,SECOND
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=6.5 profile=%t/other.json" 2>&1 | FileCheck %s --check-prefixes=OTHER,SECOND
// RUN: act-opt %t/step.mlir --act-choose-encodings="bits=4 profile=%t/part.json" 2>&1 | FileCheck %s --check-prefix=UNIFORM

// By the static model %b, which enters a product of activations, matters twice as much
// as %a, of the same size. A profile says what is true.

// What it does not know counts by the static model, scaled as the profile says of the
// others: %a, measured at far more than the model thinks, scales %b up with it.

// PART: warning: profile '{{.*}}part.json' does not know 1 of 2 lossy saves, whose sensitivity is estimated
// OTHER: warning: profile '{{.*}}other.json' does not know 2 of 2 lossy saves

// FIRST: act.compressed_save {{.*}} #act.group_quant<bits = 8, group = 256>> key "a#1"
// FIRST: act.compressed_save {{.*}} #act.group_quant<bits = 4, group = 64>> key "b#2"
// SECOND: act.compressed_save {{.*}} #act.group_quant<bits = 4, group = 64>> key "a#1"
// SECOND: act.compressed_save {{.*}} #act.group_quant<bits = 8, group = 256>> key "b#2"
// UNIFORM-NOT: warning
// UNIFORM: act.compressed_save {{.*}} #act.group_quant<bits = 4, group = 64>> key "a#1"
// UNIFORM: act.compressed_save {{.*}} #act.group_quant<bits = 4, group = 64>> key "b#2"

//--- step.mlir
!t = tensor<1024x512xf32>
!c = !act.compressed<tensor<1024x512xf32>, #act.raw>
func.func @step(%x: !t, %w: !t) -> (!t, !t, !t) {
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b = "stablehlo.dot"(%w, %x) : (!t, !t) -> !t
  %ca = act.compressed_save %a {id = 1 : i64} : !t to !c key "a#1"
  %cb = act.compressed_save %b {id = 2 : i64} : !t to !c key "b#2"
  %y = "stablehlo.dot"(%b, %b) : (!t, !t) -> !t
  %la = act.dequantize_load %ca : !c to !t
  %lb = act.dequantize_load %cb : !c to !t
  return %y, %la, %lb : !t, !t, !t
}
//--- first.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "a#1", "contribution": 1e-2}, {"key": "b#2", "contribution": 1e-4}]}
//--- second.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "a#1", "contribution": 1e-4}, {"key": "b#2", "contribution": 1e-2}]}
//--- part.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "a#1", "contribution": 1}]}
//--- other.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "c#3", "contribution": 1}]}
