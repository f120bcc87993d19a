//===- DeviceBuffers.h - What is known of buffers on devices -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_DEVICEBUFFERS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_DEVICEBUFFERS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::act {

/// Bytes to which arguments, results and the arena of a step are aligned.
constexpr int64_t deviceAlignment = 16;

/// The memory that a buffer is a part of: `root`, or the bytes [begin, end) of
/// it where that is known.
struct DeviceMemory {
  Value root;
  std::optional<std::pair<int64_t, int64_t>> bytes;

  bool overlaps(const DeviceMemory &other) const;
};

/// Follows `buffer` through views, in a step with planned memory.
DeviceMemory getDeviceMemory(Value buffer);

/// Bytes to which the first element of `buffer` is aligned.
int64_t getDeviceAlignment(Value buffer);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_DEVICEBUFFERS_H
