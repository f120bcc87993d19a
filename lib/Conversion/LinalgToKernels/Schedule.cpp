//===- Schedule.cpp - An order that needs little memory ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include <set>

namespace mlir::act {
#define GEN_PASS_DEF_ACTSCHEDULEPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// The operations of a block as a graph of tensors that take memory.
class Scheduler {
public:
  explicit Scheduler(Block &block) : block(block) {}

  /// Orders the block anew. Terminators and what has effects stay in place, so
  /// a block with effects is left as it is.
  void run();

private:
  void buildGraph();
  Value getStorage(Value value) const;
  int64_t getBytes(Value storage) const;
  void addUse(Operation *user, Value value);
  int64_t getGrowth(unsigned node) const;
  void findDelayed();
  void schedule(unsigned node);
  void scheduleWithProducers(unsigned node);

  Block &block;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, unsigned> numbers;
  SmallVector<SmallVector<unsigned>> successors;
  SmallVector<unsigned> missing;
  /// Tensors that an operation reads, by whose memory they are in.
  SmallVector<SmallVector<Value>> reads;
  DenseMap<Value, Value> storage;
  DenseSet<Value> returned;
  DenseMap<Value, unsigned> remaining;
  std::set<unsigned> ready;
  SmallVector<SmallVector<unsigned>> producers;
  /// What waits until it is needed, and what has been scheduled.
  BitVector delayed, done;
};
} // namespace

/// Whether `op` only gives another name to its operand or a part of it.
static bool isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp, tensor::CastOp>(op);
}

/// The operand in whose memory result `index` of `op` is, or null.
static Value getAliasedOperand(Operation *op, unsigned index) {
  if (isView(op))
    return op->getOperand(0);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insert.getDest();
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return barrier.getInputs()[index];
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
    Value init = destination.getDpsInits()[index];
    if (!init.getDefiningOp<tensor::EmptyOp>())
      return init;
  }
  return {};
}

Value Scheduler::getStorage(Value value) const {
  auto found = storage.find(value);
  return found == storage.end() ? value : found->second;
}

/// Bytes that are free again when the last reader of `storage` is done. What is
/// returned has memory in any case.
int64_t Scheduler::getBytes(Value storage) const {
  auto type = dyn_cast<RankedTensorType>(storage.getType());
  Operation *op = storage.getDefiningOp();
  if (!op || op->getBlock() != &block || !type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrIndexOrFloat() ||
      isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>() ||
      returned.contains(storage))
    return 0;
  return type.getNumElements() * getElementBytes(type.getElementType());
}

void Scheduler::addUse(Operation *user, Value value) {
  unsigned number = numbers.lookup(user);
  Operation *producer = value.getDefiningOp();
  if (producer && producer->getBlock() == &block) {
    successors[numbers.lookup(producer)].push_back(number);
    producers[number].push_back(numbers.lookup(producer));
    ++missing[number];
  }
  Value memory = getStorage(value);
  if (!isView(user) && getBytes(memory) &&
      !llvm::is_contained(reads[number], memory)) {
    reads[number].push_back(memory);
    ++remaining[memory];
  }
}

void Scheduler::buildGraph() {
  for (Operation &op : block.without_terminator()) {
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
  successors.resize(ops.size());
  missing.assign(ops.size(), 0);
  reads.resize(ops.size());
  producers.resize(ops.size());
  done.resize(ops.size());
  for (Operation *op : ops)
    for (OpResult result : op->getResults())
      if (Value aliased = getAliasedOperand(op, result.getResultNumber()))
        storage[result] = getStorage(aliased);
  for (Value operand : block.getTerminator()->getOperands())
    returned.insert(getStorage(operand));
  for (Operation *op : ops) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        addUse(op, operand);
    });
  }
}

/// Bytes that are occupied after `node` and were not before.
int64_t Scheduler::getGrowth(unsigned node) const {
  int64_t growth = 0;
  for (Value result : ops[node]->getResults())
    if (getStorage(result) == result)
      growth += getBytes(result);
  for (Value memory : reads[node])
    if (remaining.lookup(memory) == 1)
      growth -= getBytes(memory);
  return growth;
}

void Scheduler::schedule(unsigned node) {
  ops[node]->moveBefore(block.getTerminator());
  for (Value memory : reads[node])
    --remaining[memory];
  ready.erase(node);
  done.set(node);
  for (unsigned successor : successors[node])
    if (--missing[successor] == 0)
      ready.insert(successor);
}

/// Marks operations that are better computed where their result is needed than
/// early: the result is larger than what has to be alive for that instead, such
/// as the storage of an encoded value.
void Scheduler::findDelayed() {
  delayed.resize(ops.size());
  // Bytes that stay alive if an operation waits.
  SmallVector<int64_t> needs(ops.size(), 0);
  for (unsigned node = 0; node < ops.size(); ++node) {
    int64_t bytes = 0;
    for (Value result : ops[node]->getResults())
      if (getStorage(result) == result)
        bytes += getBytes(result);
    for (Value memory : reads[node]) {
      Operation *producer = memory.getDefiningOp();
      unsigned number = numbers.lookup(producer);
      needs[node] += delayed[number] && remaining.lookup(memory) == 1
                         ? needs[number]
                         : getBytes(memory);
    }
    if (bytes > needs[node] || isView(ops[node]))
      delayed.set(node);
  }
}

/// Schedules `node` after what it reads and what has not been scheduled.
void Scheduler::scheduleWithProducers(unsigned node) {
  SmallVector<unsigned> pending{node};
  while (!pending.empty()) {
    unsigned current = pending.back();
    auto missingProducer = llvm::find_if(
        producers[current], [&](unsigned producer) { return !done[producer]; });
    if (missingProducer != producers[current].end()) {
      pending.push_back(*missingProducer);
      continue;
    }
    pending.pop_back();
    if (!done[current])
      schedule(current);
  }
}

void Scheduler::run() {
  for (Operation &op : block.without_terminator())
    if (!isMemoryEffectFree(&op))
      return;
  buildGraph();
  findDelayed();
  for (unsigned node = 0; node < ops.size(); ++node)
    if (missing[node] == 0)
      ready.insert(node);
  // The order of the program decides, but what frees more memory than it takes
  // goes first and what takes more waits until it is needed.
  for (unsigned node = 0; node < ops.size(); ++node) {
    if (!done[node] && !delayed[node])
      scheduleWithProducers(node);
    for (;;) {
      auto next = llvm::find_if(
          ready, [&](unsigned other) { return getGrowth(other) < 0; });
      if (next == ready.end())
        break;
      schedule(*next);
    }
  }
  for (unsigned node = 0; node < ops.size(); ++node)
    if (!done[node])
      scheduleWithProducers(node);
}

namespace {
struct SchedulePass : act::impl::ActSchedulePassBase<SchedulePass> {
  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (block.mightHaveTerminator())
            Scheduler(block).run();
      return WalkResult::advance();
    });
  }
};
} // namespace
