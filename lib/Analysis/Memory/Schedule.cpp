//===- Schedule.cpp - The order in which kernels run ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA for the CPU runs kernels first come, first served: what became ready
// first runs first, and a kernel that has run makes its readers ready in their
// order (BFScheduler of XLA). What is held by a barrier, or comes out of a
// loop, passes through a tuple and is ready a few steps later. Barriers vanish
// afterwards.
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"
#include "llvm/ADT/DenseMap.h"
#include <queue>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

namespace {
/// What is scheduled of a node: the tuple of its operands, the node itself, or
/// one of its results taken out of a tuple.
struct Item {
  Node *node;
  enum Stage : unsigned { Operands, Main, Result } stage;
  unsigned result = 0;
};

class Scheduler {
public:
  explicit Scheduler(Computation &computation) : computation(computation) {}
  SmallVector<Node *> run();

private:
  void countDependences(ArrayRef<Node *> order);
  void enqueueReaders(Item item);
  void makeReady(Node *node);

  Computation &computation;
  DenseMap<Node *, unsigned> missing;
  std::queue<Item> ready;
};
} // namespace

static bool takesTuple(Node *node) {
  return node->kind == NodeKind::Barrier || node->kind == NodeKind::Loop;
}

static bool givesTuple(Node *node) {
  return takesTuple(node) || node->types.size() > 1;
}

void Scheduler::countDependences(ArrayRef<Node *> order) {
  for (Node *node : order)
    missing[node] = node->inputs.size();
}

/// Of `node` one operand more has been computed.
void Scheduler::makeReady(Node *node) {
  auto found = missing.find(node);
  if (found != missing.end() && --found->second == 0)
    ready.push({node, takesTuple(node) ? Item::Operands : Item::Main});
}

void Scheduler::enqueueReaders(Item item) {
  Node *node = item.node;
  if (item.stage == Item::Operands) {
    ready.push({node, Item::Main});
    return;
  }
  if (item.stage == Item::Main && givesTuple(node)) {
    llvm::SmallSetVector<unsigned, 8> results; // in the order of their readers
    for (Node *user : node->users)
      for (auto [input, result] : user->inputs)
        if (input == node)
          results.insert(result);
    for (unsigned result : results)
      ready.push({node, Item::Result, result});
    return;
  }
  for (Node *user : llvm::to_vector(node->users))
    if (user->inputs.contains({node, item.result}))
      makeReady(user);
}

SmallVector<Node *> Scheduler::run() {
  SmallVector<Node *> order = getPostOrder(computation);
  countDependences(order);
  for (Node *node : order)
    if (node->inputs.empty())
      ready.push({node, takesTuple(node) ? Item::Operands : Item::Main});
  SmallVector<Node *> scheduled;
  while (!ready.empty()) {
    Item item = ready.front();
    ready.pop();
    if (item.stage == Item::Main)
      scheduled.push_back(item.node);
    enqueueReaders(item);
  }
  return scheduled;
}

SmallVector<Node *> memory::schedule(Computation &computation) {
  return Scheduler(computation).run();
}
