//===- NonFinite.h - Infinities and NaN among floats ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_NONFINITE_H
#define ACT_RUNTIME_STEP_NONFINITE_H

#include "act-c/StepInfo.h"
#include <cstdint>

namespace act::step {

/// The first infinity or NaN of an array.
struct NonFinite {
  /// Negative if there is none.
  int64_t index = -1;
  /// "inf", "-inf" or "nan".
  const char *text = nullptr;
};

/// How the bits of an element say that it is neither an infinity nor a NaN.
template <typename Bits, Bits exponent>
struct FloatFormat {
  static NonFinite find(const void *values, int64_t bytes) {
    const Bits *bits = static_cast<const Bits *>(values);
    int64_t count = bytes / int64_t(sizeof(Bits));
    // Blocks without a branch on each element, then the exact place.
    constexpr int64_t block = 1024;
    for (int64_t begin = 0; begin < count; begin += block) {
      int64_t end = begin + block < count ? begin + block : count;
      bool found = false;
      for (int64_t i = begin; i < end; ++i)
        found |= (bits[i] & exponent) == exponent;
      for (int64_t i = begin; found && i < end; ++i)
        if ((bits[i] & exponent) == exponent)
          return {i, describe(bits[i])};
    }
    return {};
  }

  static const char *describe(Bits bits) {
    Bits mantissa = exponent & (~exponent + 1);
    if (bits & (mantissa - 1))
      return "nan";
    return bits >> (8 * sizeof(Bits) - 1) ? "-inf" : "inf";
  }
};

/// Searches `bytes` bytes of elements of one of the ACT_STEP types; types other
/// than f16, bf16, f32 and f64 have nothing to be found.
inline NonFinite findNonFinite(int32_t type, const void *values,
                               int64_t bytes) {
  switch (type) {
  case ACT_STEP_F32:
    return FloatFormat<uint32_t, 0x7f800000u>::find(values, bytes);
  case ACT_STEP_F64:
    return FloatFormat<uint64_t, 0x7ff0000000000000u>::find(values, bytes);
  case ACT_STEP_BF16:
    return FloatFormat<uint16_t, 0x7f80u>::find(values, bytes);
  case ACT_STEP_F16:
    return FloatFormat<uint16_t, 0x7c00u>::find(values, bytes);
  default:
    return {};
  }
}

} // namespace act::step

#endif // ACT_RUNTIME_STEP_NONFINITE_H
