//===- SequenceUpdates.cpp - One parameter after the other ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTSEQUENCEUPDATESPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// Operations that make new parameters, moments and the like of one gradient.
struct Update {
  SmallVector<Operation *> ops;     ///< in program order
  llvm::SetVector<Value> gradients; ///< what they read of backward
  SmallVector<OpOperand *> results; ///< of the step
};

class UpdateFinder {
public:
  UpdateFinder(Block &block, int64_t minElements)
      : block(block), minElements(minElements) {}

  /// Updates in program order.
  SmallVector<Update> find();

private:
  bool isLarge(Value value) const {
    return getNumElements(value.getType()).value_or(0) >= minElements;
  }
  void findTail();

  Block &block;
  int64_t minElements;
  llvm::SetVector<Operation *> tail; ///< last operations first
};
} // namespace

/// Elementwise operations of which nothing but results of the step depends.
void UpdateFinder::findTail() {
  for (Operation &op : llvm::reverse(block)) {
    if (!isCheapToRecompute(&op) || !isMemoryEffectFree(&op) ||
        op.getNumRegions() != 0 || op.use_empty())
      continue;
    if (llvm::all_of(op.getUsers(), [&](Operation *user) {
          return user == block.getTerminator() || tail.contains(user);
        }))
      tail.insert(&op);
  }
}

SmallVector<Update> UpdateFinder::find() {
  findTail();
  llvm::EquivalenceClasses<Operation *> classes;
  for (Operation *op : tail) {
    classes.insert(op);
    // What reads one gradient belongs together.
    for (Value operand : op->getOperands())
      if (isLarge(operand))
        for (Operation *user : operand.getUsers())
          if (tail.contains(user))
            classes.unionSets(op, user);
    for (Value result : op->getResults())
      if (isLarge(result))
        for (Operation *user : result.getUsers())
          if (tail.contains(user))
            classes.unionSets(op, user);
  }
  llvm::MapVector<Operation *, Update> updates;
  for (Operation *op : llvm::reverse(tail)) {
    Update &update = updates[classes.getLeaderValue(op)];
    update.ops.push_back(op);
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (isLarge(operand) && def && def->getBlock() == &block &&
          !tail.contains(def) && getOpKind(def) != OpKind::Broadcast &&
          getOpKind(def) != OpKind::Constant)
        update.gradients.insert(operand);
    }
    for (Value result : op->getResults())
      for (OpOperand &use : result.getUses())
        if (isLarge(result) && use.getOwner() == block.getTerminator())
          update.results.push_back(&use);
  }
  SmallVector<Update> found;
  for (auto &[leader, update] : updates)
    if (!update.gradients.empty() && !update.results.empty())
      found.push_back(std::move(update));
  return found;
}

/// The operations, first ones last, that widen a value to `gradient`: others
/// read that too, so that it would stay alive in its full width.
static SmallVector<Operation *> findWidening(Value gradient) {
  SmallVector<Operation *> chain;
  size_t length = 0;
  int64_t fewest = getTensorBytes(gradient.getType()).value_or(0);
  for (Operation *op = gradient.getDefiningOp();
       op && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
       isCheapToRecompute(op) && op->getNumRegions() == 0;
       op = op->getOperand(0).getDefiningOp()) {
    chain.push_back(op);
    int64_t bytes = getTensorBytes(op->getOperand(0).getType()).value_or(0);
    if (bytes < fewest && getOpKind(op) != OpKind::Broadcast) {
      fewest = bytes;
      length = chain.size();
    }
    if (getOpKind(op) == OpKind::Broadcast)
      break;
  }
  chain.truncate(length);
  return chain;
}

/// Lets `update` widen its gradients itself.
static void narrowGradients(Update &update) {
  llvm::SetVector<Value> narrow;
  for (Value gradient : update.gradients) {
    SmallVector<Operation *> chain = findWidening(gradient);
    if (chain.empty()) {
      narrow.insert(gradient);
      continue;
    }
    narrow.insert(chain.back()->getOperand(0));
    OpBuilder builder(update.ops.front());
    IRMapping mapping;
    SmallVector<Operation *> copies;
    for (Operation *op : llvm::reverse(chain))
      copies.push_back(builder.clone(*op, mapping));
    for (Operation *op : update.ops)
      op->replaceUsesOfWith(gradient, copies.back()->getResult(0));
    update.ops.insert(update.ops.begin(), copies.begin(), copies.end());
  }
  update.gradients = std::move(narrow);
}

/// Lets `next` begin only when `last` is done.
static void order(const Update &last, const Update &next) {
  OpBuilder builder(last.results.front()->getOwner());
  SmallVector<Value> values = llvm::to_vector(next.gradients);
  for (OpOperand *result : last.results)
    values.push_back(result->get());
  auto barrier = BarrierOp::create(builder, next.ops.front()->getLoc(),
                                   TypeRange(ValueRange(values)), values);
  for (auto [gradient, tied] : llvm::zip(next.gradients, barrier.getResults()))
    for (Operation *op : next.ops)
      op->replaceUsesOfWith(gradient, tied);
  for (auto [result, tied] : llvm::zip_equal(
           last.results, barrier.getResults().take_back(last.results.size())))
    result->set(tied);
}

namespace {
struct ActSequenceUpdatesPass
    : act::impl::ActSequenceUpdatesPassBase<ActSequenceUpdatesPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (function.isExternal() || function.isPrivate() ||
        !function.getFunctionBody().hasOneBlock())
      return;
    Block &block = function.getFunctionBody().front();
    SmallVector<Update> updates = UpdateFinder(block, minElements).find();
    if (updates.size() < 2)
      return;
    for (Update &update : updates) {
      for (Operation *op : update.ops)
        op->moveBefore(block.getTerminator());
      narrowGradients(update);
    }
    for (size_t i = 1; i < updates.size(); ++i) {
      order(updates[i - 1], updates[i]);
      for (Operation *op : updates[i].ops)
        op->moveBefore(block.getTerminator());
    }
    remark::passed(function.getLoc(),
                   remark::RemarkOpts::name("SequenceUpdates").category("act"))
        << std::to_string(updates.size())
        << " updates of parameters, one after the other";
  }
};
} // namespace
