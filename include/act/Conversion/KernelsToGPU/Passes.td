//===- Passes.td - Kernels for GPUs -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOGPU_PASSES_TD
#define ACT_CONVERSION_KERNELSTOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertActKernelsToGPUPass
    : Pass<"convert-act-kernels-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to GPU functions, and the step to launches.";
  let description = [{
    Turns every `act.kernel` of a step with planned memory into a `gpu.func` over
    pointers in `gpu.module @kernels` and a `gpu.launch_func` of it. Kernels of
    equal bodies share a function. The step itself becomes
    `i32 (ptr arguments, ptr results, ptr arena, ptr context)`, where the first two
    are arrays in the memory of the host of addresses in the memory of the device,
    and the arena is such an address: it launches kernels, and waits only where
    control flow depends on numbers that the device computes; see
    act-c/GpuRuntime.h.

    Products of bf16 and f16 run on tensor cores and are summed in f32. Those of
    f32 are computed in f32, unless `math` is `tf32`, which rounds their factors to
    10 bits of mantissa. Sums are added up in an order that extents alone determine.
    A loop over updates, such as a scatter is, becomes one kernel in which a warp has
    each place and does the updates in their order; nothing is atomic.
  }];
  let options = [
    Option<"math", "math", "::mlir::act::GpuMath", "::mlir::act::GpuMath::Ieee",
           "How products of f32 are computed", [{::llvm::cl::values(
             clEnumValN(::mlir::act::GpuMath::Ieee, "ieee", "in f32"),
             clEnumValN(::mlir::act::GpuMath::Tf32, "tf32",
                        "on tensor cores, factors rounded to tf32"))}]>
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ActLowerGPUKernelsPass
    : Pass<"act-lower-gpu-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower the functions of a GPU module to the NVVM dialect.";
  let description = [{
    Leaves LLVM and NVVM operations only. Functions of f32 become polynomials as
    `act-expand-math` makes them or instructions of the device: nothing of
    libdevice is called, so that PTX can be made without a CUDA toolkit. A function
    that has neither form is an error.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::vector::VectorDialect"];
}

def ActSplitProductsPass : Pass<"act-split-products"> {
  let summary = "Cut long sums of products with few results into slices.";
  let description = [{
    A product of matrices with few elements, but long sums, such as the gradient of
    weights, would keep few multiprocessors busy. Its sums are cut into up to 16
    slices of at least 128 terms, each of which is added up on its own into a
    buffer of f32 (of f64 for f64), and a second kernel adds these partial sums in
    their order. How many slices there are, depends on shapes alone.

    It runs on kernels before `act-plan-memory`, which places the partial sums.
  }];
  let dependentDialects = ["::mlir::act::ActDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ACT_CONVERSION_KERNELSTOGPU_PASSES_TD
