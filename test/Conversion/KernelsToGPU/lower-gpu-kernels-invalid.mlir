// RUN: act-opt %s --pass-pipeline="builtin.module(gpu.module(act-lower-gpu-kernels))" --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @angle(%x: f32, %p: !llvm.ptr<1>) kernel {
    // expected-error@+1 {{'math.atan2' op expects a function that GPU kernels can compute, got operands of type 'f32'}}
    %0 = math.atan2 %x, %x : f32
    llvm.store %0, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// Polynomials are those of f32.
gpu.module @kernels {
  gpu.func @wide(%x: f64, %p: !llvm.ptr<1>) kernel {
    // expected-error@+1 {{'math.exp' op expects a function that GPU kernels can compute, got operands of type 'f64'}}
    %0 = math.exp %x : f64
    llvm.store %0, %p {alignment = 8 : i64} : f64, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @wide(%x: f64, %p: !llvm.ptr<1>) kernel {
    // expected-error@+1 {{'math.powf' op expects a function that GPU kernels can compute, got operands of type 'f64'}}
    %0 = math.powf %x, %x : f64
    llvm.store %0, %p {alignment = 8 : i64} : f64, !llvm.ptr<1>
    gpu.return
  }
}
