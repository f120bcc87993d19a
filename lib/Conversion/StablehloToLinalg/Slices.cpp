//===- Slices.cpp - Slices, padding, concatenation ------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Places known now
//===----------------------------------------------------------------------===//

static LogicalResult lowerSlice(Operation *op, Lowering &lowering) {
  RankedTensorType from = getTensorType(op->getOperand(0));
  int64_t rank = from.getRank();
  FailureOr<Dims> starts = getIntegers(op, "start_indices", rank);
  FailureOr<Dims> limits = getIntegers(op, "limit_indices", rank);
  FailureOr<Dims> strides = getIntegers(op, "strides", rank, 1);
  if (failed(starts) || failed(limits) || failed(strides))
    return failure();
  Dims shape;
  for (auto [size, start, limit, stride] :
       llvm::zip_equal(from.getShape(), *starts, *limits, *strides)) {
    if (start < 0 || limit < start || limit > size || stride <= 0)
      return op->emitOpError("expects 0 <= start <= limit <= size and a "
                             "positive stride in every dimension, got start ")
             << start << ", limit " << limit << ", stride " << stride
             << " for size " << size;
    shape.push_back(llvm::divideCeil(limit - start, stride));
  }
  if (failed(verifyType(op, "result", op->getResult(0).getType(),
                        from.clone(shape))))
    return failure();
  lowering.mapResult(op, lowering.createSlice(lowering.get(op->getOperand(0)),
                                              *starts, shape, *strides));
  return success();
}

static LogicalResult lowerPad(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getOperand(0));
  int64_t rank = type.getRank();
  FailureOr<Dims> low = getIntegers(op, "edge_padding_low", rank);
  FailureOr<Dims> high = getIntegers(op, "edge_padding_high", rank);
  FailureOr<Dims> interior = getIntegers(op, "interior_padding", rank);
  if (failed(low) || failed(high) || failed(interior))
    return failure();
  Dims shape;
  for (auto [size, before, after, between] :
       llvm::zip_equal(type.getShape(), *low, *high, *interior)) {
    if (between < 0)
      return op->emitOpError("expects no negative 'interior_padding', got ")
             << between;
    shape.push_back(before + after + size +
                    std::max<int64_t>(size - 1, 0) * between);
  }
  if (failed(verifyType(op, "result", op->getResult(0).getType(),
                        type.clone(shape))) ||
      failed(verifyType(op, "operand #1", op->getOperand(1).getType(),
                        type.clone(ArrayRef<int64_t>()))))
    return failure();
  lowering.mapResult(op, lowering.createPad(lowering.get(op->getOperand(0)),
                                            op->getOperand(1), *low, *high,
                                            *interior));
  return success();
}

static LogicalResult lowerConcatenate(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getResult(0));
  FailureOr<int64_t> dim = getInteger(op, "dimension", type.getRank());
  if (failed(dim))
    return failure();
  Dims shape(type.getShape()), offsets(type.getRank(), 0),
      strides(type.getRank(), 1);
  int64_t length = 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    RankedTensorType part = getTensorType(operand);
    if (part.getRank() == type.getRank())
      shape[*dim] = part.getDimSize(*dim);
    if (failed(verifyType(op, "operand #" + Twine(i), part, type.clone(shape))))
      return failure();
    length += shape[*dim];
  }
  if (length != type.getDimSize(*dim))
    return op->emitOpError("expects operands of ")
           << type.getDimSize(*dim) << " in dimension " << *dim
           << " together, got " << length;
  OpBuilder &builder = lowering.getBuilder();
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  if (op->getNumOperands() == 1) {
    lowering.mapResult(op, lowering.get(op->getOperand(0)));
    return success();
  }
  Value result = lowering.createEmpty(convertType(type));
  for (Value operand : op->getOperands()) {
    RankedTensorType part = getTensorType(operand);
    if (part.getNumElements() == 0)
      continue;
    result = tensor::InsertSliceOp::create(
        lowering.getBuilder(), lowering.get(operand), result,
        attributes(offsets), attributes(part.getShape()), attributes(strides));
    offsets[*dim] += part.getDimSize(*dim);
  }
  lowering.mapResult(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Places known later
//===----------------------------------------------------------------------===//

/// Checks that the operands from `first` on are the start of a block of shape
/// `sizes` in `operand`.
static LogicalResult verifyStart(Operation *op, Value operand, unsigned first,
                                 ArrayRef<int64_t> sizes) {
  RankedTensorType type = getTensorType(operand);
  if (op->getNumOperands() != first + type.getRank())
    return op->emitOpError("expects ")
           << type.getRank() << " start indices, got "
           << op->getNumOperands() - first;
  for (Value start : op->getOperands().drop_front(first))
    if (getTensorType(start).getRank() != 0 ||
        !isa<IntegerType>(getTensorType(start).getElementType()))
      return op->emitOpError("expects rank-0 tensors of integers as start "
                             "indices, got ")
             << start.getType();
  for (auto [size, limit] : llvm::zip_equal(sizes, type.getShape()))
    if (size < 0 || size > limit)
      return op->emitOpError("expects a block within ")
             << type << ", got sizes [" << sizes << "]";
  return success();
}

static SmallVector<OpFoldResult> createStart(Lowering &lowering,
                                             ValueRange starts,
                                             ArrayRef<int64_t> limits,
                                             ArrayRef<int64_t> sizes) {
  SmallVector<OpFoldResult> offsets;
  for (auto [start, limit, size] : llvm::zip_equal(starts, limits, sizes))
    offsets.push_back(
        getAsOpFoldResult(lowering.createClampedStart(start, limit, size)));
  return offsets;
}

static LogicalResult lowerDynamicSlice(Operation *op, Lowering &lowering) {
  if (op->getNumOperands() == 0)
    return op->emitOpError("expects an operand");
  RankedTensorType type = getTensorType(op->getOperand(0));
  FailureOr<Dims> sizes = getIntegers(op, "slice_sizes", type.getRank());
  if (failed(sizes) || failed(verifyStart(op, op->getOperand(0), 1, *sizes)) ||
      failed(verifyType(op, "result", op->getResult(0).getType(),
                        type.clone(*sizes))))
    return failure();
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  SmallVector<OpFoldResult> offsets = createStart(
      lowering, op->getOperands().drop_front(1), type.getShape(), *sizes);
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  lowering.mapResult(
      op, builder.createOrFold<tensor::ExtractSliceOp>(
              convertType(getTensorType(op->getResult(0))),
              lowering.get(op->getOperand(0)), offsets,
              getAsIndexOpFoldResult(builder.getContext(), *sizes), strides));
  return success();
}

static LogicalResult lowerDynamicUpdateSlice(Operation *op,
                                             Lowering &lowering) {
  if (op->getNumOperands() < 2)
    return op->emitOpError("expects an operand and an update");
  RankedTensorType type = getTensorType(op->getOperand(0));
  RankedTensorType update = getTensorType(op->getOperand(1));
  if (update.getRank() != type.getRank())
    return op->emitOpError("expects an update of rank ")
           << type.getRank() << ", got " << update;
  if (failed(verifyStart(op, op->getOperand(0), 2, update.getShape())) ||
      failed(verifyType(op, "operand #1", update,
                        type.clone(update.getShape()))) ||
      failed(verifyType(op, "result", op->getResult(0).getType(), type)))
    return failure();
  if (update.getNumElements() == 0 || update == type) {
    lowering.mapResult(op,
                       lowering.get(op->getOperand(update == type ? 1 : 0)));
    return success();
  }
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  SmallVector<OpFoldResult> offsets =
      createStart(lowering, op->getOperands().drop_front(2), type.getShape(),
                  update.getShape());
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  lowering.mapResult(
      op, tensor::InsertSliceOp::create(
              builder, lowering.get(op->getOperand(1)),
              lowering.getWritable(op->getOperand(0)), offsets,
              getAsIndexOpFoldResult(builder.getContext(), update.getShape()),
              strides));
  return success();
}

void mlir::act::lowering::populateSlicePatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.slice", 1, lowerSlice);
  patterns.add("stablehlo.pad", 2, lowerPad);
  patterns.add("stablehlo.concatenate", -1, lowerConcatenate);
  patterns.add("stablehlo.dynamic_slice", -1, lowerDynamicSlice);
  patterns.add("stablehlo.dynamic_update_slice", -1, lowerDynamicUpdateSlice);
}
