//===- Buffers.cpp - Which values share memory ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Buffers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

namespace {
using Input = std::pair<Node *, unsigned>;
constexpr unsigned kNoBuffer = ~0u;

class BufferPlanner {
public:
  BufferPlanner(bool schedules, bool sharesBuffers)
      : schedules(schedules), sharesBuffers(sharesBuffers) {}
  BufferPlan run(Computation &step);

private:
  SmallVector<Node *> getOrder(Computation &computation);
  void setRanks(Computation &computation);
  void setTimes(Computation &computation, bool outermost);
  void findLastUses(Computation &computation);
  void visit(Computation &computation);
  void visitKernel(Node *kernel);
  void visitLoop(Node *loop);
  void endIteration(Node *loop, Computation &body,
                    ArrayRef<unsigned> carriedBuffers);
  void visitBranch(Node *branch);
  unsigned create(Node *node, unsigned result, unsigned begin);
  unsigned findShared(Node *kernel, unsigned result,
                      const llvm::SmallDenseSet<unsigned> &taken);
  void use(unsigned buffer, Input value);
  unsigned getBuffer(Input value) const {
    auto found = buffers.find(value);
    return found == buffers.end() ? kNoBuffer : found->second;
  }

  bool schedules, sharesBuffers;
  BufferPlan plan;
  DenseMap<Computation *, SmallVector<Node *>> orders;
  DenseMap<Computation *, Interval> times;
  DenseMap<Node *, unsigned> time, rank;
  DenseMap<Input, unsigned> lastUse;
  DenseMap<Input, unsigned> buffers;
  llvm::DenseSet<Input> returned;
  bool isOuter = true;
};
} // namespace

/// True for what only renames its operands: barriers, and bitcasts that are no
/// part of a kernel.
static bool isName(Node *node) {
  return node->kind == NodeKind::Barrier ||
         (node->kind == NodeKind::Bitcast && node->members.size() == 1);
}

/// What result `number` of `node` is another name of.
static Input getNamed(Node *node, unsigned number) {
  Ref operand = node->operands[node->kind == NodeKind::Barrier ? number : 0];
  return {operand.node, operand.result};
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

SmallVector<Node *> BufferPlanner::getOrder(Computation &computation) {
  if (schedules)
    return schedule(computation);
  SmallVector<Node *> order = getPostOrder(computation);
  llvm::sort(order, [](Node *a, Node *b) { return a->id < b->id; });
  return order;
}

/// Numbers nodes; what loops run comes before them.
void BufferPlanner::setRanks(Computation &computation) {
  SmallVector<Node *> order = getPostOrder(computation);
  for (Node *node : order)
    for (auto &body : node->bodies)
      setRanks(*body);
  for (Node *node : order)
    rank.try_emplace(node, rank.size());
}

void BufferPlanner::setTimes(Computation &computation, bool outermost) {
  SmallVector<Node *> order = getOrder(computation);
  orders[&computation] = order;
  unsigned begin = plan.numTimes;
  for (Node *node : order) {
    for (auto &body : node->bodies)
      setTimes(*body, /*outermost=*/false);
    if (node->kind == NodeKind::Parameter || node->kind == NodeKind::Constant ||
        isName(node)) {
      time[node] = plan.numTimes;
      continue;
    }
    time[node] = plan.numTimes++;
    if (outermost) {
      plan.ends.push_back(time[node]);
      plan.kernels.push_back(node);
    }
  }
  // The results are handed over at the end.
  unsigned end = plan.numTimes++;
  times[&computation] = {begin, end};
}

void BufferPlanner::findLastUses(Computation &computation) {
  for (Ref result : computation.results)
    lastUse[{result.node, result.result}] = times[&computation].end;
  SmallVector<Node *> order = orders[&computation];
  for (Node *node : llvm::reverse(order)) {
    auto extend = [&](Input input, unsigned last) {
      unsigned &known = lastUse[input];
      known = std::max(known, last);
    };
    if (isName(node))
      for (unsigned i = 0; i < node->types.size(); ++i)
        extend(getNamed(node, i), lastUse.lookup({node, i}));
    else
      for (Input input : node->inputs)
        extend(input, time[node]);
    for (auto &body : node->bodies)
      findLastUses(*body);
  }
}

//===----------------------------------------------------------------------===//
// Sharing
//===----------------------------------------------------------------------===//

/// True if every operation of `kernel` that depends on `input` is elementwise.
static bool isElementwiseIn(Node *kernel, Input input) {
  llvm::DenseSet<Input> dependent{input};
  bool changed = true;
  // Members are in no particular order.
  while (changed) {
    changed = false;
    for (Node *member : kernel->members) {
      if (dependent.contains({member, 0}))
        continue;
      bool depends = llvm::any_of(member->operands, [&](Ref operand) {
        return dependent.contains({operand.node, operand.result});
      });
      if (!depends)
        continue;
      if (member->kind != NodeKind::Elementwise)
        return false;
      changed |= dependent.insert({member, 0}).second;
    }
  }
  return true;
}

/// The value of which `kernel` replaces a part, if it does that.
static Input getUpdated(Node *kernel) {
  if (kernel->kind != NodeKind::DynamicUpdateSlice &&
      kernel->kind != NodeKind::Scatter)
    return {nullptr, 0};
  Ref operand = kernel->operands.front();
  while (kernel->members.contains(operand.node) &&
         operand.node->kind == NodeKind::Bitcast)
    operand = operand.node->operands.front();
  return {operand.node, operand.result};
}

unsigned BufferPlanner::findShared(Node *kernel, unsigned result,
                                   const llvm::SmallDenseSet<unsigned> &taken) {
  RankedTensorType type = kernel->types[result];
  Input updated = getUpdated(kernel);
  bool isReturned = isOuter && returned.contains({kernel, result});
  for (Input input : kernel->inputs) {
    unsigned number = getBuffer(input);
    if (number == kNoBuffer || taken.contains(number) ||
        input.first->types[input.second] != type)
      continue;
    const Buffer &buffer = plan.buffers[number];
    if (buffer.kind == Buffer::Argument || buffer.lastUse != time[kernel])
      continue;
    if (input == updated)
      return number;
    if (sharesBuffers && !isReturned && kernel->types.size() == 1 &&
        isElementwiseIn(kernel, input))
      return number;
  }
  return kNoBuffer;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

unsigned BufferPlanner::create(Node *node, unsigned result, unsigned begin) {
  Buffer &buffer = plan.buffers.emplace_back();
  buffer.bytes = getBytes(node->types[result]);
  buffer.origin = node->origin;
  buffer.isOuter = isOuter;
  buffer.intervals.push_back({begin, begin});
  buffer.lastUse = begin;
  buffer.rank = rank.lookup(node);
  return plan.buffers.size() - 1;
}

/// Lets `buffer` hold `value` too.
void BufferPlanner::use(unsigned number, Input value) {
  buffers[value] = number;
  if (number == kNoBuffer)
    return;
  Buffer &buffer = plan.buffers[number];
  unsigned last = std::max(lastUse.lookup(value), time[value.first]);
  buffer.lastUse = std::max(buffer.lastUse, last);
  Interval &interval = buffer.intervals.back();
  interval.end = std::max(interval.end, buffer.lastUse);
  if (value.first->save)
    buffer.save = value.first->save;
}

void BufferPlanner::visitKernel(Node *kernel) {
  llvm::SmallDenseSet<unsigned> taken;
  for (unsigned i = 0; i < kernel->types.size(); ++i) {
    unsigned shared = findShared(kernel, i, taken);
    unsigned number =
        shared != kNoBuffer ? shared : create(kernel, i, time[kernel]);
    taken.insert(number);
    use(number, {kernel, i});
  }
}

void BufferPlanner::visitLoop(Node *loop) {
  Computation &body = *loop->bodies.front();
  Interval inside = times[&body];
  SmallVector<unsigned> carried;
  llvm::SmallDenseSet<unsigned> taken;
  for (auto [i, parameter] : llvm::enumerate(body.parameters)) {
    Ref operand = loop->operands[i];
    unsigned number = getBuffer({operand.node, operand.result});
    if (body.results[i] != Ref{parameter, 0}) {
      bool mayWrite = number != kNoBuffer && !taken.contains(number) &&
                      plan.buffers[number].kind != Buffer::Argument &&
                      plan.buffers[number].lastUse == time[loop];
      if (!mayWrite)
        number = create(loop, i, inside.begin);
      taken.insert(number);
    }
    carried.push_back(number);
    buffers[{parameter, 0}] = number;
    if (number != kNoBuffer && body.results[i] != Ref{parameter, 0}) {
      // In the body it is free from its last use until it is written again.
      Buffer &buffer = plan.buffers[number];
      unsigned last = std::max(lastUse.lookup({parameter, 0}), inside.begin);
      buffer.intervals.back().end = last;
      buffer.lastUse = last;
    }
  }
  bool wasOuter = std::exchange(isOuter, false);
  visit(body);
  isOuter = wasOuter;
  endIteration(loop, body, carried);
  for (unsigned i = 0; i < loop->types.size(); ++i)
    use(carried[i], {loop, i});
}

void BufferPlanner::endIteration(Node *loop, Computation &body,
                                 ArrayRef<unsigned> carried) {
  Interval inside = times[&body];
  llvm::SmallDenseSet<unsigned> merged;
  for (auto [i, result] : llvm::enumerate(body.results)) {
    if (carried[i] == kNoBuffer || result == Ref{body.parameters[i], 0})
      continue;
    unsigned number = getBuffer({result.node, result.result});
    Buffer &buffer = plan.buffers[carried[i]];
    if (number == carried[i]) {
      buffer.intervals.back().end = inside.end;
      buffer.lastUse = inside.end;
      continue;
    }
    // A value that is computed once the old one is not needed any more is
    // written where that was; else it is copied there in the end.
    Interval next{inside.end, inside.end};
    if (number != kNoBuffer && !llvm::is_contained(carried, number) &&
        merged.insert(number).second) {
      Buffer &computed = plan.buffers[number];
      if (!computed.isOuter && computed.bytes == buffer.bytes &&
          computed.intervals.front().begin > buffer.lastUse &&
          computed.intervals.front().begin >= inside.begin) {
        next.begin = computed.intervals.front().begin;
        computed.bytes = 0;
      }
    }
    buffer.intervals.push_back(next);
    buffer.lastUse = inside.end;
  }
}

void BufferPlanner::visitBranch(Node *branch) {
  unsigned begin = time[branch];
  bool wasOuter = std::exchange(isOuter, false);
  for (auto &body : branch->bodies) {
    begin = std::min(begin, times[body.get()].begin);
    visit(*body);
  }
  isOuter = wasOuter;
  for (unsigned i = 0; i < branch->types.size(); ++i)
    use(create(branch, i, begin), {branch, i});
}

void BufferPlanner::visit(Computation &computation) {
  SmallVector<Node *> order = orders[&computation];
  for (Node *node : order) {
    if (node->kind == NodeKind::Parameter) {
      buffers.try_emplace({node, 0}, kNoBuffer);
      continue;
    }
    if (node->kind == NodeKind::Constant)
      continue;
    if (isName(node)) {
      for (unsigned i = 0; i < node->types.size(); ++i)
        use(getBuffer(getNamed(node, i)), {node, i});
      continue;
    }
    if (node->kind == NodeKind::Loop)
      visitLoop(node);
    else if (node->kind == NodeKind::Branch)
      visitBranch(node);
    else
      visitKernel(node);
  }
}

BufferPlan BufferPlanner::run(Computation &step) {
  setRanks(step);
  setTimes(step, /*outermost=*/true);
  findLastUses(step);
  for (Ref result : step.results) {
    Input value{result.node, result.result};
    while (isName(value.first))
      value = getNamed(value.first, value.second);
    returned.insert(value);
  }
  for (Node *parameter : step.parameters) {
    unsigned number = create(parameter, 0, 0);
    plan.buffers[number].kind = Buffer::Argument;
    plan.buffers[number].intervals.back().end = times[&step].end;
    buffers[{parameter, 0}] = number;
  }
  visit(step);
  for (Ref result : step.results) {
    unsigned number = getBuffer({result.node, result.result});
    plan.results.push_back(number == kNoBuffer ? std::nullopt
                                               : std::optional(number));
    if (number != kNoBuffer && plan.buffers[number].kind == Buffer::Temporary)
      plan.buffers[number].kind = Buffer::Result;
  }
  return std::move(plan);
}

BufferPlan memory::planBuffers(Computation &step, bool schedules,
                               bool sharesBuffers) {
  return BufferPlanner(schedules, sharesBuffers).run(step);
}
