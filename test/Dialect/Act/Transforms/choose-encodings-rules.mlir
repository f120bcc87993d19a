// RUN: split-file %s %t
// RUN: act-opt %t/step.mlir --act-choose-encodings=rules=%t/rules.json | FileCheck %t/step.mlir

//--- rules.json
[{"op": "stablehlo.sine", "max-elements": 20000, "encoding": "float<type = bf16>"},
 {"name": ".*attention.*", "encoding": "#act.group_quant<bits = 2, group = 32>"},
 {"min-elements": 60000, "max-elements": 70000, "encoding": "raw"},
 {"op": "stablehlo.cosine", "encoding": "mask"},
 {"op": "stablehlo.cosine", "encoding": "group_quant<bits = 1, group = 128>"},
 {"op": "stablehlo.cosine", "encoding": "raw"}]

//--- step.mlir
!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!l = tensor<256x512xf32>
!m = tensor<128x512xf32>

// CHECK-LABEL: func.func @rules(
func.func @rules(%x: !t, %l: !l, %m: !m, %p: tensor<128x128xi1>) {
  %sine = "stablehlo.sine"(%x) : (!t) -> !t
  %wide = "stablehlo.sine"(%l) : (!l) -> !l
  %score = "stablehlo.negate"(%x) : (!t) -> !t loc("jit(f)/attention/neg")
  %cosine = "stablehlo.cosine"(%x) : (!t) -> !t

  // By operation and size: the first rule. The wide one gets the default.
  // CHECK: act.compressed_save %{{.*}}, #act.float<type = bf16>>
  %0 = act.compressed_save %sine : !t to !c
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.group_quant<bits = 4, group = 64>>
  %1 = act.compressed_save %wide : !l to !act.compressed<!l, #act.raw>

  // By the name of the location.
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.group_quant<bits = 2, group = 32>>
  %2 = act.compressed_save %score : !t to !c
  // A lossy rule does not apply to exact values.
  // CHECK-NEXT: act.compressed_save %{{.*}} exact <ordered> {{.*}}, #act.raw>
  %3 = act.compressed_save %score exact <ordered> : !t to !c

  // By size alone.
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.raw>
  %4 = act.compressed_save %m : !m to !act.compressed<!m, #act.raw>

  // The first rule that matches; a mask cannot hold floats.
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.group_quant<bits = 1, group = 128>>
  %5 = act.compressed_save %cosine : !t to !c

  // No rule: the default.
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.group_quant<bits = 4, group = 64>>
  %6 = act.compressed_save %x : !t to !c
  // CHECK-NEXT: act.compressed_save %{{.*}}, #act.mask>
  %7 = act.compressed_save %p exact <predicate> : tensor<128x128xi1> to !act.compressed<tensor<128x128xi1>, #act.raw>
  return
}
