// Operations that share rows: who computes a row, what is in shared memory, and
// where threads wait for each other.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse -o %t
// RUN: act-run %t --emit=ptx | FileCheck %s --implicit-check-not=.local
// RUN: FileCheck %s --check-prefix=GPU --input-file %t

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<64x128xf32>, %y: memref<64x128xf32>,
                  %odd: memref<5x77xf32>, %odder: memref<5x77xf32>,
                  %long: memref<8x4096xf32>, %longer: memref<8x4096xf32>,
                  %short: memref<1000x4xf32>, %shorter: memref<1000x4xf32>,
                  %total: memref<64xf32>, %arena: memref<0xi8>) {
    // Softmax: a warp for each row, four rows for each block. All threads have the
    // largest element and the sum, one number per row, in registers: nothing is in
    // shared memory. A thread reads only those elements of the result again that it
    // made itself, so that nobody waits.
    // CHECK-LABEL: .entry row_program_64x128(
    // CHECK:         .maxntid 128, 1, 1
    // CHECK-NOT:     .shared
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-NOT:     ld.global
    // CHECK-COUNT-3: max.NaN.f32
    // CHECK:         shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 16, 31, -1;
    // CHECK:         shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 8, 31, -1;
    // CHECK:         shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 4, 31, -1;
    // CHECK:         shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 2, 31, -1;
    // CHECK:         shfl.sync.bfly.b32 %r{{[0-9]+}}, %r{{[0-9]+}}, 1, 31, -1;
    // CHECK-NOT:     shfl
    // CHECK:         fma.rn.f32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK-COUNT-4: div.rn.f32
    // CHECK:         st.global.v4.b32
    // GPU-LABEL: gpu.func @row_program_64x128(
    // GPU-SAME:    known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
    act.kernel row_program [64] (%x, %y : memref<64x128xf32>, memref<64x128xf32>) {
    ^bb0(%a: memref<64x128xf32>, %b: memref<64x128xf32>):
      %lowest = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %m = memref.alloc() : memref<64xf32>
      %s = memref.alloc() : memref<64xf32>
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%lowest : f32) outs(%m : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<64x128xf32>) outs(%m : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.maximumf %i, %o : f32
        linalg.yield %r : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %m : memref<64x128xf32>, memref<64xf32>) outs(%b : memref<64x128xf32>) {
      ^bb0(%i: f32, %l: f32, %o: f32):
        %d = arith.subf %i, %l : f32
        %e = math.exp %d : f32
        linalg.yield %e : f32
      }
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%s : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%b : memref<64x128xf32>) outs(%s : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%b, %s : memref<64x128xf32>, memref<64xf32>) outs(%b : memref<64x128xf32>) {
      ^bb0(%i: f32, %l: f32, %o: f32):
        %d = arith.divf %i, %l : f32
        linalg.yield %d : f32
      }
    }

    // A row that is private is in shared memory, 77 f32 (rounded up to 16 bytes) for
    // each of four warps. Its elements are read by other threads than those that wrote
    // them: one barrier of the warp between both. Threads of rows that do not exist
    // leave before; no barrier is one of the block.
    // CHECK-LABEL: .entry row_program_5x77(
    // CHECK-NOT:     bar.
    // CHECK:         .shared .align 16 .b8 row_program_5x77_shared[1280];
    // CHECK-NOT:     bar.
    // CHECK:         setp.gt.u32 %p{{[0-9]+}}, %r{{[0-9]+}}, 4;
    // CHECK-NOT:     bar.
    // CHECK:         bra
    // CHECK:         st.shared.b32
    // CHECK:         bar.warp.sync -1;
    // CHECK-NOT:     bar.
    // CHECK:         ld.shared.b32
    // CHECK-NOT:     bar.
    // GPU-LABEL: gpu.func @row_program_5x77(
    // GPU-SAME:    known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
    act.kernel row_program [5] (%odd, %odder : memref<5x77xf32>, memref<5x77xf32>) {
    ^bb0(%a: memref<5x77xf32>, %b: memref<5x77xf32>):
      %p = memref.alloc() : memref<5x77xf32>
      linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<5x77xf32>) outs(%p : memref<5x77xf32>) {
      ^bb0(%i: f32, %o: f32):
        %d = arith.mulf %i, %i : f32
        linalg.yield %d : f32
      }
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 76 - j)>, #all], iterator_types = ["parallel", "parallel"]}
          ins(%p : memref<5x77xf32>) outs(%b : memref<5x77xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }

    // The sum of squares of a long row by all threads of a block: a shuffle in each
    // warp, and one number of each through shared memory.
    // CHECK-LABEL: .entry row_program_8x4096(
    // CHECK:         .maxntid 256, 1, 1
    // CHECK:         .shared .align 16 .b8 row_program_8x4096_shared[32];
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK:         bar.sync 0;
    // CHECK:         st.shared.b32
    // CHECK:         bar.sync 0;
    // CHECK-COUNT-2: ld.shared.v4.b32
    // CHECK-NOT:     bar.
    // CHECK:         st.global.v4.b32
    // CHECK-NOT:     bar.
    // GPU-LABEL: gpu.func @row_program_8x4096(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
    act.kernel row_program [8] (%long, %longer : memref<8x4096xf32>, memref<8x4096xf32>) {
    ^bb0(%a: memref<8x4096xf32>, %b: memref<8x4096xf32>):
      %zero = arith.constant 0.0 : f32
      %s = memref.alloc() : memref<8xf32>
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%s : memref<8xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<8x4096xf32>) outs(%s : memref<8xf32>) {
      ^bb0(%i: f32, %o: f32):
        %d = arith.mulf %i, %i : f32
        %r = arith.addf %d, %o : f32
        linalg.yield %r : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : memref<8x4096xf32>, memref<8xf32>) outs(%b : memref<8x4096xf32>) {
      ^bb0(%i: f32, %l: f32, %o: f32):
        %d = arith.mulf %i, %l : f32
        linalg.yield %d : f32
      }
    }

    // A thread for each row of four: it needs nobody.
    // CHECK-LABEL: .entry row_program_1000x4(
    // CHECK:         .maxntid 128, 1, 1
    // CHECK-NOT:     .shared
    // CHECK-NOT:     shfl
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-3: add.rn.f32
    // CHECK:         st.global.v4.b32
    // GPU-LABEL: gpu.func @row_program_1000x4(
    // GPU-SAME:    known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
    act.kernel row_program [1000] (%short, %shorter : memref<1000x4xf32>, memref<1000x4xf32>) {
    ^bb0(%a: memref<1000x4xf32>, %b: memref<1000x4xf32>):
      %zero = arith.constant 0.0 : f32
      %s = memref.alloc() : memref<1000xf32>
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%s : memref<1000xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<1000x4xf32>) outs(%s : memref<1000xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : memref<1000x4xf32>, memref<1000xf32>) outs(%b : memref<1000x4xf32>) {
      ^bb0(%i: f32, %l: f32, %o: f32):
        %d = arith.divf %i, %l : f32
        linalg.yield %d : f32
      }
    }

    // A sum of each row that is a result, too: the first thread of the warp stores it,
    // the others read it when that has been done.
    // CHECK-LABEL: .entry row_program_64x128_v1(
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK:         setp.ne.b32 [[OTHERS:%p[0-9]+]], %r{{[0-9]+}}, 0;
    // CHECK:         @[[OTHERS]] bra
    // CHECK:         st.global.b32
    // CHECK:         bar.warp.sync -1;
    // CHECK-NEXT:    ld.global.b32
    // CHECK-NOT:     bar.
    // CHECK:         st.global.v4.b32
    act.kernel row_program [64] (%y, %total, %x : memref<64x128xf32>, memref<64xf32>, memref<64x128xf32>) {
    ^bb0(%a: memref<64x128xf32>, %s: memref<64xf32>, %b: memref<64x128xf32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%s : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<64x128xf32>) outs(%s : memref<64xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
      linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %s : memref<64x128xf32>, memref<64xf32>) outs(%b : memref<64x128xf32>) {
      ^bb0(%i: f32, %l: f32, %o: f32):
        %d = arith.divf %i, %l : f32
        linalg.yield %d : f32
      }
    }
    return
  }
}
