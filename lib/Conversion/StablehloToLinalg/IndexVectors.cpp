//===- IndexVectors.cpp - Starts of gathered and scattered blocks ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IndexVectors.h"
#include "ScalarBuilder.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

static Dims concatenate(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  Dims all(a);
  llvm::append_range(all, b);
  return all;
}

static LogicalResult verifyCount(Operation *op, StringRef what, size_t got,
                                 size_t expected) {
  if (got == expected)
    return success();
  return op->emitOpError("expects ")
         << expected << " " << what << ", got " << got;
}

LogicalResult BlockNumbers::complete(Operation *op, RankedTensorType tensor,
                                     RankedTensorType indices,
                                     RankedTensorType blocks) {
  int64_t rank = tensor.getRank();
  Dims absent = concatenate(droppedDims, batchDims);
  if (!isa<IntegerType>(indices.getElementType()))
    return op->emitOpError("expects integers as indices, got ") << indices;
  if (vectorDim < 0 || vectorDim > indices.getRank())
    return op->emitOpError("expects an index vector dimension of at most ")
           << indices.getRank() << ", got " << vectorDim;
  if (failed(
          verifyDims(op, "block dimensions", offsetDims, blocks.getRank())) ||
      failed(verifyDims(op, "dropped and batching dimensions", absent, rank)) ||
      failed(verifyDims(op, "indexed and batching dimensions",
                        concatenate(indexedDims, batchDims), rank)) ||
      failed(verifyDims(op, "batching dimensions of the indices",
                        concatenate(indexBatchDims, {vectorDim}),
                        indices.getRank() + 1)))
    return failure();
  positionDims = getOtherDims(blocks.getRank(), {offsetDims});
  indexDims = getOtherDims(indices.getRank(), {{vectorDim}});
  windowDims = getOtherDims(rank, {absent});
  int64_t entries =
      vectorDim == indices.getRank() ? 1 : indices.getDimSize(vectorDim);
  if (failed(verifyCount(op, "dimensions inside blocks", offsetDims.size(),
                         windowDims.size())) ||
      failed(verifyCount(op, "dimensions that number blocks",
                         positionDims.size(), indexDims.size())) ||
      failed(verifyCount(op, "batching dimensions of the indices",
                         indexBatchDims.size(), batchDims.size())) ||
      failed(
          verifyCount(op, "indexed dimensions", indexedDims.size(), entries)))
    return failure();
  if (sizes.empty()) {
    sizes.assign(rank, 1);
    for (auto [dim, offsetDim] : llvm::zip_equal(windowDims, offsetDims))
      sizes[dim] = blocks.getDimSize(offsetDim);
  }
  Dims shape(blocks.getRank());
  for (auto [dim, offsetDim] : llvm::zip_equal(windowDims, offsetDims))
    shape[offsetDim] = sizes[dim];
  for (auto [from, to] : llvm::zip_equal(indexDims, positionDims))
    shape[to] = indices.getDimSize(from);
  if (failed(verifyType(op, "blocks", blocks, blocks.clone(shape))))
    return failure();
  for (auto [dim, indexDim] : llvm::zip_equal(batchDims, indexBatchDims))
    if (tensor.getDimSize(dim) != indices.getDimSize(indexDim))
      return op->emitOpError("expects batching dimensions of equal sizes, got ")
             << tensor.getDimSize(dim) << " and "
             << indices.getDimSize(indexDim);
  for (auto [dim, size] : llvm::enumerate(sizes))
    if (size < 0 || size > tensor.getDimSize(dim) ||
        (size != 1 && llvm::is_contained(absent, static_cast<int64_t>(dim))))
      return op->emitOpError("expects blocks within ")
             << tensor << " of size 1 in dropped dimensions, got size " << size
             << " in dimension " << dim;
  return success();
}

int64_t BlockNumbers::getBatchPosition(int64_t dim) const {
  const auto *it = llvm::find(batchDims, dim);
  if (it == batchDims.end())
    return -1;
  int64_t indexDim = indexBatchDims[it - batchDims.begin()];
  return llvm::find(indexDims, indexDim) - indexDims.begin();
}

Value mlir::act::lowering::createIndexEntry(Lowering &lowering,
                                            const BlockNumbers &numbers,
                                            Value indices, unsigned number) {
  RankedTensorType type = getTensorType(indices);
  Dims shape, offsets(type.getRank(), 0), strides(type.getRank(), 1),
      sizes(type.getShape());
  for (int64_t dim : numbers.indexDims)
    shape.push_back(type.getDimSize(dim));
  if (numbers.vectorDim < type.getRank()) {
    offsets[numbers.vectorDim] = number;
    sizes[numbers.vectorDim] = 1;
  }
  return lowering.createReshape(
      lowering.createSlice(indices, offsets, sizes, strides), shape);
}

Value mlir::act::lowering::emitIndexCast(ImplicitLocOpBuilder &b, Value entry,
                                         Type original) {
  Type type = b.getIndexType();
  return lowering::isSigned(original)
             ? emit<arith::IndexCastOp>(b, type, entry)
             : emit<arith::IndexCastUIOp>(b, type, entry);
}
