//===- FloatTest.cpp - Tests of floating-point instructions ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <cfenv>
#include <cmath>
#include <limits>

using namespace act::emulator::test;

namespace {

const float infinity = std::numeric_limits<float>::infinity();
const std::vector<float> numbers = {
    0.0f,          -0.0f,         1.0f,           -1.0f,    0.5f,      1.5f,
    2.5f,          -2.5f,         3.0f,           1e-3f,    0.1f,      65504.0f,
    65520.0f,      1e10f,         -1e20f,         3e38f,    1e-38f,    1e-40f,
    -1e-42f,       0x1p-24f,      0x1.ffep-25f,   448.0f,   464.0f,    1e6f,
    4294967040.0f, 2147483648.0f, -2147483648.0f, infinity, -infinity, NAN};

/// All pairs of `numbers`.
std::vector<std::vector<uint64_t>> getPairs() {
  std::vector<std::vector<uint64_t>> pairs(2);
  for (float left : numbers)
    for (float right : numbers) {
      pairs[0].push_back(toBits(left));
      pairs[1].push_back(toBits(right));
    }
  return pairs;
}

/// The evaluator runs one block, so at most 1024 pairs.
template <typename Function>
void expectPairs(const std::string &instruction, Function reference) {
  auto pairs = getPairs();
  ASSERT_LE(pairs[0].size(), 1024u);
  std::vector<uint64_t> results = evaluate(instruction, pairs);
  for (size_t i = 0; i < results.size(); ++i) {
    float expected = reference(toFloat(pairs[0][i]), toFloat(pairs[1][i]));
    float got = toFloat(results[i]);
    bool isEqual = std::isnan(expected) ? std::isnan(got)
                                        : toBits(expected) == toBits(got);
    EXPECT_TRUE(isEqual) << instruction << " of " << toFloat(pairs[0][i])
                         << ", " << toFloat(pairs[1][i]) << ": expects "
                         << expected << ", got " << got;
  }
}

/// Integer results of one operand.
template <typename Function>
void expectIntegers(const std::string &instruction, Function reference) {
  std::vector<uint64_t> bits;
  for (float number : numbers)
    bits.push_back(toBits(number));
  std::vector<uint64_t> results = evaluate(instruction, {bits});
  for (size_t i = 0; i < bits.size(); ++i)
    EXPECT_EQ(uint32_t(results[i]), uint32_t(reference(numbers[i])))
        << instruction << " of " << numbers[i];
}

float flush(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}
float clampToUnit(float value) {
  return std::isnan(value) ? 0 : std::fmin(std::fmax(value, 0.0f), 1.0f) + 0.0f;
}

TEST(EmulatorFloat, Arithmetic) {
  expectPairs("add.rn.f32 %d, %a0, %a1;",
              [](float a, float b) { return a + b; });
  expectPairs("sub.f32 %d, %a0, %a1;", [](float a, float b) { return a - b; });
  expectPairs("mul.rn.f32 %d, %a0, %a1;",
              [](float a, float b) { return a * b; });
  expectPairs("div.rn.f32 %d, %a0, %a1;",
              [](float a, float b) { return a / b; });
  expectPairs("fma.rn.f32 %d, %a0, %a1, %a0;",
              [](float a, float b) { return std::fma(a, b, a); });
  expectPairs("neg.f32 %d, %a0;", [](float a, float) { return -a; });
  expectPairs("abs.f32 %d, %a0;", [](float a, float) { return std::fabs(a); });
  expectPairs("sqrt.rn.f32 %d, %a0;",
              [](float a, float) { return std::sqrt(a); });
  expectPairs("rcp.rn.f32 %d, %a0;", [](float a, float) { return 1 / a; });
  expectPairs("copysign.f32 %d, %a0, %a1;",
              [](float a, float b) { return std::copysign(b, a); });
}

TEST(EmulatorFloat, FlushesSubnormalNumbers) {
  expectPairs("add.ftz.f32 %d, %a0, %a1;",
              [](float a, float b) { return flush(flush(a) + flush(b)); });
  expectPairs("mul.rn.ftz.f32 %d, %a0, %a1;",
              [](float a, float b) { return flush(flush(a) * flush(b)); });
}

TEST(EmulatorFloat, Saturates) {
  expectPairs("add.sat.f32 %d, %a0, %a1;",
              [](float a, float b) { return clampToUnit(a + b); });
  expectPairs("fma.rn.sat.f32 %d, %a0, %a1, %a1;",
              [](float a, float b) { return clampToUnit(std::fma(a, b, b)); });
}

TEST(EmulatorFloat, DirectedRounding) {
  struct Mode {
    const char *name;
    int rounding;
  };
  for (Mode mode : {Mode{"rz", FE_TOWARDZERO}, Mode{"rm", FE_DOWNWARD},
                    Mode{"rp", FE_UPWARD}}) {
    auto rounded = [&](auto function) {
      return [=](float a, float b) {
        std::fesetround(mode.rounding);
        volatile float x = a, y = b;
        volatile float result = function(x, y);
        std::fesetround(FE_TONEAREST);
        return float(result);
      };
    };
    std::string name = mode.name;
    expectPairs("add." + name + ".f32 %d, %a0, %a1;",
                rounded([](float a, float b) { return a + b; }));
    expectPairs("div." + name + ".f32 %d, %a0, %a1;",
                rounded([](float a, float b) { return a / b; }));
    expectPairs("fma." + name + ".f32 %d, %a0, %a1, %a1;",
                rounded([](float a, float b) { return std::fma(a, b, b); }));
  }
}

TEST(EmulatorFloat, MinimumAndMaximum) {
  // Without .NaN, a number wins against NaN, and -0 is less than +0.
  auto least = [](float a, float b) {
    if (std::isnan(a))
      return b;
    if (std::isnan(b))
      return a;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  };
  expectPairs("min.f32 %d, %a0, %a1;", least);
  expectPairs("max.f32 %d, %a0, %a1;",
              [&](float a, float b) { return -least(-a, -b); });
  expectPairs("min.NaN.f32 %d, %a0, %a1;", [&](float a, float b) {
    return std::isnan(a) || std::isnan(b) ? NAN : least(a, b);
  });
}

TEST(EmulatorFloat, Comparisons) {
  expectPairs(
      "{setp.lt.f32 %q0, %a0, %a1; selp.f32 %d, 0f3F800000, 0f00000000, "
      "%q0;}",
      [](float a, float b) { return a < b ? 1.0f : 0.0f; });
  expectPairs("{setp.neu.f32 %q0, %a0, %a1; selp.f32 %d, 0f3F800000, "
              "0f00000000, %q0;}",
              [](float a, float b) { return !(a == b) ? 1.0f : 0.0f; });
  expectPairs(
      "{setp.ne.f32 %q0, %a0, %a1; selp.f32 %d, 0f3F800000, 0f00000000, "
      "%q0;}",
      [](float a, float b) { return a < b || a > b ? 1.0f : 0.0f; });
  expectPairs("{setp.num.f32 %q0, %a0, %a1; selp.f32 %d, 0f3F800000, "
              "0f00000000, %q0;}",
              [](float a, float b) {
                return std::isnan(a) || std::isnan(b) ? 0.0f : 1.0f;
              });
  expectPairs("set.gt.f32.f32 %d, %a0, %a1;",
              [](float a, float b) { return a > b ? 1.0f : 0.0f; });
}

TEST(EmulatorFloat, Approximations) {
  struct Case {
    const char *name;
    float (*reference)(float);
  };
  const Case cases[] = {
      {"ex2.approx.f32", [](float x) { return std::exp2(x); }},
      {"lg2.approx.f32", [](float x) { return std::log2(x); }},
      {"sin.approx.f32", [](float x) { return std::sin(x); }},
      {"cos.approx.f32", [](float x) { return std::cos(x); }},
      {"tanh.approx.f32", [](float x) { return std::tanh(x); }},
      {"rsqrt.approx.f32", [](float x) { return 1 / std::sqrt(x); }},
      {"rcp.approx.ftz.f32", [](float x) { return 1 / x; }},
      {"sqrt.approx.f32", [](float x) { return std::sqrt(x); }}};
  std::vector<uint64_t> bits;
  for (float number : {0.25f, 0.5f, 1.0f, 1.75f, 3.0f, 10.0f})
    bits.push_back(toBits(number));
  for (const Case &entry : cases) {
    auto results = evaluate(std::string(entry.name) + " %d, %a0;", {bits});
    for (size_t i = 0; i < bits.size(); ++i) {
      float expected = entry.reference(toFloat(bits[i]));
      EXPECT_NEAR(toFloat(results[i]), expected,
                  std::fabs(expected) * 1e-6 + 1e-7)
          << entry.name;
    }
  }
}

TEST(EmulatorFloat, ToIntegers) {
  auto convert = [](float value, double least, double most) -> int64_t {
    if (std::isnan(value))
      return 0;
    return int64_t(std::fmin(std::fmax(double(value), least), most));
  };
  expectIntegers("cvt.rzi.s32.f32 %d, %a0;", [&](float value) {
    return convert(std::trunc(value), INT32_MIN, INT32_MAX);
  });
  expectIntegers("cvt.rni.s32.f32 %d, %a0;", [&](float value) {
    return convert(std::nearbyint(value), INT32_MIN, INT32_MAX);
  });
  expectIntegers("cvt.rmi.u32.f32 %d, %a0;", [&](float value) {
    return convert(std::floor(value), 0, UINT32_MAX);
  });
  expectIntegers(
      "{cvt.rzi.u16.f32 %h0, %a0; cvt.u32.u16 %d, %h0;}",
      [&](float value) { return convert(std::trunc(value), 0, 65535); });
}

TEST(EmulatorFloat, RoundsToIntegralNumbers) {
  expectPairs("cvt.rni.f32.f32 %d, %a0;",
              [](float a, float) { return std::nearbyint(a); });
  expectPairs("cvt.rpi.f32.f32 %d, %a0;",
              [](float a, float) { return std::ceil(a); });
  expectPairs("cvt.sat.f32.f32 %d, %a0;",
              [](float a, float) { return clampToUnit(a); });
}

TEST(EmulatorFloat, FromIntegers) {
  const std::vector<uint64_t> integers = {0,          1,          16777217,
                                          0x7fffffff, 0x80000000, 0xffffffff};
  auto fromSigned = evaluate("cvt.rn.f32.s32 %d, %a0;", {integers});
  auto fromUnsigned = evaluate("cvt.rn.f32.u32 %d, %a0;", {integers});
  auto down = evaluate("cvt.rz.f32.u32 %d, %a0;", {integers});
  for (size_t i = 0; i < integers.size(); ++i) {
    EXPECT_EQ(toFloat(fromSigned[i]), float(int32_t(integers[i])));
    EXPECT_EQ(toFloat(fromUnsigned[i]), float(uint32_t(integers[i])));
    EXPECT_LE(double(toFloat(down[i])), double(integers[i]));
  }
  EXPECT_EQ(toFloat(down[2]), 16777216.0f);
  EXPECT_EQ(toFloat(down[5]), 4294967040.0f);
}

TEST(EmulatorFloat, Tf32RoundsTiesAway) {
  const std::vector<uint64_t> inputs = {0x3f800000, 0x3f801000, 0x3f803000,
                                        0xbf801000, 0x7f800000, 0x7fffffff};
  const std::vector<uint64_t> expected = {0x3f800000, 0x3f802000, 0x3f804000,
                                          0xbf802000, 0x7f800000, 0x7fffffff};
  EXPECT_EQ(evaluate("cvt.rna.tf32.f32 %d, %a0;", {inputs}), expected);
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

/// The bf16 that is nearest to `value`, found by trying all of them.
uint16_t nearestBfloat(double value) {
  double best = infinity;
  uint32_t result = 0;
  for (uint32_t bits = 0; bits < 0x8000; ++bits) {
    float candidate = toFloat(bits << 16);
    if (std::isnan(candidate))
      break;
    double error = std::isinf(candidate)
                       ? std::fabs(0x1p128 - std::fabs(value))
                       : std::fabs(candidate - std::fabs(value));
    if (error < best || (error == best && bits % 2 == 0)) {
      best = error;
      result = bits;
    }
  }
  return result | (std::signbit(value) ? 0x8000 : 0);
}

TEST(EmulatorFloat, ToBfloat) {
  std::vector<uint64_t> bits;
  std::vector<float> values = {
      1.0f,    1.00390625f, 1.01171875f, -3.1415f,      1e-39f,
      3.4e38f, 0x1p-133f,   65535.0f,    0x1.feffp127f, 0x1.ffp127f};
  for (float value : values)
    bits.push_back(toBits(value));
  auto single =
      evaluate("{cvt.rn.bf16.f32 %h0, %a0; cvt.u32.u16 %d, %h0;}", {bits});
  auto pair = evaluate("cvt.rn.bf16x2.f32 %d, %a0, 0f3F800000;", {bits});
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(single[i], nearestBfloat(values[i])) << values[i];
    EXPECT_EQ(pair[i], uint64_t(nearestBfloat(values[i])) << 16 | 0x3f80);
  }
}

/// Values and bits of f16 from the IEEE definition of the format.
TEST(EmulatorFloat, ToHalfAndBack) {
  struct Case {
    float value;
    uint16_t bits;
  };
  const std::vector<Case> cases = {{0.0f, 0},
                                   {-0.0f, 0x8000},
                                   {1.0f, 0x3c00},
                                   {-2.0f, 0xc000},
                                   {65504.0f, 0x7bff},
                                   {65519.99f, 0x7bff},
                                   {65520.0f, 0x7c00},
                                   {infinity, 0x7c00},
                                   {0x1p-24f, 1},
                                   {0x1p-25f, 0},
                                   {0x1.000002p-25f, 1},
                                   {0x1p-14f, 0x400},
                                   {1.0f + 0x1p-11f, 0x3c00},
                                   {1.0f + 0x3p-11f, 0x3c02}};
  std::vector<uint64_t> bits;
  for (const Case &entry : cases)
    bits.push_back(toBits(entry.value));
  auto results =
      evaluate("{cvt.rn.f16.f32 %h0, %a0; cvt.u32.u16 %d, %h0;}", {bits});
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(results[i], cases[i].bits) << cases[i].value;
  auto back = evaluate("{cvt.u16.u32 %h0, %a0; cvt.f32.f16 %d, %h0;}",
                       {{0x3c00, 0x0001, 0x7bff, 0xfc00, 0x83ff}});
  EXPECT_EQ(toFloat(back[0]), 1.0f);
  EXPECT_EQ(toFloat(back[1]), 0x1p-24f);
  EXPECT_EQ(toFloat(back[2]), 65504.0f);
  EXPECT_EQ(toFloat(back[3]), -infinity);
  EXPECT_EQ(toFloat(back[4]), -0x3ffp-24f);
}

/// Each lane on its own, and rounded once: 1 + 2^-8 squared plus a bit, and
/// numbers whose sum in f32 would be rounded twice.
TEST(EmulatorFloat, PackedArithmetic) {
  // f16: 1.5 + 2.25 and -1 + 0.5; 1.5 * 2.25 and -1 * 0.5.
  std::vector<uint64_t> left = {0xbc003e00};
  std::vector<uint64_t> right = {0x38004080};
  EXPECT_EQ(evaluate("add.rn.f16x2 %d, %a0, %a1;", {left, right})[0],
            0xb8004380u);
  EXPECT_EQ(evaluate("mul.rn.f16x2 %d, %a0, %a1;", {left, right})[0],
            0xb80042c0u);
  EXPECT_EQ(evaluate("max.f16x2 %d, %a0, %a1;", {left, right})[0], 0x38004080u);
  // bf16: 1.0078125 * 1.0078125 + 2^-20 lies just above a tie.
  std::vector<uint64_t> tie = {0x3f813f81};
  std::vector<uint64_t> least = {0x3580b580};
  uint64_t fused =
      evaluate("fma.rn.bf16x2 %d, %a0, %a0, %a1;", {tie, least})[0];
  double square = 1.0078125 * 1.0078125;
  EXPECT_EQ(fused & 0xffff, nearestBfloat(square - 0x1p-20));
  EXPECT_EQ(fused >> 16, nearestBfloat(square + 0x1p-20));
  // bf16: 1.5 * 1.0078125 is a tie, 2^-100 less is below it, which is lost if
  // the sum is rounded to 53 bits first.
  EXPECT_EQ(evaluate("fma.rn.bf16x2 %d, %a0, %a1, 0x8d800d80;",
                     {{0x3fc03fc0}, {0x3f813f81}})[0],
            0x3fc13fc2u);
  // f16: 1 plus a bit more than half of a step, and plus half of a step.
  auto half = evaluate("{cvt.u16.u32 %h0, %a0; cvt.u16.u32 %h1, %a1; "
                       "mov.b16 %h2, 0x3c00; fma.rn.f16 %h3, %h0, %h1, %h2; "
                       "cvt.u32.u16 %d, %h3;}",
                       {{0x1001, 0x1000}, {0x3c00, 0x3c00}});
  EXPECT_EQ(half[0], 0x3c01u);
  EXPECT_EQ(half[1], 0x3c00u);
}

TEST(EmulatorFloat, EightBits) {
  std::vector<uint64_t> bits;
  for (float value : {1.0f, 448.0f, 1e6f, 0x1p-9f, -1.0625f, 17.0f})
    bits.push_back(toBits(value));
  auto e4m3 = evaluate("{cvt.rn.satfinite.e4m3x2.f32 %h0, %a0, 0f00000000; "
                       "cvt.u32.u16 %d, %h0;}",
                       {bits});
  EXPECT_EQ(e4m3, (std::vector<uint64_t>{0x3800, 0x7e00, 0x7e00, 0x0100, 0xb800,
                                         0x5800}));
  auto e5m2 = evaluate("{cvt.rn.satfinite.e5m2x2.f32 %h0, 0f3F800000, %a0; "
                       "cvt.u32.u16 %d, %h0;}",
                       {bits});
  EXPECT_EQ(e5m2, (std::vector<uint64_t>{0x3c3c, 0x3c5f, 0x3c7b, 0x3c18, 0x3cbc,
                                         0x3c4c}));
}

TEST(EmulatorFloat, Doubles) {
  auto bitsOf = [](double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    return bits;
  };
  std::vector<uint64_t> left = {bitsOf(0.1), bitsOf(-1e300), bitsOf(3)};
  std::vector<uint64_t> right = {bitsOf(0.2), bitsOf(1e300), bitsOf(7)};
  auto sums = evaluate("fma.rn.f64 %d, %a0, %a1, %a0;", {left, right}, 64, 64);
  EXPECT_EQ(sums[0], bitsOf(std::fma(0.1, 0.2, 0.1)));
  EXPECT_EQ(sums[1], bitsOf(-infinity));
  auto quotients = evaluate("div.rz.f64 %d, %a0, %a1;", {left, right}, 64, 64);
  EXPECT_EQ(quotients[2],
            bitsOf(3.0 / 7.0 * 7.0 > 3.0 ? 3.0 / 7.0 : 3.0 / 7.0));
  auto narrow = evaluate("cvt.rn.f32.f64 %d, %a0;", {left}, 64, 32);
  EXPECT_EQ(toFloat(narrow[0]), 0.1f);
  auto saturated = evaluate("cvt.rzi.s64.f64 %d, %a0;", {left}, 64, 64);
  EXPECT_EQ(saturated[1], uint64_t(INT64_MIN));
}

} // namespace
