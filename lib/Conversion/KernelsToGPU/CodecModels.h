//===- CodecModels.h - Models of GpuEncodingInterface -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_CODECMODELS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_CODECMODELS_H

#include "CodecThreads.h"
#include "act/Dialect/Act/IR/ActAttributes.h"

#include "act/Conversion/KernelsToGPU/GpuEncodingInterface.h.inc"

namespace mlir::act {

/// One function per file of models: makes the encodings of that file implement
/// GpuEncodingInterface.
void attachAxisQuantGpuModel(MLIRContext *context);
void attachFloatGpuModel(MLIRContext *context);
void attachGroupQuantGpuModel(MLIRContext *context);
void attachLosslessGpuModels(MLIRContext *context);

/// Threads of the blocks of kernels that only encode or decode.
constexpr int64_t codecThreads = 256;

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_CODECMODELS_H
