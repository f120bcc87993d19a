// RUN: not act-opt %s --act-gpu-to-binary="chip=sm_81" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not act-opt %s --act-gpu-to-binary="chip=sm_70" 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: not act-opt %s --act-gpu-to-binary="format=cubin toolkit=%t.nothing" 2>&1 | FileCheck %s --check-prefix=TOOLKIT

// UNKNOWN: error: {{.*}}expects a chip that act has kernels for, got 'sm_81'; known are sm_80, sm_86,
// OLD: error: {{.*}}expects a chip that act has kernels for, got 'sm_70'; known are sm_80,
// TOOLKIT: error: {{.*}}expects a CUDA toolkit with bin/ptxas in '{{.*}}.nothing'

gpu.module @kernels {
  llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
