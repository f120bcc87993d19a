// RUN: act-opt %s --pass-pipeline="builtin.module(test-emit-products,gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)" 2>/dev/null | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(test-emit-products{tf32=true},gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)" 2>/dev/null | FileCheck %s --check-prefix=TF32
// RUN: act-opt %s --test-emit-products -o /dev/null 2>&1 | FileCheck %s --check-prefix=LAUNCH
// RUN: act-opt %s --test-emit-products 2>/dev/null | FileCheck %s --check-prefix=WIDE

// One text has all kernels, none of which has variables of its own in memory.
// CHECK: assembly = "
// CHECK-NOT: .local
// Tensor cores multiply bf16: pieces of 16 bytes come straight into shared memory,
// and from there matrices of eight rows into registers.
// CHECK-SAME: .entry rows(
// CHECK-SAME: .minnctapersm 2
// CHECK-SAME: cp.async.cg.shared.global [{{[^]]*}}], [{{[^]]*}}], 16;
// CHECK-SAME: cp.async.commit_group;
// CHECK-SAME: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// CHECK-SAME: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-SAME: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK-SAME: cp.async.wait_group {{[^;]*}}1;
// CHECK-SAME: bar.sync {{[^;]*}}0;
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: .entry columns(
// CHECK-SAME: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// CHECK-SAME: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// A factor whose rows are not aligned comes element by element through registers.
// CHECK-SAME: .entry odd(
// CHECK-SAME: ld.global.nc.b16
// CHECK-SAME: st.shared.b16
// CHECK-SAME: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// Threads multiply f32, each element of a piece of 16 bytes with each of another.
// CHECK-SAME: .entry single(
// CHECK-SAME: cp.async.cg.shared.global [{{[^]]*}}], [{{[^]]*}}], 16;
// CHECK-SAME: ld.shared.v4.b32
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: st.global.v4.b32
// The sum is added to what is there in f32, and rounded once.
// CHECK-SAME: .entry adds(
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: add.rn.f32
// CHECK-SAME: cvt.rn.bf16x2.f32
// CHECK-NOT: .local

// TF32: .entry single(
// TF32-SAME: cvt.rna.tf32.f32
// TF32-SAME: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32

// WIDE-LABEL: gpu.func @distant(
// WIDE: %[[STRIDE:.*]] = arith.constant 1073741824 : i64
// WIDE: arith.muli %{{.*}}, %[[STRIDE]] {{.*}}: i64
// WIDE-NOT: arith.constant 1073741824 : i32

// LAUNCH: rows: 121 blocks of 256 threads, 98304 dynamic bytes
// LAUNCH: columns: 121 blocks of 256 threads, 98304 dynamic bytes
// LAUNCH: odd: 6 blocks of 128 threads, 0 dynamic bytes
// LAUNCH: single: 121 blocks of 256 threads, 0 dynamic bytes
// LAUNCH: adds: 16 blocks of 128 threads, 0 dynamic bytes
// LAUNCH: distant: 1 blocks of 64 threads, 0 dynamic bytes

#none = affine_map<(m, n) -> ()>
#all = affine_map<(m, n) -> (m, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @rows(%a0: memref<1408x1024xbf16>, %b0: memref<1024x1408xbf16>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xbf16>, memref<1024x1408xbf16>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1408x1024xbf16>, %b: memref<1024x1408xbf16>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xbf16>, memref<1024x1408xbf16>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %xe = arith.extf %x : bf16 to f32
      %ye = arith.extf %y : bf16 to f32
      %m = arith.mulf %xe, %ye : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @columns(%a0: memref<1024x1408xbf16>, %b0: memref<1024x1408xbf16>, %c0: memref<1408x1408xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1024x1408xbf16>, memref<1024x1408xbf16>, memref<1408x1408xbf16>) {
  ^bb0(%a: memref<1024x1408xbf16>, %b: memref<1024x1408xbf16>, %c: memref<1408x1408xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#km, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1024x1408xbf16>, memref<1024x1408xbf16>) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

func.func @odd(%a0: memref<64x33xf16>, %b0: memref<33x65xf16>, %c0: memref<64x65xf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<64x33xf16>, memref<33x65xf16>, memref<64x65xf16>) {
  ^bb0(%a: memref<64x33xf16>, %b: memref<33x65xf16>, %c: memref<64x65xf16>):
    %zero = arith.constant 0.0 : f16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f16) outs(%c : memref<64x65xf16>) {
    ^bb0(%x: f16, %z: f16):
      linalg.yield %x : f16
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<64x33xf16>, memref<33x65xf16>) outs(%c : memref<64x65xf16>) {
    ^bb0(%x: f16, %y: f16, %z: f16):
      %m = arith.mulf %x, %y : f16
      %s = arith.addf %z, %m : f16
      linalg.yield %s : f16
    }
  }
  return
}

func.func @single(%a0: memref<1408x1024xf32>, %b0: memref<1024x1408xf32>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xf32>, memref<1024x1408xf32>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1408x1024xf32>, %b: memref<1024x1408xf32>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xf32>, memref<1024x1408xf32>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @adds(%a0: memref<256x64xbf16>, %b0: memref<64x256xbf16>, %c0: memref<256x256xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<256x64xbf16>, memref<64x256xbf16>, memref<256x256xbf16>) {
  ^bb0(%a: memref<256x64xbf16>, %b: memref<64x256xbf16>, %c: memref<256x256xbf16>):
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<256x64xbf16>, memref<64x256xbf16>) outs(%c : memref<256x256xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

// Offsets of more than 2^31 elements have 64 bits.
func.func @distant(%a0: memref<4x4xf32, strided<[1073741824, 1]>>, %b0: memref<4x4xf32, strided<[1073741824, 1]>>, %c0: memref<4x4xf32, strided<[1073741824, 1]>>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<4x4xf32, strided<[1073741824, 1]>>, memref<4x4xf32, strided<[1073741824, 1]>>, memref<4x4xf32, strided<[1073741824, 1]>>) {
  ^bb0(%a: memref<4x4xf32, strided<[1073741824, 1]>>, %b: memref<4x4xf32, strided<[1073741824, 1]>>, %c: memref<4x4xf32, strided<[1073741824, 1]>>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<4x4xf32, strided<[1073741824, 1]>>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<4x4xf32, strided<[1073741824, 1]>>, memref<4x4xf32, strided<[1073741824, 1]>>) outs(%c : memref<4x4xf32, strided<[1073741824, 1]>>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}
