//===- SliceSweeps.h - Which loops a region becomes -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICESWEEPS_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICESWEEPS_H

#include "SliceLoops.h"
#include <vector>

namespace mlir::act {

/// The states of one sequence of keys and values.
struct StateTrack {
  mutable LinearAttentionOpInterface op; ///< one of those that need them
  SmallVector<Value, 2> initial;
  SmallVector<Value, 2>
      stacks; ///< before each part, once a sweep has stored them
  SmallVector<Value, 2> beforeTail;
  SmallVector<Value, 2> final;

  /// True if the keys, values and so on of `other` are found to be the same,
  /// even if they are computed again.
  bool matches(LinearAttentionOpInterface other) const;
};

/// What a sweep carries from part to part.
struct Carried {
  SmallVector<Value> parts;     ///< results of which each part writes a part
  SmallVector<Value> sums;      ///< results that each part adds to
  SmallVector<Value> states;    ///< of the tracks, one after the other
  SmallVector<Value> gradients; ///< of states, against the sequence
  SmallVector<Value> stacks;    ///< states before each part

  SmallVector<Value> flatten() const {
    SmallVector<Value> all;
    for (const auto *group : {&parts, &sums, &states, &gradients, &stacks})
      llvm::append_range(all, *group);
    return all;
  }
  /// The same groups with other values.
  Carried withValues(ValueRange values) const {
    Carried result;
    for (auto [group, from] : {std::make_pair(&result.parts, &parts),
                               std::make_pair(&result.sums, &sums),
                               std::make_pair(&result.states, &states),
                               std::make_pair(&result.gradients, &gradients),
                               std::make_pair(&result.stacks, &stacks)}) {
      llvm::append_range(*group, values.take_front(from->size()));
      values = values.drop_front(from->size());
    }
    return result;
  }
};

/// One loop over all parts.
struct Sweep {
  llvm::SetVector<Operation *> work; ///< in program order
  /// Of barriers, which values pass.
  llvm::DenseMap<Operation *, llvm::SmallDenseSet<unsigned>> passing;
  SmallVector<Value> parts;
  SmallVector<Value> sums;
  bool isReversed = false;
  bool advancesStates = false;
  bool storesStates = false;

  bool isEmpty() const {
    return parts.empty() && sums.empty() && !advancesStates;
  }
};

/// What is known while the loops for a region are planned and built.
class SliceState {
public:
  SliceState(const SliceRegion &region, const SlicePlan &plan);

  /// What the loop for `level` does; against the sequence if `isReversed`.
  Sweep planSweep(unsigned level, bool isReversed) const;
  /// A loop that computes nothing but states.
  Sweep planStateSweep() const;
  /// True if `level` walks against the sequence.
  bool hasReversed(unsigned level) const;

  const SliceRegion &region;
  const SlicePlan &plan;
  int64_t numParts;   ///< of full length
  int64_t tailLength; ///< of the part behind them, 0 if there is none
  std::vector<StateTrack> tracks;
  llvm::DenseMap<Value, Value> complete; ///< what stands for whole values

private:
  void findTracks();
  /// True if operation `user` reads the result `value` of another level, or of
  /// a sum, when it is complete.
  bool isReadComplete(Value value, Operation *user) const;
  bool isReadOutside(Value value) const;
  /// Adds to `sweep` what it takes to compute `needed`.
  void close(Sweep &sweep, ArrayRef<Value> needed) const;
  SmallVector<Value> getStateInputs() const;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICESWEEPS_H
