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
         op->getNumResults() > 0 && isMemoryEffectFree(op);
}

Value ValueNumbering::findCopied(Operation *op) const {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1)
    return {};
  Value first = getLeader(op->getOperand(0));
  if (!isReshape(op))
    return getCopiedValue(op, first);
  // Reshaped there and back.
  Type type = op->getResult(0).getType();
  while (first.getType() != type) {
    Operation *def = first.getDefiningOp();
    if (!def || !isReshape(def))
      return {};
    first = getLeader(def->getOperand(0));
  }
  return first;
}

ValueNumbering::ValueNumbering(Block &block, Operation *firstBackward) {
  constexpr auto kFlags = OperationEquivalence::IgnoreLocations |
                          OperationEquivalence::IgnoreDiscardableAttrs;
  llvm::DenseMap<size_t, SmallVector<Operation *, 1>> seen;
  auto getHash = [&](Operation *op) -> size_t {
    return OperationEquivalence::computeHash(
        op, [&](Value operand) { return hash_value(getLeader(operand)); },
        OperationEquivalence::ignoreHashValue, kFlags);
  };
  bool isForward = firstBackward;
  for (Operation &op : block) {
    isForward &= &op != firstBackward;
    if (isForward && getOpKind(&op) == OpKind::Barrier &&
        op.getOperandTypes() == op.getResultTypes()) {
      for (auto [result, operand] :
           llvm::zip_equal(op.getResults(), op.getOperands()))
        leaders[result] = getLeader(operand);
      continue;
    }
    if (Value copied = findCopied(&op)) {
      leaders[op.getResult(0)] = getLeader(copied);
      continue;
    }
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
