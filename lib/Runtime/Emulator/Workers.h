//===- Workers.h - Threads of the host that run blocks -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_WORKERS_H
#define ACT_LIB_RUNTIME_EMULATOR_WORKERS_H

#include "BlockExecutor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace act::emulator {

/// The threads of the host that run blocks. The caller of `run` is the first;
/// the others wait between launches.
class Workers {
public:
  static Workers &get();

  /// One launch at a time.
  std::mutex &getMutex() { return mutex; }
  /// Runs all blocks; `getBlock` orders them. Returns the first fault.
  Fault run(Launch &launch, llvm::function_ref<uint64_t(uint64_t)> getBlock);

  /// Those of the last launch.
  unsigned getNumUsed() const { return numUsed; }
  BlockExecutor &getExecutor(unsigned worker) { return *executors[worker]; }

private:
  void grow(unsigned count);
  void runBlocks(unsigned worker);
  void waitForWork(unsigned worker);

  std::mutex mutex;
  std::vector<std::unique_ptr<BlockExecutor>> executors;
  unsigned numUsed = 0;
  uint32_t time = 1;

  // Of the launch that runs.
  Launch *launch = nullptr;
  llvm::function_ref<uint64_t(uint64_t)> order;
  std::atomic<uint64_t> nextBlock{0};
  std::atomic<bool> hasFailed{false};
  Fault fault;

  // Waking the workers.
  std::mutex wakeMutex;
  std::condition_variable wake;
  std::condition_variable finished;
  uint64_t generation = 0;
  unsigned numRunning = 0;
  unsigned numThreads = 0;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_WORKERS_H
