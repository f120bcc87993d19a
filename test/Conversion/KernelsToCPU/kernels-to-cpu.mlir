// RUN: act-opt %s --convert-act-kernels-to-cpu=vector-bits=256 --split-input-file | FileCheck %s
// RUN: act-opt %s --convert-act-kernels-to-cpu=vector-bits=512 --split-input-file | FileCheck %s --check-prefix=WIDE

#id = affine_map<(i) -> (i)>

// 100 elements: 12 vectors of 8 and one of which 4 lanes exist. Two kernels of
// equal bodies share a function.
// CHECK-LABEL: module attributes {act.step = {{.*}}kernels = 1 : i64
// CHECK-DAG: llvm.func @act_cpu_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
// CHECK-DAG: llvm.func @act_cpu_context_status(!llvm.ptr) -> i32
// CHECK: llvm.func @main(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[CONTEXT:.*]]: !llvm.ptr) -> i32
// CHECK-COUNT-2: llvm.call @act_cpu_launch(%[[CONTEXT]],
// CHECK: %[[STATUS:.*]] = llvm.call @act_cpu_context_status(%[[CONTEXT]])
// CHECK: llvm.return %[[STATUS]] : i32
// CHECK: llvm.func internal @act_elementwise_100(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: llvm.store {{.*}} {alignment = 4 : i64} : vector<8xf32>, !llvm.ptr
// CHECK: vector.create_mask
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
// CHECK-NOT: llvm.func internal
// WIDE: math.exp {{.*}} : vector<16xf32>
module attributes {act.step = {arena_bytes = 448 : i64, name = "main", arguments = [{type = tensor<100xf32>}], results = [{type = tensor<100xf32>}]}} {
  func.func @main(%x: memref<100xf32>, %r: memref<400xi8>, %arena: memref<448xi8>) {
    %c0 = arith.constant 0 : index
    %result = memref.view %r[%c0][] : memref<400xi8> to memref<100xf32>
    %a = memref.view %arena[%c0][] : memref<448xi8> to memref<100xf32>
    act.kernel elementwise [] (%x, %a : memref<100xf32>, memref<100xf32>) {
    ^bb0(%in: memref<100xf32>, %out: memref<100xf32>):
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%in : memref<100xf32>) outs(%out : memref<100xf32>) {
      ^bb0(%i: f32, %o: f32):
        %e = math.exp %i : f32
        linalg.yield %e : f32
      }
    }
    act.kernel elementwise [] (%a, %result : memref<100xf32>, memref<100xf32>) {
    ^bb0(%in: memref<100xf32>, %out: memref<100xf32>):
      linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%in : memref<100xf32>) outs(%out : memref<100xf32>) {
      ^bb0(%i: f32, %o: f32):
        %e = math.exp %i : f32
        linalg.yield %e : f32
      }
    }
    return
  }
}

// -----

// A product that starts from zero overwrites: m, n, k = 64, 16, 32, no batch.
// CHECK: llvm.mlir.global internal constant @act_shape_{{.*}}(dense<[1, 0, 0, 64, 16, 32, 32, 1, 16, 1, 16, 1, 0, 0]> : tensor<14xi64>)
// CHECK: llvm.call @act_cpu_gemm
// CHECK-NOT: llvm.call @act_cpu_launch
module attributes {act.step = {arena_bytes = 0 : i64, name = "main", arguments = [], results = [{type = tensor<64x16xf32>}]}} {
  func.func @main(%a: memref<64x32xf32>, %b: memref<32x16xf32>, %r: memref<4096xi8>, %arena: memref<0xi8>) {
    %c0 = arith.constant 0 : index
    %c = memref.view %r[%c0][] : memref<4096xi8> to memref<64x16xf32>
    act.kernel contraction [] (%a, %b, %c : memref<64x32xf32>, memref<32x16xf32>, memref<64x16xf32>) {
    ^bb0(%x: memref<64x32xf32>, %y: memref<32x16xf32>, %z: memref<64x16xf32>):
      %zero = arith.constant 0.0 : f32
      linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>],
                      iterator_types = ["parallel", "parallel"]}
          ins(%zero : f32) outs(%z : memref<64x16xf32>) {
      ^bb0(%i: f32, %o: f32):
        linalg.yield %i : f32
      }
      linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                                       affine_map<(m, n, k) -> (m, n)>],
                      iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %y : memref<64x32xf32>, memref<32x16xf32>) outs(%z : memref<64x16xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %m = arith.mulf %p, %q : f32
        %s = arith.addf %o, %m : f32
        linalg.yield %s : f32
      }
    }
    return
  }
}
