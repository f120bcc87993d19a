// Threads of kernels that encode and decode, and their PTX. What they compute is
// tested by executing it: python/tests/test_gpu_codecs.py.

// RUN: act-opt %s --test-emit-gpu-codecs --canonicalize --cse | FileCheck %s
// RUN: act-opt %s --test-emit-gpu-codecs=alignment=4 --canonicalize --cse | FileCheck %s --check-prefix=NARROW
// RUN: act-opt %s --test-emit-gpu-codecs=rows=true --canonicalize --cse | FileCheck %s --check-prefix=ROWS
// RUN: act-opt %s --pass-pipeline='builtin.module(test-emit-gpu-codecs,canonicalize,cse,gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)' | FileCheck %s --check-prefix=PTX --implicit-check-not=.local --implicit-check-not=__nv_

// No kernel keeps anything in local memory or calls libdevice (PTX).

// Four lanes share a group of 256 shorter floats, 8 accesses of 16 bytes each; the
// range is found by two shuffles for each of its ends.
// CHECK-LABEL: gpu.func @encode_groups(
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-NOT:     llvm.load {{.*}}vector
// CHECK:         arith.minimumf {{.*}} : vector<2xbf16>
// CHECK-COUNT-4: gpu.shuffle xor
// CHECK-NOT:     gpu.shuffle
// CHECK:         llvm.nvvm.fma.rn.sat.f
// CHECK:         llvm.nvvm.prmt
// CHECK-COUNT-4: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xi32>, !llvm.ptr<1>
// What is not aligned goes element by element.
// NARROW-LABEL: gpu.func @encode_groups(
// NARROW-NOT:   vector
// NARROW:       llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// In a row program a warp goes through its groups.
// ROWS-LABEL: gpu.func @encode_groups(
// ROWS:         scf.for
// ROWS-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// PTX:         encode_groups
// PTX-COUNT-8: ld.global.nc.v4.b32
// PTX:         min.NaN.bf16x2
// PTX:         shfl.sync.bfly
// PTX:         fma.rn.sat.f32
// PTX:         st.global.v2.b32
func.func @encode_groups(%x: memref<512x256xbf16>, %salt: memref<i32>, %c: memref<512x1x128xi8>, %m: memref<512x1x1xbf16>, %s: memref<512x1x1xbf16>) {
  act.kernel codec [1] (%x, %salt, %c, %m, %s : memref<512x256xbf16>, memref<i32>, memref<512x1x128xi8>, memref<512x1x1xbf16>, memref<512x1x1xbf16>) {
  ^bb0(%x0: memref<512x256xbf16>, %salt0: memref<i32>, %c0: memref<512x1x128xi8>, %m0: memref<512x1x1xbf16>, %s0: memref<512x1x1xbf16>):
    act.encode ins(%x0 : memref<512x256xbf16>) salt(%salt0 : memref<i32>)
        outs(%c0, %m0, %s0 : memref<512x1x128xi8>, memref<512x1x1xbf16>, memref<512x1x1xbf16>)
        {encoding = #act.group_quant<bits = 4, group = 256>}
  }
  return
}

// 512 groups by 8 lanes make 16 blocks. A code becomes a float without a conversion.
// CHECK-LABEL: gpu.func @decode_groups(
// CHECK-SAME:    known_grid_size = array<i32: 16, 1, 1>
// CHECK-NOT:     arith.uitofp
// CHECK-NOT:     arith.sitofp
// CHECK-COUNT-8: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// PTX:         decode_groups
// PTX:         ld.global.nc
// PTX:         prmt.b32
// PTX-COUNT-8: st.global.v4.b32
func.func @decode_groups(%c: memref<512x1x128xi8>, %m: memref<512x1x1xbf16>, %s: memref<512x1x1xbf16>, %x: memref<512x256xf32>) {
  act.kernel codec [1] (%c, %m, %s, %x : memref<512x1x128xi8>, memref<512x1x1xbf16>, memref<512x1x1xbf16>, memref<512x256xf32>) {
  ^bb0(%c0: memref<512x1x128xi8>, %m0: memref<512x1x1xbf16>, %s0: memref<512x1x1xbf16>, %x0: memref<512x256xf32>):
    act.decode ins(%c0, %m0, %s0 : memref<512x1x128xi8>, memref<512x1x1xbf16>, memref<512x1x1xbf16>)
        outs(%x0 : memref<512x256xf32>) {encoding = #act.group_quant<bits = 4, group = 256>}
  }
  return
}

// Rows that groups do not divide: units are rows, threads without a group of their
// own store nothing.
// CHECK-LABEL: gpu.func @tails(
// CHECK:         arith.remui
// CHECK:         arith.minsi
// CHECK:         scf.if
func.func @tails(%x: memref<5x333xf32>, %c: memref<5x4x50xi8>, %m: memref<5x4x1xbf16>, %s: memref<5x4x1xbf16>) {
  act.kernel codec [1] (%x, %c, %m, %s : memref<5x333xf32>, memref<5x4x50xi8>, memref<5x4x1xbf16>, memref<5x4x1xbf16>) {
  ^bb0(%x0: memref<5x333xf32>, %c0: memref<5x4x50xi8>, %m0: memref<5x4x1xbf16>, %s0: memref<5x4x1xbf16>):
    act.encode ins(%x0 : memref<5x333xf32>)
        outs(%c0, %m0, %s0 : memref<5x4x50xi8>, memref<5x4x1xbf16>, memref<5x4x1xbf16>)
        {encoding = #act.group_quant<bits = 4, group = 100, rounding = nearest>}
  }
  return
}

// Ranges of columns: a block has 8 bytes of every row, whose columns are sectors of
// memory; rows of threads meet in shared memory.
// CHECK-LABEL: gpu.func @columns(
// CHECK-SAME:    known_grid_size = array<i32: 48, 1, 1>
// CHECK:         scf.for
// CHECK:         gpu.barrier
// CHECK:         gpu.barrier
// CHECK:         scf.for
func.func @columns(%x: memref<1000x768xf32>, %c: memref<1000x384xi8>, %m: memref<1x768xf32>, %s: memref<1x768xf32>) {
  act.kernel codec [1] (%x, %c, %m, %s : memref<1000x768xf32>, memref<1000x384xi8>, memref<1x768xf32>, memref<1x768xf32>) {
  ^bb0(%x0: memref<1000x768xf32>, %c0: memref<1000x384xi8>, %m0: memref<1x768xf32>, %s0: memref<1x768xf32>):
    act.encode ins(%x0 : memref<1000x768xf32>)
        outs(%c0, %m0, %s0 : memref<1000x384xi8>, memref<1x768xf32>, memref<1x768xf32>)
        {encoding = #act.axis_quant<bits = 4, axis = 1, rounding = nearest>}
  }
  return
}

// Four elements at a time; the rest of the last block one by one.
// CHECK-LABEL: gpu.func @floats(
// CHECK:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
// CHECK:         llvm.store {{.*}} {alignment = 4 : i64} : vector<4xi8>, !llvm.ptr<1>
func.func @floats(%x: memref<5x205xf32>, %c: memref<5x205xf8E4M3FN>) {
  act.kernel codec [1] (%x, %c : memref<5x205xf32>, memref<5x205xf8E4M3FN>) {
  ^bb0(%x0: memref<5x205xf32>, %c0: memref<5x205xf8E4M3FN>):
    act.encode ins(%x0 : memref<5x205xf32>) outs(%c0 : memref<5x205xf8E4M3FN>)
        {encoding = #act.float<type = f8E4M3FN>}
  }
  return
}

// Bits of 16 bytes of every plane at once.
// CHECK-LABEL: gpu.func @masks(
// CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK:         llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
func.func @masks(%x: memref<8x1024xi1>, %c: memref<8x128xi8>) {
  act.kernel codec [1] (%x, %c : memref<8x1024xi1>, memref<8x128xi8>) {
  ^bb0(%x0: memref<8x1024xi1>, %c0: memref<8x128xi8>):
    act.encode ins(%x0 : memref<8x1024xi1>) outs(%c0 : memref<8x128xi8>) {encoding = #act.mask}
  }
  return
}
