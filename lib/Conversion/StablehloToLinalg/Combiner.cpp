//===- Combiner.cpp - Combining elements by a region ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "ScalarBuilder.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

/// True if the region adds or multiplies its two arguments, floats of less than
/// 32 bits.
static bool isNarrowSum(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return false;
  Operation &op = block.front();
  StringRef name = op.getName().getStringRef();
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(block.getArgument(0).getType()));
  return (name == "stablehlo.add" || name == "stablehlo.multiply") && type &&
         type.getWidth() < 32 &&
         op.getOperands() == ValueRange(block.getArguments()) &&
         block.back().getOperand(0) == op.getResult(0);
}

FailureOr<Combiner> Combiner::get(Operation *op, Lowering &lowering,
                                  ArrayRef<Type> elementTypes) {
  if (op->getNumRegions() != 1)
    return op->emitOpError("expects one region, got ") << op->getNumRegions();
  return get(op, op->getRegion(0), lowering, elementTypes);
}

FailureOr<Combiner> Combiner::get(Operation *op, Region &region,
                                  Lowering &lowering,
                                  ArrayRef<Type> elementTypes) {
  unsigned count = elementTypes.size();
  if (failed(lowering.verifyScalarRegion(op, region, 2 * count, count)))
    return failure();
  for (unsigned i = 0; i < count; ++i) {
    auto type = RankedTensorType::get({}, elementTypes[i]);
    Value values[] = {region.getArgument(i), region.getArgument(count + i),
                      region.front().back().getOperand(i)};
    for (Value value : values)
      if (failed(verifyType(op, "argument or result of the region",
                            value.getType(), type)))
        return failure();
  }
  Combiner combiner(region, lowering);
  combiner.isWide = isNarrowSum(region);
  return combiner;
}

SmallVector<Value> Combiner::createInits(ArrayRef<int64_t> shape,
                                         ValueRange inits) const {
  ImplicitLocOpBuilder &b = lowering->getBuilder();
  return llvm::map_to_vector(inits, [&](Value init) {
    Type type = convertType(getTensorType(init).getElementType());
    Type wide = getAccumulatorType(type);
    auto tensorType = RankedTensorType::get(shape, type);
    Value element = lowering->findScalar(init);
    if (!element)
      return wide == type
                 ? lowering->createSplatOf(tensorType, init)
                 : lowering->createFloatCast(
                       lowering->createSplatOf(tensorType, init), wide);
    if (wide != type)
      element = emitFloatCast(b, element, cast<FloatType>(wide));
    return lowering->createFill(tensorType.clone(wide), element);
  });
}

SmallVector<Value> Combiner::emit(ImplicitLocOpBuilder &b,
                                  ValueRange accumulators,
                                  ValueRange elements) const {
  SmallVector<Value> arguments(accumulators);
  llvm::append_range(arguments, elements);
  if (isWide)
    arguments[1] =
        emitFloatCast(b, arguments[1], cast<FloatType>(arguments[0].getType()));
  return lowering->emitScalarRegion(b, *region, arguments);
}

SmallVector<Value> Combiner::createResults(ValueRange accumulators) const {
  Block &block = region->front();
  SmallVector<Value> results;
  for (auto [accumulator, value] :
       llvm::zip_equal(accumulators, block.back().getOperands())) {
    Type type = convertType(getElementTypeOrSelf(value.getType()));
    results.push_back(isWide ? lowering->createFloatCast(accumulator, type)
                             : accumulator);
  }
  return results;
}
