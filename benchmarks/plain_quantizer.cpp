//===- plain_quantizer.cpp - Quantizers as plain loops --------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `#act.group_quant` with bf16 parameters computes for whole groups, in
// loops that the compiler is left to vectorise: what benchmarks/quantize
// compares act's kernels with. See docs/Encodings.md for the arithmetic.
//
//===----------------------------------------------------------------------===//

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace {

using Bf16 = uint16_t;

float fromBits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}

uint32_t toBits(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}

float load(float x) { return x; }
float load(Bf16 x) { return fromBits(static_cast<uint32_t>(x) << 16); }

void store(float value, float &x) { x = value; }
void store(float value, Bf16 &x) {
  uint32_t bits = toBits(value);
  x = static_cast<Bf16>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

float noise(uint32_t bits, uint32_t place) {
  uint32_t hash = bits ^ place;
  hash = (hash ^ hash >> 16) * 0x7FEB352D;
  hash = (hash ^ hash >> 15) * 0x846CA68B;
  return fromBits(hash >> 9 | 0x3F800000) - 1.5f;
}

/// Calls `body` for parts of `[0, count)` on `threads` threads.
template <typename Body>
void inParallel(int64_t count, int64_t threads, Body body) {
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i)
    others.emplace_back(
        [=] { body(count * i / threads, count * (i + 1) / threads); });
  body(0, count / threads);
  for (std::thread &other : others)
    other.join();
}

struct Range {
  float minimum, step;
};

Range getRange(float smallest, float largest, float top, int codes) {
  uint32_t low = toBits(smallest) + (smallest < 0 ? 0xFFFF : 0);
  float limit = fromBits(toBits(top) & 0xFFFF0000);
  float minimum = std::max(fromBits(low & 0xFFFF0000), -limit);
  float perStep = 1.0f / static_cast<float>(codes);
  float step = std::max((largest - minimum) * perStep, 1e-30f);
  step = fromBits((toBits(step) + 0xFFFF) & 0xFFFF0000);
  float room = std::min(top - minimum, std::numeric_limits<float>::max());
  step = std::min(step, fromBits(toBits(room * perStep) & 0xFFFF0000));
  return {minimum, std::isfinite(largest - smallest) ? step : NAN};
}

template <typename T>
float getTop() {
  float largest = std::is_same_v<T, float> ? std::numeric_limits<float>::max()
                                           : fromBits(0x7F7F0000);
  return static_cast<float>(largest * (1 - 0x1p-20));
}

template <int Bits, int Group, typename T>
void quantize(const T *x, uint8_t *codes, Bf16 *minimums, Bf16 *steps,
              int64_t begin, int64_t end, uint32_t salt) {
  constexpr int largestCode = (1 << Bits) - 1, numBytes = Group * Bits / 8;
  for (int64_t group = begin; group < end; ++group) {
    const T *values = x + group * Group;
    float smallest = load(values[0]), largest = smallest;
    for (int i = 1; i < Group; ++i) {
      float value = load(values[i]);
      smallest = value < smallest ? value : smallest;
      largest = value > largest ? value : largest;
    }
    Range range = getRange(smallest, largest, getTop<T>(), largestCode);
    minimums[group] = static_cast<Bf16>(toBits(range.minimum) >> 16);
    steps[group] = static_cast<Bf16>(toBits(range.step) >> 16);
    float offset = 0.25f * range.minimum, inverse = 4 / range.step;
    for (int byte = 0; byte < numBytes; ++byte) {
      uint32_t packed = 0;
      for (int plane = 0; plane < 8 / Bits; ++plane) {
        int i = plane * numBytes + byte;
        float value = load(values[i]);
        uint32_t place =
            static_cast<uint32_t>(group * Group + i) * 0x9E3779B1 + salt;
        float code =
            (0.25f * value - offset) * inverse + noise(toBits(value), place);
        code = code > 0 ? code : 0;
        code = code < largestCode ? code : largestCode;
        packed |= (toBits(code + 0x1p23f) & largestCode) << (plane * Bits);
      }
      codes[group * numBytes + byte] = static_cast<uint8_t>(packed);
    }
  }
}

template <int Bits, int Group, typename T>
void dequantize(T *x, const uint8_t *codes, const Bf16 *minimums,
                const Bf16 *steps, int64_t begin, int64_t end) {
  constexpr int largestCode = (1 << Bits) - 1, numBytes = Group * Bits / 8;
  for (int64_t group = begin; group < end; ++group) {
    float minimum = load(minimums[group]), step = load(steps[group]);
    for (int plane = 0; plane < 8 / Bits; ++plane)
      for (int byte = 0; byte < numBytes; ++byte) {
        int code = codes[group * numBytes + byte] >> (plane * Bits);
        store(static_cast<float>(code & largestCode) * step + minimum,
              x[group * Group + plane * numBytes + byte]);
      }
  }
}

} // namespace

/// Defines `quantize_BITS_GROUP_NAME` and its inverse, over all groups.
#define DEFINE(BITS, GROUP, NAME, TYPE)                                        \
  extern "C" void quantize_##BITS##_##GROUP##_##NAME(                          \
      const TYPE *x, uint8_t *codes, Bf16 *minimums, Bf16 *steps,              \
      int64_t groups, uint32_t salt, int64_t threads) {                        \
    inParallel(groups, threads, [=](int64_t begin, int64_t end) {              \
      quantize<BITS, GROUP>(x, codes, minimums, steps, begin, end, salt);      \
    });                                                                        \
  }                                                                            \
  extern "C" void dequantize_##BITS##_##GROUP##_##NAME(                        \
      TYPE *x, const uint8_t *codes, const Bf16 *minimums, const Bf16 *steps,  \
      int64_t groups, int64_t threads) {                                       \
    inParallel(groups, threads, [=](int64_t begin, int64_t end) {              \
      dequantize<BITS, GROUP>(x, codes, minimums, steps, begin, end);          \
    });                                                                        \
  }
#define DEFINE_BITS(GROUP, NAME, TYPE)                                         \
  DEFINE(8, GROUP, NAME, TYPE)                                                 \
  DEFINE(4, GROUP, NAME, TYPE)                                                 \
  DEFINE(2, GROUP, NAME, TYPE)                                                 \
  DEFINE(1, GROUP, NAME, TYPE)
DEFINE_BITS(64, f32, float)
DEFINE_BITS(128, f32, float)
DEFINE_BITS(256, f32, float)
DEFINE_BITS(64, bf16, Bf16)
DEFINE_BITS(128, bf16, Bf16)
DEFINE_BITS(256, bf16, Bf16)

extern "C" void copy(char *to, const char *from, int64_t bytes,
                     int64_t threads) {
  inParallel(bytes, threads, [=](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, end - begin);
  });
}
