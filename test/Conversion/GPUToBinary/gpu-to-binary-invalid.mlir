// RUN: act-opt %s --act-gpu-to-binary --split-input-file --verify-diagnostics

gpu.module @kernels {
  llvm.func @cast(%x: i64) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{is left over from a conversion of 'i64' to 'index'; expects operations of the LLVM and NVVM dialects only}}
    %0 = builtin.unrealized_conversion_cast %x : i64 to index
    llvm.return
  }
}

// -----

gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  // expected-note @below {{it is called in 'exponential'}}
  llvm.func @exponential(%x: f32) attributes {gpu.kernel, nvvm.kernel} {
    // expected-error @below {{expects a function that the module defines, got '__nv_expf', a function of libdevice, which is not linked}}
    %0 = llvm.call @__nv_expf(%x) : (f32) -> f32
    llvm.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @early(%x: i64) kernel {
    // expected-error @below {{expects to be lowered to the LLVM and NVVM dialects before act-gpu-to-binary}}
    %0 = arith.addi %x, %x : i64
    gpu.return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @main(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects grid x to be a constant, since shapes are static}}
    gpu.launch_func @kernels::@nothing blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  llvm.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{expects block y from 1 to 2147483647, got 0}}
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c0, %c1)
    llvm.return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  llvm.func @main() {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-note @below {{another launch is here}}
    gpu.launch_func @kernels::@nothing blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    // expected-error @below {{expects the same grid, block and shared memory at every launch of @kernels::@nothing}}
    gpu.launch_func @kernels::@nothing blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
    llvm.return
  }
}
