// The dialect comes with the dialect plugin, the passes with either.
// RUN: mlir-opt %act_plugin %s | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%act_libs/ActPlugin.so --verify-roundtrip %s | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%act_libs/ActPlugin.so --help | FileCheck %s --check-prefix=PASSES
// RUN: mlir-opt --load-pass-plugin=%act_libs/ActPlugin.so --help | FileCheck %s --check-prefix=PASSES
// PASSES: --convert-act-to-stablehlo

// The stand-in of StableHLO stays out: the tool may have the real dialect.
// RUN: mlir-opt %act_plugin --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS-NOT: stablehlo
// DIALECTS: Available Dialects: acc,act,affine
// DIALECTS-NOT: stablehlo

// CHECK-LABEL: func.func @save
// CHECK: act.compressed_save %{{.*}} : tensor<8xi1> to <tensor<8xi1>, #act.mask>
func.func @save(%m: tensor<8xi1>) -> !act.compressed<tensor<8xi1>, #act.mask> {
  %c = act.compressed_save %m : tensor<8xi1> to !act.compressed<tensor<8xi1>, #act.mask>
  return %c : !act.compressed<tensor<8xi1>, #act.mask>
}
