// Kernels that reduce: who adds up what, and in which order.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse -o %t
// RUN: act-run %t --emit=ptx | FileCheck %s --implicit-check-not=.local --implicit-check-not=atom.global --implicit-check-not=red.global
// RUN: FileCheck %s --check-prefix=GPU --input-file %t

#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<512x768xf32>, %rows: memref<512xf32>, %columns: memref<768xf32>,
                  %all: memref<f32>, %bits: memref<100x300xi1>, %any: memref<100xi1>,
                  %long: memref<16x16384xbf16>, %longs: memref<16xbf16>, %few: memref<100x8xf32>,
                  %sums: memref<100xf32>, %largest: memref<f32>, %place: memref<i32>, %arena: memref<0xi8>) {
    // A warp for each row, eight to a block. Lanes of a vector are added up apart and
    // then halves with halves: the order follows from the shape alone.
    // CHECK-LABEL: .entry reduction_512x768(
    // CHECK:         .maxntid 256, 1, 1
    // CHECK-NOT:     .shared
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK:         setp.ne.b32 [[OTHERS:%p[0-9]+]], %r{{[0-9]+}}, 0;
    // CHECK-NEXT:    @[[OTHERS]] bra
    // CHECK:         st.global.b32
    // GPU-LABEL: gpu.func @reduction_512x768(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
    act.kernel reduction [] (%x, %rows : memref<512x768xf32>, memref<512xf32>) {
    ^bb0(%a: memref<512x768xf32>, %b: memref<512xf32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%b : memref<512xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<512x768xf32>) outs(%b : memref<512xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
    }

    // Columns: as these are few, blocks of 8 of them by 64 shares of the rows, which
    // meet in shared memory.
    // CHECK-LABEL: .entry reduction_512x768_v1(
    // CHECK:         .maxntid 512, 1, 1
    // CHECK:         .shared .align 16 .b8 reduction_512x768_v1_shared[2048];
    // CHECK-NOT:     shfl
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.b32
    // CHECK:         st.shared.b32
    // CHECK-NEXT:    bar.sync 0;
    // CHECK-COUNT-63: ld.shared.b32
    // CHECK-NOT:     bar.
    // CHECK:         st.global.b32
    // GPU-LABEL: gpu.func @reduction_512x768_v1(
    // GPU-SAME:    known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 96, 1, 1>
    act.kernel reduction [] (%x, %columns : memref<512x768xf32>, memref<768xf32>) {
    ^bb0(%a: memref<512x768xf32>, %b: memref<768xf32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%zero : f32) outs(%b : memref<768xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [#all, #column], iterator_types = ["reduction", "parallel"]}
          ins(%a : memref<512x768xf32>) outs(%b : memref<768xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
    }

    // All of it, added to what is there: one block.
    // CHECK-LABEL: .entry reduction_512x768_v2(
    // CHECK:         .maxntid 256, 1, 1
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK:         bar.sync 0;
    // CHECK:         bar.sync 0;
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.b32
    // CHECK:         st.global.b32
    // GPU-LABEL: gpu.func @reduction_512x768_v2(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
    act.kernel reduction [] (%x, %all : memref<512x768xf32>, memref<f32>) {
    ^bb0(%a: memref<512x768xf32>, %b: memref<f32>):
      linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]}
          ins(%a : memref<512x768xf32>) outs(%b : memref<f32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
    }

    // Booleans, in registers of 32 bits for the shuffle.
    // CHECK-LABEL: .entry reduction_100x300(
    // CHECK:         ld.global.nc
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK:         st.global.b8
    // GPU-LABEL: gpu.func @reduction_100x300(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 13, 1, 1>
    act.kernel reduction [] (%bits, %any : memref<100x300xi1>, memref<100xi1>) {
    ^bb0(%a: memref<100x300xi1>, %b: memref<100xi1>):
      %false = arith.constant false
      linalg.generic {indexing_maps = [#none, #one], iterator_types = ["parallel"]}
          ins(%false : i1) outs(%b : memref<100xi1>) {
      ^bb0(%i: i1, %o: i1):
        linalg.yield %i : i1
      }
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<100x300xi1>) outs(%b : memref<100xi1>) {
      ^bb0(%i: i1, %o: i1):
        %r = arith.ori %i, %o : i1
        linalg.yield %r : i1
      }
    }

    // A block for each long row; eight bf16 are 16 bytes.
    // CHECK-LABEL: .entry reduction_16x16384(
    // CHECK:         ld.global.nc.v4.b32
    // CHECK-COUNT-5: shfl.sync.bfly.b32
    // CHECK-NOT:     shfl
    // CHECK:         bar.sync 0;
    // CHECK:         bar.sync 0;
    // CHECK:         st.global.b16
    // GPU-LABEL: gpu.func @reduction_16x16384(
    // GPU-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 16, 1, 1>
    act.kernel reduction [] (%long, %longs : memref<16x16384xbf16>, memref<16xbf16>) {
    ^bb0(%a: memref<16x16384xbf16>, %b: memref<16xbf16>):
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<16x16384xbf16>) outs(%b : memref<16xbf16>) {
      ^bb0(%i: bf16, %o: bf16):
        %r = arith.maximumf %i, %o : bf16
        linalg.yield %r : bf16
      }
    }

    // Rows of fewer than 32 elements are one thread's each.
    // CHECK-LABEL: .entry reduction_100x8(
    // CHECK-NOT:     shfl
    // CHECK-NOT:     bar.
    // CHECK:         ld.global.nc.v4.b32
    // CHECK:         st.global.b32
    // GPU-LABEL: gpu.func @reduction_100x8(
    // GPU-SAME:    known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
    act.kernel reduction [] (%few, %sums : memref<100x8xf32>, memref<100xf32>) {
    ^bb0(%a: memref<100x8xf32>, %b: memref<100xf32>):
      linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
          ins(%a : memref<100x8xf32>) outs(%b : memref<100xf32>) {
      ^bb0(%i: f32, %o: f32):
        %r = arith.addf %i, %o : f32
        linalg.yield %r : f32
      }
    }

    // The largest element and where it is: what an iteration finds goes to the next
    // one, in one thread.
    // CHECK-LABEL: .entry reduction_100(
    // CHECK:         .maxntid 32, 1, 1
    // CHECK:         setp.ne.b32 %p{{[0-9]+}}, %r{{[0-9]+}}, 0;
    // CHECK-NOT:     shfl
    // CHECK:         selp
    // CHECK-COUNT-2: st.global.b32
    // CHECK-NOT:     st.global
    // GPU-LABEL: gpu.func @reduction_100(
    // GPU:         scf.for {{.*}} iter_args({{.*}}) -> (f32, i32)
    act.kernel reduction [] (%sums, %largest, %place : memref<100xf32>, memref<f32>, memref<i32>) {
    ^bb0(%a: memref<100xf32>, %b: memref<f32>, %c: memref<i32>):
      linalg.generic {indexing_maps = [#one, #none, #none], iterator_types = ["reduction"]}
          ins(%a : memref<100xf32>) outs(%b, %c : memref<f32>, memref<i32>) {
      ^bb0(%i: f32, %o: f32, %p: i32):
        %k = linalg.index 0 : index
        %number = arith.index_cast %k : index to i32
        %more = arith.cmpf ogt, %i, %o : f32
        %r = arith.select %more, %i, %o : f32
        %q = arith.select %more, %number, %p : i32
        linalg.yield %r, %q : f32, i32
      }
    }
    return
  }
}
