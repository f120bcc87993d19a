//===- SliceRegion.cpp - Operations that can run in parts -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceRegion.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;

/// The dimension along which `axis` runs through result `value`.
static int64_t getResultDim(const IterationAxis &axis, Value value) {
  return axis.resultDims[cast<OpResult>(value).getResultNumber()];
}

int64_t SliceRegion::getDim(Value value) const {
  Operation *def = getDef(value);
  return def ? getResultDim(getAxis(def), value) : -1;
}

bool SliceRegion::isComplete(Value value) const {
  Operation *def = getDef(value);
  return !def || (getDim(value) < 0 && getAxis(def).kind != AxisKind::Parallel);
}

/// Unites axes of an operation whose values are independent of each other.
static void unite(IterationAxis &axis, const IterationAxis &other) {
  for (auto [dim, otherDim] :
       llvm::zip_equal(axis.operandDims, other.operandDims))
    dim = std::max(dim, otherDim);
  for (auto [dim, otherDim] :
       llvm::zip_equal(axis.resultDims, other.resultDims))
    dim = std::max(dim, otherDim);
}

std::optional<IterationAxis> SliceRegion::match(Operation *op) const {
  std::optional<IterationAxis> result;
  for (const IterationAxis &axis : getIterationAxes(op)) {
    bool agrees = true, touches = false;
    auto check = [&](int64_t known, int64_t dim) {
      agrees &= known == dim;
      touches |= known == dim && dim >= 0;
    };
    // Values of a barrier pass it independently.
    bool isBarrier = getOpKind(op) == OpKind::Barrier;
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), axis.operandDims))
      if (Operation *def = getDef(operand))
        if (int64_t known = getDim(operand);
            known >= 0 && !(isBarrier && dim < 0) && def->getBlock())
          check(known, dim);
    for (auto [value, dim] : llvm::zip_equal(op->getResults(), axis.resultDims))
      if (auto known = wanted.find(value);
          known != wanted.end() && !(isBarrier && dim < 0))
        check(known->second, dim);
    if (!agrees || !touches)
      continue;
    if (!isBarrier)
      return axis;
    if (result)
      unite(*result, axis);
    else
      result = axis;
  }
  return result;
}

/// True for the sum of few numbers per iteration of `axis`.
static bool isSumOfFew(Operation *op, const IterationAxis &axis) {
  if (axis.kind != AxisKind::Reduction || getOpKind(op) != OpKind::Reduction)
    return false;
  auto count = [](Value value) {
    return getNumElements(value.getType()).value_or(0);
  };
  Value operand = op->getOperand(0);
  int64_t length = cast<RankedTensorType>(operand.getType())
                       .getDimSize(axis.operandDims.front());
  int64_t perIteration = count(operand) / length;
  return perIteration <= 8 || (count(op->getResult(0)) == 1 &&
                               perIteration <= SliceRegion::kMaxCollected);
}

bool SliceRegion::include(Operation *op) {
  if (!isMemoryEffectFree(op))
    return false;
  std::optional<IterationAxis> axis = match(op);
  if (!axis || isSumOfFew(op, *axis))
    return false;
  axes[op] = std::move(*axis);
  return true;
}

bool SliceRegion::widen(Operation *op) {
  std::optional<IterationAxis> axis = match(op);
  IterationAxis &known = axes[op];
  if (!axis || axis->operandDims == known.operandDims)
    return false;
  known = std::move(*axis);
  return true;
}

SliceRegion SliceRegion::grow(Operation *seed, const IterationAxis &axis,
                              Filter mayContain) {
  SliceRegion region;
  Block *block = seed->getBlock();
  llvm::SetVector<Operation *> work;
  auto spread = [&](Operation *op) {
    const IterationAxis &axis = region.getAxis(op);
    auto push = [&](Operation *other) {
      if (other && other->getBlock() == block && mayContain(other))
        work.insert(other);
    };
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), axis.operandDims))
      if (dim >= 0 && region.wanted.try_emplace(operand, dim).second)
        push(operand.getDefiningOp());
    for (auto [result, dim] :
         llvm::zip_equal(op->getResults(), axis.resultDims))
      if (dim >= 0)
        for (Operation *user : result.getUsers())
          push(block->findAncestorOpInBlock(*user));
  };
  region.axes[seed] = axis;
  spread(seed);
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    // One more value of a barrier may be known to come in parts by now.
    if (region.contains(op) &&
        (getOpKind(op) != OpKind::Barrier || !region.widen(op)))
      continue;
    if (region.contains(op) || region.include(op))
      spread(op);
    else
      region.excluded.insert(op);
  }
  while (region.prune())
    ;
  region.finish();
  return region;
}

bool SliceRegion::prune() {
  SmallVector<Operation *> removed;
  for (auto &[op, axis] : axes)
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), axis.operandDims)) {
      // Summed up values can be read whole, parts only as parts.
      Operation *def = getDef(operand);
      int64_t known = def ? getDim(operand) : -1;
      if (known >= 0 && known != dim)
        removed.push_back(op);
    }
  for (Operation *op : removed) {
    axes.erase(op);
    excluded.insert(op);
  }
  return !removed.empty();
}

void SliceRegion::finish() {
  for (auto &[op, axis] : axes)
    order.push_back(op);
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  if (order.empty())
    return;
  for (auto [operand, dim] : llvm::zip_equal(
           order.front()->getOperands(), getAxis(order.front()).operandDims))
    if (dim >= 0)
      length = cast<RankedTensorType>(operand.getType()).getDimSize(dim);
  for (auto [result, dim] : llvm::zip_equal(order.front()->getResults(),
                                            getAxis(order.front()).resultDims))
    if (dim >= 0)
      length = cast<RankedTensorType>(result.getType()).getDimSize(dim);
  llvm::SmallSetVector<Operation *, 8> seen;
  for (Operation *op : order)
    for (Value result : op->getResults()) {
      if (getDim(result) < 0)
        continue;
      for (Operation *user : result.getUsers()) {
        Operation *top = getBlock().findAncestorOpInBlock(*user);
        if (top && !contains(top) && seen.insert(top))
          readers.emplace_back(top, result);
      }
    }
  findLevels();
}

void SliceRegion::findLevels() {
  for (Operation &op : getBlock()) {
    unsigned level = 0;
    bool isInside = contains(&op);
    for (Value operand : getAllOperands(&op)) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != &getBlock())
        continue;
      if (!contains(def))
        level = std::max(level, outside.lookup(def));
      else
        level = std::max(level, levels.lookup(def) +
                                    (isInside && !isComplete(operand) ? 0 : 1));
    }
    if (isInside)
      levels[&op] = level;
    else if (level > 0)
      outside[&op] = level;
  }
}
