//===- Windows.cpp - Reductions in windows --------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "WindowNumbers.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static LogicalResult readPadding(Operation *op, int64_t rank, Dims &low,
                                 Dims &high) {
  low.assign(rank, 0);
  high.assign(rank, 0);
  Attribute attribute = op->getAttr("padding");
  if (!attribute)
    return success();
  auto padding = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!padding || !padding.getElementType().isInteger(64) ||
      padding.getType().getShape() != ArrayRef<int64_t>{rank, 2})
    return op->emitOpError("expects ")
           << rank << "x2 integers of i64 as 'padding', got " << attribute;
  auto values = padding.getValues<int64_t>();
  for (int64_t dim = 0; dim < rank; ++dim) {
    low[dim] = values[2 * dim];
    high[dim] = values[2 * dim + 1];
  }
  return success();
}

LogicalResult WindowNumbers::read(Operation *op, RankedTensorType type) {
  int64_t rank = type.getRank();
  FailureOr<Dims> given[] = {getIntegers(op, "window_dimensions", rank),
                             getIntegers(op, "window_strides", rank, 1),
                             getIntegers(op, "base_dilations", rank, 1),
                             getIntegers(op, "window_dilations", rank, 1)};
  for (const FailureOr<Dims> &values : given) {
    if (failed(values))
      return failure();
    for (int64_t value : *values)
      if (value <= 0)
        return op->emitOpError("expects positive sizes, strides and dilations, "
                               "got ")
               << value;
  }
  sizes = *given[0];
  strides = *given[1];
  baseDilations = *given[2];
  dilations = *given[3];
  if (failed(readPadding(op, rank, low, high)))
    return failure();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (sizes[dim] != 1)
      windowDims.push_back(dim);
    int64_t size = type.getDimSize(dim);
    int64_t length = size == 0 ? 0 : (size - 1) * baseDilations[dim] + 1;
    int64_t padded = low[dim] + length + high[dim];
    int64_t extent = (sizes[dim] - 1) * dilations[dim] + 1;
    resultShape.push_back(
        padded < extent ? 0 : (padded - extent) / strides[dim] + 1);
  }
  return success();
}

Value WindowNumbers::createPadded(Lowering &lowering, Value value,
                                  Value padding) const {
  Dims interior = llvm::map_to_vector(
      baseDilations, [](int64_t dilation) { return dilation - 1; });
  return lowering.createPad(value, padding, low, high, interior);
}

Value WindowNumbers::createShape(Lowering &lowering) const {
  Dims shape =
      llvm::map_to_vector(windowDims, [&](int64_t dim) { return sizes[dim]; });
  return lowering.createEmpty(
      RankedTensorType::get(shape, lowering.getBuilder().getF32Type()));
}

AffineMap WindowNumbers::getInputMap(MLIRContext *context) const {
  unsigned rank = sizes.size();
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim < rank; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context) * strides[dim]);
  for (auto [i, dim] : llvm::enumerate(windowDims))
    exprs[dim] =
        exprs[dim] + getAffineDimExpr(rank + i, context) * dilations[dim];
  return AffineMap::get(rank + windowDims.size(), 0, exprs, context);
}

AffineMap WindowNumbers::getShapeMap(MLIRContext *context) const {
  unsigned rank = sizes.size(), count = windowDims.size();
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < count; ++i)
    exprs.push_back(getAffineDimExpr(rank + i, context));
  return AffineMap::get(rank + count, 0, exprs, context);
}

AffineMap WindowNumbers::getResultMap(MLIRContext *context) const {
  unsigned rank = sizes.size();
  return getLeadingDimsMap(rank + windowDims.size(), rank, context);
}

SmallVector<utils::IteratorType> WindowNumbers::getIterators() const {
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  iterators.append(windowDims.size(), utils::IteratorType::reduction);
  return iterators;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static LogicalResult lowerReduceWindow(Operation *op, Lowering &lowering) {
  SmallVector<Type> elementTypes;
  if (failed(verifyInputsAndInits(op, elementTypes)))
    return failure();
  WindowNumbers numbers;
  if (failed(numbers.read(op, getTensorType(op->getOperand(0)))) ||
      failed(verifyResults(op, numbers.resultShape, elementTypes)))
    return failure();
  FailureOr<Combiner> combiner = Combiner::get(op, lowering, elementTypes);
  if (failed(combiner))
    return failure();
  unsigned count = op->getNumResults();
  ValueRange inits = op->getOperands().drop_front(count);
  MLIRContext *context = op->getContext();
  SmallVector<Value> inputs;
  for (auto [input, init] :
       llvm::zip_equal(op->getOperands().take_front(count), inits))
    inputs.push_back(numbers.createPadded(lowering, lowering.get(input), init));
  inputs.push_back(numbers.createShape(lowering));
  SmallVector<AffineMap> maps(count, numbers.getInputMap(context));
  maps.push_back(numbers.getShapeMap(context));
  maps.append(count, numbers.getResultMap(context));
  SmallVector<Value> sums = lowering.createGeneric(
      inputs, combiner->createInits(numbers.resultShape, inits), maps,
      numbers.getIterators(), [&](ImplicitLocOpBuilder &b, ValueRange x) {
        return combiner->emit(b, x.drop_front(count + 1), x.take_front(count));
      });
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), combiner->createResults(sums)))
    lowering.map(result, value);
  return success();
}

void mlir::act::lowering::populateWindowPatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.reduce_window", -1, lowerReduceWindow);
  populateSelectAndScatterPatterns(patterns);
}
