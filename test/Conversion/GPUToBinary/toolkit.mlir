// REQUIRES: ptxas
// RUN: split-file %s %t
// RUN: act-opt %t/fill.mlir --act-gpu-to-binary="format=cubin chips=sm_80,sm_90,sm_120" | FileCheck %s
// RUN: act-opt %t/fill.mlir --act-gpu-to-binary="format=fatbin chips=sm_80,sm_90" | FileCheck %s --check-prefix=FATBIN
// RUN: not act-opt %t/fill.mlir --act-gpu-to-binary="format=cubin chip=sm_90 chips=sm_80" 2>&1 | FileCheck %s --check-prefix=OLDER
// RUN: not act-opt %t/wrong.mlir --act-gpu-to-binary="format=cubin chips=sm_80" 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<{{[^>]*}}chip = "sm_80"
// CHECK-SAME: resources = {sm_120 = {registers = {{[1-9][0-9]*}} : i64, spill_bytes = 0 : i64, stack_bytes = 0 : i64}, sm_80 = {registers = {{[1-9]}}
// CHECK-SAME: assembly = "
// CHECK-SAME: #gpu.object<#nvvm.target<{{[^>]*}}chip = "sm_80"{{[^>]*}}>, bin = "\7FELF
// CHECK-SAME: #gpu.object<#nvvm.target<{{[^>]*}}chip = "sm_90"{{[^>]*}}>, bin = "\7FELF
// CHECK-SAME: #gpu.object<#nvvm.target<{{[^>]*}}chip = "sm_120"{{[^>]*}}>, bin = "\7FELF

// FATBIN: assembly = "
// FATBIN-SAME: #gpu.object<#nvvm.target<{{[^>]*}}>, "P\EDU\BA

// OLDER: error: {{.*}}expects chips that are not older than the text for sm_90, got sm_80
// WRONG: error: {{.*}}cannot be assembled: for sm_80, in kernel 'wrong': ptxas fails:
// WRONG: Not a name of any known instruction: 'no_such_instruction'

//--- fill.mlir
gpu.module @kernels {
  llvm.func @fill(%x: !llvm.ptr<1>, %c: f32) attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %p = llvm.getelementptr %x[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
    llvm.store %c, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.return
  }
}

//--- wrong.mlir
gpu.module @kernels {
  llvm.func @right() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @wrong() attributes {gpu.kernel, nvvm.kernel} {
    llvm.inline_asm has_side_effects "no_such_instruction;", "" : () -> ()
    llvm.return
  }
}
