//===- JointLoop.h - Two loops as one step and back -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_JOINTLOOP_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_JOINTLOOP_H

#include "act/Analysis/LoopPair.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::act {

/// A copy of the two bodies of a pair of loops in one block, where forward and
/// backward of a step meet like in a step without loops. What the pair's stacks
/// hold are plain values there. After the block has been partitioned, `split`
/// makes two loops of it again, and what crosses goes through stacks of saves.
class JointLoop {
public:
  /// Creates the `act.joint_loop` in front of the backward loop; the loops stay
  /// as they are. `isFree` tells whether backward has a value from outside of
  /// the loops for free. Rows of one that it has not are like what iterations
  /// carry: saved themselves, so that the whole need not be kept.
  JointLoop(LoopPair pair, function_ref<bool(Value)> isFree);

  JointLoopOp getOp() const { return joint; }
  /// Values of which the forward loop keeps a stack for other reasons.
  const llvm::DenseSet<Value> &getKept() const { return kept; }

  /// Replaces both loops; the new ones can be had afterwards. Fails if backward
  /// reads a forward value in any other way than by a save.
  LogicalResult split();
  Operation *getNewForward() { return newForward; }
  Operation *getNewBackward() { return newBackward; }

  /// Erases the joint loop only.
  void erase() { joint.erase(); }

private:
  void buildForward(OpBuilder &builder, function_ref<bool(Value)> isFree);
  void buildBackward(OpBuilder &builder);
  /// Lets backward read what the stacks hold; returns what becomes needless.
  llvm::SmallPtrSet<Operation *, 16> mapReads();
  /// The same for reads inside regions of operations of the backward body.
  void replaceNestedReads();
  bool isDropped(unsigned forwardNumber) const;
  bool isDroppedConsumer(unsigned backwardNumber) const;
  bool isKeptConsumer(unsigned backwardNumber) const;
  /// An argument of the joint block like `value`.
  Value addArgument(Value value);
  Value addState(OpBuilder &builder, Value argument);
  /// The place in `savedRows` for what `op` reads of a value from outside.
  std::optional<std::pair<Value, int>>
  getOuterRow(Operation &op, const LoopCarries &loop, const IRMapping &mapping);

  /// Operations of the joint block before and behind the turning point.
  SmallVector<Operation *> getPart(bool isForward);
  LogicalResult collectCrossing();
  void splitForward(OpBuilder &builder);
  void splitBackward(OpBuilder &builder);
  /// Values that operations of `part`, or nested in them, read.
  static llvm::DenseSet<Value> getOperands(ArrayRef<Operation *> part);
  void replaceOperands(ArrayRef<Operation *> part, const IRMapping &mapping);
  /// Reads a row of a stack that is kept in the new backward body.
  Value readKept(OpBuilder &builder, const PairedStack &stack);
  void eraseLoops();

  LoopPair pair;
  JointLoopOp joint;
  /// Rows of values from outside, by value and direction, 1 for reversed.
  llvm::DenseMap<std::pair<Value, int>, Value> savedRows;
  IRMapping forwardMap, backwardMap;
  llvm::DenseSet<Value> kept;
  llvm::DenseMap<Value, const PairedStack *> keptRows;
  /// Arguments of the joint block by carried value, and the counters.
  SmallVector<Value> forwardArguments, backwardArguments;
  Value forwardCounter, backwardCounter;
  /// Carried values of the new loops: numbers in the old ones.
  SmallVector<int64_t> forwardOrigins, backwardOrigins;
  SmallVector<Value> payload; ///< what crosses, in stacks
  SmallVector<Value> constants;
  LoopModelInterface newForward, newBackward;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_JOINTLOOP_H
