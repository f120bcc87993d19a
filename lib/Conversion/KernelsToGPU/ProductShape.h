//===- ProductShape.h - Loops of a sum of products -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_PRODUCTSHAPE_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_PRODUCTSHAPE_H

#include "Axis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// The loops of a contraction on strided buffers, as axes of matrices. Axes of
/// one kind have the same loops in every operand, so a position means the same.
struct ProductShape {
  enum Operand { Left, Right, Out };

  /// The operands of the operation; `Left` is not the first one if it is better
  /// to compute the transposed product.
  std::array<unsigned, 3> operands = {0, 1, 2};
  std::array<Type, 3> elementTypes;
  /// By operand. Rows are loops of the left factor only, columns of the right.
  std::array<Axis, 3> batch, rows, columns, sums;
};

/// The axes of `op`, with as few loops as possible; nothing if strides are not
/// known, or if the number of positions of an axis is not an i32. Columns run
/// along the neighbours of the result, if there are any.
std::optional<ProductShape> getProductShape(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_PRODUCTSHAPE_H
