//===- GroupThreads.h - Threads that go through groups -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPTHREADS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPTHREADS_H

#include "CodecThreads.h"
#include "act/Dialect/Act/IR/ActAttributes.h"

namespace mlir::act {

/// A tensor as rows that groups of elements divide: GroupLayout for threads.
class GroupThreads {
public:
  explicit GroupThreads(const GroupLayout &layout);

  int64_t getGroup() const { return group; }
  int64_t getInner() const { return inner; }
  /// All groups are of one size.
  bool isEven() const { return extent % group == 0; }
  /// Threads for one group of which each takes `perLane` elements at least.
  int64_t getLanes(int64_t perLane) const;
  /// With pieces that are units.
  GpuCodecSplit getSplit(int64_t lanes) const;

  /// Every element of the group that one thread of `lanes` threads works on.
  struct Group {
    /// Among all groups, counted per column where groups have several.
    Value param;
    /// Of the tensor.
    Value firstElement;
    /// Number of the group times `inner`, and the column.
    Value firstRow, column;
    /// Elements of the group, i32, or null if `getGroup`.
    Value size;
    Value lane, isOwn;
  };
  /// Calls `body` for the groups of units.
  void forGroups(CodecThreads &t, const GpuCodecPieces &pieces, int64_t lanes,
                 function_ref<void(const Group &)> body) const;
  /// Element `i`, i32, of a group.
  Value getElement(CodecThreads &t, const Group &group, Value i) const;
  /// Place `i`, i32, of those of a group in a buffer with `perGroup` of them.
  Value getPlace(CodecThreads &t, const Group &group, int64_t perGroup,
                 Value i) const;
  Value getSize(CodecThreads &t, const Group &group) const;

private:
  int64_t numRows, extent, inner, group, numGroups;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPTHREADS_H
