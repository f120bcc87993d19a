// RUN: act-opt %s --act-embed-kernels | FileCheck %s

// CHECK-NOT: gpu.
// CHECK: llvm.func @act_gpu_launch(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK: llvm.mlir.global internal constant @kernels_ptx("// text\00")
// CHECK: llvm.mlir.global internal constant @kernels_sm_80("\7FELF") {{.*}}alignment = 64
// CHECK: llvm.mlir.global internal constant @kernels_cubins()
// CHECK: llvm.mlir.constant(80 : i32) : i32
// CHECK: llvm.mlir.addressof @kernels_sm_80
// CHECK: llvm.mlir.constant(4 : i64) : i64
// CHECK: llvm.mlir.global internal constant @kernels_name_fill("fill\00")

// The kernel that is launched: name, grid, block, shared memory, parameters, flags.
// CHECK: llvm.mlir.global internal constant @kernels_kernels() {{.*}} : !llvm.array<1 x struct<(ptr, array<3 x i32>, array<3 x i32>, i32, i32, i32, i32)>>
// CHECK: %[[NAME:.*]] = llvm.mlir.addressof @kernels_name_fill
// CHECK: llvm.insertvalue %[[NAME]], %{{.*}}[0, 0]
// CHECK: %[[BLOCKS:.*]] = llvm.mlir.constant(40 : i32)
// CHECK: llvm.insertvalue %[[BLOCKS]], %{{.*}}[0, 1, 0]
// CHECK: %[[THREADS:.*]] = llvm.mlir.constant(256 : i32)
// CHECK: llvm.insertvalue %[[THREADS]], %{{.*}}[0, 2, 0]
// CHECK: %[[SHARED:.*]] = llvm.mlir.constant(1024 : i32)
// CHECK: llvm.insertvalue %[[SHARED]], %{{.*}}[0, 3]
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: llvm.insertvalue %[[COUNT]], %{{.*}}[0, 4]
// CHECK-NEXT: %[[FLAGS:.*]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT: llvm.insertvalue %[[FLAGS]], %{{.*}}[0, 5]
// CHECK: llvm.mlir.global internal constant @kernels_image() {{.*}} : !llvm.struct<(i32, i32, ptr, ptr, i32, i32, ptr, ptr, i64)>

// CHECK-LABEL: llvm.func @main(
// CHECK-SAME: %[[CONTEXT:[^:,]*]]: !llvm.ptr) -> i32
// CHECK-DAG: %[[SLOTS:.*]] = llvm.alloca %{{.*}} x i64
// CHECK-DAG: %[[PARAMETERS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[POINTER:.*]] = llvm.addrspacecast
// CHECK: %[[SLOT0:.*]] = llvm.getelementptr %[[SLOTS]][0]
// CHECK: llvm.store %[[POINTER]], %[[SLOT0]] : !llvm.ptr<1>, !llvm.ptr
// CHECK: %[[SLOT1:.*]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.store %{{.*}}, %[[SLOT1]] : f32, !llvm.ptr
// CHECK: %[[IMAGE:.*]] = llvm.mlir.addressof @kernels_image
// CHECK: %[[NUMBER:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @act_gpu_launch(%[[CONTEXT]], %[[IMAGE]], %[[NUMBER]], %[[PARAMETERS]])

module attributes {gpu.container_module} {
  gpu.binary @kernels [
    #gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[
      #gpu.kernel_metadata<"fill", !llvm.func<void (ptr<1>, f32)>, metadata = {order_dependent}>,
      #gpu.kernel_metadata<"unused", !llvm.func<void ()>>]>,
      assembly = "// text">,
    #gpu.object<#nvvm.target<chip = "sm_80">, bin = "\7FELF">]
  llvm.func @main(%arguments: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
                  %context: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c40 = arith.constant 40 : index
    %c256 = arith.constant 256 : index
    %shared = arith.constant 1024 : i32
    %value = arith.constant 2.0 : f32
    %p = llvm.addrspacecast %arena : !llvm.ptr to !llvm.ptr<1>
    gpu.launch_func @kernels::@fill blocks in (%c40, %c1, %c1) threads in (%c256, %c1, %c1)
        dynamic_shared_memory_size %shared args(%p : !llvm.ptr<1>, %value : f32)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}
