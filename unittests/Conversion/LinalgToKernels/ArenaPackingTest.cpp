//===- ArenaPackingTest.cpp - Offsets of buffers ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinalgToKernels/ArenaPacking.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

using namespace mlir::act;

/// Expects a plan without overlaps, aligned and not below the bound.
static void expectSound(const std::vector<ArenaBuffer> &buffers,
                        const ArenaPlan &plan, int64_t alignment) {
  ASSERT_EQ(plan.offsets.size(), buffers.size());
  int64_t end = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % alignment, 0);
    EXPECT_GE(plan.offsets[i], 0);
    end = std::max(end, plan.offsets[i] + buffers[i].bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = buffers[i].start <= buffers[j].end &&
                      buffers[j].start <= buffers[i].end;
      bool apart = plan.offsets[i] + buffers[i].bytes <= plan.offsets[j] ||
                   plan.offsets[j] + buffers[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
  EXPECT_EQ(plan.bytes, end);
  EXPECT_GE(plan.bytes, plan.bound);
}

TEST(ArenaPackingTest, NothingTakesNothing) {
  ArenaPlan plan = packArena({}, 64);
  EXPECT_EQ(plan.bytes, 0);
  EXPECT_EQ(plan.bound, 0);
}

TEST(ArenaPackingTest, BuffersOneAfterTheOtherShareMemory) {
  std::vector<ArenaBuffer> buffers = {{128, 0, 1}, {64, 2, 3}, {128, 4, 5}};
  ArenaPlan plan = packArena(buffers, 64);
  EXPECT_EQ(plan.bytes, 128);
  EXPECT_EQ(plan.bound, 128);
  expectSound(buffers, plan, 64);
}

TEST(ArenaPackingTest, LastInstantOfOneIsNotFirstOfAnother) {
  std::vector<ArenaBuffer> buffers = {{64, 0, 2}, {64, 2, 3}};
  ArenaPlan plan = packArena(buffers, 64);
  EXPECT_EQ(plan.bytes, 128);
  expectSound(buffers, plan, 64);
}

TEST(ArenaPackingTest, OffsetsAreAligned) {
  std::vector<ArenaBuffer> buffers = {{1, 0, 9}, {3, 0, 9}, {5, 0, 9}};
  ArenaPlan plan = packArena(buffers, 64);
  expectSound(buffers, plan, 64);
  EXPECT_EQ(plan.bound, 9);
  EXPECT_LE(plan.bytes, 133);
}

/// Order by time alone leaves a hole of 64 bytes here that the third cannot
/// use.
TEST(ArenaPackingTest, TriesSeveralOrders) {
  std::vector<ArenaBuffer> buffers = {
      {64, 0, 1}, {64, 0, 3}, {128, 2, 3}, {64, 4, 5}};
  ArenaPlan plan = packArena(buffers, 64);
  expectSound(buffers, plan, 64);
  EXPECT_EQ(plan.bytes, 192);
}

/// Like layers of a network: what forward makes lives until backward.
TEST(ArenaPackingTest, IsWithinOnePercentOfTheBoundForNestedLifetimes) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    std::vector<ArenaBuffer> buffers;
    int64_t layers = 10 + round;
    for (int64_t layer = 0; layer < layers; ++layer) {
      int64_t bytes = 4096 * (1 + random() % 64);
      buffers.push_back({bytes, 2 * layer, 4 * layers - 2 * layer});
      buffers.push_back({bytes, 2 * layer, 2 * layer + 1});
      buffers.push_back(
          {bytes, 4 * layers - 2 * layer - 1, 4 * layers - 2 * layer});
    }
    ArenaPlan plan = packArena(buffers, 64);
    expectSound(buffers, plan, 64);
    EXPECT_LE(plan.bytes, plan.bound * 1.01) << "round " << round;
  }
}

TEST(ArenaPackingTest, RandomLifetimesNeverOverlap) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    std::vector<ArenaBuffer> buffers;
    for (int i = 0; i < 200; ++i) {
      int64_t start = random() % 300;
      buffers.push_back({int64_t(1 + random() % 100000), start,
                         start + int64_t(random() % 40)});
    }
    expectSound(buffers, packArena(buffers, 64), 64);
  }
}
