// RUN: act-opt %s --act-choose-encodings=average-bits=9 | FileCheck %s --check-prefixes=CHECK,ALL8
// RUN: act-opt %s --act-choose-encodings=average-bits=6.5 | FileCheck %s --check-prefixes=CHECK,MIXED
// RUN: act-opt %s --act-choose-encodings=average-bits=4.5 | FileCheck %s --check-prefixes=CHECK,ALL4
// RUN: act-opt %s --act-choose-encodings=average-bits=4 | FileCheck %s --check-prefixes=CHECK,FEWER
// RUN: act-opt %s --act-choose-encodings=error-budget=0.02 | FileCheck %s --check-prefixes=CHECK,ALL8
// RUN: act-opt %s --act-choose-encodings=error-budget=0.1 | FileCheck %s --check-prefixes=CHECK,MIXED
// RUN: act-opt %s --act-choose-encodings=error-budget=0.2 | FileCheck %s --check-prefixes=CHECK,ALL4
// RUN: act-opt %s --act-choose-encodings=error-budget=1e9 | FileCheck %s --check-prefixes=CHECK,ALL1

!t = tensor<1024x512xf32>
!c = !act.compressed<tensor<1024x512xf32>, #act.raw>

// Two values of one size. %a enters a product of two activations: an error in it
// is felt twice, so %b is the first to lose bits. 8 bits take 8.125 per element, 4
// bits 4.5, with the parameters of their groups. Exact values do not count.

// CHECK-LABEL: func.func @step(
// CHECK:         act.compressed_save %{{.*}} exact <statistic> : {{.*}}, #act.raw>
// ALL8:          act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 8, group = 256>>
// ALL8:          act.compressed_save %{{.*}} {id = 2 : i64} : {{.*}}, #act.group_quant<bits = 8, group = 256>>
// MIXED:         act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 8, group = 256>>
// MIXED:         act.compressed_save %{{.*}} {id = 2 : i64} : {{.*}}, #act.group_quant<bits = 4, group = 64>>
// ALL4:          act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 4, group = 64>>
// ALL4:          act.compressed_save %{{.*}} {id = 2 : i64} : {{.*}}, #act.group_quant<bits = 4, group = 64>>
// FEWER:         act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 4, group = 64>>
// FEWER:         act.compressed_save %{{.*}} {id = 2 : i64} : {{.*}}, #act.group_quant<bits = 2, group = 64>>
// ALL1:          act.compressed_save %{{.*}} {id = 1 : i64} : {{.*}}, #act.group_quant<bits = 1, group = 64>>
// ALL1:          act.compressed_save %{{.*}} {id = 2 : i64} : {{.*}}, #act.group_quant<bits = 1, group = 64>>
func.func @step(%x: !t, %w: !t) -> (!t, !t, !t, !t) {
  %s = "stablehlo.sine"(%x) : (!t) -> !t
  %a = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %b = "stablehlo.dot"(%w, %x) : (!t, !t) -> !t
  %cs = act.compressed_save %s exact <statistic> : !t to !c
  %ca = act.compressed_save %a {id = 1 : i64} : !t to !c
  %cb = act.compressed_save %b {id = 2 : i64} : !t to !c
  %turned = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (!t) -> !t
  %y = "stablehlo.dot"(%turned, %s) : (!t, !t) -> !t
  %z = "stablehlo.dot"(%b, %w) : (!t, !t) -> !t
  %la = act.dequantize_load %ca : !c to !t
  %lb = act.dequantize_load %cb : !c to !t
  %ls = act.dequantize_load %cs : !c to !t
  %d = "stablehlo.clamp"(%la, %ls, %lb) : (!t, !t, !t) -> !t
  return %y, %z, %d, %ls : !t, !t, !t, !t
}
