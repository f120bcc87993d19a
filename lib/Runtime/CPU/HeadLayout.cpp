//===- HeadLayout.cpp - Where the data of heads are ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/HeadLayout.h"

using namespace mlir::act::runtime;

thread_local Workspace::Storage Workspace::storage;

/// The states of a block of heads stay in the second-level cache, and few
/// enough bytes that they do not count.
static constexpr int64_t maximumStateBytes = 256 * 1024;

/// Rows of the heads of one token are neighbours: heads take turns before the
/// address translations, and the cache lines they share, are gone.
static constexpr int64_t preferredTurn = 128;

Schedule::Schedule(const HeadLayout &layout, int64_t unit, int64_t threads,
                   int64_t chunk)
    : sequences(layout.signature.batch), heads(layout.heads) {
  int64_t units = heads / unit;
  int64_t wantedBlocks =
      (threads + sequences - 1) / std::max<int64_t>(sequences, 1);
  int64_t perBlock =
      std::max<int64_t>(units / std::max<int64_t>(wantedBlocks, 1), 1);
  int64_t unitBytes = unit * layout.getStateSize() * sizeof(float);
  perBlock = std::clamp<int64_t>(maximumStateBytes / unitBytes, 1, perBlock);
  headsPerBlock = perBlock * unit;
  blocks = (heads + headsPerBlock - 1) / headsPerBlock;
  tokensPerTurn = std::max<int64_t>(layout.signature.tokens, 1);
  if (headsPerBlock > 1)
    tokensPerTurn = (preferredTurn + chunk - 1) / chunk * chunk;
}
