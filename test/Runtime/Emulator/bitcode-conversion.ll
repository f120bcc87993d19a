; RUN: llvm-as %s -o %t.bc
; RUN: act-gpu-emulate %t.bc --kernel convert --arg f32=41.5 --arg zero:1xi32 \
; RUN:   | FileCheck %s --check-prefix=RIGHT
; RUN: not act-gpu-emulate %t.bc --kernel convert --arg f32=3e9 \
; RUN:   --arg zero:1xi32 2>&1 | FileCheck %s

; A GPU saturates; in LLVM IR, what does not fit is poison.

; RIGHT: argument 1 (1xi32): 41
; CHECK: kernel convert, block (0,0,0), thread (0,0,0): converting 3000000000
; CHECK-SAME: to i32 is out of range, which is poison in LLVM IR

target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @convert(float %number, ptr addrspace(1) %result) {
  %integer = fptosi float %number to i32
  store i32 %integer, ptr addrspace(1) %result
  ret void
}
