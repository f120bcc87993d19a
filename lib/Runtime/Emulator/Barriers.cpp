//===- Barriers.cpp - Barriers of blocks ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"

using namespace llvm;

namespace act::emulator {

/// Lets all waiting threads go on if enough have come: as many as the
/// instruction says, or all that have not exited.
void BlockExecutor::completeBarrier(PendingBarrier &barrier) {
  uint32_t expected = barrier.expected ? barrier.expected : numAlive;
  if (barrier.arrived < expected)
    return;
  ++time;
  for (uint32_t number : barrier.waiting) {
    threads[number].barrierTime = threads[number].warpTime = time;
    *threads[number].outputs = getBarrierResult(barrier, *barrier.site);
    makeReady(number);
  }
  barrier.waiting.clear();
  barrier.arrived = 0;
}

uint32_t BlockExecutor::getBarrierResult(const PendingBarrier &barrier,
                                         const Site &site) {
  switch (site.barrier) {
  case BarrierKind::Count:
    return barrier.count;
  case BarrierKind::And:
    return barrier.conjunction;
  case BarrierKind::Or:
    return barrier.disjunction;
  default:
    return 0;
  }
}

uint32_t BlockExecutor::runBarrier(Thread &thread, const Site &site,
                                   uint32_t id, uint32_t count,
                                   uint32_t predicate) {
  if (id >= barriers.size())
    fail(FaultKind::LaunchFailed, &thread, &site,
         "expects a barrier from 0 to 15, got " + Twine(id));
  if (count % 32 != 0 || count > threads.size() + 31)
    fail(FaultKind::LaunchFailed, &thread, &site,
         "expects a number of threads that is a multiple of 32 and at most "
         "the block's, got " +
             Twine(count));
  PendingBarrier &barrier = barriers[id];
  if (barrier.arrived == 0) {
    barrier.expected = count;
    barrier.count = barrier.disjunction = 0;
    barrier.conjunction = 1;
    barrier.site = &site;
  } else if (barrier.expected != count) {
    fail(FaultKind::LaunchFailed, &thread, &site,
         "barrier " + Twine(id) + " is used for " + Twine(count) +
             " threads while others wait in it for " + Twine(barrier.expected) +
             " (0 is all), at PTX line " + Twine(barrier.site->line));
  } else if (site.isAligned && barrier.site->isAligned &&
             &site != barrier.site && !count) {
    // bar.sync is .aligned: all threads execute the same instruction.
    fail(FaultKind::LaunchFailed, &thread, &site,
         "threads have diverged: others wait in barrier " + Twine(id) +
             " at PTX line " + Twine(barrier.site->line) + ": " +
             barrier.site->text);
  }
  if (site.barrier != BarrierKind::Arrive)
    barrier.site = &site;
  ++barrier.arrived;
  barrier.count += predicate != 0;
  barrier.conjunction &= predicate != 0;
  barrier.disjunction |= predicate != 0;
  if (site.barrier == BarrierKind::Arrive) {
    completeBarrier(barrier);
    return 0;
  }
  uint32_t result = 0;
  thread.outputs = &result;
  makeBusy(thread.linear);
  barrier.waiting.push_back(thread.linear);
  completeBarrier(barrier);
  if (!(ready[thread.warp] >> thread.lane & 1))
    wait(thread, site, "a barrier");
  return result;
}

} // namespace act::emulator
