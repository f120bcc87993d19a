// RUN: act-opt --version | FileCheck %s --check-prefix=VERSION -DVERSION=%act_version
// VERSION: LLVM version 22.1
// VERSION: {{^}}act [[VERSION]]{{$}}

// RUN: act-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: act,affine
// DIALECTS-SAME: linalg
// DIALECTS-SAME: stablehlo

// Upstream passes and those of act.
// RUN: act-opt --list-passes | FileCheck %s --check-prefix=PASSES
// PASSES-DAG: canonicalize
// PASSES-DAG: convert-act-to-stablehlo

// Ops of unknown dialects are left alone unless they are ruled out.
// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s --allow-unregistered-dialect | FileCheck %s
// RUN: not act-opt %s --allow-unregistered-dialect=false 2>&1 | FileCheck %s --check-prefix=RULED-OUT
// CHECK: "tf.AddV2"
// RULED-OUT: error: operation being parsed with an unregistered dialect
func.func @add(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "tf.AddV2"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
