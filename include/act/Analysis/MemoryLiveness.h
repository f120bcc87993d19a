//===- MemoryLiveness.h - What a step keeps in memory, and when -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A static model of the memory that a step needs on a target: which values the
// target's compiler keeps in buffers, from when to when, and how many bytes the
// heap has that they share.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_MEMORYLIVENESS_H
#define ACT_ANALYSIS_MEMORYLIVENESS_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include <cstdint>
#include <vector>

namespace mlir::act {

/// What the compiler of a target does that decides which values it keeps in
/// buffers, and where it puts them.
struct MemoryModel {
  /// Computes elementwise operations and the like as part of what reads them.
  bool fuses = true;
  /// Orders operations for little memory; else they keep their order.
  bool schedules = true;
  /// Operations may write their result over an operand that dies there.
  bool sharesBuffers = true;
  /// Bytes that the start of a buffer is a multiple of.
  int64_t alignment = 64;

  /// XLA for the CPU.
  static MemoryModel xlaCpu() { return MemoryModel(); }
  /// Every operation as it stands has a buffer per result: an upper bound.
  static MemoryModel unfused() { return {false, false, false, 64}; }
};

/// A buffer that holds one value, or several in turn, of the outermost block.
struct LiveBuffer {
  /// The value, or the one in whose computation the buffer is needed: what
  /// encodes belongs to the save, what decodes to the load.
  Value value;
  int64_t bytes;
  /// Positions of the schedule, both inclusive.
  unsigned begin, end;
  enum Kind { Temporary, Argument, Result, Save } kind;
  /// Of the kind `Save`: whose codes, or whose parameters, these are. There is
  /// a buffer for each tensor of the encoding, which holds all copies if the
  /// save is collected in a stack.
  CompressedSaveOp save;
  /// Lies in the memory of a result of the step that is computed later, and
  /// costs nothing as long as it is no larger than that.
  bool isInResult;
};

/// Which buffers of a step live when. Positions are operations of the outermost
/// block in the order in which the target runs them; a loop is one position,
/// whose load is the greatest inside of the loop.
class MemoryLiveness {
public:
  /// Analyses a step of StableHLO and act operations, before they are lowered.
  /// Emits an error and fails on shapes that are not static and on functions of
  /// more than one block.
  static FailureOr<MemoryLiveness>
  build(FunctionOpInterface function,
        const MemoryModel &model = MemoryModel::xlaCpu());

  /// Buffers in the order in which they begin.
  ArrayRef<LiveBuffer> getBuffers() const { return buffers; }
  unsigned getNumPositions() const { return transients.size(); }

  /// Bytes of live temporaries at each position: all buffers but arguments,
  /// results and what lies in results, and what loops need inside.
  SmallVector<int64_t> getTimeline() const;
  /// Bytes that loops need inside, per position; counted in no buffer. Negative
  /// where what a loop carries is free while it needs the most.
  ArrayRef<int64_t> getTransients() const { return transients; }
  /// The greatest of the timeline.
  int64_t getPeak() const;
  /// The first position with the greatest of the timeline.
  unsigned getPeakPosition() const;
  /// Bytes of the heap once all temporaries have an address in it: what XLA
  /// calls `temp_size_in_bytes`.
  int64_t getPackedBytes() const { return packedBytes; }
  /// What the saves that are alive together in this schedule take, or the
  /// largest buffer if that is more; without what lies in results.
  int64_t getLowerBound() const { return lowerBound; }
  /// Positions whose sets of live buffers are not part of another position's,
  /// in order: where these stay below a budget, all do. Loops with transients
  /// are kept whatever is alive.
  SmallVector<unsigned> getDominantPositions() const;

private:
  std::vector<LiveBuffer> buffers;
  SmallVector<int64_t> transients;
  int64_t packedBytes = 0;
  int64_t lowerBound = 0;

  friend class LivenessBuilder;
};

/// Registers what the analysis asks about encodings and loads StableHLO. Passes
/// that use it call this in `getDependentDialects`.
void registerMemoryLivenessModels(DialectRegistry &registry);

} // namespace mlir::act

#endif // ACT_ANALYSIS_MEMORYLIVENESS_H
