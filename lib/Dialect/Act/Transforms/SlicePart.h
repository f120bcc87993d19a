//===- SlicePart.h - What a loop does for one part -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEPART_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEPART_H

#include "OpTiler.h"
#include "SliceSweeps.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"

namespace mlir::act {

/// Builds what a sweep does for one part.
class PartBuilder {
public:
  PartBuilder(const SliceState &state, const Sweep &sweep, OpBuilder &builder,
              Value number, int64_t length, const Carried &carried);

  Carried build();

private:
  Value getOperand(Operation *op, unsigned number);
  Value getPart(Value whole, int64_t dim);
  Value readRow(Value stack);
  void prepareTiles();
  void buildOp(Operation *op);
  void buildSequential(Operation *op);
  void buildBarrier(Operation *op);
  void addToSum(Value value, Value part);
  /// The states before the part, for an operation that needs them.
  ArrayRef<Value> getStatesBefore(LinearAttentionOpInterface op,
                                  const StateTrack &track, unsigned first);
  SmallVector<Value> buildStateUpdate(LinearAttentionOpInterface op,
                                      ValueRange states, bool subtract);
  std::pair<const StateTrack *, unsigned> findTrack(Operation *op) const;
  Tile getTile(int64_t dim) const;

  const SliceState &state;
  const SliceRegion &region;
  const Sweep &sweep;
  OpBuilder &builder;
  StablehloBuilder b;
  Value number;
  Value offset;
  int64_t length;
  bool isTail;
  Carried carried;
  llvm::DenseMap<Value, Value> values; ///< parts of what the region computes
  llvm::DenseMap<std::pair<Value, int64_t>, Value> slices; ///< of the rest
  llvm::DenseSet<const StateTrack *> advanced;
  llvm::DenseMap<const StateTrack *, SmallVector<Value>> before;
  unsigned nextGradient = 0;
  BlockTiler tiler;
  llvm::DenseMap<std::pair<Value, int64_t>, bool> isTiled;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_SLICEPART_H
