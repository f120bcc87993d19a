//===- PackingTest.cpp - Tests of addresses in a heap ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "gtest/gtest.h"

using namespace mlir::act::memory;

static Buffer makeBuffer(int64_t bytes, unsigned begin, unsigned end) {
  Buffer buffer;
  buffer.bytes = bytes;
  buffer.intervals.push_back({begin, end});
  return buffer;
}

TEST(PackingTest, NothingNeedsNothing) { EXPECT_EQ(packBuffers({}, 64), 0); }

TEST(PackingTest, BuffersThatAreAliveTogetherAreSideBySide) {
  EXPECT_EQ(packBuffers({makeBuffer(128, 0, 2), makeBuffer(64, 2, 3)}, 64),
            192);
}

TEST(PackingTest, BuffersThatAreNotShareAnAddress) {
  EXPECT_EQ(packBuffers({makeBuffer(128, 0, 1), makeBuffer(64, 2, 3)}, 64),
            128);
}

TEST(PackingTest, StartsAreAligned) {
  EXPECT_EQ(packBuffers({makeBuffer(100, 0, 1), makeBuffer(30, 0, 1)}, 64),
            158);
}

TEST(PackingTest, ArgumentsAndResultsAreElsewhere) {
  Buffer argument = makeBuffer(128, 0, 9), result = makeBuffer(256, 5, 9);
  argument.kind = Buffer::Argument;
  result.kind = Buffer::Result;
  EXPECT_EQ(packBuffers({argument, result, makeBuffer(64, 0, 9)}, 64), 64);
}

TEST(PackingTest, AGapInALifeIsFree) {
  // What a loop carries is free between its last use and its next value.
  Buffer carried = makeBuffer(128, 0, 1);
  carried.intervals.push_back({5, 8});
  EXPECT_EQ(packBuffers({carried, makeBuffer(128, 2, 4)}, 64), 128);
  EXPECT_EQ(packBuffers({carried, makeBuffer(128, 2, 5)}, 64), 256);
}

TEST(PackingTest, TemporariesGoIntoResultsThatComeLater) {
  std::vector<Buffer> buffers{makeBuffer(64, 0, 3), makeBuffer(256, 0, 3),
                              makeBuffer(64, 2, 9), makeBuffer(128, 4, 9)};
  buffers[3].kind = Buffer::Result;
  placeInResults(buffers);
  EXPECT_TRUE(buffers[0].isInResult);
  EXPECT_FALSE(buffers[1].isInResult) << "larger than the result";
  EXPECT_FALSE(buffers[2].isInResult) << "alive when the result is";
  EXPECT_EQ(packBuffers(buffers, 64), 256 + 64);
}

TEST(PackingTest, AResultHasRoomForOneTemporaryAtATime) {
  std::vector<Buffer> buffers{makeBuffer(64, 0, 2), makeBuffer(64, 2, 3),
                              makeBuffer(128, 4, 9)};
  buffers[2].kind = Buffer::Result;
  placeInResults(buffers);
  EXPECT_NE(buffers[0].isInResult, buffers[1].isInResult);
}

TEST(PackingTest, DonatedResultsHaveNoRoom) {
  std::vector<Buffer> buffers{makeBuffer(64, 0, 2), makeBuffer(128, 4, 9)};
  buffers[1].kind = Buffer::Result;
  buffers[1].isDonated = true;
  placeInResults(buffers);
  EXPECT_FALSE(buffers[0].isInResult);
}
