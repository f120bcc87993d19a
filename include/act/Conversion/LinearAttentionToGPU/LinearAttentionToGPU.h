//===- LinearAttentionToGPU.h - Linear attention on GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINEARATTENTIONTOGPU_LINEARATTENTIONTOGPU_H
#define ACT_CONVERSION_LINEARATTENTIONTOGPU_LINEARATTENTIONTOGPU_H

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"
#include "act/Dialect/Act/IR/ActOps.h"

namespace mlir::act {

/// What a kernel's parameter points to: an operand of the operation, at its
/// element 0, or its scratch memory from some byte on.
struct AttentionArgument {
  std::optional<unsigned> operand;
  int64_t scratchOffset = 0;
};

struct AttentionLaunch {
  GpuKernel kernel;
  SmallVector<AttentionArgument> arguments;
};

/// Launches that compute an operation, one after the other.
struct AttentionPlan {
  SmallVector<AttentionLaunch> launches;
  /// Scratch memory to be aligned to 256 bytes, of any contents.
  int64_t scratchBytes = 0;
};

/// Adds kernels of operations on buffers to `module`.
class LinearAttentionPlanner {
public:
  /// `segments` is as in ConvertLinearAttentionToGPUPass.
  LinearAttentionPlanner(gpu::GPUModuleOp module, int64_t segments)
      : module(module), segments(segments) {}

  /// How to launch what computes `op`; operations that differ in nothing but
  /// operands share kernels. An error names what is not supported. The plan
  /// stays until the next call.
  FailureOr<const AttentionPlan *> plan(LinearAttentionOpInterface op);

private:
  gpu::GPUModuleOp module;
  int64_t segments;
  std::vector<std::pair<LinearAttentionOpInterface, AttentionPlan>> plans;
};

/// Launches the kernels of all operations on linear attention in `module`.
LogicalResult convertLinearAttentionToGPU(ModuleOp module, int64_t segments);

} // namespace mlir::act

#endif // ACT_CONVERSION_LINEARATTENTIONTOGPU_LINEARATTENTIONTOGPU_H
