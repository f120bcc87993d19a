//===- ExposeMasks.h - Small values for backward to read -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_EXPOSEMASKS_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_EXPOSEMASKS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Operation.h"

namespace mlir::act {

/// Finds values that forward could compute and computes them there: forward's
/// own, and what backward makes of them by constants, views and padding.
class ForwardPlacer {
public:
  /// `turningPoint` is the last operation of forward, in `block`.
  ForwardPlacer(Block &block, Operation *turningPoint)
      : block(block), turningPoint(turningPoint) {}

  /// The last operation of forward that `values` depend on, if all of them can
  /// be had in forward and not all come from arguments and constants; else
  /// null.
  Operation *findLastDefinition(ValueRange values) const;

  /// `value` as computed behind `definition`, which `findLastDefinition` found;
  /// inserts copies at `builder` where backward has it only.
  Value place(OpBuilder &builder, Operation *definition, Value value,
              IRMapping &copies) const;

  bool isForward(Operation *op) const;

private:
  /// True for operations of backward that may be copied into forward.
  bool isCopyable(Operation *op) const;

  Block &block;
  Operation *turningPoint;
};

/// Rewrites the gradient of a max- or min-pool so that it reads the position of
/// the selected element in each window, computed in forward, instead of the
/// pool's operand. Returns the bits per window that have to be kept, or nothing
/// if `op` is no such operation.
std::optional<unsigned> exposeSelectedIndex(Operation *op,
                                            const ForwardPlacer &placer);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_EXPOSEMASKS_H
