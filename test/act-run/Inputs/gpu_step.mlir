// y = reverse of x within 32 elements, plus 1, by way of the arena.
module attributes {gpu.container_module, act.step = {
    name = "main", arena_bytes = 256 : i64, bound_bytes = 256 : i64, kernels = 2 : i64,
    arguments = [{name = "x", type = tensor<64xf32>}],
    results = [{name = "y", type = tensor<64xf32>}]}} {
  gpu.module @kernels {
    llvm.mlir.global external @act_dynamic_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
    llvm.func @add(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
                   %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias}, %c: f32)
        attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 32>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %w = llvm.mlir.constant(32 : i32) : i32
      %o = llvm.mul %b, %w : i32
      %i = llvm.add %o, %t : i32
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %s = llvm.fadd %v, %c : f32
      %q = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %s, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
      llvm.return
    }
    llvm.func @reverse(%x: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly},
                       %y: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias})
        attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 32>} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %w = llvm.mlir.constant(32 : i32) : i32
      %o = llvm.mul %b, %w : i32
      %i = llvm.add %o, %t : i32
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
      %shared = llvm.mlir.addressof @act_dynamic_shared : !llvm.ptr<3>
      %s = llvm.getelementptr %shared[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %v, %s {alignment = 4 : i64} : f32, !llvm.ptr<3>
      nvvm.barrier0
      %m = llvm.mlir.constant(31 : i32) : i32
      %r = llvm.xor %t, %m : i32
      %sr = llvm.getelementptr %shared[%r] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %u = llvm.load %sr {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %q = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %u, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
      llvm.return
    }
  }

  llvm.func @act_gpu_context_status(!llvm.ptr) -> i32
  llvm.func @main(%arguments: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
                  %context: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %bytes = arith.constant 65536 : i32
    %one = arith.constant 1.0 : f32
    %a = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
    %r = llvm.load %results : !llvm.ptr -> !llvm.ptr
    %x = llvm.addrspacecast %a : !llvm.ptr to !llvm.ptr<1>
    %y = llvm.addrspacecast %r : !llvm.ptr to !llvm.ptr<1>
    %t = llvm.addrspacecast %arena : !llvm.ptr to !llvm.ptr<1>
    gpu.launch_func @kernels::@add blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
        args(%x : !llvm.ptr<1>, %t : !llvm.ptr<1>, %one : f32)
    gpu.launch_func @kernels::@reverse blocks in (%c2, %c1, %c1) threads in (%c32, %c1, %c1)
        dynamic_shared_memory_size %bytes args(%t : !llvm.ptr<1>, %y : !llvm.ptr<1>)
    %status = llvm.call @act_gpu_context_status(%context) : (!llvm.ptr) -> i32
    llvm.return %status : i32
  }
}
