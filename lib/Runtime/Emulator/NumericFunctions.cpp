//===- NumericFunctions.cpp - Arithmetic that kernels call ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostFunctions.h"
#include "Numbers.h"
#include <algorithm>
#include <cfenv>

namespace act::emulator {

//===----------------------------------------------------------------------===//
// Directed rounding
//===----------------------------------------------------------------------===//

namespace {
/// Sets the rounding of the host while it exists.
class Rounding {
public:
  explicit Rounding(int mode) : old(std::fegetround()) {
    std::fesetround(mode);
  }
  ~Rounding() { std::fesetround(old); }

private:
  int old;
};

// Volatile keeps the compiler from computing under another rounding.
template <typename T, int mode>
struct Rounded {
  static T add(T a, T b) {
    Rounding rounding(mode);
    volatile T x = a, y = b;
    volatile T result = x + y;
    return result;
  }
  static T sub(T a, T b) { return add(a, -b); }
  static T mul(T a, T b) {
    Rounding rounding(mode);
    volatile T x = a, y = b;
    volatile T result = x * y;
    return result;
  }
  static T div(T a, T b) {
    Rounding rounding(mode);
    volatile T x = a, y = b;
    volatile T result = x / y;
    return result;
  }
  static T fma(T a, T b, T c) {
    Rounding rounding(mode);
    volatile T x = a, y = b, z = c;
    volatile T result = std::fma(x, y, z);
    return result;
  }
  static T sqrt(T a) {
    Rounding rounding(mode);
    volatile T x = a;
    volatile T result = std::sqrt(x);
    return result;
  }
  static T rcp(T a) { return div(1, a); }
  static T fromInteger(uint64_t bits, uint32_t isSigned) {
    Rounding rounding(mode);
    volatile int64_t asSigned = bits;
    volatile uint64_t asUnsigned = bits;
    volatile T result = isSigned ? T(asSigned) : T(asUnsigned);
    return result;
  }
};

template <int mode>
float narrow(double value) {
  Rounding rounding(mode);
  volatile double x = value;
  volatile float result = float(x);
  return result;
}
} // namespace

template <typename T, int mode>
static void addRounded(std::vector<HostFunction> &functions,
                       const char *(&names)[8]) {
  using R = Rounded<T, mode>;
  void *addresses[] = {(void *)R::add, (void *)R::sub,        (void *)R::mul,
                       (void *)R::div, (void *)R::fma,        (void *)R::sqrt,
                       (void *)R::rcp, (void *)R::fromInteger};
  for (unsigned i = 0; i < 8; ++i)
    functions.push_back({names[i], addresses[i]});
}

#define ROUNDED_NAMES(mode, type)                                              \
  {                                                                            \
      "act_emulator_add_" mode "_" type,                                       \
      "act_emulator_sub_" mode "_" type,                                       \
      "act_emulator_mul_" mode "_" type,                                       \
      "act_emulator_div_" mode "_" type,                                       \
      "act_emulator_fma_" mode "_" type,                                       \
      "act_emulator_sqrt_" mode "_" type,                                      \
      "act_emulator_rcp_" mode "_" type,                                       \
      "act_emulator_integer_to_" type "_" mode}

static void addRoundedFunctions(std::vector<HostFunction> &functions) {
  static const char *names[][8] = {
      ROUNDED_NAMES("rz", "f32"), ROUNDED_NAMES("rm", "f32"),
      ROUNDED_NAMES("rp", "f32"), ROUNDED_NAMES("rz", "f64"),
      ROUNDED_NAMES("rm", "f64"), ROUNDED_NAMES("rp", "f64")};
  addRounded<float, FE_TOWARDZERO>(functions, names[0]);
  addRounded<float, FE_DOWNWARD>(functions, names[1]);
  addRounded<float, FE_UPWARD>(functions, names[2]);
  addRounded<double, FE_TOWARDZERO>(functions, names[3]);
  addRounded<double, FE_DOWNWARD>(functions, names[4]);
  addRounded<double, FE_UPWARD>(functions, names[5]);
  functions.push_back(
      {"act_emulator_f64_to_f32_rz", (void *)narrow<FE_TOWARDZERO>});
  functions.push_back(
      {"act_emulator_f64_to_f32_rm", (void *)narrow<FE_DOWNWARD>});
  functions.push_back(
      {"act_emulator_f64_to_f32_rp", (void *)narrow<FE_UPWARD>});
}

//===----------------------------------------------------------------------===//
// Short formats
//===----------------------------------------------------------------------===//

static uint32_t convertToHalf(double value) { return doubleToHalf(value); }
static uint32_t convertToBfloat(double value) { return doubleToBfloat(value); }
static uint32_t convertToE4m3(float value) { return floatToE4m3(value); }
static uint32_t convertToE5m2(float value) { return floatToE5m2(value); }
static float convertFromE4m3(uint32_t bits) { return e4m3ToFloat(bits); }
static float convertFromE5m2(uint32_t bits) { return halfToFloat(bits << 8); }

/// Toward zero: one step less where the nearest one is farther away from zero.
static uint32_t truncateToHalf(float value) {
  uint16_t bits = doubleToHalf(value);
  bool isTooLarge = std::fabs(halfToFloat(bits)) > std::fabs(value);
  return isTooLarge ? bits - 1 : bits;
}
static uint32_t truncateToBfloat(float value) {
  return std::isnan(value) ? 0x7fff : floatToBits(value) >> 16;
}

/// Rounded to odd at 53 bits.
static double integerToOdd(uint64_t bits, uint32_t isSigned) {
  bool isNegative = isSigned && int64_t(bits) < 0;
  uint64_t magnitude = isNegative ? -bits : bits;
  unsigned shift = 0;
  bool isInexact = false;
  while (magnitude >> shift >> 53) {
    isInexact |= magnitude >> shift & 1;
    ++shift;
  }
  double result = std::ldexp(double(magnitude >> shift | isInexact), shift);
  return isNegative ? -result : result;
}

static uint64_t saturateInteger(uint64_t bits, uint32_t fromSigned,
                                uint32_t toBits, uint32_t toSigned) {
  auto number = fromSigned ? __int128(int64_t(bits)) : __int128(bits);
  __int128 one = 1;
  __int128 least = toSigned ? -(one << (toBits - 1)) : 0;
  __int128 most = (one << (toSigned ? toBits - 1 : toBits)) - 1;
  return uint64_t(std::clamp(number, least, most));
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// PTX ISA, "bfe": bits from position on, extended with the highest of them.
template <typename Unsigned, bool isSigned>
static Unsigned extractBits(Unsigned value, uint32_t position,
                            uint32_t length) {
  constexpr int highest = sizeof(Unsigned) * 8 - 1;
  int start = position & 255;
  int count = length & 255;
  if (count == 0)
    return 0;
  int last = std::min(start + count - 1, highest);
  Unsigned sign = isSigned ? value >> last & 1 : 0;
  Unsigned result = 0;
  for (int i = 0; i <= highest; ++i) {
    bool isInside = i < count && start + i <= highest;
    result |= (isInside ? value >> (start + i) & 1 : sign) << i;
  }
  return result;
}

/// PTX ISA, "bfi": the low bits of `inserted` at `position` of `base`.
template <typename Unsigned>
static Unsigned insertBits(Unsigned inserted, Unsigned base, uint32_t position,
                           uint32_t length) {
  unsigned start = position & 255;
  unsigned count = length & 255;
  constexpr unsigned bits = sizeof(Unsigned) * 8;
  if (start >= bits || count == 0)
    return base;
  Unsigned mask = (count >= bits ? ~Unsigned(0) : (Unsigned(1) << count) - 1)
                  << start;
  return (base & ~mask) | (inserted << start & mask);
}

/// The selector of byte `index` of the result; PTX ISA, "prmt".
static unsigned getByteSelector(unsigned mode, uint32_t control,
                                unsigned index) {
  unsigned shift = control & 3;
  switch (mode) {
  case 0:
    return control >> index * 4 & 15;
  case 1: // f4e
    return shift + index;
  case 2: // b4e
    return (shift - index) & 7;
  case 3: // rc8
    return shift;
  case 4: // ecl
    return std::max(index, shift);
  case 5: // ecr
    return std::min(index, shift);
  default: // rc16
    return (shift & 1) * 2 + index % 2;
  }
}

static uint32_t permuteBytes(uint32_t low, uint32_t high, uint32_t control,
                             uint32_t mode) {
  uint64_t bytes = low | uint64_t(high) << 32;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned selector = getByteSelector(mode, control, i);
    uint32_t byte = bytes >> (selector & 7) * 8 & 0xff;
    // The highest bit of a selector replicates the sign.
    if (selector & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << i * 8;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Approximations
//===----------------------------------------------------------------------===//

static float exp2Approximate(float x) { return std::exp2(x); }
static float log2Approximate(float x) { return std::log2(x); }
static float sinApproximate(float x) { return std::sin(x); }
static float cosApproximate(float x) { return std::cos(x); }
static float tanhApproximate(float x) { return std::tanh(x); }
static float rsqrtApproximate(float x) {
  return float(1 / std::sqrt(double(x)));
}
static double rsqrtDouble(double x) { return 1 / std::sqrt(x); }

void addNumericFunctions(std::vector<HostFunction> &functions) {
  addRoundedFunctions(functions);
  const HostFunction others[] = {
      {"act_emulator_double_to_half", (void *)convertToHalf},
      {"act_emulator_double_to_bfloat", (void *)convertToBfloat},
      {"act_emulator_float_to_e4m3", (void *)convertToE4m3},
      {"act_emulator_float_to_e5m2", (void *)convertToE5m2},
      {"act_emulator_e4m3_to_float", (void *)convertFromE4m3},
      {"act_emulator_e5m2_to_float", (void *)convertFromE5m2},
      {"act_emulator_float_to_half_rz", (void *)truncateToHalf},
      {"act_emulator_float_to_bfloat_rz", (void *)truncateToBfloat},
      {"act_emulator_fuse_to_odd", (void *)fusedToOdd},
      {"act_emulator_integer_to_odd", (void *)integerToOdd},
      {"act_emulator_saturate_integer", (void *)saturateInteger},
      {"act_emulator_bfe_u32", (void *)extractBits<uint32_t, false>},
      {"act_emulator_bfe_s32", (void *)extractBits<uint32_t, true>},
      {"act_emulator_bfe_u64", (void *)extractBits<uint64_t, false>},
      {"act_emulator_bfe_s64", (void *)extractBits<uint64_t, true>},
      {"act_emulator_bfi_32", (void *)insertBits<uint32_t>},
      {"act_emulator_bfi_64", (void *)insertBits<uint64_t>},
      {"act_emulator_prmt", (void *)permuteBytes},
      {"act_emulator_ex2_f32", (void *)exp2Approximate},
      {"act_emulator_lg2_f32", (void *)log2Approximate},
      {"act_emulator_sin_f32", (void *)sinApproximate},
      {"act_emulator_cos_f32", (void *)cosApproximate},
      {"act_emulator_tanh_f32", (void *)tanhApproximate},
      {"act_emulator_rsqrt_f32", (void *)rsqrtApproximate},
      {"act_emulator_rsqrt_f64", (void *)rsqrtDouble}};
  functions.insert(functions.end(), std::begin(others), std::end(others));
}

} // namespace act::emulator
