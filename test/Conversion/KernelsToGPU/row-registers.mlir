// An operation with two numbers per row, one of which only the row needs: it stays in
// a register of all threads, and one thread stores the other.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse | act-run - --emit=ptx | FileCheck %s

#row = affine_map<(i) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
#first = affine_map<(i, j) -> (i)>

// CHECK-LABEL: .entry row_program_512x64(
// CHECK-NOT:     .shared
// CHECK:         st.global.b32
// CHECK-NOT:     st.global.b32
// CHECK:         st.global.v2.b32
// CHECK-NOT:     st.global
// CHECK:         ret;
module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<512x64xf32>, %y: memref<512xf32>, %more: memref<512xf32>, %z: memref<512x64xf32>, %arena: memref<0xi8>) {
    act.kernel row_program [512] (%x, %y, %more, %z : memref<512x64xf32>, memref<512xf32>, memref<512xf32>, memref<512x64xf32>) {
    ^bb0(%a: memref<512x64xf32>, %b: memref<512xf32>, %c: memref<512xf32>, %d: memref<512x64xf32>):
      %one = arith.constant 1.0 : f32
      %twice = memref.alloc() : memref<512xf32>
      linalg.generic {indexing_maps = [#row, #row, #row], iterator_types = ["parallel"]}
          ins(%b : memref<512xf32>) outs(%twice, %c : memref<512xf32>, memref<512xf32>) {
      ^bb0(%i: f32, %o: f32, %p: f32):
        %double = arith.addf %i, %i : f32
        %next = arith.addf %i, %one : f32
        linalg.yield %double, %next : f32, f32
      }
      linalg.generic {indexing_maps = [#all, #first, #all], iterator_types = ["parallel", "parallel"]}
          ins(%a, %twice : memref<512x64xf32>, memref<512xf32>) outs(%d : memref<512x64xf32>) {
      ^bb0(%i: f32, %j: f32, %o: f32):
        %product = arith.mulf %i, %j : f32
        linalg.yield %product : f32
      }
    }
    return
  }
}
