//===- Packing.cpp - Addresses of buffers in one heap ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The best of two best-fit heaps, as GlobalDecreasingSizeBestFitHeap of XLA,
// after what fits has been put into results that are not needed yet, as
// BufferAssigner does.
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

void memory::placeInResults(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> sorted;
  for (Buffer &buffer : buffers)
    if (buffer.kind != Buffer::Argument && buffer.bytes > 0)
      sorted.push_back(&buffer);
  llvm::stable_sort(sorted, [](const Buffer *a, const Buffer *b) {
    if (a->bytes != b->bytes)
      return a->bytes > b->bytes;
    if ((a->kind == Buffer::Result) != (b->kind == Buffer::Result))
      return a->kind == Buffer::Result;
    return a->rank < b->rank;
  });
  // Results that were met so far, each with what lies in it.
  SmallVector<SmallVector<const Buffer *>> results;
  for (Buffer *buffer : sorted) {
    if (buffer->kind == Buffer::Result) {
      if (buffer->isDonated)
        continue;
      results.push_back({buffer});
      continue;
    }
    auto fits = [&](ArrayRef<const Buffer *> inside) {
      return llvm::none_of(inside, [&](const Buffer *other) {
        return other->overlaps(*buffer);
      });
    };
    auto found = std::find_if(results.rbegin(), results.rend(), fits);
    buffer->isInResult = found != results.rend();
    if (buffer->isInResult)
      found->push_back(buffer);
  }
}

/// Places `buffers` in this order.
static int64_t place(ArrayRef<const Buffer *> buffers, int64_t alignment) {
  struct Placed {
    const Buffer *buffer;
    int64_t begin, end;
  };
  std::vector<Placed> placed;
  int64_t heapBytes = 0;
  for (const Buffer *buffer : buffers) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (const Placed &other : placed)
      if (other.buffer->overlaps(*buffer))
        taken.push_back({other.begin, other.end});
    llvm::sort(taken);
    int64_t free = 0, best = -1, bestGap = 0;
    for (auto [begin, end] : taken) {
      int64_t gap = begin - free;
      if (gap >= buffer->bytes && (best < 0 || gap < bestGap)) {
        best = free;
        bestGap = gap;
      }
      free =
          std::max(free, static_cast<int64_t>(llvm::alignTo(end, alignment)));
    }
    int64_t begin = best < 0 ? free : best;
    placed.push_back({buffer, begin, begin + buffer->bytes});
    heapBytes = std::max(heapBytes, begin + buffer->bytes);
  }
  return heapBytes;
}

static unsigned getLength(const Buffer &buffer) {
  return buffer.intervals.back().end - buffer.intervals.front().begin;
}

int64_t memory::packBuffers(ArrayRef<Buffer> buffers, int64_t alignment) {
  SmallVector<const Buffer *> heap;
  for (const Buffer &buffer : buffers)
    if (buffer.kind == Buffer::Temporary && buffer.bytes > 0 &&
        !buffer.isInResult)
      heap.push_back(&buffer);
  llvm::stable_sort(heap, [](const Buffer *a, const Buffer *b) {
    return a->bytes > b->bytes;
  });
  int64_t bySize = place(heap, alignment);
  llvm::stable_sort(heap, [](const Buffer *a, const Buffer *b) {
    return getLength(*a) > getLength(*b);
  });
  return std::min(bySize, place(heap, alignment));
}
