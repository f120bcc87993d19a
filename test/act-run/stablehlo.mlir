// A step in StableHLO, compressed or not: two layers, mean square, gradients.

// DEFINE: %{run} = env ACT_CACHE_DIR= act-run %s --args %t/arguments.npz
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/gradient.py %t
// RUN: %{run} --compare %t/results.npz --peak --results %t/plain.npz | FileCheck %s
// CHECK: step       main
// CHECK: peak       {{.*}}, the whole arena
// CHECK: 0 {{.*}}f32 {{.*(close|identical)}}
// CHECK-NEXT: 1 {{.*}}64x128xf32 {{.*(close|identical)}}
// CHECK-NEXT: 2 {{.*}}128x128xf32 {{.*(close|identical)}}

// The loss stays the same bits, the gradient is close.
// RUN: not %{run} --compress="bits=4 primal-results=1" --compare %t/plain.npz --tolerance=0 --peak > %t/out 2> %t/err
// RUN: FileCheck %s --check-prefix=COMPRESSED < %t/out
// RUN: FileCheck %s --check-prefix=ERROR < %t/err
// RUN: %{run} --compress --compare %t/plain.npz --tolerance=0.1
// COMPRESSED: peak       {{.*}}, the whole arena
// COMPRESSED: 0 {{.*}}f32 {{.*}} identical
// COMPRESSED-NEXT: 1 {{.*}} DIFFERENT
// COMPRESSED-NEXT: 2 {{.*}} DIFFERENT
// ERROR: error: 2 of 3 results differ

// Another processor makes other code.
// RUN: %{run} --cpu=x86-64-v3 --compare %t/results.npz

// RUN: not %{run} --compress=bits=3 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not %{run} --compress=colour=red 2>&1 | FileCheck %s --check-prefix=OPTION
// BITS: error: {{.*}}bits
// OPTION: colour

// RUN: act-run %s --emit=linalg | FileCheck %s --check-prefix=LINALG
// RUN: act-run %s --emit=kernels | FileCheck %s --check-prefix=KERNELS
// RUN: act-run %s --emit=llvm | FileCheck %s --check-prefix=LLVM
// LINALG: linalg.generic
// LINALG-NOT: stablehlo
// KERNELS: act.kernel
// LLVM: llvm.func @main

func.func public @main(%w0: tensor<64x128xf32>, %w1: tensor<128x128xf32>, %x: tensor<512x64xf32>)
    -> (tensor<f32>, tensor<64x128xf32>, tensor<128x128xf32>) {
  %0 = "stablehlo.constant"() <{value = dense<6.553600e+04> : tensor<f32>}> : () -> tensor<f32>
  %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %2 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %3 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
  %4 = "stablehlo.dot_general"(%x, %w0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x64xf32>, tensor<64x128xf32>) -> tensor<512x128xf32>
  %5 = "stablehlo.tanh"(%4) : (tensor<512x128xf32>) -> tensor<512x128xf32>
  %6 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %7 = "stablehlo.add"(%6, %5) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %8 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %9 = "stablehlo.subtract"(%8, %5) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %10 = "stablehlo.multiply"(%7, %9) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %11 = "stablehlo.dot_general"(%5, %w1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
  %12 = "stablehlo.tanh"(%11) : (tensor<512x128xf32>) -> tensor<512x128xf32>
  %13 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %14 = "stablehlo.add"(%13, %12) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %15 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %16 = "stablehlo.subtract"(%15, %12) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %17 = "stablehlo.multiply"(%14, %16) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %18 = "stablehlo.multiply"(%12, %12) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %19 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %20 = "stablehlo.multiply"(%19, %12) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %21 = "stablehlo.reduce"(%18, %1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
    %33 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%33) : (tensor<f32>) -> ()
  }) : (tensor<512x128xf32>, tensor<f32>) -> tensor<f32>
  %22 = "stablehlo.divide"(%21, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %23 = "stablehlo.divide"(%3, %0) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<512x128xf32>
  %25 = "stablehlo.multiply"(%24, %20) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %26 = "stablehlo.multiply"(%25, %17) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %27 = "stablehlo.dot_general"(%26, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<128x128xf32>
  %28 = "stablehlo.transpose"(%27) <{permutation = array<i64: 1, 0>}> : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %29 = "stablehlo.dot_general"(%26, %w1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<512x128xf32>, tensor<128x128xf32>) -> tensor<512x128xf32>
  %30 = "stablehlo.multiply"(%29, %10) : (tensor<512x128xf32>, tensor<512x128xf32>) -> tensor<512x128xf32>
  %31 = "stablehlo.dot_general"(%30, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<512x128xf32>, tensor<512x64xf32>) -> tensor<128x64xf32>
  %32 = "stablehlo.transpose"(%31) <{permutation = array<i64: 1, 0>}> : (tensor<128x64xf32>) -> tensor<64x128xf32>
  return %22, %32, %28 : tensor<f32>, tensor<64x128xf32>, tensor<128x128xf32>
}
