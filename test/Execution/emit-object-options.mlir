// RUN: not act-opt %s --act-emit-object 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not act-opt %s --act-emit-object="output=%t.o cpu=abacus" 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not act-opt %s --act-emit-object="output=%t.o name=a-b" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not act-opt %s --act-emit-object="output=%t/folder/step.o" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not act-opt %s --act-emit-object="output=%t.a header=%t/folder/step.h" 2>&1 | FileCheck %s --check-prefix=FOLDER

// OUTPUT: error: expects a file to write: act-emit-object{output=FILE}
// CPU: error: expects the name of a processor, such as x86-64-v3 or znver4, got 'abacus'
// NAME: error: expects an identifier of C to name the compiled function, got 'a-b'
// FOLDER: error: {{.*}}step.

// The module stays as it is, the name comes from the file, and kernels keep out
// of the way of other steps. Vectors are as wide as the processor has them.
// RUN: act-opt %s --act-emit-object="output=%t.step-1.o cpu=skylake-avx512" | FileCheck %s
// RUN: llvm-nm --defined-only %t.step-1.o | FileCheck %s --check-prefix=SYMBOLS
// RUN: llvm-objdump -d %t.step-1.o | FileCheck %s --check-prefix=CODE
// CHECK: llvm.func @main
// CHECK: llvm.func internal @kernel
// SYMBOLS-DAG: T {{emit_object_options_mlir_tmp_step_1}}
// SYMBOLS-DAG: {{emit_object_options_mlir_tmp_step_1.kernel}}
// SYMBOLS-DAG: {{emit_object_options_mlir_tmp_step_1_info}}
// CODE: vaddps {{.*}}%zmm

module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 1 : i64, arguments = [], results = [{type = tensor<16xf32>}]}} {
  llvm.func @act_cpu_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
  llvm.func @main(%0: !llvm.ptr, %results: !llvm.ptr, %2: !llvm.ptr, %context: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i64) : i64
    %name = llvm.mlir.zero : !llvm.ptr
    %kernel = llvm.mlir.addressof @kernel : !llvm.ptr
    llvm.call @act_cpu_launch(%context, %name, %kernel, %results, %one, %one)
        : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
    llvm.return %zero : i32
  }
  llvm.func internal @kernel(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
    %0 = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %1 = llvm.load %0 {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %2 = llvm.fadd %1, %1 : vector<16xf32>
    llvm.store %2, %0 {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
    llvm.return
  }
}
