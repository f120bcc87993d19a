//===- SeparateElements.cpp - Reductions without other results -===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SeparateElements.h"

using namespace mlir;
using namespace mlir::act;

/// What `results` of the body depend on: operations in their order, and
/// arguments.
static void collectUsed(linalg::GenericOp op, ArrayRef<unsigned> results,
                        llvm::SetVector<Operation *> &used,
                        llvm::SmallDenseSet<unsigned> &arguments) {
  Block *body = op.getBody();
  llvm::SmallDenseSet<Value> values;
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  for (unsigned result : results)
    values.insert(yield.getOperand(result));
  SmallVector<Operation *> backwards;
  for (Operation &inner : llvm::reverse(body->without_terminator())) {
    if (llvm::none_of(inner.getResults(),
                      [&](Value value) { return values.contains(value); }))
      continue;
    backwards.push_back(&inner);
    inner.walk([&](Operation *nested) {
      values.insert(nested->operand_begin(), nested->operand_end());
    });
  }
  for (Operation *inner : llvm::reverse(backwards))
    used.insert(inner);
  for (BlockArgument argument : body->getArguments())
    if (values.contains(argument))
      arguments.insert(argument.getArgNumber());
}

/// Whether `output` has an element of each iteration, and of no other.
static bool hasElementPerIteration(linalg::GenericOp op, OpOperand &output) {
  AffineMap map = op.getMatchingIndexingMap(&output);
  return llvm::all_of(llvm::seq(op.getNumLoops()),
                      [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// A copy of `op` with some of its results.
static void createPart(linalg::GenericOp op, ArrayRef<unsigned> results,
                       bool reduces) {
  llvm::SetVector<Operation *> used;
  llvm::SmallDenseSet<unsigned> arguments;
  collectUsed(op, results, used, arguments);
  unsigned numInputs = op.getNumDpsInputs();
  // An operand has to tell the extent of each loop; a result of each iteration
  // does.
  for (OpOperand &operand : op.getDpsInitsMutable())
    if (hasElementPerIteration(op, operand))
      arguments.insert(operand.getOperandNumber());
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, outputMaps;
  SmallVector<unsigned> order;
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    bool isOutput =
        number >= numInputs && llvm::is_contained(results, number - numInputs);
    if (isOutput || !arguments.contains(number))
      continue;
    inputs.push_back(operand.get());
    inputMaps.push_back(op.getMatchingIndexingMap(&operand));
    order.push_back(number);
  }
  for (unsigned result : results) {
    OpOperand &operand = op->getOpOperand(numInputs + result);
    outputs.push_back(operand.get());
    outputMaps.push_back(op.getMatchingIndexingMap(&operand));
    order.push_back(numInputs + result);
  }
  inputMaps.append(outputMaps);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  if (!reduces)
    llvm::fill(iterators, utils::IteratorType::parallel);
  OpBuilder builder(op);
  linalg::GenericOp::create(
      builder, op.getLoc(), inputs, outputs, inputMaps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange blockArguments) {
        IRMapping mapping;
        for (auto [number, argument] : llvm::zip_equal(order, blockArguments))
          mapping.map(op.getBody()->getArgument(number), argument);
        for (Operation *inner : used)
          nested.clone(*inner, mapping);
        SmallVector<Value> yielded;
        auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
        for (unsigned result : results)
          yielded.push_back(mapping.lookupOrDefault(yield.getOperand(result)));
        linalg::YieldOp::create(nested, loc, yielded);
      });
}

void mlir::act::separateElements(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  SmallVector<unsigned> elements, totals;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) {
    bool isElement = hasElementPerIteration(op, *op.getDpsInitOperand(i));
    (isElement ? elements : totals).push_back(i);
  }
  if (loops.empty() || elements.empty())
    return;
  llvm::SetVector<Operation *> used;
  llvm::SmallDenseSet<unsigned> arguments;
  collectUsed(op, elements, used, arguments);
  for (unsigned total : totals)
    if (arguments.contains(op.getNumDpsInputs() + total))
      return;
  if (!totals.empty())
    createPart(op, totals, /*reduces=*/true);
  createPart(op, elements, /*reduces=*/false);
  op.erase();
}
