//===- CodecModels.h - Models of VectorEncodingInterface -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_CODECMODELS_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_CODECMODELS_H

#include "act/Conversion/KernelUtils/CodecVectors.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "act/Dialect/Act/IR/ActAttributes.h"

#include "act/Conversion/KernelsToCPU/VectorEncodingInterface.h.inc"

namespace mlir::act {

/// One function per file of models: makes the encodings of that file implement
/// VectorEncodingInterface.
void attachAxisQuantCodecModel(MLIRContext *context);
void attachFloatCodecModel(MLIRContext *context);
void attachGroupQuantCodecModel(MLIRContext *context);
void attachLosslessCodecModels(MLIRContext *context);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_CODECMODELS_H
