//===- FloatCodes.h - Codes that are shorter floats -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_FLOATCODES_H
#define ACT_CONVERSION_KERNELUTILS_FLOATCODES_H

#include "act/Conversion/KernelUtils/CodecVectors.h"

namespace mlir::act {

/// How the bits of an 8-bit float relate to those of an f32: a sign, an
/// exponent and the upper `mantissa` bits of the mantissa.
struct Float8 {
  explicit Float8(Type type)
      : mantissa(isa<Float8E5M2Type>(type) ? 2 : 3),
        bias(isa<Float8E5M2Type>(type) ? 15 : 7),
        firstSpecial(isa<Float8E5M2Type>(type) ? 0x7C : 0x7F) {}

  /// Rounds f32 `numbers` that are within the range of the type, or NaN, to the
  /// nearest, ties to even.
  Value encode(CodecVectors &v, Value numbers) const;
  /// The inverse.
  Value decode(CodecVectors &v, Value codes) const;

private:
  static constexpr int64_t f32Mantissa = 23, f32Bias = 127;
  static constexpr int64_t f32Infinity = 0x7F800000;

  int64_t getShift() const { return f32Mantissa - mantissa; }
  /// 2^exponent as bits of an f32.
  static int64_t getPower(int64_t exponent) {
    return (f32Bias + exponent) << f32Mantissa;
  }

  int64_t mantissa, bias;
  /// The first code beyond the finite numbers.
  int64_t firstSpecial;
};

/// The largest finite number of `type`.
double getLargestNumber(Type type);

/// `numbers`, f32 or f64, as f32, NaN where they are not finite. An f64 is
/// rounded such that rounding it to a shorter float then is like rounding once.
Value buildFinite(CodecVectors &v, Value numbers);

/// The scale, f32, of a group of which `largest` is the largest size: see
/// docs/Encodings.md. Codes are of type `code`.
Value buildFloatScale(CodecVectors &v, Value largest, Type code);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_FLOATCODES_H
