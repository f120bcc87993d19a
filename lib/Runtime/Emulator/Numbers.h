//===- Numbers.h - Short floating-point formats -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_NUMBERS_H
#define ACT_LIB_RUNTIME_EMULATOR_NUMBERS_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace act::emulator {

inline float bitsToFloat(uint32_t bits) {
  float result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
inline uint32_t floatToBits(float value) {
  uint32_t result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}
inline double bitsToDouble(uint64_t bits) {
  double result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}
inline uint64_t doubleToBits(double value) {
  uint64_t result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}

/// f16 to f32, exactly.
float halfToFloat(uint16_t bits);
/// To the nearest f16, ties to even.
uint16_t doubleToHalf(double value);
/// To the nearest bf16, ties to even; NaN is 0x7fff.
uint16_t doubleToBfloat(double value);
/// The 8-bit format with 4 bits of exponent, without infinities.
float e4m3ToFloat(uint8_t bits);
/// To the nearest, saturating to ±448; NaN is 0x7f.
uint8_t floatToE4m3(float value);
/// To the nearest, saturating to ±57344; NaN is 0x7f.
uint8_t floatToE5m2(float value);
/// left * right + sum rounded to odd: rounding this once more to at most 50
/// bits gives what one rounding would have given.
double fusedToOdd(double left, double right, double sum);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_NUMBERS_H
