//===- DelayRandom.cpp - Random masks not before they are needed ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTDELAYRANDOMPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

static bool isRandomLoop(Operation *op) {
  return op && op->hasAttr(kTiledRandomAttr) && op->getNumOperands() > 0;
}

/// True if `value` is a compressed value whose storage is not the value itself,
/// and not that of a random mask, which could exist before the step begins.
static bool isWorthWaitingFor(Value value) {
  auto type = dyn_cast<CompressedType>(value.getType());
  if (!type || isa<RawAttr>(type.getEncoding()))
    return false;
  auto save = value.getDefiningOp<CompressedSaveOp>();
  return !save || !isRandomLoop(save.getInput().getDefiningOp());
}

static bool beginsWithConstant(Operation *loop) {
  Operation *def = loop->getOperand(0).getDefiningOp();
  return def && getOpKind(def) == OpKind::Constant;
}

/// Lets each of `loops`, whose first operand is a counter that begins with a
/// constant, begin behind `barrier`.
static void holdBack(BarrierOp barrier, ArrayRef<Operation *> loops) {
  OpBuilder builder(barrier);
  SmallVector<Value> inputs(barrier.getInputs());
  for (Operation *loop : loops)
    inputs.push_back(
        builder.clone(*loop->getOperand(0).getDefiningOp())->getResult(0));
  auto held = BarrierOp::create(builder, barrier.getLoc(), inputs);
  ValueRange results = held.getResults();
  size_t size = barrier.getNumResults();
  barrier->replaceAllUsesWith(results.take_front(size));
  for (auto [loop, result] : llvm::zip_equal(loops, results.drop_front(size))) {
    Operation *constant = loop->getOperand(0).getDefiningOp();
    loop->setOperand(0, result);
    if (constant->use_empty())
      constant->erase();
  }
  barrier.erase();
}

namespace {
struct DelayRandomPass : act::impl::ActDelayRandomPassBase<DelayRandomPass> {
  void runOnOperation() override {
    llvm::MapVector<BarrierOp, SmallVector<Operation *>> loops;
    getOperation()->walk([&](Block *block) {
      BarrierOp last;
      for (Operation &op : *block) {
        auto barrier = dyn_cast<BarrierOp>(op);
        if (barrier && llvm::any_of(barrier.getInputs(), isWorthWaitingFor))
          last = barrier;
        else if (last && isRandomLoop(&op) && beginsWithConstant(&op) &&
                 !isRecomputeLocation(op.getLoc()))
          loops[last].push_back(&op);
      }
    });
    for (auto &[barrier, held] : loops)
      holdBack(barrier, held);
  }
};
} // namespace
