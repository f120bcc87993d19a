//===- Scatter.cpp - Blocks written at indices ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scatter is a loop over blocks, each of which is combined with the part of
// the input that it covers; blocks that are not wholly inside the input are
// left out, as XLA does. If there is one block per batch element, as for the
// gradient of a pick of one element from each row, every element of the result
// asks instead whether it is hit, which runs in parallel and fuses.
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "IndexVectors.h"
#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "act/Dialect/StablehloShell/AttributeText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

namespace {
class ScatterLowering {
public:
  ScatterLowering(Operation *op, Lowering &lowering)
      : op(op), lowering(lowering), builder(lowering.getBuilder()),
        count(op->getNumResults()) {}

  LogicalResult lower();

private:
  LogicalResult verify();
  bool hasOneBlockPerElement() const;
  void lowerToSelect(const Combiner &combiner);
  SmallVector<Value> emitSelected(ImplicitLocOpBuilder &b,
                                  const Combiner &combiner, ValueRange x);
  /// `value` as an input of a loop over the input of the scatter: `dims` tells
  /// which dimension of that each of its dimensions is, -1 for those of size 1.
  std::pair<Value, AffineMap> createView(Value value, ArrayRef<int64_t> dims);
  void lowerToLoop(const Combiner &combiner);

  /// Blocks with the dimensions `positionDims` collapsed to a first one.
  Value createBlocks(Value updates);
  /// Index vectors as rows of a matrix.
  Value createIndexRows();
  /// The number of the block in every dimension of `positionDims`.
  SmallVector<Value> createPosition(Value number);
  SmallVector<Value> createUpdated(const Combiner &combiner, ValueRange inputs,
                                   ValueRange blocks, Value number,
                                   ArrayRef<OpFoldResult> offsets);

  Value getIndices() { return op->getOperand(count); }
  RankedTensorType getInputType() { return getTensorType(op->getOperand(0)); }
  RankedTensorType getUpdateType() {
    return getTensorType(op->getOperand(count + 1));
  }

  Operation *op;
  Lowering &lowering;
  ImplicitLocOpBuilder &builder;
  unsigned count;
  BlockNumbers numbers;
  SmallVector<Type> elementTypes;
};
} // namespace

LogicalResult ScatterLowering::verify() {
  if (count == 0 || op->getNumOperands() != 2 * count + 1)
    return op->emitOpError("expects an input and updates per result and "
                           "indices, got ")
           << op->getNumOperands() << " operands for " << count << " results";
  std::string text = shell::getText(op, "scatter_dimension_numbers");
  if (text.empty())
    return op->emitOpError(
        "expects dimension numbers as 'scatter_dimension_numbers'");
  RankedTensorType input = getInputType(), update = getUpdateType();
  for (unsigned i = 0; i < count; ++i) {
    elementTypes.push_back(getTensorType(op->getOperand(i)).getElementType());
    if (failed(verifyType(op, "operand #" + Twine(i),
                          op->getOperand(i).getType(),
                          input.clone(elementTypes[i]))) ||
        failed(verifyType(op, "operand #" + Twine(count + 1 + i),
                          op->getOperand(count + 1 + i).getType(),
                          update.clone(elementTypes[i]))))
      return failure();
  }
  if (failed(verifyResults(op, input.getShape(), elementTypes)))
    return failure();
  numbers.offsetDims = shell::getDims(text, "update_window_dims");
  numbers.droppedDims = shell::getDims(text, "inserted_window_dims");
  numbers.batchDims = shell::getDims(text, "input_batching_dims");
  numbers.indexBatchDims =
      shell::getDims(text, "scatter_indices_batching_dims");
  numbers.indexedDims = shell::getDims(text, "scatter_dims_to_operand_dims");
  numbers.vectorDim = shell::getDim(text, "index_vector_dim");
  return numbers.complete(op, input, getTensorType(getIndices()), update);
}

//===----------------------------------------------------------------------===//
// One block per batch element
//===----------------------------------------------------------------------===//

/// True if that holds and blocks are whole except where they are one element
/// long, and if not the better part of the input would be copied.
bool ScatterLowering::hasOneBlockPerElement() const {
  RankedTensorType input = getTensorType(op->getOperand(0));
  RankedTensorType update = getTensorType(op->getOperand(count + 1));
  int64_t blocks = 1, batch = 1;
  for (int64_t dim : numbers.positionDims)
    blocks *= update.getDimSize(dim);
  for (int64_t dim : numbers.batchDims)
    batch *= input.getDimSize(dim);
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    bool isIndexed =
        llvm::is_contained(numbers.indexedDims, static_cast<int64_t>(dim));
    bool isBatch =
        llvm::is_contained(numbers.batchDims, static_cast<int64_t>(dim));
    if (isIndexed ? numbers.sizes[dim] != 1
                  : !isBatch && numbers.sizes[dim] != size)
      return false;
  }
  bool isFresh =
      Lowering::getSplatElement(lowering.get(op->getOperand(0))) != Attribute();
  return blocks == batch && (isFresh || batch > 1);
}

std::pair<Value, AffineMap>
ScatterLowering::createView(Value value, ArrayRef<int64_t> dims) {
  Dims shape;
  SmallVector<AffineExpr> exprs;
  for (auto [size, dim] :
       llvm::zip_equal(getTensorType(value).getShape(), dims))
    if (dim >= 0 && size != 1) {
      shape.push_back(size);
      exprs.push_back(builder.getAffineDimExpr(dim));
    }
  return {
      lowering.createReshape(value, shape),
      AffineMap::get(getInputType().getRank(), 0, exprs, builder.getContext())};
}

/// The body of the loop over the input. Its inputs are entries of index
/// vectors, updates and the elements of inputs.
SmallVector<Value> ScatterLowering::emitSelected(ImplicitLocOpBuilder &b,
                                                 const Combiner &combiner,
                                                 ValueRange x) {
  Type indexType = getTensorType(getIndices()).getElementType();
  Value isHit = emitConstant(b, b.getI1Type(), 1);
  for (auto [i, dim] : llvm::enumerate(numbers.indexedDims)) {
    Value index = linalg::IndexOp::create(b, dim);
    Value start = emitIndexCast(b, x[i], indexType);
    isHit = emit<arith::AndIOp>(
        b, isHit, emitCompare(b, arith::CmpIPredicate::eq, index, start));
  }
  ValueRange updates = x.drop_front(numbers.indexedDims.size());
  SmallVector<Value> old(updates.slice(count, count));
  for (auto [value, input] :
       llvm::zip_equal(old, op->getOperands().take_front(count)))
    if (Attribute splat = Lowering::getSplatElement(lowering.get(input)))
      value = arith::ConstantOp::create(b, cast<TypedAttr>(splat));
  SmallVector<Value> results = combiner.emit(b, old, updates.take_front(count));
  for (auto [result, value] : llvm::zip_equal(results, old))
    result = emitSelect(b, isHit, result, value);
  return results;
}

void ScatterLowering::lowerToSelect(const Combiner &combiner) {
  RankedTensorType type = getInputType();
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  // Dimensions of blocks and indices become dimensions of the input; others
  // have size 1.
  Dims blockDims(getUpdateType().getRank(), -1);
  for (auto [dim, offsetDim] :
       llvm::zip_equal(numbers.windowDims, numbers.offsetDims))
    blockDims[offsetDim] = dim;
  for (int64_t dim : numbers.batchDims)
    blockDims[numbers.positionDims[numbers.getBatchPosition(dim)]] = dim;
  Dims indexDims = llvm::map_to_vector(
      numbers.positionDims, [&](int64_t dim) { return blockDims[dim]; });

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  auto addInput = [&](std::pair<Value, AffineMap> view) {
    inputs.push_back(view.first);
    maps.push_back(view.second);
  };
  for (unsigned i = 0; i < numbers.indexedDims.size(); ++i)
    addInput(createView(
        createIndexEntry(lowering, numbers, lowering.get(getIndices()), i),
        indexDims));
  for (Value update : op->getOperands().drop_front(count + 1))
    addInput(createView(lowering.get(update), blockDims));
  for (Value input : op->getOperands().take_front(count))
    addInput({lowering.get(input), identity});
  SmallVector<Value> outputs;
  for (Type element : elementTypes)
    outputs.push_back(lowering.createEmpty(type.clone(convertType(element))));
  maps.append(count, identity);
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  SmallVector<Value> results =
      lowering.createGeneric(inputs, outputs, maps, iterators,
                             [&](ImplicitLocOpBuilder &b, ValueRange x) {
                               return emitSelected(b, combiner, x);
                             });
  for (auto [from, to] : llvm::zip_equal(op->getResults(), results))
    lowering.map(from, to);
}

//===----------------------------------------------------------------------===//
// A loop over blocks
//===----------------------------------------------------------------------===//

Value ScatterLowering::createBlocks(Value updates) {
  Dims order(numbers.positionDims), shape{1};
  RankedTensorType type = getTensorType(updates);
  for (int64_t dim : numbers.positionDims)
    shape.front() *= type.getDimSize(dim);
  for (int64_t dim : numbers.offsetDims) {
    order.push_back(dim);
    shape.push_back(type.getDimSize(dim));
  }
  return lowering.createReshape(lowering.createTranspose(updates, order),
                                shape);
}

Value ScatterLowering::createIndexRows() {
  Value indices = lowering.get(getIndices());
  RankedTensorType type = getTensorType(indices);
  Dims order(numbers.indexDims);
  if (numbers.vectorDim < type.getRank())
    order.push_back(numbers.vectorDim);
  auto entries = static_cast<int64_t>(numbers.indexedDims.size());
  int64_t rows = entries == 0 ? 1 : type.getNumElements() / entries;
  return lowering.createReshape(lowering.createTranspose(indices, order),
                                {rows, entries});
}

SmallVector<Value> ScatterLowering::createPosition(Value number) {
  SmallVector<Value> position(numbers.positionDims.size());
  if (numbers.batchDims.empty())
    return position;
  for (unsigned i = position.size(); i > 0; --i) {
    Value size = lowering.getIndexConstant(
        getUpdateType().getDimSize(numbers.positionDims[i - 1]));
    position[i - 1] =
        i == 1 ? number : emit<arith::RemUIOp>(builder, number, size);
    number = emit<arith::DivUIOp>(builder, number, size);
  }
  return position;
}

SmallVector<Value>
ScatterLowering::createUpdated(const Combiner &combiner, ValueRange inputs,
                               ValueRange blocks, Value number,
                               ArrayRef<OpFoldResult> offsets) {
  Dims window(getTensorType(blocks.front()).getShape().drop_front());
  if (window.empty()) {
    SmallVector<Value> position =
        getValueOrCreateConstantIndexOp(builder, builder.getLoc(), offsets);
    SmallVector<Value> old, updates;
    for (auto [input, block] : llvm::zip_equal(inputs, blocks)) {
      old.push_back(tensor::ExtractOp::create(builder, input, position));
      updates.push_back(tensor::ExtractOp::create(builder, block, number));
    }
    SmallVector<Value> results = combiner.emit(builder, old, updates);
    for (auto [result, input] : llvm::zip_equal(results, inputs))
      result = tensor::InsertOp::create(builder, result, input, position);
    return results;
  }
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  SmallVector<OpFoldResult> sizes = attributes(numbers.sizes);
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  Dims blockSizes{1};
  llvm::append_range(blockSizes, window);
  SmallVector<OpFoldResult> blockOffsets(blockSizes.size(),
                                         builder.getIndexAttr(0)),
      blockStrides(blockSizes.size(), builder.getIndexAttr(1));
  blockOffsets.front() = number;
  SmallVector<Value> old, updates;
  for (auto [input, block] : llvm::zip_equal(inputs, blocks)) {
    RankedTensorType type = getTensorType(block).clone(window);
    old.push_back(tensor::ExtractSliceOp::create(builder, type, input, offsets,
                                                 sizes, strides));
    updates.push_back(
        tensor::ExtractSliceOp::create(builder, type, block, blockOffsets,
                                       attributes(blockSizes), blockStrides));
  }
  SmallVector<AffineMap> maps(2 * count,
                              builder.getMultiDimIdentityMap(window.size()));
  SmallVector<utils::IteratorType> iterators(window.size(),
                                             utils::IteratorType::parallel);
  SmallVector<Value> results = lowering.createGeneric(
      updates, old, maps, iterators,
      [&](ImplicitLocOpBuilder &b, ValueRange x) {
        return combiner.emit(b, x.drop_front(count), x.take_front(count));
      });
  for (auto [result, input] : llvm::zip_equal(results, inputs))
    result = tensor::InsertSliceOp::create(builder, result, input, offsets,
                                           sizes, strides);
  return results;
}

void ScatterLowering::lowerToLoop(const Combiner &combiner) {
  RankedTensorType type = getInputType();
  Type indexType = getTensorType(getIndices()).getElementType();
  SmallVector<Value> inputs, blocks;
  for (unsigned i = 0; i < count; ++i) {
    inputs.push_back(lowering.getWritable(op->getOperand(i)));
    blocks.push_back(createBlocks(lowering.get(op->getOperand(count + 1 + i))));
  }
  Value rows = createIndexRows();
  auto loop = scf::ForOp::create(
      builder, lowering.getIndexConstant(0),
      lowering.getIndexConstant(getTensorType(blocks.front()).getDimSize(0)),
      lowering.getIndexConstant(1), inputs);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(loop.getBody());
  Value number = loop.getInductionVar();
  SmallVector<Value> position = createPosition(number);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  for (int64_t dim : numbers.batchDims)
    offsets[dim] = position[numbers.getBatchPosition(dim)];
  Value isInside;
  for (auto [i, dim] : llvm::enumerate(numbers.indexedDims)) {
    Value entry = tensor::ExtractOp::create(
        builder, rows,
        ValueRange{number, lowering.getIndexConstant(static_cast<int64_t>(i))});
    Value start = emitIndexCast(builder, entry, indexType);
    // Negative ones are large as unsigned numbers.
    Value fits = emitCompare(
        builder, arith::CmpIPredicate::ule, start,
        lowering.getIndexConstant(type.getDimSize(dim) - numbers.sizes[dim]));
    isInside = isInside ? emit<arith::AndIOp>(builder, isInside, fits) : fits;
    offsets[dim] = start;
  }
  SmallVector<Value> results;
  if (isInside) {
    auto branch = scf::IfOp::create(builder, ValueRange(inputs).getTypes(),
                                    isInside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard inner(builder);
    builder.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(builder,
                         createUpdated(combiner, loop.getRegionIterArgs(),
                                       blocks, number, offsets));
    builder.setInsertionPointToEnd(branch.elseBlock());
    scf::YieldOp::create(builder, loop.getRegionIterArgs());
    results = llvm::to_vector_of<Value>(branch.getResults());
  } else {
    results = createUpdated(combiner, loop.getRegionIterArgs(), blocks, number,
                            offsets);
  }
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, results);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), loop.getResults()))
    lowering.map(from, to);
}

LogicalResult ScatterLowering::lower() {
  if (failed(verify()))
    return failure();
  FailureOr<Combiner> combiner = Combiner::get(op, lowering, elementTypes);
  if (failed(combiner))
    return failure();
  if (getUpdateType().getNumElements() == 0) {
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      lowering.map(result, lowering.get(op->getOperand(i)));
    return success();
  }
  if (hasOneBlockPerElement())
    lowerToSelect(*combiner);
  else
    lowerToLoop(*combiner);
  return success();
}

void mlir::act::lowering::populateScatterPatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.scatter", -1, [](Operation *op, Lowering &lowering) {
    return ScatterLowering(op, lowering).lower();
  });
}
