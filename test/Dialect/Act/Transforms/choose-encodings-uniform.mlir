// RUN: split-file %s %t
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/flat.json" | FileCheck %s --check-prefix=FLAT
// RUN: act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/steep.json" | FileCheck %s --check-prefix=STEEP

// Lowering bits value by value overshoots where values are few. %b, twice the size,
// costs least to lower to 4 and to 2 bits: 6 units of variance per byte then, %a 6.3.
// That makes 25.1 units in 4.4 bits on average; 4 bits for both make 24 in 4.5.

// FLAT-COUNT-2: #act.group_quant<bits = 4, group = 64>

// Where one value matters little, its bits go to the other.

// STEEP: act.compressed_save {{.*}} #act.group_quant<bits = 8, group = 256>> key "a#1"
// STEEP: act.compressed_save {{.*}} #act.group_quant<bits = 2, group = 64>> key "b#2"

//--- step.mlir
!t = tensor<128x512xf32>
!s = tensor<256x512xf32>
func.func @step(%a: !t, %b: !s) -> (!t, !s) {
  %ca = act.compressed_save %a {id = 1 : i64} : !t to !act.compressed<!t, #act.raw> key "a#1"
  %cb = act.compressed_save %b {id = 2 : i64} : !s to !act.compressed<!s, #act.raw> key "b#2"
  %la = act.dequantize_load %ca : !act.compressed<!t, #act.raw> to !t
  %lb = act.dequantize_load %cb : !act.compressed<!s, #act.raw> to !s
  return %la, %lb : !t, !s
}
//--- flat.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "a#1", "contribution": 23}, {"key": "b#2", "contribution": 1}]}
//--- steep.json
{"act_profile": 1, "noise": {"variance": 7.4e-4}, "survivors": [
  {"key": "a#1", "contribution": 60}, {"key": "b#2", "contribution": 1e-3}]}
