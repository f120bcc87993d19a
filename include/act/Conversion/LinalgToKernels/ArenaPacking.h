//===- ArenaPacking.h - Offsets of buffers -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINALGTOKERNELS_ARENAPACKING_H
#define ACT_CONVERSION_LINALGTOKERNELS_ARENAPACKING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace mlir::act {

/// A buffer that is alive from time `start` to `end`, both included.
struct ArenaBuffer {
  int64_t bytes;
  int64_t start;
  int64_t end;
};

/// Where buffers are in an arena.
struct ArenaPlan {
  llvm::SmallVector<int64_t> offsets;
  /// Bytes of the arena: the largest end of a buffer.
  int64_t bytes = 0;
  /// Most bytes alive at one time; no plan has fewer.
  int64_t bound = 0;
};

/// Places buffers so that no two that are alive at one time overlap. Offsets
/// are multiples of `alignment`. Best fit in several orders; the smallest plan
/// wins, the first one if some are equal.
ArenaPlan packArena(llvm::ArrayRef<ArenaBuffer> buffers, int64_t alignment);

} // namespace mlir::act

#endif // ACT_CONVERSION_LINALGTOKERNELS_ARENAPACKING_H
