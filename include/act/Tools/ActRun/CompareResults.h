//===- CompareResults.h - Results against reference results -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTRUN_COMPARERESULTS_H
#define ACT_TOOLS_ACTRUN_COMPARERESULTS_H

#include "act/Tools/ActRun/Array.h"
#include <optional>

namespace mlir::act::run {

/// How a result differs from its reference.
struct Difference {
  /// |result - reference| / |reference| in the Euclidean norm; infinite where
  /// only one of both is finite, or only the reference is zero. 0 for integers
  /// that agree, infinite for those that do not.
  double relativeError = 0;
  /// The largest difference of two elements that are finite.
  double largest = 0;
  /// Whether all bits agree, where any NaN agrees with any other.
  bool isIdentical = true;
};

/// Both have the same type and shape. Infinities agree with infinities of the
/// same sign.
Difference compareArrays(const Array &result, const Array &reference);

/// The error that results of a type may have without an explicit tolerance:
/// 1e-5 for f32 and f64, 2e-3 for f16, 2e-2 for bf16, 2e-1 for 8-bit floats,
/// none for integers.
double getDefaultTolerance(ElementType type);

} // namespace mlir::act::run

#endif // ACT_TOOLS_ACTRUN_COMPARERESULTS_H
