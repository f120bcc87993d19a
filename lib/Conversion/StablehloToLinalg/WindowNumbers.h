//===- WindowNumbers.h - Windows that slide over a tensor -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_WINDOWNUMBERS_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_WINDOWNUMBERS_H

#include "Lowering.h"

namespace mlir::act::lowering {

/// Windows over a padded and dilated tensor: the loops of `linalg.generic` over
/// them are one per dimension, then one per dimension in which windows are
/// longer than 1.
struct WindowNumbers {
  SmallVector<int64_t> sizes, strides, baseDilations, dilations, low, high;
  /// Derived: dimensions of sizes above 1, and how many windows there are.
  SmallVector<int64_t> windowDims, resultShape;

  /// Reads attributes of `op` for windows over `type`; missing ones are 1, or 0
  /// for padding.
  LogicalResult read(Operation *op, RankedTensorType type);

  /// `value` with padding, in place of which `padding` is put, a rank-0 tensor
  /// of the original program.
  Value createPadded(Lowering &lowering, Value value, Value padding) const;
  /// A tensor without values that tells how long loops over windows are.
  Value createShape(Lowering &lowering) const;

  AffineMap getInputMap(MLIRContext *context) const;
  AffineMap getShapeMap(MLIRContext *context) const;
  AffineMap getResultMap(MLIRContext *context) const;
  SmallVector<utils::IteratorType> getIterators() const;
};

/// The part of populateWindowPatterns that scatters.
void populateSelectAndScatterPatterns(LoweringPatterns &patterns);

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_WINDOWNUMBERS_H
