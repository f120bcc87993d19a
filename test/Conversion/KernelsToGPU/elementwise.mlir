// Kernels of one operation on elements: what a thread does, as PTX.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse -o %t
// RUN: act-run %t --emit=ptx | FileCheck %s --implicit-check-not=.local --implicit-check-not=.shared --implicit-check-not=bar.
// RUN: FileCheck %s --check-prefix=GPU --input-file %t

#vector = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

// GPU-DAG: llvm.mlir.global internal constant @constant_table(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>) {addr_space = 1 : i32, alignment = 16 : i64}
// GPU-DAG: llvm.mlir.global internal constant @constant_mask(dense<[1, 0, 1]> : tensor<3xi8>) {addr_space = 1 : i32
module attributes {act.step = {arena_bytes = 65536 : i64, name = "main", arguments = [], results = []}} {
  memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
  memref.global "private" constant @mask : memref<3xi1> = dense<[true, false, true]>

  func.func @main(%x: memref<4096xf32>, %y: memref<4096xf32>, %odd: memref<1001xf32>,
                  %out: memref<4096xf32>, %half: memref<2048xbf16>, %bits: memref<4096xi1>,
                  %indices: memref<1000xi32>, %number: memref<i32>, %picked: memref<1000xf32>,
                  %matrix: memref<64x64xf32>, %row: memref<64xf32>, %arena: memref<65536xi8>) {
    %c0 = arith.constant 0 : index
    %c16384 = arith.constant 16384 : index
    %c16404 = arith.constant 16404 : index

    // 16 bytes per access, neighbouring threads side by side: thread t of block b has
    // the elements from 1024 b + 4 t on. What nothing writes to is read through the
    // cache for constants.
    // CHECK-LABEL: .entry elementwise_4096(
    // CHECK-NEXT:    .param .u64 .ptr .global .align 16 elementwise_4096_param_0,
    // CHECK:         .maxntid 256, 1, 1
    // CHECK-NOT:     bra
    // CHECK-DAG:     mov.u32 [[THREAD:%r[0-9]+]], %tid.x;
    // CHECK-DAG:     mov.u32 [[BLOCK:%r[0-9]+]], %ctaid.x;
    // CHECK-DAG:     shl.b32 [[FIRST:%r[0-9]+]], [[BLOCK]], 10;
    // CHECK-DAG:     shl.b32 [[OWN:%r[0-9]+]], [[THREAD]], 2;
    // CHECK:         or.b32 [[ELEMENT:%r[0-9]+]], [[FIRST]], [[OWN]];
    // CHECK:         mul.wide.u32 %rd{{[0-9]+}}, [[ELEMENT]], 4;
    // CHECK:         ld.global.nc.v4.b32
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-NOT:     ld.global
    // CHECK-COUNT-4: add.rn.f32
    // CHECK:         st.global.v4.b32
    // GPU-LABEL: gpu.func @elementwise_4096(
    // GPU-SAME:    %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
    // GPU-SAME:    %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 16 : i64})
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
    act.kernel elementwise [] (%x, %y, %out : memref<4096xf32>, memref<4096xf32>, memref<4096xf32>) {
    ^bb0(%a: memref<4096xf32>, %b: memref<4096xf32>, %c: memref<4096xf32>):
      linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
          ins(%a, %b : memref<4096xf32>, memref<4096xf32>) outs(%c : memref<4096xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %s = arith.addf %p, %q : f32
        linalg.yield %s : f32
      }
    }

    // What is no multiple of two goes element by element, and threads past the end do
    // nothing. In place, what is read may have been written: not through that cache.
    // CHECK-LABEL: .entry elementwise_1001(
    // CHECK-NOT:     ld.global
    // CHECK:         setp.gt.u32 [[PAST:%p[0-9]+]], %r{{[0-9]+}}, 1000;
    // CHECK-NEXT:    @[[PAST]] bra
    // CHECK:         ld.global.b32
    // CHECK-NOT:     ld.global
    // CHECK:         st.global.b32
    // CHECK-NOT:     st.global
    // GPU-LABEL: gpu.func @elementwise_1001(
    // GPU-NOT:     llvm.readonly
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
    act.kernel elementwise [] (%odd, %odd : memref<1001xf32>, memref<1001xf32>) {
    ^bb0(%a: memref<1001xf32>, %b: memref<1001xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<1001xf32>) outs(%b : memref<1001xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.mulf %p, %p : f32
        linalg.yield %s : f32
      }
    }

    // One operand that is source and destination.
    // CHECK-LABEL: .entry elementwise_4096_v1(
    // CHECK:         ld.global.v4.b32
    // CHECK-COUNT-4: mul.rn.f32
    // CHECK:         st.global.v4.b32
    act.kernel elementwise [] (%x : memref<4096xf32>) {
    ^bb0(%a: memref<4096xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<4096xf32>) outs(%a : memref<4096xf32>) {
      ^bb0(%p: f32, %o: f32):
        %s = arith.mulf %p, %p : f32
        linalg.yield %s : f32
      }
    }

    // Eight bf16 are 16 bytes.
    // CHECK-LABEL: .entry elementwise_2048(
    // CHECK:         ld.global.v4.b32
    // CHECK-COUNT-4: .bf16x2
    // CHECK:         st.global.v4.b32
    // GPU-LABEL: gpu.func @elementwise_2048(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
    // GPU:         llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
    act.kernel elementwise [] (%half : memref<2048xbf16>) {
    ^bb0(%a: memref<2048xbf16>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<2048xbf16>) outs(%a : memref<2048xbf16>) {
      ^bb0(%p: bf16, %o: bf16):
        %s = arith.mulf %p, %p : bf16
        linalg.yield %s : bf16
      }
    }

    // Booleans are bytes, here four beside as many f32.
    // CHECK-LABEL: .entry elementwise_4096_v2(
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-4: setp.lt.f32
    // CHECK-COUNT-4: selp.b32 %r{{[0-9]+}}, 1, 0
    // CHECK:         st.global.b32
    // CHECK-NOT:     st.global
    act.kernel elementwise [] (%y, %bits : memref<4096xf32>, memref<4096xi1>) {
    ^bb0(%a: memref<4096xf32>, %b: memref<4096xi1>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<4096xf32>) outs(%b : memref<4096xi1>) {
      ^bb0(%p: f32, %o: i1):
        %s = arith.cmpf olt, %p, %zero : f32
        linalg.yield %s : i1
      }
    }

    // Elements that others name: one vector of indices, one access for each of them.
    // CHECK-LABEL: .entry elementwise_1000(
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-4: ld.global.nc.b32
    // CHECK:         st.global.v4.b32
    act.kernel elementwise [] (%y, %indices, %picked : memref<4096xf32>, memref<1000xi32>, memref<1000xf32>) {
    ^bb0(%a: memref<4096xf32>, %k: memref<1000xi32>, %b: memref<1000xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%k : memref<1000xi32>) outs(%b : memref<1000xf32>) {
      ^bb0(%i: i32, %o: f32):
        %place = arith.index_cast %i : i32 to index
        %s = memref.load %a[%place] : memref<4096xf32>
        linalg.yield %s : f32
      }
    }

    // A constant is a variable of the module; the operand is an offset in it.
    // CHECK-LABEL: .entry elementwise_1000_v1(
    // CHECK-NEXT:    .param .u64 elementwise_1000_v1_param_0,
    // CHECK-NEXT:    .param .u64 elementwise_1000_v1_param_1,
    // CHECK-NEXT:    .param .u64 .ptr .global .align 16 elementwise_1000_v1_param_2,
    // CHECK-DAG:     constant_table
    // CHECK-DAG:     constant_mask
    // GPU-LABEL: gpu.func @elementwise_1000_v1(%{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: i64,
    %table = memref.get_global @table : memref<4xf32>
    %mask = memref.get_global @mask : memref<3xi1>
    act.kernel elementwise [] (%table, %mask, %indices, %picked : memref<4xf32>, memref<3xi1>, memref<1000xi32>, memref<1000xf32>) {
    ^bb0(%a: memref<4xf32>, %m: memref<3xi1>, %k: memref<1000xi32>, %b: memref<1000xf32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%k : memref<1000xi32>) outs(%b : memref<1000xf32>) {
      ^bb0(%i: i32, %o: f32):
        %place = arith.index_cast %i : i32 to index
        %s = memref.load %a[%place] : memref<4xf32>
        %keep = memref.load %m[%place] : memref<3xi1>
        %r = arith.select %keep, %s, %zero : f32
        linalg.yield %r : f32
      }
    }

    // Numbers that the host has are parameters.
    // CHECK-LABEL: .entry elementwise_4096_v3(
    // CHECK:         .param .u32 elementwise_4096_v3_param_1,
    // CHECK-NEXT:    .param .u64 .ptr .global .align 16 elementwise_4096_v3_param_2
    // CHECK-NOT:     act_gpu
    // GPU-LABEL: gpu.func @elementwise_4096_v3(%{{[a-z0-9]+}}: !llvm.ptr<1> {{{.*}}}, %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: !llvm.ptr<1>
    %start = memref.load %number[] : memref<i32>
    act.kernel elementwise [] (%y, %start, %out : memref<4096xf32>, i32, memref<4096xf32>) {
    ^bb0(%a: memref<4096xf32>, %f: i32, %b: memref<4096xf32>):
      linalg.generic {indexing_maps = [#vector, #scalar, #vector], iterator_types = ["parallel"]}
          ins(%a, %f : memref<4096xf32>, i32) outs(%b : memref<4096xf32>) {
      ^bb0(%p: f32, %q: i32, %o: f32):
        %r = arith.sitofp %q : i32 to f32
        %s = arith.mulf %p, %r : f32
        linalg.yield %s : f32
      }
    }

    // A part of a buffer that such a number chooses: whole rows are aligned as their
    // buffer is, columns are as their elements are.
    // CHECK-LABEL: .entry elementwise_64(
    // CHECK-NEXT:    .param .u64 .ptr .global .align 16 elementwise_64_param_0,
    // CHECK:         .maxntid 32, 1, 1
    // CHECK:         setp.gt.u32 %p{{[0-9]+}}, %r{{[0-9]+}}, 15;
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-LABEL: .entry elementwise_64_v1(
    // CHECK-NEXT:    .param .u64 .ptr .global .align 4 elementwise_64_v1_param_0,
    // CHECK-NEXT:    .param .u64 .ptr .global .align 16 elementwise_64_v1_param_1
    // CHECK-COUNT-4: ld.global.nc.b32
    // CHECK:         st.global.v4.b32
    %place = arith.index_cast %start : i32 to index
    %part = memref.subview %matrix[%place, 0] [1, 64] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[1], offset: ?>>
    act.kernel elementwise [] (%part, %row : memref<64xf32, strided<[1], offset: ?>>, memref<64xf32>) {
    ^bb0(%a: memref<64xf32, strided<[1], offset: ?>>, %b: memref<64xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<64xf32, strided<[1], offset: ?>>) outs(%b : memref<64xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      }
    }
    %column = memref.subview %matrix[0, %place] [64, 1] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[64], offset: ?>>
    act.kernel elementwise [] (%column, %row : memref<64xf32, strided<[64], offset: ?>>, memref<64xf32>) {
    ^bb0(%a: memref<64xf32, strided<[64], offset: ?>>, %b: memref<64xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<64xf32, strided<[64], offset: ?>>) outs(%b : memref<64xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      }
    }

    // Buffers of one arena do not alias unless they overlap. What is aligned to four
    // bytes goes element by element, but still in groups of four.
    // CHECK-LABEL: .entry elementwise_4096_v4(
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-LABEL: .entry elementwise_4096_v5(
    // CHECK-NOT:     ld.global.nc
    // CHECK-COUNT-4: ld.global.b32
    // CHECK-COUNT-4: st.global.b32
    %low = memref.view %arena[%c0][] : memref<65536xi8> to memref<4096xf32>
    %high = memref.view %arena[%c16384][] : memref<65536xi8> to memref<4096xf32>
    %shifted = memref.view %arena[%c16404][] : memref<65536xi8> to memref<4096xf32>
    act.kernel elementwise [] (%low, %high : memref<4096xf32>, memref<4096xf32>) {
    ^bb0(%a: memref<4096xf32>, %b: memref<4096xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<4096xf32>) outs(%b : memref<4096xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      }
    }
    act.kernel elementwise [] (%shifted, %shifted : memref<4096xf32>, memref<4096xf32>) {
    ^bb0(%a: memref<4096xf32>, %b: memref<4096xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%a : memref<4096xf32>) outs(%b : memref<4096xf32>) {
      ^bb0(%p: f32, %o: f32):
        linalg.yield %p : f32
      }
    }
    return
  }
}
