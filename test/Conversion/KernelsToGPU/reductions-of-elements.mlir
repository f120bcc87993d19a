// A reduction that also writes results of each of its iterations: they are not carried
// from one to the next, but read and written where the iteration is.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse | act-run - --emit=ptx | FileCheck %s

// CHECK-LABEL: .entry reduction_100(
// CHECK:         ld.global{{(\.nc)?}}.b32
// CHECK:         st.global.b8
// CHECK:         bra
// CHECK:         st.global.b32
module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<100xf32>, %flags: memref<100xi1>, %sum: memref<f32>, %arena: memref<0xi8>) {
    act.kernel reduction [] (%x, %flags, %sum : memref<100xf32>, memref<100xi1>, memref<f32>) {
    ^bb0(%a: memref<100xf32>, %b: memref<100xi1>, %c: memref<f32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                      iterator_types = ["reduction"]}
          ins(%a : memref<100xf32>) outs(%b, %c : memref<100xi1>, memref<f32>) {
      ^bb0(%i: f32, %o: i1, %p: f32):
        %positive = arith.cmpf ogt, %i, %zero : f32
        %both = arith.andi %o, %positive : i1
        %term = arith.select %both, %i, %zero : f32
        %next = arith.addf %p, %term : f32
        linalg.yield %both, %next : i1, f32
      }
    }
    return
  }
}
