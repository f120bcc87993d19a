//===- Contractions.h - Sums of products -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_CONTRACTIONS_H
#define ACT_CONVERSION_KERNELUTILS_CONTRACTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// Whether `op` adds products of two operands: its body is exactly a product of
/// the first two arguments, each perhaps extended to the type of the sum, added
/// to the third. (Upstream's `isaContractionOpInterface` lets unary operations
/// through, such as a negation that fusion has put there.) It has a loop that
/// runs over a dimension of only one of the operands and a reduction over both.
bool isContraction(linalg::LinalgOp op);

/// Whether `op` returns its only input, perhaps permuted or broadcast.
bool isCopy(linalg::GenericOp op);

/// Whether `op` sets all elements of a buffer or tensor to one scalar.
bool isScalarFill(Operation *op);

/// Whether the operation before `op` fills its destination with zero.
bool startsFromZero(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_CONTRACTIONS_H
