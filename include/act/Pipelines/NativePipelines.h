//===- NativePipelines.h - From steps to machine code -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PIPELINES_NATIVEPIPELINES_H
#define ACT_PIPELINES_NATIVEPIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::act {

/// Options of the pipeline `act-to-cpu`.
struct ActToCPUOptions : PassPipelineOptions<ActToCPUOptions> {
  Option<int64_t> vectorBits{
      *this, "vector-bits",
      llvm::cl::desc("Bits of a vector register: a power of two, at least 128"),
      llvm::cl::init(256)};
  Option<int64_t> vectorRegisters{
      *this, "vector-registers",
      llvm::cl::desc("Number of vector registers, at least 8"),
      llvm::cl::init(16)};
  Option<int64_t> threads{
      *this, "threads",
      llvm::cl::desc("Threads that convolutions get memory for; 0 for one per "
                     "processor of this machine"),
      llvm::cl::init(0)};
};

/// From a StableHLO step, in which saves and loads may be `act.encode` and
/// `act.decode`, to kernels on buffers. All targets share it; they add buffers
/// of their own, then plan the memory (act-plan-memory).
void buildActToKernelsPipeline(OpPassManager &manager);

/// From a StableHLO step to a module in the LLVM dialect with the interface of
/// act-c/StepRuntime.h.
void buildActToCPUPipeline(OpPassManager &manager,
                           const ActToCPUOptions &options);

/// Registers `act-to-kernels` and `act-to-cpu`.
void registerActNativePipelines();

} // namespace mlir::act

#endif // ACT_PIPELINES_NATIVEPIPELINES_H
