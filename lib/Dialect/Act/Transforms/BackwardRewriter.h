//===- BackwardRewriter.h - Let backward read forward through saves -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_BACKWARDREWRITER_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_BACKWARDREWRITER_H

#include "act/Analysis/StructuralKeys.h"
#include "act/Dialect/Act/Transforms/SurvivorSelection.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::act {

/// Finds the cotangent that a load at some place of backward has to wait for
/// (rule R3). Knows the values of backward by their current names: once a value
/// has passed a barrier, its later uses take the barrier's result.
class CotangentFinder {
public:
  explicit CotangentFinder(const AutodiffGraph &graph) : graph(graph) {}

  /// Notes that `value` of backward exists from now on. Only values that depend
  /// on forward or on another tie are late enough to wait for.
  void add(Value value);

  /// The best cotangent for a load in front of `op` at `position`; null if
  /// backward has computed nothing yet.
  Value find(Operation *op, unsigned position);

  bool isLate(Value value) const { return late.contains(value); }

  /// True if `use` is one by an operation at `position` or later that may read
  /// what a barrier returns instead.
  bool isUseFrom(OpOperand &use, unsigned position) const;

  /// True if `value` has such a use.
  bool isUsedFrom(Value value, unsigned position) const;

private:
  /// The newest value of `stack` that is still used; drops those that are not.
  Value findNewest(SmallVectorImpl<Value> &stack, unsigned position) const;

  const AutodiffGraph &graph;
  llvm::DenseSet<Value> late;
  SmallVector<Value>
      wellSized;              ///< large enough to matter, small enough to keep
  SmallVector<Value> tensors; ///< more than one element
  SmallVector<Value> all;
};

/// Saves the survivors and rewrites backward so that it reads forward only
/// through loads, and through clones of forward operations made from loads,
/// arguments and constants. Loads and clones are tied to a cotangent by a
/// barrier.
class BackwardRewriter {
public:
  BackwardRewriter(const AutodiffGraph &graph,
                   const SurvivorSelection &selection,
                   const StructuralKeys &keys, const PartitionOptions &options);

  /// Gives the saves ids from `nextId` on.
  void rewrite(ArrayRef<Value> survivors, unsigned &nextId);

  unsigned getNumClones() const { return numClones; }

  /// Makes the large splats that the forward `loop` starts from again, once the
  /// last other value that it starts from exists: the stacks of a later loop
  /// are not to be filled before an earlier one runs.
  static void delaySplats(Operation *loop);

private:
  /// A value of backward and when it was made, counted in contractions.
  struct Copy {
    Value value;
    unsigned contraction;
  };

  void save(Value survivor, unsigned id);
  void makeForwardWait(Value survivor, Value saved);
  void rewriteOperation(Operation *op, unsigned position);
  /// Makes large splats again for an operation that needs them in full; true if
  /// one of them now waits for a cotangent (rule R4).
  bool recreateSplats(Operation *op, unsigned position);
  /// Until backward has computed something, what it reads of the head is the
  /// latest there is.
  void addHead();

  /// What stands for forward's `value` at this point of backward: itself if it
  /// needs no copy, a copy that is still shared, or null.
  Value lookUp(Value value) const;
  /// Forward values for which a load or a clone is needed to make `roots`, in
  /// program order.
  SmallVector<Value> findMissing(ArrayRef<Value> roots) const;
  /// Makes copies of `missing` in front of `op`.
  void materialize(ArrayRef<Value> missing, Operation *op, unsigned position);
  /// Passes `values` through a barrier with a cotangent; returns the results,
  /// or `values` if there is no cotangent.
  SmallVector<Value> tie(ArrayRef<Value> values, Operation *op,
                         unsigned position);
  bool isTied(Value value) const { return tied.contains(value); }

  const AutodiffGraph &graph;
  const SurvivorSelection &selection;
  const StructuralKeys &keys;
  const PartitionOptions &options;
  CotangentFinder cotangents;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> saves;
  llvm::DenseMap<Value, Copy> copies;
  llvm::DenseSet<Value> tied;
  unsigned numContractions = 0;
  unsigned numClones = 0;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_BACKWARDREWRITER_H
