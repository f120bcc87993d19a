//===- MinCut.cpp - Minimum cuts ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/MinCut.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

void FlowNetwork::addEdge(unsigned from, unsigned to, int64_t capacity) {
  unsigned index = edges.size();
  edges.push_back({to, heads[from], capacity});
  heads[from] = index;
  edges.push_back({from, heads[to], 0});
  heads[to] = index + 1;
}

bool FlowNetwork::computeLevels(unsigned source, unsigned sink) {
  levels.assign(heads.size(), -1);
  levels[sink] = 0;
  std::vector<unsigned> queue = {sink};
  for (size_t front = 0; front < queue.size(); ++front) {
    unsigned node = queue[front];
    if (node == source)
      return true;
    for (unsigned e = heads[node]; e != kNone; e = edges[e].next) {
      unsigned from = edges[e].to;
      if (levels[from] < 0 && edges[e ^ 1].residual > 0) {
        levels[from] = levels[node] + 1;
        queue.push_back(from);
      }
    }
  }
  return false;
}

int64_t FlowNetwork::sendBlockingFlow(unsigned source, unsigned sink) {
  SmallVector<unsigned> current(heads);
  SmallVector<unsigned> path;
  int64_t total = 0;
  unsigned node = source;
  while (true) {
    if (node == sink) {
      int64_t amount = kUnlimited;
      for (unsigned e : path)
        amount = std::min(amount, edges[e].residual);
      total += amount;
      if (total >= kUnlimited)
        return total; // no cut exists; more would overflow
      // Go on from the tail of the first edge that is now full.
      size_t keep = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        edges[path[i]].residual -= amount;
        edges[path[i] ^ 1].residual += amount;
        if (edges[path[i]].residual == 0)
          keep = i;
      }
      node = edges[path[keep] ^ 1].to;
      path.truncate(keep);
      continue;
    }
    unsigned &e = current[node];
    while (e != kNone &&
           !(edges[e].residual > 0 && levels[edges[e].to] == levels[node] - 1))
      e = edges[e].next;
    if (e != kNone) {
      path.push_back(e);
      node = edges[e].to;
      continue;
    }
    if (node == source)
      return total;
    // Dead end: step back and never enter it again.
    levels[node] = -1;
    node = edges[path.pop_back_val() ^ 1].to;
  }
}

int64_t FlowNetwork::maximizeFlow(unsigned source, unsigned sink) {
  int64_t total = 0;
  while (total < kUnlimited && computeLevels(source, sink))
    total += sendBlockingFlow(source, sink);
  return total;
}

llvm::BitVector FlowNetwork::getSmallestSourceSide(unsigned source) const {
  llvm::BitVector reached(heads.size());
  SmallVector<unsigned> stack = {source};
  reached.set(source);
  while (!stack.empty()) {
    for (unsigned e = heads[stack.pop_back_val()]; e != kNone;
         e = edges[e].next) {
      if (edges[e].residual > 0 && !reached.test(edges[e].to)) {
        reached.set(edges[e].to);
        stack.push_back(edges[e].to);
      }
    }
  }
  return reached;
}

llvm::BitVector FlowNetwork::getLargestSourceSide(unsigned sink) const {
  llvm::BitVector reaching(heads.size());
  SmallVector<unsigned> stack = {sink};
  reaching.set(sink);
  while (!stack.empty()) {
    for (unsigned e = heads[stack.pop_back_val()]; e != kNone;
         e = edges[e].next) {
      if (edges[e ^ 1].residual > 0 && !reaching.test(edges[e].to)) {
        reaching.set(edges[e].to);
        stack.push_back(edges[e].to);
      }
    }
  }
  return reaching.flip();
}
