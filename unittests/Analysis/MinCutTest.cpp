//===- MinCutTest.cpp - Tests of minimum cuts -----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/MinCut.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace mlir::act;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

struct TestEdge {
  unsigned from, to;
  int64_t capacity;
};

constexpr int64_t kUnlimited = FlowNetwork::kUnlimited;

FlowNetwork makeNetwork(unsigned numNodes, ArrayRef<TestEdge> edges) {
  FlowNetwork network(numNodes);
  for (const TestEdge &edge : edges)
    network.addEdge(edge.from, edge.to, edge.capacity);
  return network;
}

SmallVector<unsigned> toList(const llvm::BitVector &nodes) {
  return SmallVector<unsigned>(nodes.set_bits());
}

/// The capacity of the edges that leave `side`.
int64_t getCutCapacity(ArrayRef<TestEdge> edges, const llvm::BitVector &side) {
  int64_t capacity = 0;
  for (const TestEdge &edge : edges)
    if (side.test(edge.from) && !side.test(edge.to))
      capacity += edge.capacity;
  return capacity;
}

} // namespace

TEST(MinCutTest, OneEdge) {
  FlowNetwork network = makeNetwork(2, {{0, 1, 7}});
  EXPECT_EQ(network.maximizeFlow(0, 1), 7);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)), ElementsAre(0));
  EXPECT_THAT(toList(network.getLargestSourceSide(1)), ElementsAre(0));
}

TEST(MinCutTest, NoPath) {
  FlowNetwork network = makeNetwork(4, {{0, 1, 3}, {2, 3, 3}});
  EXPECT_EQ(network.maximizeFlow(0, 3), 0);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)), ElementsAre(0, 1));
  EXPECT_THAT(toList(network.getLargestSourceSide(3)), ElementsAre(0, 1));
}

TEST(MinCutTest, EdgesAreDirected) {
  FlowNetwork network = makeNetwork(2, {{1, 0, 5}});
  EXPECT_EQ(network.maximizeFlow(0, 1), 0);
}

TEST(MinCutTest, ParallelEdgesAdd) {
  FlowNetwork network = makeNetwork(2, {{0, 1, 5}, {0, 1, 6}, {0, 1, 0}});
  EXPECT_EQ(network.maximizeFlow(0, 1), 11);
}

// The example of Cormen, Leiserson, Rivest and Stein, "Introduction to
// Algorithms", figure 26.1.
TEST(MinCutTest, TextbookFlow) {
  TestEdge edges[] = {{0, 1, 16}, {0, 2, 13}, {1, 3, 12}, {2, 1, 4}, {3, 2, 9},
                      {2, 4, 14}, {4, 3, 7},  {3, 5, 20}, {4, 5, 4}};
  FlowNetwork network = makeNetwork(6, edges);
  EXPECT_EQ(network.maximizeFlow(0, 5), 23);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)),
              ElementsAre(0, 1, 2, 4));
  EXPECT_THAT(toList(network.getLargestSourceSide(5)), ElementsAre(0, 1, 2, 4));
}

// A path has to take back what an earlier one sent over the edge in the middle.
TEST(MinCutTest, FlowIsTakenBack) {
  TestEdge edges[] = {{0, 1, 1}, {0, 2, 1}, {1, 2, 1}, {1, 3, 1}, {2, 3, 1}};
  FlowNetwork network = makeNetwork(4, edges);
  EXPECT_EQ(network.maximizeFlow(0, 3), 2);
}

// In a chain of equal edges the cuts are at either end.
TEST(MinCutTest, BothSidesOfATie) {
  TestEdge edges[] = {{0, 1, 2}, {1, 2, 2}, {2, 3, 3}, {3, 4, 2}};
  FlowNetwork network = makeNetwork(5, edges);
  EXPECT_EQ(network.maximizeFlow(0, 4), 2);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)), ElementsAre(0));
  EXPECT_THAT(toList(network.getLargestSourceSide(4)), ElementsAre(0, 1, 2, 3));
}

// A node that leads nowhere is on the source's side of the largest side only.
TEST(MinCutTest, DeadEnd) {
  TestEdge edges[] = {{0, 1, 2}, {1, 3, 2}, {1, 2, 5}};
  FlowNetwork network = makeNetwork(4, edges);
  EXPECT_EQ(network.maximizeFlow(0, 3), 2);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)), ElementsAre(0));
  EXPECT_THAT(toList(network.getLargestSourceSide(3)), ElementsAre(0, 1, 2));
}

TEST(MinCutTest, CutsAvoidUnlimitedEdges) {
  TestEdge edges[] = {{0, 1, kUnlimited}, {1, 2, 9},
                      {2, 3, kUnlimited}, {1, 4, 4},
                      {4, 3, kUnlimited}, {3, 5, 20}};
  FlowNetwork network = makeNetwork(6, edges);
  EXPECT_EQ(network.maximizeFlow(0, 5), 13);
  EXPECT_THAT(toList(network.getSmallestSourceSide(0)), ElementsAre(0, 1));
  EXPECT_THAT(toList(network.getLargestSourceSide(5)), ElementsAre(0, 1));
}

TEST(MinCutTest, NoCutWithoutUnlimitedEdges) {
  TestEdge edges[] = {{0, 1, kUnlimited}, {1, 2, kUnlimited}, {0, 2, 3}};
  FlowNetwork network = makeNetwork(3, edges);
  EXPECT_GE(network.maximizeFlow(0, 2), kUnlimited);
}

// Several unlimited paths do not overflow.
TEST(MinCutTest, ManyUnlimitedPaths) {
  for (unsigned numPaths = 1; numPaths < 40; ++numPaths) {
    FlowNetwork network(numPaths + 2);
    for (unsigned i = 2; i < numPaths + 2; ++i) {
      network.addEdge(0, i, kUnlimited);
      network.addEdge(i, 1, kUnlimited);
    }
    EXPECT_GE(network.maximizeFlow(0, 1), kUnlimited) << numPaths;
  }
}

// Long chains: no recursion, and no more work per edge than a short one.
TEST(MinCutTest, LongChain) {
  constexpr unsigned kLength = 200000;
  FlowNetwork network(kLength + 1);
  for (unsigned i = 0; i < kLength; ++i)
    network.addEdge(i, i + 1, i == kLength / 2 ? 3 : 4);
  EXPECT_EQ(network.maximizeFlow(0, kLength), 3);
  EXPECT_EQ(network.getSmallestSourceSide(0).count(), kLength / 2 + 1);
}

// Random networks against all cuts.
TEST(MinCutTest, AgreesWithBruteForce) {
  std::mt19937 random(7);
  for (unsigned trial = 0; trial < 500; ++trial) {
    SCOPED_TRACE(trial);
    unsigned numNodes = 2 + random() % 8;
    unsigned source = 0, sink = numNodes - 1;
    std::vector<TestEdge> edges;
    for (unsigned i = 0, e = random() % (3 * numNodes); i < e; ++i)
      edges.push_back({static_cast<unsigned>(random() % numNodes),
                       static_cast<unsigned>(random() % numNodes),
                       static_cast<int64_t>(random() % 6)});
    FlowNetwork network = makeNetwork(numNodes, edges);
    int64_t flow = network.maximizeFlow(source, sink);

    int64_t least = kUnlimited;
    llvm::BitVector smallest(numNodes, true), largest(numNodes);
    for (unsigned mask = 0; mask < 1u << numNodes; ++mask) {
      llvm::BitVector side(numNodes);
      side.setBitsInMask(&mask, 1);
      if (!side.test(source) || side.test(sink))
        continue;
      int64_t capacity = getCutCapacity(edges, side);
      if (capacity < least) {
        smallest.set();
        largest.reset();
        least = capacity;
      }
      // Minimum cuts are closed under intersection and union.
      if (capacity == least) {
        smallest &= side;
        largest |= side;
      }
    }
    EXPECT_EQ(flow, least);
    EXPECT_EQ(toList(network.getSmallestSourceSide(source)), toList(smallest));
    EXPECT_EQ(toList(network.getLargestSourceSide(sink)), toList(largest));
  }
}
