// How the work of codecs divides, and what the code for it consists of. What it
// computes is tested by executing it: python/tests/test_codec_kernels.py and
// unittests/Conversion/KernelsToCPU.

// RUN: act-opt %s --test-emit-codecs=vector-bits=256 --canonicalize --verify-diagnostics | FileCheck %s
// RUN: act-opt %s --test-emit-codecs=vector-bits=128 --canonicalize --verify-diagnostics | FileCheck %s --check-prefix=NARROW

// Of whole groups: two loops over a block of 16, the first of which looks for
// extremes. Two planes make the bytes of one vector.
// CHECK-LABEL: func.func @groups(
// CHECK-NOT:     masked
// CHECK:         %[[SALT:.*]] = memref.load
// CHECK:         scf.for %{{.*}} = %{{.*}} to %c32 step %c16
// CHECK:           scf.for
// CHECK:             llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<32xf32>
// CHECK:           arith.divf {{.*}} : vector<16xf32>
// CHECK:           scf.for
// CHECK:             llvm.intr.prefetch
// CHECK:             arith.muli {{.*}} : vector<32xi32>
// CHECK:             arith.trunci {{.*}} : vector<32xi32> to vector<32xi8>
// CHECK:             llvm.store {{.*}} {alignment = 1 : i64} : vector<32xi8>, !llvm.ptr
// CHECK-NOT:     act.encode
// NARROW-LABEL: func.func @groups(
// NARROW:        llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
func.func @groups(%x: memref<8x256xf32>, %salt: memref<i32>, %c: memref<8x4x32xi8>, %m: memref<8x4x1xbf16>, %s: memref<8x4x1xbf16>) {
  // expected-remark @+1 {{32 units of 64 elements}}
  act.encode ins(%x : memref<8x256xf32>) salt(%salt : memref<i32>)
      outs(%c, %m, %s : memref<8x4x32xi8>, memref<8x4x1xbf16>, memref<8x4x1xbf16>)
      {encoding = #act.group_quant<bits = 4, group = 64>}
  return
}

// A bf16 is widened where it is: even and odd places in vectors of their own.
// CHECK-LABEL: func.func @pairs(
// CHECK:         llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xi16>
// CHECK-NOT:     vector.shuffle
// CHECK:         llvm.store {{.*}} {alignment = 2 : i64} : vector<16xi32>, !llvm.ptr
func.func @pairs(%x: memref<8x256xbf16>, %c: memref<8x4x32xi8>, %m: memref<8x4x1xbf16>, %s: memref<8x4x1xbf16>) {
  // expected-remark @+1 {{32 units of 64 elements}}
  act.decode ins(%c, %m, %s : memref<8x4x32xi8>, memref<8x4x1xbf16>, memref<8x4x1xbf16>)
      outs(%x : memref<8x256xbf16>) {encoding = #act.group_quant<bits = 4, group = 64>}
  return
}

// Bytes of 8 planes of 8 codes: all in two vectors.
// CHECK-LABEL: func.func @short_planes(
// CHECK:         llvm.load {{.*}} : !llvm.ptr -> vector<8xi8>
// CHECK:         vector.shuffle {{.*}} : vector<8xi8>, vector<8xi8>
// CHECK:         llvm.store {{.*}} : vector<32xf32>, !llvm.ptr
// CHECK:         llvm.store {{.*}} : vector<32xf32>, !llvm.ptr
// CHECK-NOT:     llvm.store
func.func @short_planes(%x: memref<1x64xf32>, %c: memref<1x1x8xi8>, %m: memref<1x1x1xbf16>, %s: memref<1x1x1xbf16>) {
  // expected-remark @+1 {{1 units of 64 elements}}
  act.decode ins(%c, %m, %s : memref<1x1x8xi8>, memref<1x1x1xbf16>, memref<1x1x1xbf16>)
      outs(%x : memref<1x64xf32>) {encoding = #act.group_quant<bits = 1, group = 64>}
  return
}

// Rows that end in a short group are not divided. Its last vector overlaps the
// one before; without noise nothing is hashed.
// CHECK-LABEL: func.func @tail(
// CHECK-NOT:     arith.xori
// CHECK-NOT:     masked
// CHECK:         return
func.func @tail(%x: memref<8x100xf16>, %c: memref<8x2x64xi8>, %m: memref<8x2x1xbf16>, %s: memref<8x2x1xbf16>) {
  // expected-remark @+1 {{8 units of 100 elements}}
  act.encode ins(%x : memref<8x100xf16>)
      outs(%c, %m, %s : memref<8x2x64xi8>, memref<8x2x1xbf16>, memref<8x2x1xbf16>)
      {encoding = #act.group_quant<bits = 8, group = 64, rounding = nearest>}
  return
}

// Decoding 32 MiB goes around the caches if the tensor is aligned.
// CHECK-LABEL: func.func @large(
// CHECK:         %[[ALIGNED:.*]] = arith.cmpi eq
// CHECK:         scf.if %[[ALIGNED]] {
// CHECK:           llvm.store {{.*}} {alignment = 64 : i64, nontemporal} : vector<32xf32>, !llvm.ptr
// CHECK:           llvm.fence seq_cst
// CHECK:         } else {
// CHECK-NOT:       nontemporal
// CHECK:           llvm.store {{.*}} {alignment = 4 : i64} : vector<32xf32>, !llvm.ptr
func.func @large(%x: memref<8192x1024xf32>, %c: memref<8192x8x64xi8>, %m: memref<8192x8x1xbf16>, %s: memref<8192x8x1xbf16>) {
  // expected-remark @+1 {{65536 units of 128 elements}}
  act.decode ins(%c, %m, %s : memref<8192x8x64xi8>, memref<8192x8x1xbf16>, memref<8192x8x1xbf16>)
      outs(%x : memref<8192x1024xf32>) {encoding = #act.group_quant<bits = 4, group = 128>}
  return
}

// CHECK-LABEL: func.func @others(
// CHECK-NOT:     act.
// CHECK:         return
func.func @others(%x: memref<4x6x10xf32>, %salt: memref<i32>, %c: memref<4x6x10xi8>,
    %m0: memref<4x1x1xf32>, %m1: memref<1x6x1xf32>, %m2: memref<1x1x10xf32>,
    %g: memref<4x2x3x10xi8>, %p: memref<4x2x1x10xbf16>, %f: memref<4x6x10xf16>,
    %b: memref<4x6x10xi1>, %d: memref<4x6x2xi8>) {
  // expected-remark @+1 {{8 units of 30 elements}}
  act.encode ins(%x : memref<4x6x10xf32>) salt(%salt : memref<i32>) outs(%g, %p, %p : memref<4x2x3x10xi8>, memref<4x2x1x10xbf16>, memref<4x2x1x10xbf16>) {encoding = #act.group_quant<bits = 8, group = 3, axis = 1>}
  // expected-remark @+1 {{4 units of 60 elements}}
  act.encode ins(%x : memref<4x6x10xf32>) salt(%salt : memref<i32>) outs(%c, %m0, %m0 : memref<4x6x10xi8>, memref<4x1x1xf32>, memref<4x1x1xf32>) {encoding = #act.axis_quant<bits = 8, axis = 0>}
  // expected-remark @+1 {{6 units of 40 scattered elements}}
  act.encode ins(%x : memref<4x6x10xf32>) salt(%salt : memref<i32>) outs(%c, %m1, %m1 : memref<4x6x10xi8>, memref<1x6x1xf32>, memref<1x6x1xf32>) {encoding = #act.axis_quant<bits = 8, axis = 1>}
  // expected-remark @+1 {{1 units of 240 elements}}
  act.encode ins(%x : memref<4x6x10xf32>) salt(%salt : memref<i32>) outs(%c, %m2, %m2 : memref<4x6x10xi8>, memref<1x1x10xf32>, memref<1x1x10xf32>) {encoding = #act.axis_quant<bits = 8, axis = 2>}
  // expected-remark @+1 {{240 units of 1 elements}}
  act.encode ins(%x : memref<4x6x10xf32>) outs(%f : memref<4x6x10xf16>) {encoding = #act.float<type = f16>}
  // expected-remark @+1 {{24 units of 10 elements}}
  act.encode ins(%b : memref<4x6x10xi1>) outs(%d : memref<4x6x2xi8>) {encoding = #act.mask}
  // expected-remark @+1 {{240 units of 1 elements}}
  act.decode ins(%x : memref<4x6x10xf32>) outs(%x : memref<4x6x10xf32>) {encoding = #act.raw}
  return
}
