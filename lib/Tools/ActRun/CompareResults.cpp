//===- CompareResults.cpp - Results against reference results ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/CompareResults.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

static constexpr double infinity = std::numeric_limits<double>::infinity();

static Difference compareIntegers(const Array &result, const Array &reference) {
  Difference difference;
  difference.isIdentical = result.getBytes() == reference.getBytes();
  if (difference.isIdentical)
    return difference;
  difference.relativeError = infinity;
  for (int64_t i = 0, end = result.getNumElements(); i < end; ++i)
    difference.largest =
        std::max(difference.largest,
                 std::abs(result.getNumber(i) - reference.getNumber(i)));
  return difference;
}

Difference run::compareArrays(const Array &result, const Array &reference) {
  if (!execution::isFloat(result.getType()))
    return compareIntegers(result, reference);
  Difference difference;
  double squares = 0, norm = 0;
  bool isBounded = true;
  for (int64_t i = 0, end = result.getNumElements(); i < end; ++i) {
    double x = result.getNumber(i), y = reference.getNumber(i);
    if (std::isnan(x) && std::isnan(y))
      continue;
    // Tells zeros of different sign apart, too.
    if (x != y || std::signbit(x) != std::signbit(y))
      difference.isIdentical = false;
    if (x == y && std::isinf(x))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      isBounded = false;
      continue;
    }
    difference.largest = std::max(difference.largest, std::abs(x - y));
    squares += (x - y) * (x - y);
    norm += y * y;
  }
  if (!isBounded)
    difference.relativeError = infinity;
  else if (squares > 0)
    difference.relativeError = norm > 0 ? std::sqrt(squares / norm) : infinity;
  return difference;
}

double run::getDefaultTolerance(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F64:
    return 1e-5;
  case ElementType::F16:
    return 2e-3;
  case ElementType::BF16:
    return 2e-2;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
    return 2e-1;
  default:
    return 0;
  }
}
