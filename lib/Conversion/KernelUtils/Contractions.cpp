//===- Contractions.cpp - Sums of products -------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/Contractions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;

/// The argument that `value` is, or extends.
static BlockArgument getExtendedArgument(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  return dyn_cast<BlockArgument>(value);
}

static bool hasProductBody(linalg::LinalgOp op) {
  Block &body = op->getRegion(0).front();
  auto yield = cast<linalg::YieldOp>(body.getTerminator());
  if (yield.getNumOperands() != 1)
    return false;
  Operation *sum = yield.getOperand(0).getDefiningOp();
  if (!sum || !isa<arith::AddFOp>(sum))
    return false;
  Value product = sum->getOperand(0);
  Value total = sum->getOperand(1);
  if (total != body.getArgument(2))
    std::swap(product, total);
  auto multiplication = product.getDefiningOp<arith::MulFOp>();
  if (!multiplication || total != body.getArgument(2))
    return false;
  BlockArgument lhs = getExtendedArgument(multiplication.getLhs());
  BlockArgument rhs = getExtendedArgument(multiplication.getRhs());
  if (!lhs || !rhs || lhs == rhs || lhs.getArgNumber() > 1 ||
      rhs.getArgNumber() > 1)
    return false;
  // Nothing else is computed.
  for (Operation &other : body.without_terminator())
    if (!isa<arith::ExtFOp, arith::MulFOp, arith::AddFOp>(other))
      return false;
  return llvm::count_if(body.without_terminator(), [](Operation &other) {
           return !isa<arith::ExtFOp>(other);
         }) == 2;
}

bool mlir::act::isContraction(linalg::LinalgOp op) {
  if (!op || op.getNumReductionLoops() == 0 || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1 || !hasProductBody(op))
    return false;
  if (!llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  return succeeded(dims) && !dims->k.empty() &&
         !(dims->m.empty() && dims->n.empty());
}

bool mlir::act::isCopy(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() != 0)
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return yield.getOperand(0) == op.getBody()->getArgument(0);
}

bool mlir::act::isScalarFill(Operation *op) {
  if (isa<linalg::FillOp>(op))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op);
  return generic && isCopy(generic) &&
         !isa<ShapedType>(generic.getInputs()[0].getType());
}

bool mlir::act::startsFromZero(linalg::GenericOp op) {
  auto fill = dyn_cast_or_null<linalg::GenericOp>(op->getPrevNode());
  return fill && isScalarFill(fill) &&
         fill.getOutputs()[0] == op.getOutputs()[0] &&
         matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
}
