//===- Numbers.cpp - Short floating-point formats ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"
#include <algorithm>

namespace act::emulator {

float halfToFloat(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31;
  uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31)
    return bitsToFloat(sign | 0x7f800000 | mantissa << 13);
  if (exponent == 0) {
    float magnitude = std::ldexp(float(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  return bitsToFloat(sign | (exponent + 112) << 23 | mantissa << 13);
}

/// The number of steps of 2^`exponent` that is nearest to `magnitude`.
static uint64_t countSteps(double magnitude, int exponent) {
  return uint64_t(std::nearbyint(std::ldexp(magnitude, -exponent)));
}

/// The bits of `magnitude`, finite and not negative, in a format with
/// `mantissaBits` bits of fraction and the exponent `bias`; overflow runs into
/// the exponent beyond the largest.
static uint64_t encode(double magnitude, int mantissaBits, int bias) {
  if (magnitude == 0)
    return 0;
  int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  uint64_t steps = countSteps(magnitude, exponent - mantissaBits);
  // A normal number contains the implicit bit, which adds 1 to the exponent.
  return (uint64_t(exponent + bias - 1) << mantissaBits) + steps;
}

uint16_t doubleToHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7fff;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520)
    return sign | 0x7c00;
  return sign | uint16_t(encode(magnitude, 10, 15));
}

uint16_t doubleToBfloat(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value))
    return 0x7fff;
  double magnitude = std::fabs(value);
  if (magnitude >= 0x1.ffp127)
    return sign | 0x7f80;
  return sign | uint16_t(encode(magnitude, 7, 127));
}

float e4m3ToFloat(uint8_t bits) {
  int exponent = bits >> 3 & 15;
  int mantissa = bits & 7;
  float magnitude = exponent == 15 && mantissa == 7 ? NAN
                    : exponent == 0
                        ? std::ldexp(float(mantissa), -9)
                        : std::ldexp(float(8 + mantissa), exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

uint8_t floatToE4m3(float value) {
  if (std::isnan(value))
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  return sign | uint8_t(encode(std::min(std::fabs(value), 448.0f), 3, 7));
}

uint8_t floatToE5m2(float value) {
  if (std::isnan(value))
    return 0x7f;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  return sign | uint8_t(encode(std::min(std::fabs(value), 57344.0f), 2, 15));
}

double fusedToOdd(double left, double right, double sum) {
  double product = left * right;
  double total = product + sum;
  if (!std::isfinite(total))
    return total;
  // Knuth's exact error of the sum; the product of two short numbers is exact.
  double part = total - product;
  double error = (product - (total - part)) + (sum - part);
  uint64_t bits = doubleToBits(total);
  if (error == 0 || (bits & 1))
    return total;
  bool isAway = (error > 0) == (total > 0);
  return bitsToDouble(isAway ? bits + 1 : bits - 1);
}

} // namespace act::emulator
