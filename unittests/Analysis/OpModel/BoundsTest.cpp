//===- BoundsTest.cpp - Tests of the arithmetic of upper bounds -----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/Bounds.h"
#include "gtest/gtest.h"
#include <limits>

using namespace mlir::act::bounds;

static constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
static const Bound kNone;

TEST(BoundsTest, MaxOfWidth) {
  EXPECT_EQ(getMax(0), 0u);
  EXPECT_EQ(getMax(1), 1u);
  EXPECT_EQ(getMax(31), 0x7fffffffu);
  EXPECT_EQ(getMax(64), kMax);
  EXPECT_EQ(getMax(100), kMax);
}

TEST(BoundsTest, Unknown) {
  EXPECT_EQ(greater(3, kNone), kNone);
  EXPECT_EQ(lesser(3, kNone), Bound(3));
  EXPECT_EQ(lesser(kNone, kNone), kNone);
  EXPECT_EQ(greatest({}), kNone);
  EXPECT_EQ(greatest({Bound(1), Bound(5), Bound(2)}), Bound(5));
  EXPECT_EQ(greatest({Bound(1), kNone}), kNone);
  EXPECT_EQ(sum(kNone, 1), kNone);
  EXPECT_EQ(product(1, kNone), kNone);
  EXPECT_EQ(unionOfBits(kNone, 1), kNone);
}

TEST(BoundsTest, Overflow) {
  EXPECT_EQ(sum(kMax, 0), Bound(kMax));
  EXPECT_EQ(sum(kMax, 1), kNone);
  EXPECT_EQ(product(kMax, 1), Bound(kMax));
  EXPECT_EQ(product(kMax, 2), kNone);
  EXPECT_EQ(fits(255, 255), Bound(255));
  EXPECT_EQ(fits(256, 255), kNone);
}

TEST(BoundsTest, Bits) {
  EXPECT_EQ(unionOfBits(0, 0), Bound(0));
  EXPECT_EQ(unionOfBits(4, 3), Bound(7));
  EXPECT_EQ(unionOfBits(kMax, 1), Bound(kMax));
}

TEST(BoundsTest, Division) {
  EXPECT_EQ(quotient(100, 7), Bound(14));
  EXPECT_EQ(quotient(100, 0), kNone);
  EXPECT_EQ(quotient(100, kNone), kNone);
  EXPECT_EQ(remainder(100, 7, 9), Bound(8));
  EXPECT_EQ(remainder(5, 7, 9), Bound(5));
  EXPECT_EQ(remainder(100, 0, 9), kNone);
  EXPECT_EQ(remainder(kNone, 7, 9), kNone);
}

TEST(BoundsTest, Shift) {
  EXPECT_EQ(shiftedRight(100, 3), Bound(12));
  EXPECT_EQ(shiftedRight(100, 64), Bound(0));
  EXPECT_EQ(shiftedRight(100, kNone), Bound(100));
  EXPECT_EQ(shiftedRight(kNone, 3), kNone);
}

/// Bounds hold for all operands they are computed from.
TEST(BoundsTest, Exhaustive) {
  for (uint64_t x = 0; x < 20; ++x)
    for (uint64_t y = 0; y < 20; ++y)
      for (uint64_t a = 0; a <= x; ++a)
        for (uint64_t b = 0; b <= y; ++b) {
          EXPECT_LE(a & b, *lesser(x, y));
          EXPECT_LE(a | b, *unionOfBits(x, y));
          EXPECT_LE(a ^ b, *unionOfBits(x, y));
          EXPECT_LE(a + b, *sum(x, y));
          EXPECT_LE(a * b, *product(x, y));
          if (b > 0) {
            EXPECT_LE(a / b, *quotient(x, b));
            EXPECT_LE(a % b, *remainder(x, 1, y));
          }
        }
}
