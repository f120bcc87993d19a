// RUN: act-opt %s --convert-act-kernels-to-cpu --split-input-file --verify-diagnostics

// expected-error@+1 {{expects a step with planned memory (act-plan-memory)}}
module {
  func.func @main(%x: memref<8xf32>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<8x8xf32>, %arena: memref<0xi8>) {
    act.kernel elementwise [] (%x : memref<8x8xf32>) {
    ^bb0(%a: memref<8x8xf32>):
      // expected-error@+1 {{expects operand 0 to be addressed by sums of loops, got affine_map<(d0, d1) -> (d0, d1 mod 2)>}}
      linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j mod 2)>, affine_map<(i, j) -> (i, j)>],
                      iterator_types = ["parallel", "parallel"]}
          ins(%a : memref<8x8xf32>) outs(%a : memref<8x8xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }
    return
  }
}
