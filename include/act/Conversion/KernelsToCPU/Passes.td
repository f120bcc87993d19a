//===- Passes.td - Kernels for the CPU -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOCPU_PASSES_TD
#define ACT_CONVERSION_KERNELSTOCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertActKernelsToCPUPass
    : Pass<"convert-act-kernels-to-cpu", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to functions with vectors, and the step to calls.";
  let description = [{
    Turns every `act.kernel` of a step with planned memory into a function of
    `(ptr buffers, i64 begin, i64 end)` that computes a range of units, with
    explicit vectors, and a launch of it. Kernels of equal bodies share a function.
    Sums of products become calls of `act_cpu_gemm`. The step itself becomes
    `i32 (ptr arguments, ptr results, ptr arena, ptr context)`; see
    act-c/StepRuntime.h.

    Sums are added up in an order that extents and `vector-bits` determine, never
    the number of threads.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "256",
           "Bits of a vector register: a power of two, at least 128">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "16",
           "Number of vector registers, at least 8">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ActExpandMathPass : Pass<"act-expand-math"> {
  let summary = "Expand functions of f32 to polynomials.";
  let description = [{
    Replaces exponentials, logarithms, hyperbolic tangents and error functions of
    f32, scalars and vectors alike, by polynomials or quotients of them, reciprocal
    square roots by a quotient and a root, and conversions of bf16 by integer
    operations. docs/Native.md states the errors. Other functions are left to the
    C library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def ActReserveScratchPass : Pass<"act-reserve-scratch"> {
  let summary = "Give convolutions the memory that the runtime works in.";
  let description = [{
    Adds to the operands of every kernel with a convolution a buffer of as many
    bytes as the runtime wants for it on `threads` threads. It runs before
    `act-plan-memory`, so that the arena holds everything.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "0",
           "Number of threads; 0 for one per processor of this machine">
  ];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
}

#endif // ACT_CONVERSION_KERNELSTOCPU_PASSES_TD
