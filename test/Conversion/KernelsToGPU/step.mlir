// The function of a step: it launches, and waits where numbers of the device decide.

// RUN: act-opt %s --convert-act-kernels-to-gpu --cse -o %t
// RUN: FileCheck %s --input-file %t
// RUN: FileCheck %s --check-prefix=KERNELS --input-file %t
// RUN: act-run %t --emit=ptx | FileCheck %s --check-prefix=PTX

#vector = affine_map<(i) -> (i)>

// Kernels are counted once each; two of three launches share one.
// CHECK: module attributes {act.step = {arena_bytes = 2048 : i64, arguments = [{{.*}}], kernels = 4 : i64, name = "main"
// CHECK-SAME: gpu.container_module
// CHECK-DAG: llvm.func @act_gpu_read(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-DAG: llvm.func @act_gpu_context_status(!llvm.ptr) -> i32
// KERNELS: gpu.module @kernels
// KERNELS-DAG: gpu.func @elementwise_100(
// KERNELS-DAG: gpu.func @elementwise_100_v1(
// KERNELS-DAG: gpu.func @store_i32(%{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 4 : i64}, %{{[a-z0-9]+}}: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// KERNELS-DAG: gpu.func @store_i8(%{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 1 : i64}, %{{[a-z0-9]+}}: i8)
// KERNELS-NOT: gpu.func
// KERNELS: llvm.func @main

// PTX-LABEL: .entry store_i32(
// PTX:         st.global.b32
// PTX-LABEL: .entry store_i8(
// PTX:         st.global.b8

// CHECK: llvm.func @main(%[[ARGUMENTS:[a-z0-9]+]]: !llvm.ptr, %[[RESULTS:[a-z0-9]+]]: !llvm.ptr, %[[ARENA:[a-z0-9]+]]: !llvm.ptr, %[[CONTEXT:[a-z0-9]+]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// Numbers that control flow depends on are read in place; the host has room for each.
// CHECK-DAG: %[[WHOLE:.*]] = llvm.alloca %{{.*}} x i32
// CHECK-DAG: %[[BYTE:.*]] = llvm.alloca %{{.*}} x i8
// CHECK: gpu.launch_func @kernels::@elementwise_100 blocks in (%[[ONE]], %[[ONE]], %[[ONE]]) threads in (%{{.*}}, %[[ONE]], %[[ONE]])
// CHECK: %[[PLACE:.*]] = llvm.inttoptr %{{.*}} : i64 to !llvm.ptr{{$}}
// CHECK: llvm.call @act_gpu_read(%[[CONTEXT]], %[[WHOLE]], %[[PLACE]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
// CHECK-NEXT: %[[COUNT:.*]] = llvm.load %[[WHOLE]] : !llvm.ptr -> i32
// CHECK: arith.index_cast %[[COUNT]] : i32 to index
// CHECK: scf.for
// CHECK: gpu.launch_func @kernels::@elementwise_100 blocks
// CHECK: gpu.launch_func @kernels::@elementwise_100_v1 blocks
// CHECK: llvm.call @act_gpu_read(%[[CONTEXT]], %[[BYTE]],
// CHECK-NEXT: %[[FLAG:.*]] = llvm.load %[[BYTE]] : !llvm.ptr -> i8
// CHECK-NEXT: arith.trunci %[[FLAG]] : i8 to i1
// CHECK: scf.if
// What the host knows is stored by a kernel of one thread.
// CHECK: gpu.launch_func @kernels::@store_i32 blocks in (%[[ONE]], %[[ONE]], %[[ONE]]) threads in (%[[ONE]], %[[ONE]], %[[ONE]]) {{.*}}args(%{{.*}} : !llvm.ptr<1>, %{{.*}} : i32)
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: gpu.launch_func @kernels::@store_i8 blocks in
// CHECK-NOT: memref.load %{{.*}} : memref<i32>
// CHECK: %[[STATUS:.*]] = llvm.call @act_gpu_context_status(%[[CONTEXT]])
// CHECK-NEXT: llvm.return %[[STATUS]] : i32
module attributes {act.step = {arena_bytes = 2048 : i64, name = "main",
    arguments = [{type = tensor<100xf32>}, {type = tensor<i32>}, {type = tensor<2xi1>}],
    results = [{type = tensor<100xf32>}, {type = tensor<i32>}, {type = tensor<i1>}]}} {
  func.func @main(%x: memref<100xf32>, %count: memref<i32>, %flags: memref<2xi1>,
                  %r0: memref<400xi8>, %r1: memref<4xi8>, %r2: memref<1xi8>, %arena: memref<2048xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c512 = arith.constant 512 : index
    %c7 = arith.constant 7 : i32
    %y = memref.view %r0[%c0][] : memref<400xi8> to memref<100xf32>
    %n = memref.view %r1[%c0][] : memref<4xi8> to memref<i32>
    %b = memref.view %r2[%c0][] : memref<1xi8> to memref<i1>
    %s = memref.view %arena[%c0][] : memref<2048xi8> to memref<100xf32>
    %t = memref.view %arena[%c512][] : memref<2048xi8> to memref<100xf32>
    act.kernel elementwise [] (%x, %s : memref<100xf32>, memref<100xf32>) {
    ^bb0(%in: memref<100xf32>, %out: memref<100xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%in : memref<100xf32>) outs(%out : memref<100xf32>) {
      ^bb0(%i: f32, %o: f32):
        %e = arith.mulf %i, %i : f32
        linalg.yield %e : f32
      }
    }
    %limit = memref.load %count[] : memref<i32>
    %end = arith.index_cast %limit : i32 to index
    scf.for %k = %c0 to %end step %c1 {
      // The same body, and operands alike: the same function.
      act.kernel elementwise [] (%s, %t : memref<100xf32>, memref<100xf32>) {
      ^bb0(%in: memref<100xf32>, %out: memref<100xf32>):
        linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
            ins(%in : memref<100xf32>) outs(%out : memref<100xf32>) {
        ^bb0(%i: f32, %o: f32):
          %e = arith.mulf %i, %i : f32
          linalg.yield %e : f32
        }
      }
    }
    // The same body in place: nothing is read only, another function.
    act.kernel elementwise [] (%t, %t : memref<100xf32>, memref<100xf32>) {
    ^bb0(%in: memref<100xf32>, %out: memref<100xf32>):
      linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
          ins(%in : memref<100xf32>) outs(%out : memref<100xf32>) {
      ^bb0(%i: f32, %o: f32):
        %e = arith.mulf %i, %i : f32
        linalg.yield %e : f32
      }
    }
    %flag = memref.load %flags[%c1] : memref<2xi1>
    scf.if %flag {
      memref.store %c7, %n[] : memref<i32>
    }
    memref.store %flag, %b[] : memref<i1>
    return
  }
}
