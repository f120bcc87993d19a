//===- Contractions.cpp - Products of tensors -----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "act/Dialect/StablehloShell/AttributeText.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

namespace {
/// Which dimensions of the operands correspond.
struct DotNumbers {
  Dims lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  /// The others.
  Dims lhsFree, rhsFree;
};
} // namespace

static LogicalResult verifyPairs(Operation *op, StringRef what,
                                 ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() != rhs.size())
    return op->emitOpError("expects as many ")
           << what << " dimensions on both sides, got " << lhs.size() << " and "
           << rhs.size();
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    int64_t leftSize = getTensorType(op->getOperand(0)).getDimSize(left);
    int64_t rightSize = getTensorType(op->getOperand(1)).getDimSize(right);
    if (leftSize != rightSize)
      return op->emitOpError("expects equal sizes of ")
             << what << " dimensions, got " << leftSize << " and " << rightSize;
  }
  return success();
}

static LogicalResult verifyDot(Operation *op, DotNumbers &numbers) {
  int64_t lhsRank = getTensorType(op->getOperand(0)).getRank();
  int64_t rhsRank = getTensorType(op->getOperand(1)).getRank();
  Dims lhsUsed(numbers.lhsBatch), rhsUsed(numbers.rhsBatch);
  llvm::append_range(lhsUsed, numbers.lhsContracting);
  llvm::append_range(rhsUsed, numbers.rhsContracting);
  if (failed(verifyDims(op, "dimensions of operand #0", lhsUsed, lhsRank)) ||
      failed(verifyDims(op, "dimensions of operand #1", rhsUsed, rhsRank)) ||
      failed(verifyPairs(op, "batching", numbers.lhsBatch, numbers.rhsBatch)) ||
      failed(verifyPairs(op, "contracting", numbers.lhsContracting,
                         numbers.rhsContracting)))
    return failure();
  numbers.lhsFree = getOtherDims(lhsRank, {ArrayRef(lhsUsed)});
  numbers.rhsFree = getOtherDims(rhsRank, {ArrayRef(rhsUsed)});
  Dims shape;
  auto append = [&](unsigned operand, ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      shape.push_back(getTensorType(op->getOperand(operand)).getDimSize(dim));
  };
  append(0, numbers.lhsBatch);
  append(0, numbers.lhsFree);
  append(1, numbers.rhsFree);
  return verifyShape(op, "result", op->getResult(0), shape);
}

/// `x` in the type that products are summed in; the signs of integers are those
/// of `original`.
static Value emitFactor(ImplicitLocOpBuilder &b, Value x, Type original,
                        Type type) {
  if (x.getType() == type)
    return x;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    if (isa<FloatType>(original))
      return emitFloatCast(b, x, floatType);
    return lowering::isSigned(original) ? emit<arith::SIToFPOp>(b, type, x)
                                        : emit<arith::UIToFPOp>(b, type, x);
  }
  if (x.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return emit<arith::TruncIOp>(b, type, x);
  return lowering::isSigned(original) ? emit<arith::ExtSIOp>(b, type, x)
                                      : emit<arith::ExtUIOp>(b, type, x);
}

/// The three maps of a contraction: loops are batch, free dimensions of the
/// left and of the right side, contracted ones.
static SmallVector<AffineMap> getMaps(Operation *op, const DotNumbers &numbers,
                                      unsigned numResultDims) {
  MLIRContext *context = op->getContext();
  unsigned numLoops = numResultDims + numbers.lhsContracting.size();
  SmallVector<AffineExpr> lhs(getTensorType(op->getOperand(0)).getRank());
  SmallVector<AffineExpr> rhs(getTensorType(op->getOperand(1)).getRank());
  unsigned loop = 0;
  auto assign = [&](SmallVector<AffineExpr> *exprs, ArrayRef<int64_t> dims,
                    unsigned first) {
    for (auto [i, dim] : llvm::enumerate(dims))
      (*exprs)[dim] = getAffineDimExpr(first + i, context);
    return first + dims.size();
  };
  assign(&lhs, numbers.lhsBatch, loop);
  loop = assign(&rhs, numbers.rhsBatch, loop);
  loop = assign(&lhs, numbers.lhsFree, loop);
  loop = assign(&rhs, numbers.rhsFree, loop);
  assign(&lhs, numbers.lhsContracting, loop);
  assign(&rhs, numbers.rhsContracting, loop);
  return {AffineMap::get(numLoops, 0, lhs, context),
          AffineMap::get(numLoops, 0, rhs, context),
          getLeadingDimsMap(numLoops, numResultDims, context)};
}

static LogicalResult lowerContraction(Operation *op, Lowering &lowering,
                                      DotNumbers &numbers) {
  if (failed(verifyDot(op, numbers)))
    return failure();
  RankedTensorType type = convertType(getTensorType(op->getResult(0)));
  Type sumType = getAccumulatorType(type.getElementType());
  Type originals[] = {getTensorType(op->getOperand(0)).getElementType(),
                      getTensorType(op->getOperand(1)).getElementType()};
  if (isa<IntegerType>(sumType) && llvm::any_of(originals, [](Type original) {
        return isa<FloatType>(original);
      }))
    return op->emitOpError("expects a result of floats for operands of floats, "
                           "got ")
           << type;
  bool isBoolean = sumType.isInteger(1);
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  Value zero = lowering.getConstant(builder.getZeroAttr(sumType));
  Value init = lowering.createFill(type.clone(sumType), zero);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.append(numbers.lhsContracting.size(),
                   utils::IteratorType::reduction);
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    Value lhs = emitFactor(b, x[0], originals[0], sumType);
    Value rhs = emitFactor(b, x[1], originals[1], sumType);
    Value sum;
    if (isa<FloatType>(sumType))
      sum = arith::AddFOp::create(b, x[2], arith::MulFOp::create(b, lhs, rhs));
    else if (isBoolean)
      sum = arith::OrIOp::create(b, x[2], arith::AndIOp::create(b, lhs, rhs));
    else
      sum = arith::AddIOp::create(b, x[2], arith::MulIOp::create(b, lhs, rhs));
    return SmallVector<Value>{sum};
  };
  Value result = lowering
                     .createGeneric(lowering.get(op->getOperands()), init,
                                    getMaps(op, numbers, type.getRank()),
                                    iterators, emitBody)
                     .front();
  if (isa<FloatType>(sumType))
    result = lowering.createFloatCast(result, type.getElementType());
  lowering.mapResult(op, result);
  return success();
}

static LogicalResult lowerDotGeneral(Operation *op, Lowering &lowering) {
  std::string text = shell::getText(op, "dot_dimension_numbers");
  if (text.empty())
    return op->emitOpError("expects dimension numbers as "
                           "'dot_dimension_numbers'");
  DotNumbers numbers{shell::getDims(text, "lhs_batching_dimensions"),
                     shell::getDims(text, "rhs_batching_dimensions"),
                     shell::getDims(text, "lhs_contracting_dimensions"),
                     shell::getDims(text, "rhs_contracting_dimensions"),
                     {},
                     {}};
  return lowerContraction(op, lowering, numbers);
}

/// Of vectors and matrices: the last dimension with the first one.
static LogicalResult lowerDot(Operation *op, Lowering &lowering) {
  for (Value operand : op->getOperands())
    if (int64_t rank = getTensorType(operand).getRank(); rank < 1 || rank > 2)
      return op->emitOpError("expects vectors or matrices, got ")
             << operand.getType();
  DotNumbers numbers;
  numbers.lhsContracting = {getTensorType(op->getOperand(0)).getRank() - 1};
  numbers.rhsContracting = {0};
  return lowerContraction(op, lowering, numbers);
}

void mlir::act::lowering::populateContractionPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.dot", 2, lowerDot);
  patterns.add("stablehlo.dot_general", 2, lowerDotGeneral);
}
