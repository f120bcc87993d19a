//===- ProductLoops.h - Loops of a sum of products -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_PRODUCTLOOPS_H
#define ACT_CONVERSION_KERNELUTILS_PRODUCTLOOPS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// A loop with its strides in elements in the two factors and the result.
struct ProductLoop {
  int64_t extent = 1;
  std::array<int64_t, 3> strides = {0, 0, 0};
};

/// Every loop of `op`, a contraction on buffers; nothing if strides are not
/// known or an operand is not addressed by loops alone.
std::optional<SmallVector<ProductLoop>> getProductLoops(linalg::GenericOp op);

/// As few loops as possible for the loops `group`, longest strides first.
SmallVector<ProductLoop> mergeProductLoops(ArrayRef<unsigned> group,
                                           ArrayRef<ProductLoop> loops);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_PRODUCTLOOPS_H
