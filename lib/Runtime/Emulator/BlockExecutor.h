//===- BlockExecutor.h - Runs blocks of threads -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_BLOCKEXECUTOR_H
#define ACT_LIB_RUNTIME_EMULATOR_BLOCKEXECUTOR_H

#include "Fault.h"
#include "Fiber.h"
#include "Options.h"
#include "Shadow.h"
#include "Thread.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include <array>
#include <chrono>
#include <memory>

namespace act::emulator {

class AccessRecorder;

/// Compiled code of a kernel. `parameters` is laid out as PTX lays them out.
using KernelEntry = void (*)(ThreadContext *context, const char *parameters);

/// What all blocks of a launch share.
struct Launch {
  llvm::StringRef kernelName;
  KernelEntry entry = nullptr;
  const char *parameters = nullptr;
  uint32_t parameterBytes = 0;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t staticSharedBytes = 0;
  uint32_t dynamicSharedBytes = 0;
  /// Whether threads wait for each other, so that each needs a fiber.
  bool needsFibers = false;
  uint32_t numSites = 0;
  Options options;
  /// The time at which the launch begins; earlier accesses are ordered before.
  uint32_t startTime = 0;
  std::chrono::steady_clock::time_point deadline;

  uint32_t getNumThreads() const { return block[0] * block[1] * block[2]; }
  uint64_t getNumBlocks() const {
    return uint64_t(grid[0]) * grid[1] * grid[2];
  }
  uint32_t getSharedBytes() const {
    return staticSharedBytes + dynamicSharedBytes;
  }
};

/// A collective for which not all lanes have come yet.
struct PendingCollective {
  uint32_t mask;
  uint32_t arrived;
  const Site *site;
};

/// A barrier.cta with some threads waiting.
struct PendingBarrier {
  uint32_t arrived = 0;
  uint32_t expected = 0;
  uint32_t count = 0;
  uint32_t conjunction = 1;
  uint32_t disjunction = 0;
  const Site *site = nullptr;
  std::vector<uint32_t> waiting;
};

/// Runs the blocks of a launch, one after the other, on one thread of the host.
class BlockExecutor {
public:
  explicit BlockExecutor(unsigned worker);
  ~BlockExecutor();

  /// False, with a fault, if there is no memory for the stacks.
  bool prepare(const Launch &launch);
  /// Runs block number `number`. False, with a fault, if it failed.
  bool runBlock(uint64_t number);

  const Fault &getFault() const { return fault; }
  uint32_t getTime() const { return time; }
  AccessRecorder *getRecorder() { return recorder.get(); }
  llvm::ArrayRef<uint64_t> getCounters() const { return counters; }

  /// The executor that runs on this thread of the host, if any.
  static BlockExecutor *getCurrent();

  // What generated code calls.
  void runCollective(Thread &thread, const Site &site, uint32_t mask,
                     const uint32_t *inputs, uint32_t *outputs);
  uint32_t runBarrier(Thread &thread, const Site &site, uint32_t id,
                      uint32_t count, uint32_t predicate);
  void checkAccess(Thread &thread, const char *pointer, const Site &site);
  void checkShared(Thread &thread, uint64_t offset, const Site &site);
  void checkRange(Thread &thread, const char *pointer, uint32_t bytes,
                  uint32_t alignment, bool writes, const Site &site);
  void recordAccess(Thread &thread, const char *pointer, const Site &site);
  void startCopy(Thread &thread, const Site &site, char *destination,
                 const char *source, uint32_t sourceBytes);
  void commitCopies(Thread &thread);
  void waitForCopies(Thread &thread, uint32_t groupsLeft);
  void refuel(Thread &thread, const Site &site);
  /// Leaves the kernel. `thread` and `site` are null where there is none.
  [[noreturn]] void fail(FaultKind kind, const Thread *thread, const Site *site,
                         const llvm::Twine &message);
  /// For accesses that the processor refuses, see SignalGuard.
  [[noreturn]] void failAtAddress(const char *address);

private:
  static void runThread();
  static void runThreads();

  // Scheduling.
  int pickNext();
  int pickInWarp(uint32_t ready);
  int pickOther(const Thread &thread);
  void makeReady(uint32_t thread) { ready[thread / 32] |= 1u << thread % 32; }
  void makeBusy(uint32_t thread) { ready[thread / 32] &= ~(1u << thread % 32); }
  void wait(Thread &thread, const Site &site, const char *reason);
  void continueWith(Thread *from, int next);
  [[noreturn]] void leave();
  [[noreturn]] void failDeadlock();
  void exitThread(Thread &thread);
  uint64_t nextRandom();
  void resetThreads(uint64_t number);

  // Collectives and barriers.
  void completeCollectives(uint32_t warp);
  void execute(const PendingCollective &pending, uint32_t warp);
  void shuffle(const PendingCollective &pending, Thread **lanes);
  void vote(const PendingCollective &pending, Thread **lanes);
  void reduce(const PendingCollective &pending, Thread **lanes);
  void match(const PendingCollective &pending, Thread **lanes);
  void moveMatrix(const PendingCollective &pending, Thread **lanes);
  void completeBarrier(PendingBarrier &barrier);
  uint32_t getBarrierResult(const PendingBarrier &barrier, const Site &site);

  // Checks.
  bool isConcurrent(const AccessRecord &record, const Thread &thread,
                    bool isShared) const;
  void checkCells(const ShadowRange &cells, const char *pointer, uint32_t bytes,
                  Thread &thread, const Site &site, bool writes, bool isShared);
  void check(ShadowCell &cell, Thread &thread, const Site &site, bool writes,
             bool isShared);
  void noteWrite(ShadowCell &cell, Thread &thread, const Site &site,
                 bool isShared);
  void noteRead(ShadowCell &cell, Thread &thread, const Site &site,
                bool isShared);
  [[noreturn]] void failRace(const AccessRecord &other, bool otherWrites,
                             bool writes, Thread &thread, const Site &site,
                             bool isShared);
  void checkSharedRange(Thread &thread, uint64_t offset, uint32_t bytes,
                        uint32_t alignment, bool writes, const Site &site);
  void copyNow(Thread &thread, const AsyncCopy &copy);

  const unsigned worker;
  const Launch *launch = nullptr;
  Fault fault;
  FiberStacks stacks;
  std::vector<Thread> threads;
  /// One bit for each lane of each warp.
  std::vector<uint32_t> ready;
  std::vector<uint32_t> alive;
  std::vector<llvm::SmallVector<PendingCollective, 2>> pending;
  std::array<PendingBarrier, 16> barriers;
  uint32_t numAlive = 0;
  Thread *current = nullptr;
  void *schedulerStack = nullptr;
  uint64_t blockNumber = 0;
  uint64_t random = 1;
  /// Counts barriers and bar.warp.sync of all blocks of this worker.
  uint32_t time = 1;
  uint32_t blockStartTime = 1;
  std::vector<char> sharedBuffer;
  char *shared = nullptr;
  std::vector<ShadowCell> sharedWords, sharedBytes;
  std::atomic<bool> sharedHasBytes{false};
  /// The time at which each block began, to name blocks in messages.
  std::vector<std::pair<uint32_t, uint64_t>> blockTimes;
  std::vector<uint64_t> counters;
  std::unique_ptr<AccessRecorder> recorder;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_BLOCKEXECUTOR_H
