//===- SliceSweeps.cpp - Which loops a region becomes
//----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceSweeps.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;

/// True if `a` and `b` are found to be equal by comparing what at most `budget`
/// operations compute, whether or not barriers keep them apart.
static bool areEqual(Value a, Value b, unsigned &budget) {
  auto passBarriers = [](Value &value) {
    Operation *def = value ? value.getDefiningOp() : nullptr;
    while (def && getOpKind(def) == OpKind::Barrier &&
           def->getNumOperands() == def->getNumResults()) {
      value = def->getOperand(cast<OpResult>(value).getResultNumber());
      def = value.getDefiningOp();
    }
  };
  passBarriers(a);
  passBarriers(b);
  if (a == b)
    return true;
  Operation *x = a ? a.getDefiningOp() : nullptr;
  Operation *y = b ? b.getDefiningOp() : nullptr;
  if (!x || !y || budget == 0)
    return false;
  --budget;
  return cast<OpResult>(a).getResultNumber() ==
             cast<OpResult>(b).getResultNumber() &&
         isMemoryEffectFree(x) &&
         OperationEquivalence::isEquivalentTo(
             x, y,
             [&](Value left, Value right) {
               // Arguments of regions are compared by the caller.
               return success(left.getParentBlock() != right.getParentBlock() ||
                              areEqual(left, right, budget));
             },
             nullptr, OperationEquivalence::IgnoreLocations);
}

bool StateTrack::matches(LinearAttentionOpInterface other) const {
  unsigned budget = 1024;
  auto isSame = [&](Value a, Value b) { return areEqual(a, b, budget); };
  return op.getFeatureMap() == other.getFeatureMap() &&
         op.getNormalize() == other.getNormalize() &&
         isSame(op.getKey(), other.getKey()) &&
         isSame(op.getValue(), other.getValue()) &&
         isSame(op.getDecay(), other.getDecay()) &&
         isSame(op.getFeatures(), other.getFeatures()) &&
         llvm::all_of(llvm::zip_equal(op.getStates(), other.getStates()),
                      [&](auto pair) {
                        return isSame(std::get<0>(pair), std::get<1>(pair));
                      });
}

SliceState::SliceState(const SliceRegion &region, const SlicePlan &plan)
    : region(region), plan(plan),
      numParts(region.getLength() / plan.partLength),
      tailLength(region.getLength() % plan.partLength) {
  findTracks();
  // What passes a barrier whole is known from the start.
  for (Operation *op : region.getOps())
    if (getOpKind(op) == OpKind::Barrier)
      for (auto [operand, result] :
           llvm::zip_equal(op->getOperands(), op->getResults()))
        if (region.getDim(result) < 0 && !region.getDef(operand))
          complete[result] = operand;
}

void SliceState::findTracks() {
  for (Operation *op : region.getOps()) {
    if (region.getAxis(op).kind != AxisKind::Sequential)
      continue;
    auto attention = cast<LinearAttentionOpInterface>(op);
    if (llvm::none_of(tracks, [&](const StateTrack &track) {
          return track.matches(attention);
        }))
      tracks.push_back({attention,
                        llvm::to_vector_of<Value, 2>(attention.getStates()),
                        {},
                        {},
                        {}});
  }
}

bool SliceState::isReadComplete(Value value, Operation *user) const {
  Operation *def = region.getDef(value);
  if (region.isComplete(value) || complete.count(value))
    return true;
  return plan.isStored(value) && region.getLevel(def) < region.getLevel(user);
}

bool SliceState::isReadOutside(Value value) const {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *top = region.getBlock().findAncestorOpInBlock(*user);
    return !top || !region.contains(top);
  });
}

bool SliceState::hasReversed(unsigned level) const {
  return llvm::any_of(region.getOps(), [&](Operation *op) {
    return region.getLevel(op) == level && region.getAxis(op).isReversed;
  });
}

void SliceState::close(Sweep &sweep, ArrayRef<Value> needed) const {
  llvm::DenseSet<Operation *> reached;
  SmallVector<Value> work(needed);
  auto needOperand = [&](Operation *op, unsigned number) {
    if (!isReadComplete(op->getOperand(number), op))
      work.push_back(op->getOperand(number));
  };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *op = value.getDefiningOp();
    bool isNew = reached.insert(op).second;
    if (getOpKind(op) == OpKind::Barrier) {
      unsigned number = cast<OpResult>(value).getResultNumber();
      if (sweep.passing[op].insert(number).second)
        needOperand(op, number);
    } else if (isNew) {
      for (unsigned number = 0; number < op->getNumOperands(); ++number)
        needOperand(op, number);
    }
  }
  reached.insert_range(sweep.work);
  sweep.work.clear();
  for (Operation *op : region.getOps())
    if (reached.contains(op))
      sweep.work.insert(op);
}

/// What states are made of, as far as it is not known before the parts.
SmallVector<Value> SliceState::getStateInputs() const {
  SmallVector<Value> inputs;
  for (const StateTrack &track : tracks)
    for (Value operand : {track.op.getKey(), track.op.getValue(),
                          track.op.getDecay(), track.op.getFeatures()})
      if (operand && !isReadComplete(operand, track.op))
        inputs.push_back(operand);
  return inputs;
}

Sweep SliceState::planSweep(unsigned level, bool isReversed) const {
  Sweep sweep;
  sweep.isReversed = isReversed;
  SmallVector<Value> needed;
  bool needsStates = false;
  for (Operation *op : region.getOps()) {
    if (region.getLevel(op) != level || plan.sources.contains(op))
      continue;
    const IterationAxis &axis = region.getAxis(op);
    for (OpResult result : op->getResults()) {
      bool isState = llvm::any_of(axis.carries, [&](IterationAxis::Carry c) {
        return c.result == result.getResultNumber();
      });
      bool isPart = region.getDim(result) >= 0;
      bool isRead =
          isReadOutside(result) ||
          llvm::any_of(result.getUsers(), [&](Operation *user) {
            return region.contains(user) && isReadComplete(result, user);
          });
      if (!isRead || complete.count(result))
        continue;
      needed.push_back(result);
      needsStates |= isState;
      if (isPart)
        sweep.parts.push_back(result);
      else if (!isState && region.isComplete(result))
        sweep.sums.push_back(result);
    }
  }
  close(sweep, needed);
  needsStates |=
      llvm::any_of(sweep.work, llvm::IsaPred<LinearAttentionOpInterface>);
  sweep.advancesStates =
      needsStates && (!isReversed || plan.states == SliceStates::Reverse);
  if (sweep.advancesStates)
    close(sweep, getStateInputs());
  return sweep;
}

Sweep SliceState::planStateSweep() const {
  Sweep sweep;
  sweep.advancesStates = true;
  sweep.storesStates = plan.states == SliceStates::Stored;
  close(sweep, getStateInputs());
  return sweep;
}
