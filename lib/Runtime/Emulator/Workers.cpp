//===- Workers.cpp - Threads of the host that run blocks ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workers.h"
#include "DeviceMemory.h"
#include <algorithm>

using namespace llvm;

namespace act::emulator {

/// Fewer threads than this are not worth waking a worker for.
static constexpr uint64_t leastThreadsToShare = 4096;
/// Times after which all histories are forgotten, before they overflow.
static constexpr uint32_t largestTime = 3u << 30;

Workers &Workers::get() {
  // Never destroyed, as its threads wait for work until the process ends.
  static Workers *workers = new Workers;
  return *workers;
}

void Workers::grow(unsigned count) {
  while (executors.size() < count)
    executors.push_back(std::make_unique<BlockExecutor>(executors.size()));
  std::lock_guard<std::mutex> lock(wakeMutex);
  for (; numThreads + 1 < count; ++numThreads)
    std::thread([this, worker = numThreads + 1] {
      waitForWork(worker);
    }).detach();
}

void Workers::waitForWork(unsigned worker) {
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock<std::mutex> lock(wakeMutex);
      wake.wait(lock, [&] { return generation != seen && numRunning > 0; });
      seen = generation;
      if (worker >= numUsed)
        continue;
    }
    runBlocks(worker);
    std::lock_guard<std::mutex> lock(wakeMutex);
    if (--numRunning == 0)
      finished.notify_one();
  }
}

void Workers::runBlocks(unsigned worker) {
  BlockExecutor &executor = *executors[worker];
  uint64_t numBlocks = launch->getNumBlocks();
  bool succeeds = executor.prepare(*launch);
  while (succeeds && !hasFailed) {
    uint64_t index = nextBlock++;
    if (index >= numBlocks)
      return;
    succeeds = executor.runBlock(order(index));
  }
  if (succeeds)
    return;
  std::lock_guard<std::mutex> lock(wakeMutex);
  if (!fault)
    fault = executor.getFault();
  hasFailed = true;
}

Fault Workers::run(Launch &newLaunch,
                   function_ref<uint64_t(uint64_t)> getBlock) {
  uint64_t numBlocks = newLaunch.getNumBlocks();
  unsigned count = 1;
  if (numBlocks > 1 &&
      numBlocks * newLaunch.getNumThreads() >= leastThreadsToShare)
    count = std::min<uint64_t>(numBlocks, newLaunch.options.workers);
  grow(count);
  if (time > largestTime) {
    DeviceMemory::get().clearShadow();
    time = 1;
  }
  newLaunch.startTime = time + 1;
  launch = &newLaunch;
  order = getBlock;
  nextBlock = 0;
  hasFailed = false;
  fault = {};
  {
    std::lock_guard<std::mutex> lock(wakeMutex);
    numUsed = count;
    numRunning = count - 1;
    ++generation;
  }
  if (count > 1)
    wake.notify_all();
  runBlocks(0);
  std::unique_lock<std::mutex> lock(wakeMutex);
  finished.wait(lock, [&] { return numRunning == 0; });
  for (unsigned i = 0; i < count; ++i)
    time = std::max(time, executors[i]->getTime());
  return fault;
}

} // namespace act::emulator
