// REQUIRES: cuda-toolkit
// RUN: mlir-opt %s --gpu-lower-to-nvvm-pipeline="cubin-format=isa \
// RUN:   cubin-chip=sm_80 cubin-features=+ptx80" -o %t.ptx.mlir
// RUN: mlir-opt %s --gpu-lower-to-nvvm-pipeline="cubin-format=llvm \
// RUN:   cubin-chip=sm_80 cubin-features=+ptx80" -o %t.llvm.mlir
// RUN: env ACT_GPU_EMULATOR=check=1 mlir-runner %t.ptx.mlir -e main \
// RUN:   --entry-point-result=void --shared-libs=%act_libs/libact_gpu_emu.so \
// RUN:   --shared-libs=%llvm_libs/libmlir_runner_utils.so | FileCheck %s
// RUN: env ACT_GPU_EMULATOR=check=1,schedule=reverse mlir-runner %t.llvm.mlir \
// RUN:   -e main --entry-point-result=void \
// RUN:   --shared-libs=%act_libs/libact_gpu_emu.so \
// RUN:   --shared-libs=%llvm_libs/libmlir_runner_utils.so | FileCheck %s

// Upstream's own host code, with its kernel as PTX and as LLVM bitcode. Two
// blocks add up 0 to 63 and 64 to 127, with shuffles in a warp and
// an atomic addition of each warp.

// CHECK: [2016, 6112]

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sum(%out: memref<2xi32>) kernel {
      %c64 = arith.constant 64 : index
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %base = arith.muli %block, %c64 : index
      %number = arith.addi %base, %thread : index
      %value = arith.index_cast %number : index to i32
      %width = arith.constant 32 : i32
      %o16 = arith.constant 16 : i32
      %s16, %v16 = gpu.shuffle xor %value, %o16, %width : i32
      %t16 = arith.addi %value, %s16 : i32
      %o8 = arith.constant 8 : i32
      %s8, %v8 = gpu.shuffle xor %t16, %o8, %width : i32
      %t8 = arith.addi %t16, %s8 : i32
      %o4 = arith.constant 4 : i32
      %s4, %v4 = gpu.shuffle xor %t8, %o4, %width : i32
      %t4 = arith.addi %t8, %s4 : i32
      %o2 = arith.constant 2 : i32
      %s2, %v2 = gpu.shuffle xor %t4, %o2, %width : i32
      %t2 = arith.addi %t4, %s2 : i32
      %o1 = arith.constant 1 : i32
      %s1, %v1 = gpu.shuffle xor %t2, %o1, %width : i32
      %t1 = arith.addi %t2, %s1 : i32
      %c0 = arith.constant 0 : index
      %lane = gpu.lane_id
      %isFirst = arith.cmpi eq, %lane, %c0 : index
      scf.if %isFirst {
        %old = memref.atomic_rmw addi %t1, %out[%block]
          : (i32, memref<2xi32>) -> i32
      }
      gpu.return
    }
  }
  func.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %out = memref.alloc() : memref<2xi32>
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    memref.store %zero, %out[%c0] : memref<2xi32>
    memref.store %zero, %out[%c1] : memref<2xi32>
    %any = memref.cast %out : memref<2xi32> to memref<*xi32>
    gpu.host_register %any : memref<*xi32>
    gpu.launch_func @kernels::@sum blocks in (%c2, %c1, %c1)
      threads in (%c64, %c1, %c1) args(%out : memref<2xi32>)
    call @printMemrefI32(%any) : (memref<*xi32>) -> ()
    return
  }
  func.func private @printMemrefI32(memref<*xi32>)
}
