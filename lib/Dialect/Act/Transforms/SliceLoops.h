//===- SliceLoops.h - Loops over the parts of a region -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICELOOPS_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICELOOPS_H

#include "SliceRegion.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/SliceOptions.h"

namespace mlir::act {

/// How the loops for a region are made.
struct SlicePlan {
  /// Iterations of the region's axis in each part; the last may be shorter.
  int64_t partLength;
  /// Where the states of linear attention come from against the sequence.
  SliceStates states;
  /// Operations whose results outsiders read from the original operation, and
  /// that loops compute for themselves.
  llvm::DenseSet<Operation *> sources;
  /// True for a value that a later loop reads rather than computes again.
  std::function<bool(Value)> isStored;
};

/// Replaces the operations of `region` by loops over its parts: one for each
/// level, and one before it that computes the states that linear attention
/// begins each part with where it is walked against the sequence. A shorter
/// part at the end has loops of its own. Returns the loops.
SmallVector<Operation *> buildSliceLoops(const SliceRegion &region,
                                         const SlicePlan &plan);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICELOOPS_H
