//===- CodecRows.h - The groups that a codec goes through -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_CODECROWS_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_CODECROWS_H

#include "act/Conversion/KernelUtils/CodecVectors.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"

namespace mlir::act {

/// A tensor as rows that groups of elements divide, the last of each row
/// shorter than others if they do not divide it. An element here may stand for
/// `inner` of them, next to each other in memory.
class GroupRows {
public:
  explicit GroupRows(const GroupLayout &layout);

  int64_t getGroup() const { return group; }
  int64_t getInner() const { return inner; }
  int64_t getNumElements() const { return numRows * extent * inner; }
  /// All groups are of one size.
  bool isEven() const { return extent % group == 0; }

  struct Group {
    /// Among all groups of the tensor, index.
    Value number;
    /// Of the tensor, index.
    Value firstElement;
    /// Elements of the group.
    int64_t size;
  };
  /// Calls `body` in loops over all groups of the units `[begin, end)`.
  void forGroups(CodecVectors &v, Value begin, Value end,
                 function_ref<void(const Group &)> body) const;

  /// `count` groups, index, one after the other, of one size.
  struct GroupRange {
    Group first;
    Value count;
  };
  /// Calls `body` for ranges that together are all groups of the units.
  void forRanges(CodecVectors &v, Value begin, Value end,
                 function_ref<void(const GroupRange &)> body) const;

private:
  int64_t numRows, extent, inner, group, numGroups;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_CODECROWS_H
