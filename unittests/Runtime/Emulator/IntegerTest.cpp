//===- IntegerTest.cpp - Tests of integer instructions ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include <algorithm>

using namespace act::emulator::test;

namespace {

/// Numbers at which integer instructions go wrong.
const std::vector<uint64_t> words = {
    0,          1,          2,          3,          7,          31,
    32,         33,         0x7f,       0x80,       0xff,       0x100,
    0x7fff,     0x8000,     0xffff,     0x10000,    0x12345678, 0x7fffffff,
    0x80000000, 0x80000001, 0xdeadbeef, 0xfffffffe, 0xffffffff};

/// All pairs of `words`.
std::vector<std::vector<uint64_t>> getPairs() {
  std::vector<std::vector<uint64_t>> pairs(2);
  for (uint64_t left : words)
    for (uint64_t right : words) {
      pairs[0].push_back(left);
      pairs[1].push_back(right);
    }
  return pairs;
}

/// Compares `instruction` on all pairs with `reference`.
template <typename Function>
void expectPairs(const std::string &instruction, Function reference) {
  auto pairs = getPairs();
  std::vector<uint64_t> results = evaluate(instruction, pairs);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(uint32_t(results[i]),
              uint32_t(reference(uint32_t(pairs[0][i]), uint32_t(pairs[1][i]))))
        << instruction << " of " << std::hex << pairs[0][i] << ", "
        << pairs[1][i];
}

TEST(EmulatorInteger, Arithmetic) {
  expectPairs("add.s32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return a + b; });
  expectPairs("sub.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return a - b; });
  expectPairs("mul.lo.s32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return a * b; });
  expectPairs("mul.hi.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return (int64_t(int32_t(a)) * int32_t(b)) >> 32;
  });
  expectPairs("mul.hi.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return (uint64_t(a) * b) >> 32; });
  expectPairs("mad.lo.s32 %d, %a0, %a1, 5;",
              [](uint32_t a, uint32_t b) { return a * b + 5; });
  expectPairs("mad.hi.u32 %d, %a0, %a1, %a0;", [](uint32_t a, uint32_t b) {
    return ((uint64_t(a) * b) >> 32) + a;
  });
  expectPairs("add.sat.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return std::clamp<int64_t>(int64_t(int32_t(a)) + int32_t(b), INT32_MIN,
                               INT32_MAX);
  });
  expectPairs("sad.s32 %d, %a0, %a1, 1;", [](uint32_t a, uint32_t b) {
    return std::abs(int64_t(int32_t(a)) - int32_t(b)) + 1;
  });
  expectPairs("min.s32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return std::min<int32_t>(a, b); });
  expectPairs("max.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return std::max(a, b); });
  expectPairs("mul24.lo.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return int64_t(int32_t(a << 8) >> 8) * (int32_t(b << 8) >> 8);
  });
  expectPairs("{.reg .b64 %w; mul.wide.s32 %w, %a0, %a1; shr.u64 %w, %w, 17; "
              "cvt.u32.u64 %d, %w;}",
              [](uint32_t a, uint32_t b) {
                return uint64_t(int64_t(int32_t(a)) * int32_t(b)) >> 17;
              });
}

/// What a GPU gives for x / 0 and x % 0 is not defined; ours are those of one.
TEST(EmulatorInteger, DivisionNeverTraps) {
  expectPairs("div.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    if (b == 0)
      return ~0u;
    return uint32_t(int64_t(int32_t(a)) / int32_t(b));
  });
  expectPairs("rem.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return b == 0 ? a : uint32_t(int64_t(int32_t(a)) % int32_t(b));
  });
  expectPairs("div.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return b == 0 ? ~0u : a / b; });
  expectPairs("rem.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return b == 0 ? a : a % b; });
}

TEST(EmulatorInteger, ShiftsClamp) {
  expectPairs("shl.b32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a << b; });
  expectPairs("shr.u32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> b; });
  expectPairs("shr.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return int32_t(a) >> std::min(b, 31u);
  });
  expectPairs("shf.l.wrap.b32 %d, %a0, %a1, %a0;", [](uint32_t a, uint32_t b) {
    unsigned n = a & 31;
    return n ? b << n | a >> (32 - n) : b;
  });
  expectPairs("shf.r.clamp.b32 %d, %a0, %a1, %a0;", [](uint32_t a, uint32_t b) {
    unsigned n = std::min(a, 32u);
    return n == 0 ? a : n == 32 ? b : a >> n | b << (32 - n);
  });
}

TEST(EmulatorInteger, Bits) {
  expectPairs("and.b32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return a & b; });
  expectPairs("xor.b32 %d, %a0, %a1;",
              [](uint32_t a, uint32_t b) { return a ^ b; });
  // The table of a ? b : c.
  expectPairs(
      "lop3.b32 %d, %a0, %a1, 0x0f0f0f0f, 0xCA;",
      [](uint32_t a, uint32_t b) { return (a & b) | (~a & 0x0f0f0f0f); });
  expectPairs("{popc.b32 %d, %a0; clz.b32 %r0, %a1; "
              "mad.lo.s32 %d, %d, 100, %r0;}",
              [](uint32_t a, uint32_t b) {
                return __builtin_popcount(a) * 100 +
                       (b ? __builtin_clz(b) : 32);
              });
  expectPairs("brev.b32 %d, %a0;", [](uint32_t a, uint32_t) {
    uint32_t result = 0;
    for (int i = 0; i < 32; ++i)
      result |= (a >> i & 1) << (31 - i);
    return result;
  });
  expectPairs("bfind.s32 %d, %a0;", [](uint32_t a, uint32_t) {
    uint32_t value = int32_t(a) < 0 ? ~a : a;
    return value ? 31 - __builtin_clz(value) : -1;
  });
  expectPairs("bfind.shiftamt.u32 %d, %a0;",
              [](uint32_t a, uint32_t) { return a ? __builtin_clz(a) : -1; });
  expectPairs("cnot.b32 %d, %a0;",
              [](uint32_t a, uint32_t) { return a == 0 ? 1 : 0; });
}

/// Fields that reach over the end, and lengths of 0, 32 and more.
TEST(EmulatorInteger, BitFields) {
  for (unsigned length : {0, 1, 5, 16, 31, 32, 40, 255}) {
    std::string text = std::to_string(length);
    expectPairs(
        "bfe.u32 %d, %a0, %a1, " + text + ";", [&](uint32_t a, uint32_t b) {
          b &= 255;
          uint64_t field = b > 31 ? 0 : uint64_t(a) >> b;
          return length > 31 ? field : field & ((uint64_t(1) << length) - 1);
        });
    expectPairs("bfe.s32 %d, %a0, %a1, " + text + ";",
                [&](uint32_t a, uint32_t b) -> int64_t {
                  b &= 255;
                  if (length == 0)
                    return 0;
                  // Sign-extended to 64 bits, a field over the end is right.
                  int64_t field = int64_t(int32_t(a)) >> std::min(b, 63u);
                  if (length > 31)
                    return field;
                  return int64_t(uint64_t(field) << (64 - length)) >>
                         (64 - length);
                });
    expectPairs("bfi.b32 %d, %a0, 0x55555555, %a1, " + text + ";",
                [&](uint32_t a, uint32_t b) -> uint32_t {
                  b &= 255;
                  uint32_t base = 0x55555555;
                  for (unsigned i = 0; i < length && b + i < 32 && i < 32; ++i)
                    base = (base & ~(1u << (b + i))) | (a >> i & 1) << (b + i);
                  return base;
                });
  }
}

TEST(EmulatorInteger, Bytes) {
  auto byteOf = [](uint64_t both, unsigned selector) -> uint32_t {
    uint32_t byte = both >> (selector & 7) * 8 & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
  };
  for (uint32_t control : {0x3210u, 0x7654u, 0x0123u, 0xba98u, 0x5140u}) {
    expectPairs("prmt.b32 %d, %a0, %a1, " + std::to_string(control) + ";",
                [&](uint32_t a, uint32_t b) {
                  uint64_t both = a | uint64_t(b) << 32;
                  uint32_t result = 0;
                  for (int i = 0; i < 4; ++i)
                    result |= byteOf(both, control >> 4 * i & 15) << 8 * i;
                  return result;
                });
  }
  expectPairs("dp4a.s32.u32 %d, %a0, %a1, 7;", [](uint32_t a, uint32_t b) {
    int32_t sum = 7;
    for (int i = 0; i < 4; ++i)
      sum += int8_t(a >> 8 * i) * int32_t(uint8_t(b >> 8 * i));
    return sum;
  });
}

TEST(EmulatorInteger, PackedSums) {
  expectPairs("add.s16x2 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return uint16_t(a + b) | ((a >> 16) + (b >> 16)) << 16;
  });
  expectPairs("max.s16x2 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    uint32_t low = uint16_t(std::max(int16_t(a), int16_t(b)));
    uint32_t high = uint16_t(std::max(int16_t(a >> 16), int16_t(b >> 16)));
    return low | high << 16;
  });
}

TEST(EmulatorInteger, SumsOf128Bits) {
  expectPairs("{add.cc.u32 %r0, %a0, %a1; addc.u32 %d, %a0, 0;}",
              [](uint32_t a, uint32_t b) {
                return ((uint64_t(a) << 32 | a) + b) >> 32;
              });
  expectPairs("{sub.cc.u32 %r0, %a0, %a1; subc.u32 %d, %a0, 0;}",
              [](uint32_t a, uint32_t b) {
                return ((uint64_t(a) << 32 | a) - b) >> 32;
              });
}

TEST(EmulatorInteger, Comparisons) {
  expectPairs(
      "{setp.lt.s32 %q0, %a0, %a1; selp.b32 %d, 1, 2, %q0;}",
      [](uint32_t a, uint32_t b) { return int32_t(a) < int32_t(b) ? 1 : 2; });
  expectPairs("{setp.hi.u32 %q0, %a0, %a1; "
              "setp.ne.and.s32 %q1|%q2, %a0, 7, %q0; selp.b32 %d, 1, 0, %q1; "
              "@!%q2 bra L; add.s32 %d, %d, 2; L:}",
              [](uint32_t a, uint32_t b) {
                return (a > b && a != 7 ? 1 : 0) + (a > b && a == 7 ? 2 : 0);
              });
  expectPairs("set.ge.u32.s32 %d, %a0, %a1;", [](uint32_t a, uint32_t b) {
    return int32_t(a) >= int32_t(b) ? ~0u : 0;
  });
  expectPairs("slct.b32.s32 %d, %a0, %a1, %a0;",
              [](uint32_t a, uint32_t b) { return int32_t(a) >= 0 ? a : b; });
}

TEST(EmulatorInteger, Conversions) {
  expectPairs("cvt.sat.s8.s32 %d, %a0;", [](uint32_t a, uint32_t) {
    return std::clamp<int32_t>(a, -128, 127);
  });
  expectPairs("cvt.sat.u16.s32 %d, %a0;", [](uint32_t a, uint32_t) {
    return std::clamp<int32_t>(a, 0, 65535);
  });
  expectPairs("{cvt.s16.s32 %h0, %a0; cvt.s32.s16 %d, %h0;}",
              [](uint32_t a, uint32_t) { return int16_t(a); });
  expectPairs("{cvt.s64.s32 %l0, %a0; shr.s64 %l0, %l0, 8; "
              "cvt.u32.u64 %d, %l0;}",
              [](uint32_t a, uint32_t) { return int64_t(int32_t(a)) >> 8; });
  expectPairs("{mov.b64 %l0, {%a0, %a1}; mov.b64 {%r0, %r1}, %l0; "
              "sub.s32 %d, %r1, %r0;}",
              [](uint32_t a, uint32_t b) { return b - a; });
}

} // namespace
