//===- Passes.h - Kernels for GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOGPU_PASSES_H
#define ACT_CONVERSION_KERNELSTOGPU_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::act {

/// How products of f32 are computed.
enum class GpuMath {
  /// In f32.
  Ieee,
  /// On tensor cores, which round the factors to 10 bits of mantissa.
  Tf32
};

#define GEN_PASS_DECL
#include "act/Conversion/KernelsToGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "act/Conversion/KernelsToGPU/Passes.h.inc"

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELSTOGPU_PASSES_H
