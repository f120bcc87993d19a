//===- Bounds.h - Arithmetic of upper bounds -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inclusive upper bounds of integers, which stand for their bits read as an
// unsigned number. Nothing means that no bound is known.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_OPMODEL_BOUNDS_H
#define ACT_ANALYSIS_OPMODEL_BOUNDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cstdint>
#include <optional>

namespace mlir::act::bounds {

using Bound = std::optional<uint64_t>;

/// The greatest number of `width` bits.
inline uint64_t getMax(unsigned width) {
  return llvm::maskTrailingOnes<uint64_t>(std::min(width, 64u));
}

/// `bound` if it is at most `max`, else nothing: the number may have wrapped.
inline Bound fits(Bound bound, uint64_t max) {
  return bound && *bound <= max ? bound : std::nullopt;
}

/// The greater one if both are known.
inline Bound greater(Bound lhs, Bound rhs) {
  return lhs && rhs ? Bound(std::max(*lhs, *rhs)) : std::nullopt;
}

/// The lesser one of those that are known.
inline Bound lesser(Bound lhs, Bound rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return std::min(*lhs, *rhs);
}

/// The greatest if all are known.
inline Bound greatest(llvm::ArrayRef<Bound> all) {
  if (all.empty())
    return std::nullopt;
  Bound result = all.front();
  for (Bound bound : all.drop_front())
    result = greater(result, bound);
  return result;
}

inline Bound sum(Bound lhs, Bound rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  bool overflow;
  uint64_t result = llvm::SaturatingAdd(*lhs, *rhs, &overflow);
  return overflow ? std::nullopt : Bound(result);
}

inline Bound product(Bound lhs, Bound rhs) {
  if (!lhs || !rhs)
    return std::nullopt;
  bool overflow;
  uint64_t result = llvm::SaturatingMultiply(*lhs, *rhs, &overflow);
  return overflow ? std::nullopt : Bound(result);
}

/// All bits that either may have.
inline Bound unionOfBits(Bound lhs, Bound rhs) {
  Bound bound = greater(lhs, rhs);
  if (!bound)
    return std::nullopt;
  return llvm::maskTrailingOnes<uint64_t>(llvm::bit_width(*bound));
}

/// Of a quotient by numbers of at least `least`, which must be known to be
/// above zero.
inline Bound quotient(Bound lhs, Bound least) {
  return lhs && least && *least > 0 ? Bound(*lhs / *least) : std::nullopt;
}

/// Of a remainder of a division by numbers between `least`, which must be known
/// to be above zero, and `greatest`.
inline Bound remainder(Bound lhs, Bound least, Bound greatest) {
  if (!lhs || !least || *least == 0)
    return std::nullopt;
  return greatest ? std::min(*lhs, *greatest - 1) : *lhs;
}

/// Of a logical shift to the right by at least `least`.
inline Bound shiftedRight(Bound lhs, Bound least) {
  if (!lhs || !least)
    return lhs;
  return *least < 64 ? *lhs >> *least : 0;
}

} // namespace mlir::act::bounds

#endif // ACT_ANALYSIS_OPMODEL_BOUNDS_H
