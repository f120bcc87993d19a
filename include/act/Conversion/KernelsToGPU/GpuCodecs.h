//===- GpuCodecs.h - Encodings on GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOGPU_GPUCODECS_H
#define ACT_CONVERSION_KERNELSTOGPU_GPUCODECS_H

#include "mlir/IR/DialectRegistry.h"

namespace mlir::act {

/// Makes the encodings of the act dialect implement GpuEncodingInterface, which
/// kernels that encode and decode on GPUs need.
void registerGpuEncodingModels(DialectRegistry &registry);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELSTOGPU_GPUCODECS_H
