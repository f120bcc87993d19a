// REQUIRES: ptxas
// RUN: act-opt %s --pass-pipeline="builtin.module(convert-linear-attention-to-gpu{segments=2},gpu.module(act-lower-gpu-kernels),act-gpu-to-binary{format=cubin})" | FileCheck %s

// Chunks of 64 tokens and 64 numbers: with decay, up to 128 registers and no
// spills, for all architectures.
// CHECK: gpu.binary @kernels
// CHECK-NOT: registers = {{12[9]|1[3-9][0-9]|2[0-9][0-9]}}
// CHECK-NOT: spill_bytes = {{[1-9]}}
// CHECK-NOT: stack_bytes = {{[1-9]}}
// CHECK: kernel_metadata<"linear_attention_value_grad"
// CHECK-NOT: registers = {{12[9]|1[3-9][0-9]|2[0-9][0-9]}}
// CHECK-NOT: spill_bytes = {{[1-9]}}
// CHECK-NOT: stack_bytes = {{[1-9]}}
// CHECK: assembly =
func.func @attention(%q: memref<2x256x4x64xbf16>, %o: memref<2x256x4x64xbf16>, %d: memref<2x256x4xf32>,
                     %a: memref<2x256x4xf32>, %s: memref<2x4x64x64xf32>, %z: memref<2x4x64xf32>,
                     %dq: memref<2x256x4x64xbf16>, %dk: memref<2x256x4x64xbf16>, %dv: memref<2x256x4x64xbf16>,
                     %da: memref<2x256x4xf32>, %ds: memref<2x4x64x64xf32>, %dz: memref<2x4x64xf32>) {
  act.linear_attention_grad
      ins(%q, %q, %q : memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>)
      decay(%a : memref<2x256x4xf32>) output(%o : memref<2x256x4x64xbf16>) denominator(%d : memref<2x256x4xf32>)
      gradient(%o : memref<2x256x4x64xbf16>) states(%s, %z : memref<2x4x64x64xf32>, memref<2x4x64xf32>)
      outs(%dq, %dk, %dv, %da, %ds, %dz : memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>,
           memref<2x256x4xf32>, memref<2x4x64x64xf32>, memref<2x4x64xf32>)
      {feature_map = #act.elu_plus_one, normalize, epsilon = 1.0e-06 : f64}
  return
}
