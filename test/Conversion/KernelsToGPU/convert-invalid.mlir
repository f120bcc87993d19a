// RUN: act-opt %s --convert-act-kernels-to-gpu --split-input-file --verify-diagnostics

// expected-error@+1 {{expects a step with planned memory (act-plan-memory)}}
module {
  func.func @main(%x: memref<8xf32>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<64xf32>, %n: memref<i32>, %arena: memref<0xi8>) {
    %size = memref.load %n[] : memref<i32>
    %step = arith.index_cast %size : i32 to index
    %view = memref.subview %x[0] [8] [%step] : memref<64xf32> to memref<8xf32, strided<[?]>>
    // expected-error@+1 {{'act.kernel' op expects buffers of known shape and strides, got 'memref<8xf32, strided<[?]>>'}}
    act.kernel elementwise [] (%view : memref<8xf32, strided<[?]>>) {
    ^bb0(%a: memref<8xf32, strided<[?]>>):
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
          ins(%a : memref<8xf32, strided<[?]>>) outs(%a : memref<8xf32, strided<[?]>>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
    }
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

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %arena: memref<0xi8>) {
    // expected-error@+1 {{'act.kernel' op expects one operation in a kernel without rows, got 2}}
    act.kernel elementwise [] (%x, %y : memref<8xf32>, memref<8xf32>) {
    ^bb0(%a: memref<8xf32>, %b: memref<8xf32>):
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
      ^bb0(%o: f32):
        %s = arith.mulf %o, %o : f32
        linalg.yield %s : f32
      }
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%b : memref<8xf32>) {
      ^bb0(%o: f32):
        %s = arith.mulf %o, %o : f32
        linalg.yield %s : f32
      }
    }
    return
  }
}

// -----

// expected-error@+1 {{'builtin.module' op expects a list 'results' in 'act.step'}}
module attributes {act.step = {}} {
  func.func @main(%x: memref<8xf32>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  // expected-error@+1 {{'func.func' op expects argument 1 to be a buffer of static shape, got 'f32'}}
  func.func @main(%x: memref<8xf32>, %y: f32, %arena: memref<0xi8>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  // expected-error@+1 {{'func.func' op expects argument 0 to be a buffer of static shape, got 'memref<?xf32>'}}
  func.func @main(%x: memref<?xf32>, %arena: memref<0xi8>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = [{}]}} {
  // expected-error@+1 {{'func.func' op expects an argument for each of 1 results, and the arena, got 1}}
  func.func @main(%arena: memref<0xi8>) {
    return
  }
}

// -----

module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = []}} {
  func.func @main(%arena: memref<0xi8>) {
    // expected-error@+1 {{'memref.alloc' op expects memory that is planned (act-plan-memory)}}
    %buffer = memref.alloc() : memref<8xf32>
    return
  }
}
