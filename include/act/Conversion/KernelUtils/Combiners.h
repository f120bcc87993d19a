//===- Combiners.h - How reductions combine -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_COMBINERS_H
#define ACT_CONVERSION_KERNELUTILS_COMBINERS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// What a reduction does for one of its results.
struct Combiner {
  /// Combines what was accumulated and the reduced value; associative and
  /// commutative up to rounding.
  Operation *op;
  /// What is combined with the accumulated value.
  Value reduced;
  /// The element that changes nothing.
  TypedAttr neutral;
};

/// The combiners of the results of `op`, or nothing if one of them is not a
/// single operation that has a neutral element.
std::optional<SmallVector<Combiner>> getCombiners(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_COMBINERS_H
