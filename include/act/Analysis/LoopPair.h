//===- LoopPair.h - A forward loop and the backward loop that undoes it -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_LOOPPAIR_H
#define ACT_ANALYSIS_LOOPPAIR_H

#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/OpModel/OpModel.h"
#include <string>

namespace mlir::act {

class AutodiffGraph;

/// How a loop carries a value.
enum class CarryKind {
  Counter,   ///< the number of the iteration
  Invariant, ///< passed on as it is
  Stack,     ///< of which every iteration writes one row
  State      ///< anything else
};

/// A write of one row of a carried stack in each iteration.
struct StackWrite {
  Operation *op;
  LinearForm index; ///< of the counter: the counter itself or its reverse
  Value row;        ///< what is written, without the first axis
};

/// The carried values of a loop that counts.
class LoopCarries {
public:
  /// Fails if `loop` does not count.
  static std::optional<LoopCarries> get(Operation *op);

  LoopModelInterface getLoop() const { return loop; }
  Block &getBody() const { return *body; }
  Value getCounter() const { return counter; }
  int64_t getTripCount() const { return tripCount; }
  unsigned size() const { return arguments.size(); }
  CarryKind getKind(unsigned number) const { return kinds[number]; }
  Value getInitialValue(unsigned number) const { return initial[number]; }
  Value getArgument(unsigned number) const { return arguments[number]; }
  Value getNextValue(unsigned number) const { return next[number]; }
  Value getResult(unsigned number) const { return loop->getResult(number); }
  /// The write of a carried value of kind Stack.
  const StackWrite &getWrite(unsigned number) const {
    return writes.find(number)->second;
  }
  /// The form of the counter that counts down.
  LinearForm getReversed() const { return {-1, tripCount - 1}; }

private:
  void classify(unsigned number);

  LoopModelInterface loop;
  Block *body = nullptr;
  Value counter;
  int64_t tripCount = 0;
  SmallVector<Value> initial, arguments, next;
  SmallVector<CarryKind> kinds;
  llvm::DenseMap<unsigned, StackWrite> writes;
};

/// A read of a row in the backward loop.
struct StackRead {
  Operation *op;
  SmallVector<Value> rows; ///< the row, without the first axis
};

/// A stack that the forward loop writes and the backward loop reads, in the
/// iteration that undoes the one that wrote.
struct PairedStack {
  unsigned number;                 ///< in the forward loop
  SmallVector<unsigned> consumers; ///< invariant values of the backward loop
  SmallVector<StackRead> reads;
  bool isShared; ///< something else needs the stack as well
  bool isKept;   ///< even in backward, or as a result of the step
};

/// A forward loop and a backward loop that reads its stacks in opposite order:
/// what reverse-mode differentiation makes of a `scan`.
struct LoopPair {
  LoopCarries forward;
  LoopCarries backward;
  SmallVector<PairedStack> stacks;
};

/// Finds the first pair of the step whose backward loop is not in `done`. The
/// forward loop is of forward and the backward loop of backward: a second pass
/// over a sequence in forward is no pair. Where a loop of backward reads a
/// stack of a forward loop but makes no pair with it, `reasons` gets a
/// sentence.
std::optional<LoopPair> findLoopPair(const AutodiffGraph &graph,
                                     const llvm::DenseSet<Operation *> &done,
                                     SmallVectorImpl<std::string> &reasons);

} // namespace mlir::act

#endif // ACT_ANALYSIS_LOOPPAIR_H
