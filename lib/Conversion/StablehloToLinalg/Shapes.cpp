//===- Shapes.cpp - Operations that move elements as they are -------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Broadcasts
//===----------------------------------------------------------------------===//

/// Dimension i of `value` becomes dimension `dims[i]` of the result, repeated
/// if its size is 1.
static Value createBroadcast(Lowering &lowering, Value value,
                             RankedTensorType type, ArrayRef<int64_t> dims) {
  RankedTensorType from = getTensorType(value);
  if (from.getNumElements() == type.getNumElements()) {
    auto order = llvm::to_vector(llvm::seq<int64_t>(from.getRank()));
    llvm::sort(order, [&](int64_t a, int64_t b) { return dims[a] < dims[b]; });
    return lowering.createReshape(lowering.createTranspose(value, order),
                                  type.getShape());
  }
  OpBuilder &builder = lowering.getBuilder();
  Dims shape;
  SmallVector<AffineExpr> exprs;
  for (auto [size, dim] : llvm::zip_equal(from.getShape(), dims))
    if (size != 1) {
      shape.push_back(size);
      exprs.push_back(builder.getAffineDimExpr(dim));
    }
  auto map = AffineMap::get(type.getRank(), 0, exprs, builder.getContext());
  return lowering.createParallel(type, lowering.createReshape(value, shape),
                                 map, [](ImplicitLocOpBuilder &, ValueRange x) {
                                   return SmallVector<Value>{x.front()};
                                 });
}

static LogicalResult lowerBroadcastTo(Operation *op, Lowering &lowering,
                                      ArrayRef<int64_t> dims) {
  RankedTensorType from = getTensorType(op->getOperand(0));
  RankedTensorType type = convertType(getTensorType(op->getResult(0)));
  if (failed(verifyDims(op, "broadcast_dimensions", dims, type.getRank())) ||
      failed(verifyType(op, "the element type of the result",
                        getTensorType(op->getResult(0)).getElementType(),
                        from.getElementType())))
    return failure();
  for (auto [size, dim] : llvm::zip_equal(from.getShape(), dims))
    if (size != 1 && size != type.getDimSize(dim))
      return op->emitOpError("expects dimensions of size 1 or of the size in "
                             "the result, got ")
             << from << " for " << type;
  Value value = lowering.get(op->getOperand(0));
  if (type == value.getType() && llvm::is_sorted(dims)) {
    if (Value element = lowering.findScalar(op->getOperand(0));
        element && type.getRank() == 0)
      lowering.mapScalar(op->getResult(0), element);
    else
      lowering.mapResult(op, value);
    return success();
  }
  if (Attribute element = Lowering::getSplatElement(value))
    value = lowering.getSplat(type, element);
  else
    value = createBroadcast(lowering, value, type, dims);
  lowering.mapResult(op, value);
  return success();
}

static LogicalResult lowerBroadcastInDim(Operation *op, Lowering &lowering) {
  FailureOr<Dims> dims = getIntegers(
      op, "broadcast_dimensions", getTensorType(op->getOperand(0)).getRank());
  return failed(dims) ? failure() : lowerBroadcastTo(op, lowering, *dims);
}

/// New dimensions in front.
static LogicalResult lowerBroadcast(Operation *op, Lowering &lowering) {
  int64_t from = getTensorType(op->getOperand(0)).getRank();
  int64_t to = getTensorType(op->getResult(0)).getRank();
  if (failed(getIntegers(op, "broadcast_sizes", to - from)))
    return failure();
  return lowerBroadcastTo(op, lowering,
                          llvm::to_vector(llvm::seq<int64_t>(to - from, to)));
}

//===----------------------------------------------------------------------===//
// Reshapes and permutations
//===----------------------------------------------------------------------===//

static LogicalResult lowerReshape(Operation *op, Lowering &lowering) {
  RankedTensorType from = getTensorType(op->getOperand(0));
  RankedTensorType to = getTensorType(op->getResult(0));
  if (from.getNumElements() != to.getNumElements() ||
      from.getElementType() != to.getElementType())
    return op->emitOpError("expects as many elements, of one type, in operand "
                           "and result, got ")
           << from << " and " << to;
  lowering.mapResult(op, lowering.createReshape(lowering.get(op->getOperand(0)),
                                                to.getShape()));
  return success();
}

static LogicalResult lowerTranspose(Operation *op, Lowering &lowering) {
  RankedTensorType from = getTensorType(op->getOperand(0));
  FailureOr<Dims> permutation = getIntegers(op, "permutation", from.getRank());
  if (failed(permutation) ||
      failed(verifyDims(op, "permutation", *permutation, from.getRank())))
    return failure();
  Dims shape = llvm::map_to_vector(
      *permutation, [&](int64_t dim) { return from.getDimSize(dim); });
  if (failed(verifyType(op, "result", op->getResult(0).getType(),
                        from.clone(shape))))
    return failure();
  Value value = lowering.get(op->getOperand(0));
  if (Attribute element = Lowering::getSplatElement(value))
    value = lowering.getSplat(getTensorType(value).clone(shape), element);
  else
    value = lowering.createTranspose(value, *permutation);
  lowering.mapResult(op, value);
  return success();
}

static LogicalResult lowerReverse(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getOperand(0));
  auto dims = op->getAttrOfType<DenseI64ArrayAttr>("dimensions");
  if (!dims)
    return op->emitOpError("expects integers as 'dimensions'");
  if (failed(verifyDims(op, "dimensions", dims, type.getRank())) ||
      failed(verifyType(op, "result", op->getResult(0).getType(), type)))
    return failure();
  Value value = lowering.get(op->getOperand(0));
  if (llvm::all_of(dims.asArrayRef(),
                   [&](int64_t dim) { return type.getDimSize(dim) == 1; })) {
    lowering.mapResult(op, value);
    return success();
  }
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange) {
    SmallVector<Value> position;
    for (auto [dim, size] : llvm::enumerate(type.getShape())) {
      Value index = linalg::IndexOp::create(b, dim);
      if (llvm::is_contained(dims.asArrayRef(), static_cast<int64_t>(dim)))
        index = emit<arith::SubIOp>(
            b, arith::ConstantIndexOp::create(b, size - 1), index);
      position.push_back(index);
    }
    return SmallVector<Value>{tensor::ExtractOp::create(b, value, position)};
  };
  lowering.mapResult(
      op, lowering.createParallel(convertType(type), {}, {}, emitBody));
  return success();
}

void mlir::act::lowering::populateShapePatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.broadcast", 1, lowerBroadcast);
  patterns.add("stablehlo.broadcast_in_dim", 1, lowerBroadcastInDim);
  patterns.add("stablehlo.reshape", 1, lowerReshape);
  patterns.add("stablehlo.transpose", 1, lowerTranspose);
  patterns.add("stablehlo.reverse", 1, lowerReverse);
}
