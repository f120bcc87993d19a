//===- PeakKernel.h - Arithmetic at its fastest -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_PEAKKERNEL_H
#define ACT_RUNTIME_CPU_PEAKKERNEL_H

#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::act::runtime {

/// Runs multiplications with additions of f32 vectors, in registers, for about
/// `milliseconds` and returns the most operations per second, two for each
/// lane, that one thread got done in a part of that time.
llvm::Expected<double> measurePeak(int64_t milliseconds);

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_PEAKKERNEL_H
