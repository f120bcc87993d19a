//===- Thread.h - Simulated threads -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_THREAD_H
#define ACT_LIB_RUNTIME_EMULATOR_THREAD_H

#include "Site.h"
#include <cstdint>
#include <deque>
#include <vector>

namespace act::emulator {

class BlockExecutor;

/// What generated code reads and writes of a simulated thread, by byte offset.
struct ThreadContext {
  uint32_t tid[3];
  uint32_t ntid[3];
  uint32_t ctaid[3];
  uint32_t nctaid[3];
  uint32_t lane;
  uint32_t warp;
  /// Number of the thread in its block, and of warps in the block.
  uint32_t linear;
  uint32_t numWarps;
  uint32_t dynamicSharedBytes;
  uint32_t totalSharedBytes;
  /// The shared memory of the block.
  char *shared;
  /// Counts backward branches down; below zero, the runtime is asked.
  int64_t fuel;
  /// One counter for each class of instructions.
  uint64_t *counters;
};

/// A copy of cp.async that has not happened yet.
struct AsyncCopy {
  char *destination;
  const char *source;
  uint32_t sourceBytes;
  const Site *site;
};

/// A simulated thread.
struct Thread : ThreadContext {
  BlockExecutor *executor = nullptr;
  /// Where the fiber continues.
  void *stackPointer = nullptr;
  char *stackBegin = nullptr;
  char *stackEnd = nullptr;
  bool hasExited = false;
  /// Where the thread waits, and what for; null while it can run.
  const Site *waitSite = nullptr;
  const char *waitReason = nullptr;
  /// Operands and results of the collective that the thread waits in.
  const uint32_t *inputs = nullptr;
  uint32_t *outputs = nullptr;
  /// Times of the last barrier and of the last bar.warp.sync.
  uint32_t barrierTime = 0;
  uint32_t warpTime = 0;
  /// Copies since the last commit, and groups of copies not waited for.
  std::vector<AsyncCopy> openCopies;
  std::deque<std::vector<AsyncCopy>> copyGroups;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_THREAD_H
