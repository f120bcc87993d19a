//===- ValueNumbering.cpp - Values that are computed twice ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/ValueNumbering.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;

/// True for operations that may stand for an equal one. Barriers may not: they
/// were put where they are to keep values apart.
static bool isNumbered(Operation *op) {
  OpKind kind = getOpKind(op);
  return kind != OpKind::Barrier && kind != OpKind::Opaque &&
         kind != OpKind::Control && op->getNumResults() > 0 &&
         isMemoryEffectFree(op);
}

ValueNumbering::ValueNumbering(Block &block) {
  constexpr auto kFlags = OperationEquivalence::IgnoreLocations |
                          OperationEquivalence::IgnoreDiscardableAttrs;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> seen;
  auto getHash = [&](Operation *op) -> size_t {
    return OperationEquivalence::computeHash(
        op, [&](Value operand) { return hash_value(getLeader(operand)); },
        OperationEquivalence::ignoreHashValue, kFlags);
  };
  for (Operation &op : block) {
    if (!isNumbered(&op))
      continue;
    SmallVector<Operation *, 1> &candidates = seen[getHash(&op)];
    auto isEqual = [&](Operation *other) {
      // Values inside regions correspond as the comparison has found them to.
      llvm::DenseMap<Value, Value> inner;
      return OperationEquivalence::isEquivalentTo(
          other, &op,
          [&](Value a, Value b) {
            return success(getLeader(a) == getLeader(b) ||
                           inner.lookup(a) == b);
          },
          [&](Value a, Value b) { inner[a] = b; }, kFlags);
    };
    auto *it = llvm::find_if(candidates, isEqual);
    if (it == candidates.end()) {
      candidates.push_back(&op);
      continue;
    }
    for (auto [leader, value] :
         llvm::zip_equal((*it)->getResults(), op.getResults()))
      leaders[value] = leader;
  }
}
