// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s

// CHECK-LABEL: func.func @fill
// CHECK-SAME: (%[[OUT:.*]]: memref<8x4xf32>, %[[X:.*]]: f32)
// CHECK-NEXT: act.kernel elementwise [](%[[OUT]], %[[X]] : memref<8x4xf32>, f32) {
// CHECK-NEXT: ^bb0(%[[O:.*]]: memref<8x4xf32>, %[[S:.*]]: f32):
// CHECK-NEXT: linalg.fill ins(%[[S]] : f32) outs(%[[O]] : memref<8x4xf32>)
func.func @fill(%out: memref<8x4xf32>, %x: f32) {
  act.kernel elementwise [] (%out, %x : memref<8x4xf32>, f32) {
  ^bb0(%o: memref<8x4xf32>, %s: f32):
    linalg.fill ins(%s : f32) outs(%o : memref<8x4xf32>)
  }
  return
}

// CHECK-LABEL: func.func @rows
// CHECK: act.kernel row_program [8](
func.func @rows(%in: memref<8x4xf32>, %out: memref<8x4xf32>) {
  act.kernel row_program [8] (%in, %out : memref<8x4xf32>, memref<8x4xf32>) {
  ^bb0(%i: memref<8x4xf32>, %o: memref<8x4xf32>):
    %zero = arith.constant 0.0 : f32
    %sum = memref.alloc() : memref<8xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
    linalg.generic {
        indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
        iterator_types = ["parallel", "reduction"]}
        ins(%i : memref<8x4xf32>) outs(%sum : memref<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
    linalg.generic {
        indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                         affine_map<(r, c) -> (r, c)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%i, %sum : memref<8x4xf32>, memref<8xf32>)
        outs(%o : memref<8x4xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %d = arith.divf %a, %b : f32
      linalg.yield %d : f32
    }
  }
  return
}
