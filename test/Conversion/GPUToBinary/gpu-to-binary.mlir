// RUN: act-opt %s --act-gpu-to-binary | FileCheck %s
// RUN: act-opt %s --act-gpu-to-binary | FileCheck %s --check-prefix=PTX
// The text does not depend on threads.
// RUN: act-opt %s --act-gpu-to-binary -o %t.threads
// RUN: act-opt %s --act-gpu-to-binary --mlir-disable-threading -o %t.alone
// RUN: cmp %t.threads %t.alone
// RUN: act-opt %s --act-gpu-to-binary="chip=sm_90" | FileCheck %s --check-prefix=NEWER

// CHECK-NOT: gpu.module
// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">
// CHECK-SAME: #gpu.kernel_metadata<"accumulate",
// CHECK-SAME: metadata = {order_dependent, static_shared_bytes = 0 : i64}>
// CHECK-SAME: #gpu.kernel_metadata<"add", !llvm.func<void (ptr<1>, ptr<1>, f32)>
// CHECK-SAME: {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: metadata = {block = array<i32: 256, 1, 1>, dynamic_shared_bytes = 0 : i64,
// CHECK-SAME: grid = array<i32: 4, 2, 1>, static_shared_bytes = 0 : i64}>
// CHECK-SAME: #gpu.kernel_metadata<"reverse",
// CHECK-SAME: dynamic_shared_bytes = 65536 : i64
// CHECK-SAME: static_shared_bytes = 128 : i64}>
// CHECK: gpu.launch_func @kernels::@add

// Kernels have the order of the module; memory of the launch is external.
// PTX: assembly = "
// PTX-SAME: .version 8.0\0A.target sm_80\0A.address_size 64
// PTX-SAME: .extern .shared .align 16 .b8 act_dynamic_shared[];
// PTX-SAME: .visible .entry reverse(
// PTX-SAME: .shared .align 16 .b8 reverse_tile[128];
// PTX-SAME: .visible .entry add(
// PTX-SAME: .param .u64 .ptr .global .align 16 add_param_0
// PTX-SAME: ld.global.nc.b32
// PTX-SAME: add.rn.f32
// PTX-SAME: .visible .entry accumulate(
// PTX-SAME: {{atom|red}}{{[a-z.]*}}.add.f32
// PTX-NOT: .version

// NEWER: chip = "sm_90"
// NEWER-SAME: .target sm_90\0A

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global external @act_dynamic_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
    llvm.mlir.global internal @reverse_tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<128 x i8>

    llvm.func @reverse(%x: !llvm.ptr<1> {llvm.align = 16 : i64}) attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %m = llvm.mlir.constant(31 : i32) : i32
      %r = llvm.xor %t, %m : i32
      %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %tile = llvm.mlir.addressof @reverse_tile : !llvm.ptr<3>
      %s = llvm.getelementptr %tile[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %v, %s {alignment = 4 : i64} : f32, !llvm.ptr<3>
      %dynamic = llvm.mlir.addressof @act_dynamic_shared : !llvm.ptr<3>
      %d = llvm.getelementptr %dynamic[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %v, %d {alignment = 4 : i64} : f32, !llvm.ptr<3>
      nvvm.barrier0
      %sr = llvm.getelementptr %tile[%r] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %a = llvm.load %sr {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %dr = llvm.getelementptr %dynamic[%r] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %b = llvm.load %dr {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %sum = llvm.fadd %a, %b : f32
      llvm.store %sum, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @add(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
                   %y: !llvm.ptr<1> {llvm.align = 16 : i64}, %c: f32)
        attributes {gpu.kernel, nvvm.kernel} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %sum = llvm.fadd %v, %c : f32
      %q = llvm.getelementptr %y[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %sum, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
      llvm.return
    }

    llvm.func @accumulate(%x: !llvm.ptr<1>, %c: f32) attributes {gpu.kernel, nvvm.kernel} {
      %old = llvm.atomicrmw fadd %x, %c monotonic : !llvm.ptr<1>, f32
      llvm.return
    }
  }

  llvm.func @main(%arguments: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
                  %context: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c256 = arith.constant 256 : index
    %dynamic = arith.constant 65536 : i32
    %c = arith.constant 1.0 : f32
    %p = llvm.addrspacecast %arena : !llvm.ptr to !llvm.ptr<1>
    gpu.launch_func @kernels::@add blocks in (%c4, %c2, %c1) threads in (%c256, %c1, %c1)
        args(%p : !llvm.ptr<1>, %p : !llvm.ptr<1>, %c : f32)
    gpu.launch_func @kernels::@reverse blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
        dynamic_shared_memory_size %dynamic args(%p : !llvm.ptr<1>)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}
