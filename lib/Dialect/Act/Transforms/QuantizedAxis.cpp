//===- QuantizedAxis.cpp - The axis that has a range per index ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QuantizedAxis.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// An axis of one side of an operation that has a meaning.
struct Place {
  std::optional<int64_t> operand; ///< of the operand that is looked at
  std::optional<int64_t> result;  ///< of the first result
};

/// What an operation says about its operand `number` and its result.
using FindPlaceFn = function_ref<Place(Operation *, unsigned number)>;

/// A value, and for each of its axes the one of the value that the walk began
/// at, -1 for none.
struct Reached {
  Value value;
  SmallVector<int64_t> origins;
};
} // namespace

/// Values that a walk looks at: more are no neighbours any longer.
static constexpr size_t kMaxReached = 64;

static SmallVector<int64_t> getIdentity(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? llvm::to_vector(llvm::seq<int64_t>(type.getRank()))
              : SmallVector<int64_t>();
}

/// True for operations behind which a value is still about the same.
static bool isPassedThrough(Operation *op) {
  OpKind kind = getOpKind(op);
  return (kind == OpKind::View || kind == OpKind::Elementwise) &&
         op->getNumResults() == 1 && op->getNumRegions() == 0;
}

/// `origins` of one side of `op`, an operand or the result, on the other.
static SmallVector<int64_t> mapOrigins(Operation *op, unsigned operand,
                                       ArrayRef<int64_t> origins,
                                       bool toResult) {
  Value other = toResult ? op->getResult(0) : op->getOperand(operand);
  SmallVector<int64_t> mapped(getIdentity(other).size(), -1);
  for (const IterationAxis &axis : getIterationAxes(op)) {
    int64_t from = axis.operandDims[operand], to = axis.resultDims[0];
    if (!toResult)
      std::swap(from, to);
    if (from >= 0 && to >= 0)
      mapped[to] = origins[from];
  }
  return mapped;
}

static std::optional<int64_t> getOrigin(ArrayRef<int64_t> origins,
                                        std::optional<int64_t> axis) {
  if (!axis || *axis >= static_cast<int64_t>(origins.size()) ||
      origins[*axis] < 0)
    return std::nullopt;
  return origins[*axis];
}

/// The axis in the first place that is found on the way from `value` to its
/// readers.
static std::optional<int64_t> findInReaders(Value value, FindPlaceFn find) {
  SmallVector<Reached> queue{{value, getIdentity(value)}};
  llvm::DenseSet<Value> seen{value};
  for (size_t i = 0; i < queue.size() && i < kMaxReached; ++i) {
    Reached reached = queue[i]; // the queue grows
    for (OpOperand &use : reached.value.getUses()) {
      Operation *user = use.getOwner();
      unsigned number = use.getOperandNumber();
      if (auto axis = getOrigin(reached.origins, find(user, number).operand))
        return axis;
      if (isa<BarrierOp>(user)) {
        if (Value next = user->getResult(number); seen.insert(next).second)
          queue.push_back({next, reached.origins});
      } else if (isPassedThrough(user)) {
        if (Value next = user->getResult(0); seen.insert(next).second)
          queue.push_back({next, mapOrigins(user, number, reached.origins,
                                            /*toResult=*/true)});
      }
    }
  }
  return std::nullopt;
}

/// The same on the way to the operations that compute `value`.
static std::optional<int64_t> findInDefinitions(Value value, FindPlaceFn find) {
  SmallVector<Reached> queue{{value, getIdentity(value)}};
  llvm::DenseSet<Value> seen{value};
  for (size_t i = 0; i < queue.size() && i < kMaxReached; ++i) {
    Reached reached = queue[i];
    Operation *def = reached.value.getDefiningOp();
    if (!def || def->getNumResults() == 0)
      continue;
    if (auto axis = getOrigin(reached.origins, find(def, 0).result))
      return axis;
    if (auto barrier = dyn_cast<BarrierOp>(def)) {
      Value next =
          barrier.getOperand(cast<OpResult>(reached.value).getResultNumber());
      if (seen.insert(next).second)
        queue.push_back({next, reached.origins});
    } else if (isPassedThrough(def)) {
      for (OpOperand &operand : def->getOpOperands())
        if (seen.insert(operand.get()).second)
          queue.push_back(
              {operand.get(), mapOrigins(def, operand.getOperandNumber(),
                                         reached.origins, /*toResult=*/false)});
    }
  }
  return std::nullopt;
}

/// The last batch dimension of a product.
static Place findHeads(Operation *op, unsigned number) {
  Place place;
  if (getOpKind(op) != OpKind::Contraction || op->getNumOperands() != 2)
    return place;
  for (const IterationAxis &axis : getIterationAxes(op))
    if (llvm::none_of(axis.operandDims, [](int64_t dim) { return dim < 0; }) &&
        axis.resultDims[0] > place.result.value_or(-1))
      place = {axis.operandDims[number], axis.resultDims[0]};
  return place;
}

static Place findChannels(Operation *op, unsigned number) {
  std::optional<FeatureDims> dims = getFeatureDims(op);
  if (!dims)
    return {};
  return {number == 0 ? std::optional(dims->operand) : std::nullopt,
          dims->result};
}

static std::optional<int64_t> findAxis(Value value, FindPlaceFn find) {
  std::optional<int64_t> axis = findInReaders(value, find);
  return axis ? axis : findInDefinitions(value, find);
}

std::optional<int64_t> mlir::act::findHeadAxis(Value value) {
  return findAxis(value, findHeads);
}

std::optional<int64_t> mlir::act::findChannelAxis(Value value) {
  return findAxis(value, findChannels);
}
