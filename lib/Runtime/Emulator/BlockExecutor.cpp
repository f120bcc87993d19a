//===- BlockExecutor.cpp - Runs blocks of threads ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"
#include "SignalGuard.h"
#include "Statistics.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace act::emulator {

/// Backward branches after which the runtime looks at the clock.
static constexpr int64_t fuelBetweenChecks = 1 << 14;
/// Between shared memory and what lies behind it.
static constexpr uint32_t sharedMargin = 4096;

static thread_local BlockExecutor *currentExecutor
    __attribute__((tls_model("initial-exec"))) = nullptr;

BlockExecutor *BlockExecutor::getCurrent() { return currentExecutor; }

BlockExecutor::BlockExecutor(unsigned worker)
    : worker(worker), counters(numInstructionClasses) {}

BlockExecutor::~BlockExecutor() = default;

bool BlockExecutor::prepare(const Launch &newLaunch) {
  launch = &newLaunch;
  fault = {};
  time = launch->startTime;
  blockTimes.clear();
  std::fill(counters.begin(), counters.end(), 0);
  uint32_t numThreads = launch->getNumThreads();
  uint32_t numWarps = divideCeil(numThreads, 32);
  if (!stacks.resize(launch->needsFibers ? numThreads : 1,
                     launch->options.stackBytes)) {
    fault = {FaultKind::OutOfResources, "no address space for the stacks of " +
                                            std::to_string(numThreads) +
                                            " threads"};
    return false;
  }
  recorder = launch->options.statistics
                 ? std::make_unique<AccessRecorder>(launch->numSites, numWarps)
                 : nullptr;
  uint32_t sharedSize = launch->getSharedBytes();
  sharedBuffer.resize(sharedSize + sharedMargin + 256);
  shared = reinterpret_cast<char *>(
      alignTo(reinterpret_cast<uint64_t>(sharedBuffer.data()), 256));
  if (launch->options.check) {
    sharedWords.assign(divideCeil(sharedSize, 4) + 4, ShadowCell());
    sharedBytes.assign(sharedSize + 16, ShadowCell());
    sharedHasBytes = false;
  }
  ready.assign(numWarps, 0);
  alive.assign(numWarps, 0);
  pending.resize(numWarps);
  threads.resize(numThreads);
  for (uint32_t i = 0; i < numThreads; ++i) {
    Thread &thread = threads[i];
    thread.tid[0] = i % launch->block[0];
    thread.tid[1] = i / launch->block[0] % launch->block[1];
    thread.tid[2] = i / launch->block[0] / launch->block[1];
    std::copy_n(launch->block, 3, thread.ntid);
    std::copy_n(launch->grid, 3, thread.nctaid);
    thread.lane = i % 32;
    thread.warp = i / 32;
    thread.linear = i;
    thread.numWarps = numWarps;
    thread.dynamicSharedBytes = launch->dynamicSharedBytes;
    thread.totalSharedBytes = sharedSize;
    thread.shared = shared;
    thread.fuel = fuelBetweenChecks;
    thread.counters = counters.data();
    thread.executor = this;
    uint32_t stack = launch->needsFibers ? i : 0;
    thread.stackBegin = stacks.getBegin(stack);
    thread.stackEnd = stacks.getEnd(stack);
  }
  return true;
}

void BlockExecutor::resetThreads(uint64_t number) {
  const uint32_t *grid = launch->grid;
  uint32_t position[3] = {uint32_t(number % grid[0]),
                          uint32_t(number / grid[0] % grid[1]),
                          uint32_t(number / grid[0] / grid[1])};
  for (Thread &thread : threads) {
    std::copy_n(position, 3, thread.ctaid);
    thread.hasExited = false;
    thread.waitSite = nullptr;
    thread.barrierTime = thread.warpTime = time;
    thread.openCopies.clear();
    thread.copyGroups.clear();
    if (launch->needsFibers)
      thread.stackPointer = stacks.start(thread.linear, runThread);
  }
}

bool BlockExecutor::runBlock(uint64_t number) {
  blockNumber = number;
  blockStartTime = ++time;
  if (launch->options.check) {
    blockTimes.push_back({time, number});
    std::fill(sharedBuffer.begin(), sharedBuffer.end(), char(0xff));
  }
  // The same whichever worker runs the block.
  random = (launch->options.seed * 0x9e3779b97f4a7c15 + number) *
               0xbf58476d1ce4e5b9 |
           1;
  resetThreads(number);
  numAlive = threads.size();
  for (auto [index, lanes] : enumerate(alive)) {
    uint32_t left = numAlive - index * 32;
    lanes = left >= 32 ? ~0u : (1u << left) - 1;
    pending[index].clear();
  }
  ready = alive;
  for (PendingBarrier &barrier : barriers) {
    barrier.arrived = 0;
    barrier.waiting.clear();
  }
  currentExecutor = this;
  current = &threads[0];
  SignalGuard guard;
  if (launch->needsFibers) {
    current = &threads[pickNext()];
    act_gpu_emulator_switch(&schedulerStack, current->stackPointer);
  } else {
    act_gpu_emulator_switch(&schedulerStack, stacks.start(0, runThreads));
  }
  currentExecutor = nullptr;
  if (recorder)
    recorder->finishBlock();
  return !fault;
}

/// A fiber of one thread.
void BlockExecutor::runThread() {
  BlockExecutor &executor = *currentExecutor;
  executor.launch->entry(executor.current, executor.launch->parameters);
  executor.exitThread(*executor.current);
  executor.continueWith(nullptr, executor.pickNext());
}

/// A fiber that runs all threads of a block, which never wait.
void BlockExecutor::runThreads() {
  BlockExecutor &executor = *currentExecutor;
  KernelEntry entry = executor.launch->entry;
  const char *parameters = executor.launch->parameters;
  uint32_t numThreads = executor.threads.size();
  bool isForward = executor.launch->options.schedule == Schedule::Forward;
  for (uint32_t i = 0; i < numThreads; ++i) {
    uint32_t number = isForward ? i : numThreads - 1 - i;
    executor.current = &executor.threads[number];
    entry(executor.current, parameters);
    executor.waitForCopies(*executor.current, 0);
  }
  executor.leave();
}

void BlockExecutor::exitThread(Thread &thread) {
  if (!thread.openCopies.empty() || !thread.copyGroups.empty()) {
    commitCopies(thread);
    waitForCopies(thread, 0);
  }
  makeBusy(thread.linear);
  thread.hasExited = true;
  alive[thread.warp] &= ~(1u << thread.lane);
  completeCollectives(thread.warp);
  if (--numAlive == 0)
    leave();
  // A barrier without a count waits for the threads that are left.
  for (PendingBarrier &barrier : barriers)
    if (barrier.arrived != 0)
      completeBarrier(barrier);
}

void BlockExecutor::leave() {
  void *dropped;
  act_gpu_emulator_switch(&dropped, schedulerStack);
  llvm_unreachable("a finished fiber is never continued");
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

uint64_t BlockExecutor::nextRandom() {
  random ^= random << 13;
  random ^= random >> 7;
  random ^= random << 17;
  return random;
}

int BlockExecutor::pickInWarp(uint32_t lanes) {
  switch (launch->options.schedule) {
  case Schedule::Forward:
    return countr_zero(lanes);
  case Schedule::Reverse:
    return 31 - countl_zero(lanes);
  case Schedule::Random:
    for (uint32_t skipped = nextRandom() % popcount(lanes); skipped > 0;
         --skipped)
      lanes &= lanes - 1;
    return countr_zero(lanes);
  }
  llvm_unreachable("covers all schedules");
}

/// The thread to run next: one of the same warp while there is one. -1 if none
/// can run.
int BlockExecutor::pickNext() {
  uint32_t numWarps = ready.size();
  uint32_t warp = current ? current->warp : 0;
  if (launch->options.schedule == Schedule::Random && nextRandom() % 8 == 0)
    warp = nextRandom() % numWarps;
  bool isReverse = launch->options.schedule == Schedule::Reverse;
  for (uint32_t i = 0; i < numWarps; ++i) {
    if (uint32_t lanes = ready[warp])
      return warp * 32 + pickInWarp(lanes);
    if (isReverse)
      warp = warp == 0 ? numWarps - 1 : warp - 1;
    else
      warp = warp + 1 == numWarps ? 0 : warp + 1;
  }
  return -1;
}

/// The thread after `thread`, round robin, so that each gets its turn.
int BlockExecutor::pickOther(const Thread &thread) {
  uint32_t numThreads = threads.size();
  for (uint32_t i = 1; i < numThreads; ++i) {
    uint32_t number = (thread.linear + i) % numThreads;
    if (ready[number / 32] >> number % 32 & 1)
      return number;
  }
  return thread.linear;
}

void BlockExecutor::continueWith(Thread *from, int next) {
  if (next < 0)
    failDeadlock();
  Thread *to = &threads[next];
  if (to == from)
    return;
  current = to;
  void *dropped;
  act_gpu_emulator_switch(from ? &from->stackPointer : &dropped,
                          to->stackPointer);
}

void BlockExecutor::wait(Thread &thread, const Site &site, const char *reason) {
  thread.waitSite = &site;
  thread.waitReason = reason;
  makeBusy(thread.linear);
  continueWith(&thread, pickNext());
  thread.waitSite = nullptr;
}

void BlockExecutor::refuel(Thread &thread, const Site &site) {
  thread.fuel = fuelBetweenChecks;
  if (launch->options.watchdogSeconds > 0 &&
      std::chrono::steady_clock::now() > launch->deadline)
    fail(FaultKind::Timeout, &thread, &site,
         "the launch takes longer than the watchdog allows; this loop may wait "
         "for something that never happens");
  if (launch->needsFibers)
    continueWith(&thread, pickOther(thread));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

static void print(raw_ostream &os, const uint32_t (&position)[3]) {
  os << '(' << position[0] << ',' << position[1] << ',' << position[2] << ')';
}

static void print(raw_ostream &os, const Site &site) {
  os << "\n    at PTX line " << site.line << " of " << site.function << ": "
     << site.text;
}

void BlockExecutor::fail(FaultKind kind, const Thread *thread, const Site *site,
                         const Twine &message) {
  {
    fault.kind = kind;
    fault.text.clear();
    raw_string_ostream os(fault.text);
    os << "kernel " << launch->kernelName;
    const Thread &any = thread ? *thread : threads[0];
    os << ", block ";
    print(os, any.ctaid);
    if (thread) {
      os << ", thread ";
      print(os, thread->tid);
    }
    os << ": " << message;
    if (site)
      print(os, *site);
  }
  leave();
}

void BlockExecutor::failDeadlock() {
  std::string text;
  {
    raw_string_ostream os(text);
    os << "deadlock, no thread can run: " << numAlive << " of "
       << threads.size() << " threads wait";
    // One example of each place.
    SmallVector<const Site *> shown;
    for (const Thread &thread : threads) {
      if (thread.hasExited || !thread.waitSite ||
          is_contained(shown, thread.waitSite) || shown.size() == 4)
        continue;
      shown.push_back(thread.waitSite);
      os << "\n  thread ";
      print(os, thread.tid);
      os << " waits for " << thread.waitReason;
      print(os, *thread.waitSite);
    }
  }
  fail(FaultKind::LaunchFailed, nullptr, nullptr, text);
}

void BlockExecutor::failAtAddress(const char *address) {
  if (stacks.isGuard(address))
    fail(FaultKind::StackError, current, nullptr,
         "stack overflow: local memory and calls need more than " +
             Twine(launch->options.stackBytes) + " bytes");
  fail(FaultKind::IllegalAddress, current, nullptr,
       "access to address 0x" +
           Twine::utohexstr(reinterpret_cast<uint64_t>(address)) +
           ", which is no memory at all; check=1 tells where");
}

} // namespace act::emulator
