//===- IndexVectors.h - Starts of gathered and scattered blocks -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_INDEXVECTORS_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_INDEXVECTORS_H

#include "Lowering.h"

namespace mlir::act::lowering {

/// The dimension numbers of a gather or a scatter. Both have a tensor (the
/// operand of the gather, the input of the scatter), index vectors that say
/// where blocks of the tensor start, and the blocks together (the result of the
/// gather, the updates of the scatter).
struct BlockNumbers {
  /// Dimensions of the blocks that run inside one block, in order.
  SmallVector<int64_t> offsetDims;
  /// Dimensions of the tensor that blocks lack, since they have size 1 there.
  SmallVector<int64_t> droppedDims;
  /// Dimensions of the tensor and of the indices that go together.
  SmallVector<int64_t> batchDims, indexBatchDims;
  /// Dimensions of the tensor that the entries of an index vector are about.
  SmallVector<int64_t> indexedDims;
  int64_t vectorDim = 0;

  /// Derived: dimensions of the blocks that number blocks; those of the indices
  /// without vectors, which correspond to them; those of the tensor in a block.
  SmallVector<int64_t> positionDims, indexDims, windowDims;
  /// Derived: the size of a block in each dimension of the tensor.
  SmallVector<int64_t> sizes;

  /// Fills in what is derived; an error unless all fit together. `sizes` may be
  /// given, else it follows from `blocks`.
  LogicalResult complete(Operation *op, RankedTensorType tensor,
                         RankedTensorType indices, RankedTensorType blocks);
  /// The number in `positionDims` of the dimension that belongs to batch
  /// dimension `dim` of the tensor, -1 if it is none.
  int64_t getBatchPosition(int64_t dim) const;
};

/// Entry `number` of all index vectors: a tensor of the sizes of
/// `positionDims`.
Value createIndexEntry(Lowering &lowering, const BlockNumbers &numbers,
                       Value indices, unsigned number);

/// `entry`, an index of the element type `original`, as `index`.
Value emitIndexCast(ImplicitLocOpBuilder &b, Value entry, Type original);

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_INDEXVECTORS_H
