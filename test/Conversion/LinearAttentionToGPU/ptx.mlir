// RUN: act-opt %s --pass-pipeline="builtin.module(convert-linear-attention-to-gpu{segments=1},gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)" | FileCheck %s

// Tensor cores, whole chunks of 16 bytes, and no stack or library.
// CHECK-LABEL: gpu.binary @kernels
// CHECK-NOT: .local
// CHECK-NOT: __nv_
// CHECK: .entry linear_attention_forward
// CHECK: .maxnreg 100
// CHECK: ld.global.nc.v4
// CHECK: ldmatrix.sync.aligned.m8n8.x4.shared
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared
// CHECK-NOT: .local
// CHECK-NOT: __nv_
func.func @forward(%q: memref<2x256x4x64xbf16>, %o: memref<2x256x4x64xbf16>, %d: memref<2x256x4xf32>,
                   %s: memref<2x4x64x64xf32>, %z: memref<2x4x64xf32>) {
  act.linear_attention
      ins(%q, %q, %q : memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>, memref<2x256x4x64xbf16>)
      outs(%o, %d, %s, %z : memref<2x256x4x64xbf16>, memref<2x256x4xf32>, memref<2x4x64x64xf32>, memref<2x4x64xf32>)
      {feature_map = #act.elu_plus_one, normalize, epsilon = 1.0e-06 : f64}
  return
}
