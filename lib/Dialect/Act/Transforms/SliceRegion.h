//===- SliceRegion.h - Operations that can run in parts -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEREGION_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEREGION_H

#include "act/Analysis/OpModel/OpModel.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {

/// Why operations cannot run in parts.
struct SliceRefusal {
  Operation *op = nullptr;
  std::string reason;
};

/// Operations of one block that can run in parts along one axis of each, such
/// that a part of the results of one is all that a part of the next reads.
///
/// A region grows from one operation. Each value that an operation of it
/// computes has one dimension along which it comes in parts, or none if it is
/// summed up over the parts; what it reads from outside is sliced as its axis
/// says, or read whole.
///
/// The *level* of an operation is how many times results of the region must be
/// complete before it can run, because they pass an operation outside, or a
/// sum.
class SliceRegion {
public:
  /// Which operations may belong to a region.
  using Filter = llvm::function_ref<bool(Operation *)>;

  /// Up to how many numbers per iteration are collected, and then summed up by
  /// the operation that does so, so that the sum has the same bits.
  static constexpr int64_t kMaxCollected = 64;

  /// Grows a region from `seed` along `axis` of it.
  static SliceRegion grow(Operation *seed, const IterationAxis &axis,
                          Filter mayContain);

  /// Operations in program order.
  ArrayRef<Operation *> getOps() const { return order; }
  bool contains(Operation *op) const { return axes.contains(op); }
  const IterationAxis &getAxis(Operation *op) const {
    return axes.find(op)->second;
  }
  /// The operation of the region that computes `value`, or null.
  Operation *getDef(Value value) const {
    Operation *def = value.getDefiningOp();
    return def && contains(def) ? def : nullptr;
  }
  /// The dimension along which `value`, which the region computes, comes in
  /// parts; -1 if none.
  int64_t getDim(Value value) const;
  /// True for values from outside, and for those that are known when all parts
  /// are done: sums and final states.
  bool isComplete(Value value) const;
  /// Iterations along the axis.
  int64_t getLength() const { return length; }
  Block &getBlock() const { return *order.front()->getBlock(); }

  /// Operations outside that read what the region computes in parts, with one
  /// such value each.
  ArrayRef<std::pair<Operation *, Value>> getReaders() const { return readers; }
  /// Operations that were allowed, read or compute values of the region and
  /// could not join it.
  const llvm::SetVector<Operation *> &getExcluded() const { return excluded; }

  unsigned getLevel(Operation *op) const { return levels.lookup(op); }
  /// True if `op` outside reads, directly or not, what the region computes.
  bool dependsOnRegion(Operation *op) const { return outside.contains(op); }

private:
  SliceRegion() = default;
  bool include(Operation *op);
  /// Gives a barrier more values that come in parts, if there are.
  bool widen(Operation *op);
  /// The axis of `op` that agrees with all dimensions that are known.
  std::optional<IterationAxis> match(Operation *op) const;
  /// Removes operations whose neighbours disagree.
  bool prune();
  void finish();
  void findLevels();

  llvm::DenseMap<Operation *, IterationAxis> axes;
  llvm::DenseMap<Value, int64_t> wanted; ///< dimensions by those who read
  SmallVector<Operation *> order;
  llvm::DenseMap<Operation *, unsigned> levels;
  llvm::DenseMap<Operation *, unsigned> outside; ///< levels of what depends
  SmallVector<std::pair<Operation *, Value>> readers;
  llvm::SetVector<Operation *> excluded;
  int64_t length = 0;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEREGION_H
