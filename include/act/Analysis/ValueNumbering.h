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
  explicit ValueNumbering(Block &block);

  /// The first value of the block that equals `value`; often `value` itself.
  Value getLeader(Value value) const { return leaders.lookup_or(value, value); }

private:
  llvm::DenseMap<Value, Value> leaders;
};

} // namespace mlir::act

#endif // ACT_ANALYSIS_VALUENUMBERING_H
