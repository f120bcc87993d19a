//===- WarpCollectives.cpp - What lanes of a warp do together ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"
#include "MatrixFragments.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cstring>

using namespace llvm;

namespace act::emulator {

void BlockExecutor::runCollective(Thread &thread, const Site &site,
                                  uint32_t mask, const uint32_t *inputs,
                                  uint32_t *outputs) {
  uint32_t lane = 1u << thread.lane;
  if (!(mask & lane))
    fail(FaultKind::LaunchFailed, &thread, &site,
         "the mask 0x" + Twine::utohexstr(mask) +
             " does not contain the lane itself, " + Twine(thread.lane));
  thread.inputs = inputs;
  thread.outputs = outputs;
  auto &waiting = pending[thread.warp];
  PendingCollective *mine = nullptr;
  for (PendingCollective &other : waiting) {
    if (other.mask != mask)
      continue;
    if (!isSameCollective(*other.site, site))
      fail(FaultKind::LaunchFailed, &thread, &site,
           "lanes of mask 0x" + Twine::utohexstr(mask) +
               " have diverged: others wait at PTX line " +
               Twine(other.site->line) + ": " + other.site->text);
    mine = &other;
    break;
  }
  if (!mine) {
    waiting.push_back({mask, 0, &site});
    mine = &waiting.back();
  }
  mine->arrived |= lane;
  if (mine->arrived == (mask & alive[thread.warp])) {
    PendingCollective complete = *mine;
    waiting.erase(mine);
    execute(complete, thread.warp);
    return;
  }
  wait(thread, site, "the other lanes of a warp");
}

/// Lets collectives go on that only waited for a lane that has exited.
void BlockExecutor::completeCollectives(uint32_t warp) {
  auto &waiting = pending[warp];
  for (unsigned i = 0; i < waiting.size();) {
    if (waiting[i].arrived != (waiting[i].mask & alive[warp])) {
      ++i;
      continue;
    }
    PendingCollective complete = waiting[i];
    waiting.erase(waiting.begin() + i);
    execute(complete, warp);
  }
}

/// Calls `function` with each lane of `mask`.
template <typename Function>
static void forEachLane(uint32_t mask, Function function) {
  for (; mask; mask &= mask - 1)
    function(unsigned(countr_zero(mask)));
}

void BlockExecutor::execute(const PendingCollective &pending, uint32_t warp) {
  Thread *lanes[32] = {};
  forEachLane(pending.arrived,
              [&](unsigned lane) { lanes[lane] = &threads[warp * 32 + lane]; });
  switch (pending.site->collective) {
  case Collective::ShuffleUp:
  case Collective::ShuffleDown:
  case Collective::ShuffleButterfly:
  case Collective::ShuffleIndex:
    shuffle(pending, lanes);
    break;
  case Collective::VoteAll:
  case Collective::VoteAny:
  case Collective::VoteUniform:
  case Collective::VoteBallot:
    vote(pending, lanes);
    break;
  case Collective::Reduce:
    reduce(pending, lanes);
    break;
  case Collective::MatchAny:
  case Collective::MatchAll:
    match(pending, lanes);
    break;
  case Collective::Elect: {
    unsigned leader = countr_zero(pending.arrived);
    forEachLane(pending.arrived, [&](unsigned lane) {
      lanes[lane]->outputs[0] = leader;
      lanes[lane]->outputs[1] = lane == leader;
    });
    break;
  }
  case Collective::Synchronize:
    ++time;
    forEachLane(pending.arrived,
                [&](unsigned lane) { lanes[lane]->warpTime = time; });
    break;
  case Collective::MultiplyMatrices:
  case Collective::LoadMatrix:
  case Collective::StoreMatrix:
    moveMatrix(pending, lanes);
    break;
  case Collective::None:
    llvm_unreachable("the translator sets what a collective is");
  }
  ready[warp] |= pending.arrived;
}

/// The lane that `lane` reads from, and whether it is in range; PTX ISA,
/// "shfl.sync".
static std::pair<unsigned, bool> getSource(Collective kind, unsigned lane,
                                           uint32_t operand, uint32_t control) {
  int offset = operand & 31;
  int clamp = control & 31;
  int segment = control >> 8 & 31;
  int self = lane;
  int last = (self & segment) | (clamp & ~segment);
  int source;
  bool isInRange;
  if (kind == Collective::ShuffleUp) {
    source = self - offset;
    isInRange = source >= last;
  } else {
    source = kind == Collective::ShuffleDown ? self + offset
             : kind == Collective::ShuffleButterfly
                 ? self ^ offset
                 : (self & segment) | (offset & ~segment);
    isInRange = source <= last;
  }
  return {unsigned(isInRange ? source : self), isInRange};
}

void BlockExecutor::shuffle(const PendingCollective &pending, Thread **lanes) {
  const Site &site = *pending.site;
  forEachLane(pending.arrived, [&](unsigned lane) {
    Thread &thread = *lanes[lane];
    auto [source, isInRange] =
        getSource(site.collective, lane, thread.inputs[1], thread.inputs[2]);
    if (!lanes[source])
      fail(FaultKind::LaunchFailed, &thread, &site,
           "reads lane " + Twine(source) +
               ", which does not take part (mask 0x" +
               Twine::utohexstr(pending.arrived) + ")");
    thread.outputs[0] = lanes[source]->inputs[0];
    if (site.outputs > 1)
      thread.outputs[1] = isInRange;
  });
}

void BlockExecutor::vote(const PendingCollective &pending, Thread **lanes) {
  uint32_t votes = 0;
  forEachLane(pending.arrived, [&](unsigned lane) {
    if (lanes[lane]->inputs[0] & 1)
      votes |= 1u << lane;
  });
  uint32_t result = votes;
  switch (pending.site->collective) {
  case Collective::VoteAll:
    result = votes == pending.arrived;
    break;
  case Collective::VoteAny:
    result = votes != 0;
    break;
  case Collective::VoteUniform:
    result = votes == 0 || votes == pending.arrived;
    break;
  default:
    break;
  }
  forEachLane(pending.arrived,
              [&](unsigned lane) { lanes[lane]->outputs[0] = result; });
}

static uint32_t combine(Reduction reduction, uint32_t left, uint32_t right) {
  switch (reduction) {
  case Reduction::Add:
    return left + right;
  case Reduction::UnsignedMin:
    return std::min(left, right);
  case Reduction::UnsignedMax:
    return std::max(left, right);
  case Reduction::SignedMin:
    return std::min(int32_t(left), int32_t(right));
  case Reduction::SignedMax:
    return std::max(int32_t(left), int32_t(right));
  case Reduction::And:
    return left & right;
  case Reduction::Or:
    return left | right;
  case Reduction::Xor:
    return left ^ right;
  }
  llvm_unreachable("covers all reductions");
}

void BlockExecutor::reduce(const PendingCollective &pending, Thread **lanes) {
  uint32_t first = countr_zero(pending.arrived);
  uint32_t result = lanes[first]->inputs[0];
  forEachLane(pending.arrived & (pending.arrived - 1), [&](unsigned lane) {
    result = combine(pending.site->reduction, result, lanes[lane]->inputs[0]);
  });
  forEachLane(pending.arrived,
              [&](unsigned lane) { lanes[lane]->outputs[0] = result; });
}

void BlockExecutor::match(const PendingCollective &pending, Thread **lanes) {
  size_t bytes = pending.site->inputs * sizeof(uint32_t);
  forEachLane(pending.arrived, [&](unsigned lane) {
    uint32_t equal = 0;
    forEachLane(pending.arrived, [&](unsigned other) {
      if (std::memcmp(lanes[lane]->inputs, lanes[other]->inputs, bytes) == 0)
        equal |= 1u << other;
    });
    if (pending.site->collective == Collective::MatchAny) {
      lanes[lane]->outputs[0] = equal;
      return;
    }
    bool isUniform = equal == pending.arrived;
    lanes[lane]->outputs[0] = isUniform ? equal : 0;
    lanes[lane]->outputs[1] = isUniform;
  });
}

void BlockExecutor::moveMatrix(const PendingCollective &pending,
                               Thread **lanes) {
  const Site &site = *pending.site;
  // All forms are .aligned: the whole warp takes part.
  if (pending.arrived != ~0u)
    fail(FaultKind::LaunchFailed, lanes[countr_zero(pending.arrived)], &site,
         "expects all 32 lanes, got mask 0x" +
             Twine::utohexstr(pending.arrived));
  if (site.collective == Collective::MultiplyMatrices) {
    multiplyMatrices(site.matrix, lanes);
    return;
  }
  bool writes = site.collective == Collective::StoreMatrix;
  unsigned numMatrices = writes ? site.inputs - 1 : site.outputs;
  for (unsigned lane = 0; lane < numMatrices * 8; ++lane) {
    uint32_t offset = lanes[lane]->inputs[0];
    if (launch->options.check)
      checkSharedRange(*lanes[lane], offset, 16, 16, writes, site);
    else if (offset > launch->getSharedBytes() - 16)
      fail(FaultKind::IllegalAddress, lanes[lane], &site,
           "a row at offset " + Twine(offset) + " lies outside of the " +
               Twine(launch->getSharedBytes()) + " bytes of shared memory");
    if (recorder)
      recordAccess(*lanes[lane], shared + offset, site);
  }
  if (writes)
    storeMatrices(numMatrices, site.isTransposed, shared, lanes);
  else
    loadMatrices(numMatrices, site.isTransposed, shared, lanes);
}

} // namespace act::emulator
