//===- ArenaPacking.cpp - Offsets of buffers -----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinalgToKernels/ArenaPacking.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir::act;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Most plans that are tried by moving buffers to the front of an order.
static constexpr int64_t mostRepairs = 64;

static bool overlapInTime(const ArenaBuffer &a, const ArenaBuffer &b) {
  return a.start <= b.end && b.start <= a.end;
}

static int64_t getBound(ArrayRef<ArenaBuffer> buffers) {
  std::map<int64_t, int64_t> changes;
  for (const ArenaBuffer &buffer : buffers) {
    changes[buffer.start] += buffer.bytes;
    changes[buffer.end + 1] -= buffer.bytes;
  }
  int64_t alive = 0, most = 0;
  for (auto [time, change] : changes)
    most = std::max(most, alive += change);
  return most;
}

/// The smallest gap that `buffer` fits in between those that `placed` occupy at
/// the same time.
static int64_t findOffset(const ArenaBuffer &buffer,
                          ArrayRef<ArenaBuffer> buffers,
                          ArrayRef<unsigned> placed, ArrayRef<int64_t> offsets,
                          int64_t alignment) {
  SmallVector<std::pair<int64_t, int64_t>> occupied;
  for (unsigned other : placed)
    if (overlapInTime(buffer, buffers[other]))
      occupied.push_back(
          {offsets[other], offsets[other] + buffers[other].bytes});
  llvm::sort(occupied);
  int64_t best = -1, bestGap = 0, free = 0;
  for (auto [begin, end] : occupied) {
    int64_t gap = begin - free;
    if (gap >= buffer.bytes && (best < 0 || gap < bestGap)) {
      best = free;
      bestGap = gap;
    }
    free = std::max(free, static_cast<int64_t>(llvm::alignTo(end, alignment)));
  }
  return best < 0 ? free : best;
}

static ArenaPlan packInOrder(ArrayRef<ArenaBuffer> buffers,
                             ArrayRef<unsigned> order, int64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(buffers.size(), 0);
  SmallVector<unsigned> placed;
  for (unsigned i : order) {
    plan.offsets[i] =
        findOffset(buffers[i], buffers, placed, plan.offsets, alignment);
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + buffers[i].bytes);
    placed.push_back(i);
  }
  return plan;
}

/// The buffer that ends last in `plan`.
static unsigned findHighest(ArrayRef<ArenaBuffer> buffers,
                            const ArenaPlan &plan) {
  unsigned highest = 0;
  for (unsigned i = 0; i < buffers.size(); ++i)
    if (plan.offsets[i] + buffers[i].bytes == plan.bytes)
      highest = i;
  return highest;
}

ArenaPlan mlir::act::packArena(ArrayRef<ArenaBuffer> buffers,
                               int64_t alignment) {
  ArenaPlan best;
  best.bound = getBound(buffers);
  if (buffers.empty())
    return best;
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, buffers.size()));
  auto length = [&](unsigned i) { return buffers[i].end - buffers[i].start; };
  SmallVector<SmallVector<unsigned>> orders(3, all);
  llvm::stable_sort(orders[0], [&](unsigned a, unsigned b) {
    return buffers[a].bytes > buffers[b].bytes;
  });
  llvm::stable_sort(orders[1], [&](unsigned a, unsigned b) {
    return buffers[a].start < buffers[b].start;
  });
  llvm::stable_sort(
      orders[2], [&](unsigned a, unsigned b) { return length(a) > length(b); });
  int64_t bound = best.bound;
  for (SmallVector<unsigned> &order : orders) {
    // What ends highest is placed earlier the next time.
    for (int64_t repair = 0; repair <= mostRepairs; ++repair) {
      ArenaPlan plan = packInOrder(buffers, order, alignment);
      if (best.offsets.empty() || plan.bytes < best.bytes)
        best = plan;
      if (best.bytes <= bound)
        break;
      auto highest = llvm::find(order, findHighest(buffers, plan));
      if (highest == order.begin())
        break;
      std::rotate(order.begin(), highest, highest + 1);
    }
    if (best.bytes <= bound)
      break;
  }
  best.bound = bound;
  return best;
}
