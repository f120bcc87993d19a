//===- ValueNumbering.h - Values that are computed twice -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_VALUENUMBERING_H
#define ACT_ANALYSIS_VALUENUMBERING_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::act {

/// Finds operations of a block that compute what an earlier one of the block
/// has computed: common subexpression elimination without the elimination.
/// Forward must stay as it is (merging its operations changes the last bits of
/// what XLA computes), but backward needs to save or recompute equal values
/// only once.
class ValueNumbering {
public:
  /// Barriers are seen through in front of `firstBackward`, if that is not
  /// null: those of backward keep what is computed again apart from forward.
  ValueNumbering(Block &block, Operation *firstBackward);

  /// The first value of the block that equals `value`; often `value` itself.
  Value getLeader(Value value) const { return leaders.lookup_or(value, value); }

private:
  /// An earlier value that the result of `op` equals because `op` changes
  /// nothing, or undoes what earlier operations did; null if there is none.
  Value findCopied(Operation *op) const;

  llvm::DenseMap<Value, Value> leaders;
};

} // namespace mlir::act

#endif // ACT_ANALYSIS_VALUENUMBERING_H
