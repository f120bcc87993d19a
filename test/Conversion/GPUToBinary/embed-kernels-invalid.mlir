// RUN: act-opt %s --act-embed-kernels --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %m: !llvm.ptr, %c: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects kernels in a gpu.binary (act-gpu-to-binary)}}
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, kernels = <[#gpu.kernel_metadata<"nothing", !llvm.func<void ()>>]>, assembly = "">]
  // expected-error @below {{expects the type '!llvm.func<i32 (ptr, ptr, ptr, ptr)>' of a function that launches kernels, got '!llvm.func<void (ptr)>'}}
  llvm.func @main(%a: !llvm.ptr) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    llvm.return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, kernels = <[#gpu.kernel_metadata<"nothing", !llvm.func<void ()>>]>, assembly = "">]
  func.func @main() {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects to be in an llvm.func}}
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target, kernels = <[#gpu.kernel_metadata<"take", !llvm.func<void (i64)>>]>, assembly = "">]
  llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %m: !llvm.ptr, %c: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects a pointer, or a number of at most 64 bits, as parameter 0 of @kernels::@take, got 'index'}}
    gpu.launch_func @kernels::@take blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c1 : index)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expects PTX text with a table of kernels, as act-gpu-to-binary makes it}}
  gpu.binary @kernels [#gpu.object<#nvvm.target, bin = "">]
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[#gpu.kernel_metadata<"nothing", !llvm.func<void ()>>]>, assembly = "">]
  llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %m: !llvm.ptr, %c: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects a launch without tokens and streams}}
    %t = gpu.launch_func async @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expects a kernel 'absent' in its table}}
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[#gpu.kernel_metadata<"nothing", !llvm.func<void ()>>]>, assembly = "">]
  llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %m: !llvm.ptr, %c: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@absent blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[#gpu.kernel_metadata<"take", (i64, i64) -> ()>]>, assembly = "">]
  llvm.func @main(%a: !llvm.ptr, %r: !llvm.ptr, %m: !llvm.ptr, %c: !llvm.ptr) -> i32 {
    %c1 = arith.constant 1 : index
    %n = arith.constant 1 : i64
    // expected-error @below {{expects 2 parameters of @kernels::@take, got 1}}
    gpu.launch_func @kernels::@take blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i64)
    %status = llvm.mlir.constant(0 : i32) : i32
    llvm.return %status : i32
  }
}
