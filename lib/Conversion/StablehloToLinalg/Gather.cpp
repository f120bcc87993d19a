//===- Gather.cpp - Blocks read at indices --------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexVectors.h"
#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "act/Dialect/StablehloShell/AttributeText.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

static LogicalResult getNumbers(Operation *op, BlockNumbers &numbers) {
  std::string text = shell::getText(op, "dimension_numbers");
  if (text.empty())
    return op->emitOpError("expects dimension numbers as 'dimension_numbers'");
  RankedTensorType operand = getTensorType(op->getOperand(0));
  FailureOr<SmallVector<int64_t>> sizes =
      getIntegers(op, "slice_sizes", operand.getRank());
  if (failed(sizes))
    return failure();
  numbers.sizes = *sizes;
  numbers.offsetDims = shell::getDims(text, "offset_dims");
  numbers.droppedDims = shell::getDims(text, "collapsed_slice_dims");
  numbers.batchDims = shell::getDims(text, "operand_batching_dims");
  numbers.indexBatchDims = shell::getDims(text, "start_indices_batching_dims");
  numbers.indexedDims = shell::getDims(text, "start_index_map");
  numbers.vectorDim = shell::getDim(text, "index_vector_dim");
  RankedTensorType result = getTensorType(op->getResult(0));
  if (failed(numbers.complete(op, operand, getTensorType(op->getOperand(1)),
                              result)))
    return failure();
  return verifyType(op, "the element type of the result",
                    result.getElementType(), operand.getElementType());
}

namespace {
/// The body of a gather: where an element of the result comes from.
struct GatherBody {
  const BlockNumbers &numbers;
  RankedTensorType type;
  Type indexType;
  /// For every dimension of the operand the number of the input with its start
  /// indices, -1 for those that start at 0.
  SmallVector<int64_t> inputs;

  Value emitPosition(ImplicitLocOpBuilder &b, int64_t dim, ValueRange x) const;
};
} // namespace

Value GatherBody::emitPosition(ImplicitLocOpBuilder &b, int64_t dim,
                               ValueRange x) const {
  if (int64_t position = numbers.getBatchPosition(dim); position >= 0)
    return linalg::IndexOp::create(b, numbers.positionDims[position]);
  Value position;
  if (inputs[dim] >= 0) {
    Value last = arith::ConstantIndexOp::create(b, type.getDimSize(dim) -
                                                       numbers.sizes[dim]);
    Value start = emitIndexCast(b, x[inputs[dim]], indexType);
    if (lowering::isSigned(indexType)) {
      Value zero = arith::ConstantIndexOp::create(b, 0);
      start = emit<arith::MaxSIOp>(b, start, zero);
      position = emit<arith::MinSIOp>(b, start, last);
    } else {
      position = emit<arith::MinUIOp>(b, start, last);
    }
  }
  const auto *it = llvm::find(numbers.windowDims, dim);
  if (it == numbers.windowDims.end())
    return position ? position
                    : arith::ConstantIndexOp::create(b, 0).getResult();
  Value offset = linalg::IndexOp::create(
      b, numbers.offsetDims[it - numbers.windowDims.begin()]);
  return position ? emit<arith::AddIOp>(b, position, offset) : offset;
}

/// Reads elements one by one; along the last dimension of rows they are next to
/// each other.
static LogicalResult lowerGather(Operation *op, Lowering &lowering) {
  BlockNumbers numbers;
  if (failed(getNumbers(op, numbers)))
    return failure();
  RankedTensorType type = getTensorType(op->getOperand(0));
  RankedTensorType to = convertType(getTensorType(op->getResult(0)));
  Value operand = lowering.get(op->getOperand(0));
  Value indices = lowering.get(op->getOperand(1));
  GatherBody body{numbers, type,
                  getTensorType(op->getOperand(1)).getElementType(),
                  SmallVector<int64_t>(type.getRank(), -1)};
  AffineMap map = lowering.getBuilder().getMultiDimIdentityMap(to.getRank());
  SmallVector<unsigned> positions(numbers.positionDims.begin(),
                                  numbers.positionDims.end());
  SmallVector<Value> inputs;
  for (auto [number, dim] : llvm::enumerate(numbers.indexedDims)) {
    // A block as long as the operand starts at 0.
    if (numbers.sizes[dim] == type.getDimSize(dim))
      continue;
    body.inputs[dim] = inputs.size();
    inputs.push_back(createIndexEntry(lowering, numbers, indices, number));
  }
  SmallVector<AffineMap> maps(inputs.size(), map.getSubMap(positions));
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    SmallVector<Value> position;
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      position.push_back(body.emitPosition(b, dim, x));
    return SmallVector<Value>{tensor::ExtractOp::create(b, operand, position)};
  };
  lowering.mapResult(op, lowering.createParallel(to, inputs, maps, emitBody));
  return success();
}

void mlir::act::lowering::populateGatherPatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.gather", 2, lowerGather);
}
