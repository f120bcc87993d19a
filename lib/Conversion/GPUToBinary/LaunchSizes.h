//===- LaunchSizes.h - How kernels are launched -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_CONVERSION_GPUTOBINARY_LAUNCHSIZES_H
#define LIB_ACT_CONVERSION_GPUTOBINARY_LAUNCHSIZES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/ADT/MapVector.h"
#include <array>

namespace mlir::act {

/// The only sizes that a kernel is launched with.
struct LaunchSizes {
  std::array<int32_t, 3> grid = {1, 1, 1};
  std::array<int32_t, 3> block = {1, 1, 1};
  int32_t dynamicSharedBytes = 0;

  bool operator==(const LaunchSizes &other) const {
    return grid == other.grid && block == other.block &&
           dynamicSharedBytes == other.dynamicSharedBytes;
  }
};

/// The sizes by the symbols of kernels, such as @kernels::@fill. Diagnostics
/// say what is not constant, or differs between launches of a kernel.
FailureOr<llvm::MapVector<SymbolRefAttr, LaunchSizes>>
collectLaunchSizes(ModuleOp module);

} // namespace mlir::act

#endif // LIB_ACT_CONVERSION_GPUTOBINARY_LAUNCHSIZES_H
