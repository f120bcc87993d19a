//===- RowProgram.h - Operations that share rows -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_ROWPROGRAM_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_ROWPROGRAM_H

#include "KernelEmitters.h"

namespace mlir::act {

/// A kernel with rows: a warp or a block computes a row, one operation after
/// the other. What is private to a row and one element is in registers, the
/// same in all threads; other private buffers are in shared memory.
FailureOr<GpuKernel> emitRowProgram(const KernelRequest &request);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_ROWPROGRAM_H
