//===- Reductions.cpp - Reductions along dimensions -----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "PopulatePatterns.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

/// Inputs of one shape, then as many initial values of rank 0.
LogicalResult
mlir::act::lowering::verifyInputsAndInits(Operation *op,
                                          SmallVectorImpl<Type> &elementTypes) {
  unsigned count = op->getNumResults();
  if (count == 0 || op->getNumOperands() != 2 * count)
    return op->emitOpError("expects an input and an initial value per result, "
                           "got ")
           << op->getNumOperands() << " operands for " << count << " results";
  ArrayRef<int64_t> shape = getTensorType(op->getOperand(0)).getShape();
  for (unsigned i = 0; i < count; ++i) {
    RankedTensorType type = getTensorType(op->getOperand(i));
    elementTypes.push_back(type.getElementType());
    if (failed(verifyShape(op, "operand #" + Twine(i), op->getOperand(i),
                           shape)) ||
        failed(verifyType(op, "operand #" + Twine(count + i),
                          op->getOperand(count + i).getType(),
                          type.clone(ArrayRef<int64_t>()))))
      return failure();
  }
  return success();
}

LogicalResult mlir::act::lowering::verifyResults(Operation *op,
                                                 ArrayRef<int64_t> shape,
                                                 ArrayRef<Type> elementTypes) {
  for (auto [i, element] : llvm::enumerate(elementTypes))
    if (failed(verifyType(op, "result #" + Twine(i), op->getResult(i).getType(),
                          RankedTensorType::get(shape, element))))
      return failure();
  return success();
}

static LogicalResult lowerReduce(Operation *op, Lowering &lowering) {
  SmallVector<Type> elementTypes;
  if (failed(verifyInputsAndInits(op, elementTypes)))
    return failure();
  unsigned count = op->getNumResults();
  RankedTensorType from = getTensorType(op->getOperand(0));
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dimensions");
  if (!dims)
    return op->emitOpError("expects integers as 'dimensions'");
  if (failed(verifyDims(op, "dimensions", dims, from.getRank())))
    return failure();
  Dims kept = getOtherDims(from.getRank(), {dims.asArrayRef()});
  Dims shape = llvm::map_to_vector(
      kept, [&](int64_t dim) { return from.getDimSize(dim); });
  if (failed(verifyResults(op, shape, elementTypes)))
    return failure();
  FailureOr<Combiner> combiner = Combiner::get(op, lowering, elementTypes);
  if (failed(combiner))
    return failure();

  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  AffineMap identity = builder.getMultiDimIdentityMap(from.getRank());
  SmallVector<unsigned> positions(kept.begin(), kept.end());
  SmallVector<AffineMap> maps(count, identity);
  maps.append(count, identity.getSubMap(positions));
  SmallVector<utils::IteratorType> iterators(from.getRank(),
                                             utils::IteratorType::reduction);
  for (int64_t dim : kept)
    iterators[dim] = utils::IteratorType::parallel;
  SmallVector<Value> sums = lowering.createGeneric(
      lowering.get(op->getOperands().take_front(count)),
      combiner->createInits(shape, op->getOperands().drop_front(count)), maps,
      iterators, [&](ImplicitLocOpBuilder &b, ValueRange x) {
        return combiner->emit(b, x.drop_front(count), x.take_front(count));
      });
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), combiner->createResults(sums)))
    lowering.map(result, value);
  return success();
}

/// An elementwise operation with a region.
static LogicalResult lowerMap(Operation *op, Lowering &lowering) {
  if (op->getNumRegions() != 1 || op->getNumResults() != 1)
    return op->emitOpError("expects one region and one result");
  RankedTensorType type = getTensorType(op->getResult(0));
  unsigned count = op->getNumOperands();
  Region &region = op->getRegion(0);
  if (failed(lowering.verifyScalarRegion(op, region, count, 1)))
    return failure();
  for (auto [operand, argument] :
       llvm::zip_equal(op->getOperands(), region.getArguments()))
    if (failed(verifyType(op, "operand", operand.getType(),
                          type.clone(getElementTypeOrSelf(argument)))))
      return failure();
  SmallVector<AffineMap> maps(
      count, lowering.getBuilder().getMultiDimIdentityMap(type.getRank()));
  lowering.mapResult(op, lowering.createParallel(
                             convertType(type), lowering.get(op->getOperands()),
                             maps, [&](ImplicitLocOpBuilder &b, ValueRange x) {
                               return lowering.emitScalarRegion(
                                   b, region, x.take_front(count));
                             }));
  return success();
}

void mlir::act::lowering::populateReductionPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.map", -1, lowerMap);
  patterns.add("stablehlo.reduce", -1, lowerReduce);
}
