// RUN: act-opt %s --act-plan-memory --split-input-file | FileCheck %s
// RUN: act-opt %s --act-plan-memory --split-input-file --remarks-filter='act.*' --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// Two buffers that are not alive at once share their place.
// REMARK: least possible 2048 bytes, packed 2048 bytes, fragmentation 0.00 %
// CHECK: module attributes {act.step = {arena_bytes = 2048 : i64, arguments = [{name = "x", type = tensor<256xui32>}], bound_bytes = 2048 : i64, name = "main", results = [{name = "y", type = tensor<256xi32>}]}}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<256xi32> {act.element_type = ui32, act.name = "x"}, %[[R:.*]]: memref<1024xi8>, %[[ARENA:.*]]: memref<2048xi8>)
// CHECK: %[[RESULT:.*]] = memref.view %[[R]]
// CHECK: %[[AT:.*]] = arith.constant 0 : index
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[AT]]][]
// CHECK: linalg.copy ins(%[[X]] : {{.*}}outs(%[[A]]
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][
// CHECK: linalg.copy ins(%[[A]] : {{.*}}outs(%[[B]]
// CHECK: %[[AGAIN:.*]] = arith.constant 0 : index
// CHECK: %[[C:.*]] = memref.view %[[ARENA]][%[[AGAIN]]][]
// CHECK: linalg.copy ins(%[[B]] : {{.*}}outs(%[[C]]
// CHECK: linalg.copy ins(%[[C]] : {{.*}}outs(%[[RESULT]]
// CHECK: return
module {
  func.func @main(%x: memref<256xi32> {act.element_type = ui32, act.name = "x"})
      -> (memref<256xi32> {jax.result_info = "y"}) {
    %a = memref.alloc() : memref<256xi32>
    linalg.copy ins(%x : memref<256xi32>) outs(%a : memref<256xi32>)
    %b = memref.alloc() : memref<256xi32>
    linalg.copy ins(%a : memref<256xi32>) outs(%b : memref<256xi32>)
    %c = memref.alloc() : memref<256xi32>
    linalg.copy ins(%b : memref<256xi32>) outs(%c : memref<256xi32>)
    %d = memref.alloc() : memref<256xi32>
    linalg.copy ins(%c : memref<256xi32>) outs(%d : memref<256xi32>)
    return %d : memref<256xi32>
  }
}

// -----

// A buffer that a loop carries is alive throughout; one inside, within an
// iteration only. So are two branches.
// REMARK: least possible 1152 bytes, packed 1152 bytes
// CHECK: arena_bytes = 1152 : i64
// CHECK-LABEL: func.func @main
func.func @main(%x: memref<64xf32>, %flag: memref<i1>) -> memref<64xf32> {
  %p = memref.load %flag[] : memref<i1>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %r = memref.alloc() : memref<64xf32>
  %carried = memref.alloc() : memref<64xf32>
  linalg.copy ins(%x : memref<64xf32>) outs(%carried : memref<64xf32>)
  %out = scf.for %i = %c0 to %c9 step %c1 iter_args(%c = %carried) -> (memref<64xf32>) {
    %t = memref.alloc() : memref<160xf32>
    %v = memref.subview %t[0] [64] [1] : memref<160xf32> to memref<64xf32, strided<[1]>>
    linalg.exp ins(%c : memref<64xf32>) outs(%v : memref<64xf32, strided<[1]>>)
    %u = memref.alloc() : memref<64xf32>
    linalg.exp ins(%v : memref<64xf32, strided<[1]>>) outs(%u : memref<64xf32>)
    linalg.copy ins(%u : memref<64xf32>) outs(%c : memref<64xf32>)
    scf.yield %c : memref<64xf32>
  }
  scf.if %p {
    %a = memref.alloc() : memref<200xf32>
    %v = memref.subview %a[0] [64] [1] : memref<200xf32> to memref<64xf32, strided<[1]>>
    linalg.exp ins(%out : memref<64xf32>) outs(%v : memref<64xf32, strided<[1]>>)
    linalg.copy ins(%v : memref<64xf32, strided<[1]>>) outs(%r : memref<64xf32>)
  } else {
    %b = memref.alloc() : memref<200xf32>
    %v = memref.subview %b[0] [64] [1] : memref<200xf32> to memref<64xf32, strided<[1]>>
    linalg.exp ins(%out : memref<64xf32>) outs(%v : memref<64xf32, strided<[1]>>)
    linalg.copy ins(%v : memref<64xf32, strided<[1]>>) outs(%r : memref<64xf32>)
  }
  return %r : memref<64xf32>
}
