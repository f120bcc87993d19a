//===- ExposeMasks.cpp - Small values for backward to read ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExposeMasks.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTEXPOSEMASKSPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// ForwardPlacer
//===----------------------------------------------------------------------===//

bool ForwardPlacer::isForward(Operation *op) const {
  return op == turningPoint || op->isBeforeInBlock(turningPoint);
}

bool ForwardPlacer::isCopyable(Operation *op) const {
  if (op->getNumRegions() != 0)
    return false;
  StringRef name = op->getName().stripDialect();
  switch (getOpKind(op)) {
  case OpKind::Constant:
  case OpKind::View:
  case OpKind::Broadcast:
    return true;
  case OpKind::Elementwise:
    return name == "convert" && !isDiscontinuous(op);
  case OpKind::Indexing:
    return name == "pad";
  default:
    return false;
  }
}

Operation *ForwardPlacer::findLastDefinition(ValueRange values) const {
  Operation *last = nullptr;
  SmallVector<Value> worklist(values);
  while (!worklist.empty()) {
    Operation *def = worklist.pop_back_val().getDefiningOp();
    if (!def) // an argument
      continue;
    if (def->getBlock() != &block)
      return nullptr;
    if (!isForward(def)) {
      if (!isCopyable(def))
        return nullptr;
      llvm::append_range(worklist, def->getOperands());
    } else if (getOpKind(def) != OpKind::Constant &&
               (!last || last->isBeforeInBlock(def))) {
      last = def;
    }
  }
  return last;
}

Value ForwardPlacer::place(OpBuilder &builder, Operation *definition,
                           Value value, IRMapping &copies) const {
  SmallVector<Value> worklist{value};
  while (!worklist.empty()) {
    Value current = worklist.back();
    Operation *def = current.getDefiningOp();
    // Constants may stand anywhere, behind `definition` too.
    bool isThere =
        !def || def == definition || def->isBeforeInBlock(definition);
    if (copies.contains(current) || isThere) {
      worklist.pop_back();
      continue;
    }
    size_t height = worklist.size();
    for (Value operand : def->getOperands()) {
      Operation *operandDef = operand.getDefiningOp();
      if (operandDef && operandDef != definition &&
          !operandDef->isBeforeInBlock(definition) && !copies.contains(operand))
        worklist.push_back(operand);
    }
    if (worklist.size() > height)
      continue;
    // Not at backward's location: that is how JAX marks the boundary.
    builder.clone(*def, copies)->setLoc(definition->getLoc());
  }
  return copies.lookupOrDefault(value);
}

//===----------------------------------------------------------------------===//
// Predicates
//===----------------------------------------------------------------------===//

/// True for a predicate of floats, which cannot be computed again from rounded
/// values, but takes one bit per element.
static bool isFloatPredicate(Operation *op) {
  return op->getNumResults() == 1 &&
         getElementTypeOrSelf(op->getResult(0).getType()).isInteger(1) &&
         getOpKind(op) == OpKind::Elementwise && op->getNumRegions() == 0 &&
         isDiscontinuous(op);
}

/// Moves the predicate `op` of backward to where forward has its operands.
static bool movePredicate(Operation *op, const ForwardPlacer &placer) {
  Operation *definition = placer.findLastDefinition(op->getOperands());
  if (!definition)
    return false;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(definition);
  IRMapping copies;
  for (OpOperand &operand : op->getOpOperands())
    operand.set(placer.place(builder, definition, operand.get(), copies));
  op->moveBefore(definition->getBlock(), builder.getInsertionPoint());
  if (isBackwardLocation(op->getLoc()))
    op->setLoc(definition->getLoc());
  return true;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// The last operation of the block that computes one of the first
/// `numPrimalResults` results.
static Operation *findTurningPoint(Block &block, unsigned numPrimalResults) {
  Operation *last = nullptr;
  ValueRange results = block.getTerminator()->getOperands();
  numPrimalResults = std::min<size_t>(numPrimalResults, results.size());
  for (Value result : results.take_front(numPrimalResults)) {
    Operation *def = result.getDefiningOp();
    if (def && (!last || last->isBeforeInBlock(def)))
      last = def;
  }
  return last;
}

namespace {
struct ExposeMasksPass : act::impl::ActExposeMasksPassBase<ExposeMasksPass> {
  using ActExposeMasksPassBase::ActExposeMasksPassBase;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (!function.getFunctionBody().hasOneBlock() ||
        (function->hasAttr(SymbolTable::getVisibilityAttrName()) &&
         SymbolTable::getSymbolVisibility(function) !=
             SymbolTable::Visibility::Public))
      return;
    unsigned numPrimal = getNumPrimalResults(function, primalResults);
    AutodiffGraph::hoistForward(function, numPrimal);
    Block &block = function.getFunctionBody().front();
    Operation *turningPoint = findTurningPoint(block, numPrimal);
    if (!turningPoint)
      return;

    ForwardPlacer placer(block, turningPoint);
    auto options = remark::RemarkOpts::name("ExposeMasks").category("act");
    SmallVector<Operation *> backward;
    for (Operation *op = turningPoint->getNextNode(); op;
         op = op->getNextNode())
      backward.push_back(op);
    for (Operation *op : backward) {
      Location loc = op->getLoc();
      if (std::optional<unsigned> bits = exposeSelectedIndex(op, placer))
        remark::passed(loc, options)
            << "gradient of a pool reads an index of " + std::to_string(*bits) +
                   " bits per window";
      else if (isFloatPredicate(op) && movePredicate(op, placer))
        remark::passed(loc, options) << "predicate computed in forward";
    }
  }
};
} // namespace
