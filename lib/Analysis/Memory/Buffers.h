//===- Buffers.h - Which values share memory, and where -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_ANALYSIS_MEMORY_BUFFERS_H
#define ACT_LIB_ANALYSIS_MEMORY_BUFFERS_H

#include "StepGraph.h"
#include <optional>

namespace mlir::act::memory {

/// Points in time, both inclusive.
struct Interval {
  unsigned begin, end;

  bool overlaps(Interval other) const {
    return begin <= other.end && other.begin <= end;
  }
};

/// Memory that holds one value after the other.
struct Buffer {
  int64_t bytes = 0;
  /// When it holds something, in order.
  SmallVector<Interval, 2> intervals;
  enum Kind { Temporary, Argument, Result } kind = Temporary;
  Value origin;
  CompressedSaveOp save;
  /// Of the step itself, not of what a loop runs.
  bool isOuter = true;
  /// A result that is written over a donated argument, which has no room
  /// before.
  bool isDonated = false;
  /// Lies in the memory of a result that is computed later.
  bool isInResult = false;
  /// Where the target's list of all kernels has the first value in it.
  unsigned rank = 0;
  /// The value that it holds last; not written over after that.
  unsigned lastUse = 0;

  bool overlaps(const Buffer &other) const {
    for (Interval mine : intervals)
      for (Interval theirs : other.intervals)
        if (mine.overlaps(theirs))
          return true;
    return false;
  }
};

/// The buffers of a step and the times at which its outermost kernels end.
struct BufferPlan {
  std::vector<Buffer> buffers;
  /// The last point in time of each outermost kernel, ascending.
  SmallVector<unsigned> ends;
  SmallVector<Node *> kernels;
  /// The buffer of each result, if it has one.
  SmallVector<std::optional<unsigned>> results;
  unsigned numTimes = 0;
};

/// Gives each value that is not fused away a buffer. With `sharesBuffers`
/// kernels write over operands that nothing reads later where that is safe.
BufferPlan planBuffers(Computation &step, bool schedules, bool sharesBuffers);

/// Puts temporaries into results that are as large and have not been computed
/// yet, largest first.
void placeInResults(MutableArrayRef<Buffer> buffers);

/// Bytes of the heap in which all other temporaries have a place: the smaller
/// of two orders in which they are given the smallest gap.
int64_t packBuffers(ArrayRef<Buffer> buffers, int64_t alignment);

} // namespace mlir::act::memory

#endif // ACT_LIB_ANALYSIS_MEMORY_BUFFERS_H
