//===- Pool.cpp - Threads that run the pieces of a launch ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "Processors.h"
#include <algorithm>
#include <chrono>

using namespace act::step;

/// Longer than the pauses between most launches, and about what two wake-ups
/// cost.
static constexpr int64_t defaultSpinNanoseconds = 40'000;

static int64_t getNanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks for `condition` for at most `nanoseconds`.
template <typename Condition>
static bool spinUntil(int64_t nanoseconds, Condition condition) {
  if (condition())
    return true;
  int64_t end = getNanoseconds() + nanoseconds;
  while (nanoseconds > 0) {
    for (int i = 0; i < 8; ++i) {
      pause();
      if (condition())
        return true;
    }
    if (getNanoseconds() >= end)
      return false;
  }
  return false;
}

static uint64_t getUntaken(uint64_t ticket) { return ticket & 0xffffffffu; }

bool Pool::start(int64_t threads) {
  numThreads = std::clamp<int64_t>(threads, 1, 1024);
  spinNanoseconds =
      numThreads <= getNumProcessors() ? defaultSpinNanoseconds : 0;
  for (int64_t i = 1; i < numThreads; ++i) {
    workers.push_back(std::make_unique<Worker>(Worker{this, i, {}}));
    if (pthread_create(&workers.back()->handle, nullptr, work,
                       workers.back().get()) != 0) {
      workers.pop_back();
      return false;
    }
  }
  return true;
}

Pool::~Pool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping.store(true);
  }
  workPublished.notify_all();
  for (const std::unique_ptr<Worker> &worker : workers)
    pthread_join(worker->handle, nullptr);
}

void Pool::run(int64_t pieces, Job job, int64_t threads) {
  if (pieces <= 0)
    return;
  if (pieces == 1 || numThreads == 1 || threads <= 1) {
    for (int64_t piece = 0; piece < pieces; ++piece)
      job.run(job.state, piece, 0);
    return;
  }
  // Nobody has a piece of the job before, so nobody reads these.
  current = job;
  total = pieces;
  finished.store(0, std::memory_order_relaxed);
  threadLimit.store(threads);
  uint64_t number = (ticket.load(std::memory_order_relaxed) >> 32) + 1;
  ticket.store(number << 32 | uint64_t(pieces));
  if (sleepers.load() > 0)
    wake(pieces - 1);
  workOn(0);
  awaitFinished(pieces);
}

/// Takes pieces as long as there are any. The exchange succeeds only if the job
/// is still the one the ticket names, because the number of a job never comes
/// back.
void Pool::workOn(int64_t thread) {
  uint64_t seen = ticket.load();
  while (getUntaken(seen) != 0 && thread < threadLimit.load()) {
    if (!ticket.compare_exchange_weak(seen, seen - 1))
      continue;
    int64_t pieces = total;
    current.run(current.state, pieces - int64_t(getUntaken(seen)), thread);
    bool isLast = finished.fetch_add(1) + 1 == pieces;
    if (isLast && callerSleeps.load()) {
      std::lock_guard<std::mutex> lock(mutex);
      allFinished.notify_one();
    }
    seen = ticket.load();
  }
}

void Pool::awaitFinished(int64_t pieces) {
  auto isFinished = [&] { return finished.load() == pieces; };
  if (spinUntil(spinNanoseconds, isFinished))
    return;
  std::unique_lock<std::mutex> lock(mutex);
  callerSleeps.store(true);
  allFinished.wait(lock, isFinished);
  callerSleeps.store(false);
}

void *Pool::work(void *pointer) {
  Worker *worker = static_cast<Worker *>(pointer);
  Pool &pool = *worker->pool;
  while (!pool.stopping.load()) {
    bool found = spinUntil(pool.spinNanoseconds, [&] {
      return getUntaken(pool.ticket.load(std::memory_order_relaxed)) != 0;
    });
    if (!found)
      pool.sleep();
    pool.workOn(worker->thread);
  }
  return nullptr;
}

void Pool::sleep() {
  std::unique_lock<std::mutex> lock(mutex);
  // Counted before looking at the ticket, while run looks at the count after
  // changing the ticket: one of the two sees the other.
  sleepers.fetch_add(1);
  workPublished.wait(
      lock, [&] { return stopping.load() || getUntaken(ticket.load()) != 0; });
  sleepers.fetch_sub(1);
}

void Pool::wake(int64_t count) {
  // The lock makes sure that whoever counted itself among the sleepers waits.
  {
    std::lock_guard<std::mutex> lock(mutex);
  }
  if (count >= numThreads - 1) {
    workPublished.notify_all();
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    workPublished.notify_one();
}
