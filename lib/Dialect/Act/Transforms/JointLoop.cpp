//===- JointLoop.cpp - Two loops as one step and back ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JointLoop.h"
#include "act/Analysis/AutodiffGraph.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

/// The value outside of loops that carried value `number`, which does not
/// change, stands for: the initial value, and if that is such a value of the
/// loop `before`, what it was there.
static Value getInvariant(const LoopCarries &carries, unsigned number,
                          const LoopCarries *before = nullptr) {
  Value value = carries.getInitialValue(number);
  auto result = dyn_cast<OpResult>(value);
  if (before && result && result.getOwner() == before->getLoop() &&
      before->getKind(result.getResultNumber()) == CarryKind::Invariant)
    return before->getInitialValue(result.getResultNumber());
  return value;
}

JointLoop::JointLoop(LoopPair loops, function_ref<bool(Value)> isFree)
    : pair(std::move(loops)) {
  OpBuilder builder(pair.backward.getLoop());
  joint = JointLoopOp::create(builder, pair.backward.getLoop().getLoc(),
                              pair.forward.getTripCount());
  builder.createBlock(&joint.getBody());
  buildForward(builder, isFree);
  buildBackward(builder);
}

bool JointLoop::isDropped(unsigned number) const {
  return llvm::any_of(pair.stacks, [&](const PairedStack &stack) {
    return stack.number == number && !stack.isShared;
  });
}

bool JointLoop::isDroppedConsumer(unsigned number) const {
  return llvm::any_of(pair.stacks, [&](const PairedStack &stack) {
    return !stack.isKept && llvm::is_contained(stack.consumers, number);
  });
}

bool JointLoop::isKeptConsumer(unsigned number) const {
  return llvm::any_of(pair.stacks, [&](const PairedStack &stack) {
    return stack.isKept && llvm::is_contained(stack.consumers, number);
  });
}

Value JointLoop::addArgument(Value value) {
  return joint.getBody().front().addArgument(value.getType(), value.getLoc());
}

Value JointLoop::addState(OpBuilder &builder, Value argument) {
  return LoopStateOp::create(builder, argument.getLoc(), argument.getType(),
                             argument);
}

std::optional<std::pair<Value, int>>
JointLoop::getOuterRow(Operation &op, const LoopCarries &loop,
                       const IRMapping &mapping) {
  std::optional<RowAccess> read = getRowRead(&op);
  if (!read)
    return std::nullopt;
  Value stack = mapping.lookupOrDefault(read->stack);
  std::optional<LinearForm> index =
      getLinearForm(read->index, loop.getCounter());
  bool isReversed = index == loop.getReversed();
  if ((index != LinearForm{1, 0} && !isReversed) ||
      joint->isAncestor(stack.getParentBlock()->getParentOp()))
    return std::nullopt;
  return std::pair(stack, static_cast<int>(isReversed));
}

void JointLoop::buildForward(OpBuilder &builder,
                             function_ref<bool(Value)> isFree) {
  const LoopCarries &loop = pair.forward;
  forwardCounter = addArgument(loop.getCounter());
  forwardMap.map(loop.getCounter(), forwardCounter);
  llvm::SmallPtrSet<Operation *, 16> skipped;
  for (unsigned number = 0; number < loop.size(); ++number) {
    Value argument = loop.getArgument(number);
    forwardArguments.push_back({});
    if (loop.getKind(number) == CarryKind::Counter) {
      forwardArguments.back() = forwardCounter;
    } else if (loop.getKind(number) == CarryKind::Invariant) {
      forwardMap.map(argument, getInvariant(loop, number));
    } else if (isDropped(number)) {
      const StackWrite &write = loop.getWrite(number);
      skipped.insert(write.op);
      // What only adds the first axis for this write goes with it.
      for (Value operand : write.op->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && def->hasOneUse() && isReshape(def) && operand != write.row &&
            def->getOperand(0) == write.row)
          skipped.insert(def);
    } else {
      forwardArguments.back() = addArgument(argument);
      Value value = forwardArguments.back();
      if (loop.getKind(number) == CarryKind::State &&
          isa<RankedTensorType>(value.getType()))
        value = addState(builder, value);
      forwardMap.map(argument, value);
    }
  }
  for (Operation &op : loop.getBody().without_terminator())
    if (!skipped.contains(&op)) {
      Operation *copy = builder.clone(op, forwardMap);
      auto row = getOuterRow(op, loop, forwardMap);
      if (!row || isFree(row->first))
        continue;
      Value state = addState(builder, copy->getResult(0));
      savedRows.try_emplace(*row, state);
      forwardMap.map(op.getResult(0), state);
    }

  SmallVector<Value> carried;
  for (unsigned number = 0; number < loop.size(); ++number)
    if (loop.getKind(number) != CarryKind::Invariant && !isDropped(number))
      carried.push_back(forwardMap.lookupOrDefault(loop.getNextValue(number)));
  TurningPointOp::create(builder, loop.getLoop().getLoc(), carried);
  for (const PairedStack &stack : pair.stacks) {
    if (!stack.isKept)
      continue;
    Value row = forwardMap.lookupOrDefault(loop.getWrite(stack.number).row);
    kept.insert(row);
    keptRows[row] = &stack;
  }
}

/// True if carried value `number` is one that iterations add to: such a value
/// is there from the start, unlike a cotangent.
static bool isAccumulator(const LoopCarries &loop, unsigned number) {
  Value argument = loop.getArgument(number);
  Operation *def = loop.getNextValue(number).getDefiningOp();
  return argument.hasOneUse() && def && *argument.user_begin() == def &&
         getOpKind(def) == OpKind::Elementwise;
}

/// What `read` and its rows are made by.
static SmallVector<Operation *> getReadOps(const StackRead &read) {
  llvm::SmallSetVector<Operation *, 4> ops;
  for (Value row : read.rows)
    ops.insert(row.getDefiningOp());
  ops.insert(read.op);
  return ops.takeVector();
}

llvm::SmallPtrSet<Operation *, 16> JointLoop::mapReads() {
  llvm::SmallPtrSet<Operation *, 16> skipped;
  for (const PairedStack &stack : pair.stacks) {
    Value row = pair.forward.getWrite(stack.number).row;
    for (const StackRead &read : stack.reads) {
      if (read.op->getBlock() != &pair.backward.getBody())
        continue;
      for (Value value : read.rows)
        backwardMap.map(value, forwardMap.lookupOrDefault(row));
      skipped.insert_range(getReadOps(read));
    }
  }
  return skipped;
}

void JointLoop::replaceNestedReads() {
  for (const PairedStack &stack : pair.stacks) {
    Value row = pair.forward.getWrite(stack.number).row;
    for (const StackRead &read : stack.reads) {
      if (read.op->getBlock() == &pair.backward.getBody())
        continue;
      for (Value value : read.rows)
        backwardMap.lookup(value).replaceAllUsesWith(
            forwardMap.lookupOrDefault(row));
      for (Operation *op : getReadOps(read))
        backwardMap.lookup(op)->erase();
    }
  }
}

void JointLoop::buildBackward(OpBuilder &builder) {
  const LoopCarries &loop = pair.backward;
  backwardCounter = addArgument(loop.getCounter());
  backwardMap.map(loop.getCounter(), backwardCounter);
  for (unsigned number = 0; number < loop.size(); ++number) {
    Value argument = loop.getArgument(number);
    backwardArguments.push_back({});
    if (loop.getKind(number) == CarryKind::Counter) {
      backwardArguments.back() = backwardCounter;
      continue;
    }
    if (loop.getKind(number) == CarryKind::Invariant) {
      backwardMap.map(argument, getInvariant(loop, number, &pair.forward));
      continue;
    }
    backwardArguments.back() = addArgument(argument);
    Value value = backwardArguments.back();
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (loop.getKind(number) == CarryKind::State && type &&
        isa<FloatType>(type.getElementType()) && !isAccumulator(loop, number))
      value = addState(builder, value);
    backwardMap.map(argument, value);
  }
  llvm::SmallPtrSet<Operation *, 16> skipped = mapReads();
  for (Operation &op : loop.getBody().without_terminator()) {
    if (skipped.contains(&op))
      continue;
    if (auto row = getOuterRow(op, loop, backwardMap)) {
      // Forward counted the other way round.
      Value saved = savedRows.lookup({row->first, 1 - row->second});
      if (saved && saved.getType() == op.getResult(0).getType()) {
        backwardMap.map(op.getResult(0), saved);
        continue;
      }
    }
    // The number that forward's iteration had.
    if (op.getNumResults() == 1 && op.getNumRegions() == 0 &&
        op.getResult(0).getType() == forwardCounter.getType() &&
        getLinearForm(op.getResult(0), loop.getCounter()) ==
            loop.getReversed()) {
      backwardMap.map(op.getResult(0), forwardCounter);
      continue;
    }
    builder.clone(op, backwardMap);
  }
  SmallVector<Value> carried;
  for (unsigned number = 0; number < loop.size(); ++number)
    if (loop.getKind(number) != CarryKind::Invariant)
      carried.push_back(backwardMap.lookupOrDefault(loop.getNextValue(number)));
  JointYieldOp::create(builder, loop.getLoop().getLoc(), carried);
  replaceNestedReads();
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

SmallVector<Operation *> JointLoop::getPart(bool isForward) {
  SmallVector<Operation *> part;
  bool isBefore = true;
  for (Operation &op : joint.getBody().front().without_terminator()) {
    if (isa<TurningPointOp>(op))
      isBefore = false;
    else if (isBefore == isForward)
      part.push_back(&op);
  }
  return part;
}

LogicalResult JointLoop::collectCrossing() {
  llvm::SmallPtrSet<Operation *, 32> forward;
  for (Operation *op : getPart(/*isForward=*/true))
    forward.insert(op);
  llvm::SetVector<Value> crossing, crossingConstants;
  SmallVector<Operation *> readers = getPart(/*isForward=*/false);
  readers.push_back(joint.getBody().front().getTerminator());
  for (Operation *op : readers)
    for (Value value : getAllOperands(op)) {
      Operation *def = value.getDefiningOp();
      if (!def || !forward.contains(def) || kept.contains(value))
        continue;
      if (isSaved(value.getType()))
        crossing.insert(value);
      else if (getAllOperands(def).empty() && isMemoryEffectFree(def))
        crossingConstants.insert(value);
      else
        return op->emitOpError("of a backward loop reads a forward value of "
                               "type ")
               << value.getType() << " that does not come from a save";
    }
  payload = crossing.takeVector();
  constants = crossingConstants.takeVector();
  return success();
}

llvm::DenseSet<Value> JointLoop::getOperands(ArrayRef<Operation *> part) {
  llvm::DenseSet<Value> operands;
  for (Operation *op : part)
    op->walk([&](Operation *nested) {
      operands.insert_range(nested->getOperands());
    });
  return operands;
}

void JointLoop::replaceOperands(ArrayRef<Operation *> part,
                                const IRMapping &mapping) {
  for (Operation *op : part)
    op->walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        if (Value value = mapping.lookupOrNull(operand.get()))
          operand.set(value);
    });
}

/// The counter of `made`, a loop without terminator made by `createLike`.
static Value getCounter(const LoopCarries &loop, LoopModelInterface made,
                        ArrayRef<int64_t> origins) {
  for (auto [argument, origin] :
       llvm::zip_equal(made.getCarriedArguments(), origins))
    if (origin >= 0 && loop.getKind(origin) == CarryKind::Counter)
      return argument;
  return made.getCounter(); // not a carried value
}

void JointLoop::splitForward(OpBuilder &builder) {
  const LoopCarries &loop = pair.forward;
  builder.setInsertionPoint(loop.getLoop());
  SmallVector<Operation *> part = getPart(/*isForward=*/true);
  llvm::DenseSet<Value> operands = getOperands(part);
  operands.insert_range(joint.getTurningPoint().getCarried());
  SmallVector<Value> initial;
  for (unsigned number = 0; number < loop.size(); ++number)
    if (!isDropped(number) && (loop.getKind(number) != CarryKind::Invariant ||
                               operands.contains(getInvariant(loop, number)))) {
      forwardOrigins.push_back(number);
      initial.push_back(loop.getInitialValue(number));
    }
  unsigned numKept = initial.size();
  for (Value value : payload) {
    auto type = StackType::get(builder.getContext(), loop.getTripCount(),
                               value.getType());
    initial.push_back(EmptyStackOp::create(builder, value.getLoc(), type));
    forwardOrigins.push_back(-1);
  }
  newForward = cast<LoopModelInterface>(
      loop.getLoop().createLike(builder, initial, forwardOrigins));
  Block *body = newForward.getLoopBody();
  SmallVector<Value> arguments = newForward.getCarriedArguments();

  IRMapping mapping;
  Value counter = getCounter(loop, newForward, forwardOrigins);
  mapping.map(forwardCounter, counter);
  for (auto [argument, origin] : llvm::zip_equal(arguments, forwardOrigins)) {
    if (origin < 0)
      continue;
    bool isInvariant = loop.getKind(origin) == CarryKind::Invariant;
    mapping.map(isInvariant ? getInvariant(loop, origin)
                            : forwardArguments[origin],
                argument);
  }
  auto carried = llvm::to_vector(joint.getTurningPoint().getCarried());
  for (Value &value : carried)
    value = mapping.lookupOrDefault(value);
  replaceOperands(part, mapping);
  for (Operation *op : part)
    op->moveBefore(body, body->end());

  builder.setInsertionPointToEnd(body);
  SmallVector<Value> next;
  unsigned numCarried = 0;
  for (auto [argument, origin] : llvm::zip_equal(arguments, forwardOrigins)) {
    if (origin < 0) {
      Value value = payload[next.size() - numKept];
      next.push_back(StackPushOp::create(builder, value.getLoc(),
                                         argument.getType(), value, argument,
                                         counter));
    } else if (loop.getKind(origin) == CarryKind::Invariant) {
      next.push_back(argument);
    } else {
      next.push_back(carried[numCarried++]);
    }
  }
  newForward.finishBody(next);
}

namespace {
/// Makes the values that the new backward body needs from elsewhere right in
/// front of their first use.
class BackwardValues {
public:
  BackwardValues(OpBuilder &builder, function_ref<Value(Value)> make)
      : builder(builder), make(make) {}

  void map(Value from, Value to) { mapping.map(from, to); }

  /// The value that stands for `value` in front of `op`.
  Value get(Value value, Operation *op) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    builder.setInsertionPoint(op);
    Value made = make(value);
    if (made)
      mapping.map(value, made);
    return made ? made : value;
  }

private:
  OpBuilder &builder;
  function_ref<Value(Value)> make;
  IRMapping mapping;
};
} // namespace

/// Copies of scalar operations that make an index.
static Value cloneIndex(OpBuilder &builder, Value index, IRMapping &mapping,
                        Block &body) {
  Operation *def = index.getDefiningOp();
  if (mapping.contains(index) || !def || def->getBlock() != &body)
    return mapping.lookupOrDefault(index);
  for (Value operand : def->getOperands())
    cloneIndex(builder, operand, mapping, body);
  return builder.clone(*def, mapping)
      ->getResult(cast<OpResult>(index).getResultNumber());
}

Value JointLoop::readKept(OpBuilder &builder, const PairedStack &stack) {
  const LoopCarries &loop = pair.backward;
  IRMapping mapping;
  mapping.map(loop.getCounter(),
              getCounter(loop, newBackward, backwardOrigins));
  for (auto [argument, origin] :
       llvm::zip_equal(newBackward.getCarriedArguments(), backwardOrigins))
    if (origin >= 0 && loop.getKind(origin) == CarryKind::Invariant)
      mapping.map(loop.getArgument(origin), argument);
  const auto *read = llvm::find_if(
      stack.reads, [](const StackRead &read) { return !read.rows.empty(); });
  for (Value operand : read->op->getOperands())
    cloneIndex(builder, operand, mapping, loop.getBody());
  Operation *copy = builder.clone(*read->op, mapping);
  Value row = read->rows.front();
  return row.getDefiningOp() == read->op
             ? copy->getResult(0)
             : builder.clone(*row.getDefiningOp(), mapping)->getResult(0);
}

void JointLoop::splitBackward(OpBuilder &builder) {
  const LoopCarries &loop = pair.backward;
  builder.setInsertionPoint(loop.getLoop());
  Operation *yield = joint.getBody().front().getTerminator();
  SmallVector<Operation *> part = getPart(/*isForward=*/false);
  part.push_back(yield);
  llvm::DenseSet<Value> operands = getOperands(part);
  SmallVector<Value> initial;
  for (unsigned number = 0; number < loop.size(); ++number)
    if (!isDroppedConsumer(number) &&
        (loop.getKind(number) != CarryKind::Invariant ||
         isKeptConsumer(number) ||
         operands.contains(getInvariant(loop, number, &pair.forward)))) {
      backwardOrigins.push_back(number);
      initial.push_back(loop.getInitialValue(number));
    }
  unsigned numKept = initial.size();
  unsigned firstStack = newForward->getNumResults() - payload.size();
  llvm::append_range(initial, newForward->getResults().drop_front(firstStack));
  backwardOrigins.append(payload.size(), -1);
  newBackward = cast<LoopModelInterface>(
      loop.getLoop().createLike(builder, initial, backwardOrigins));
  Block *body = newBackward.getLoopBody();
  SmallVector<Value> arguments = newBackward.getCarriedArguments();
  Value counter = getCounter(loop, newBackward, backwardOrigins);

  // The number of the iteration of forward that this one undoes.
  Value undone;
  auto getUndone = [&] {
    if (!undone) {
      OpBuilder top = OpBuilder::atBlockBegin(body);
      undone = loop.getLoop().buildReversedCounter(top, loop.getLoop().getLoc(),
                                                   counter);
    }
    return undone;
  };
  auto make = [&](Value value) -> Value {
    if (value == forwardCounter)
      return getUndone();
    if (const auto *it = llvm::find(payload, value); it != payload.end())
      return StackReadOp::create(builder, value.getLoc(), value.getType(),
                                 arguments[numKept + (it - payload.begin())],
                                 getUndone());
    if (const PairedStack *stack = keptRows.lookup(value))
      return readKept(builder, *stack);
    if (llvm::is_contained(constants, value))
      return builder.clone(*value.getDefiningOp())
          ->getResult(cast<OpResult>(value).getResultNumber());
    return {};
  };
  BackwardValues values(builder, make);
  values.map(backwardCounter, counter);
  for (auto [argument, origin] : llvm::zip_equal(arguments, backwardOrigins)) {
    if (origin < 0)
      continue;
    bool isInvariant = loop.getKind(origin) == CarryKind::Invariant;
    values.map(isInvariant ? getInvariant(loop, origin, &pair.forward)
                           : backwardArguments[origin],
               argument);
  }
  for (Operation *op : part) {
    op->moveBefore(body, body->end());
    op->walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        operand.set(values.get(operand.get(), op));
    });
  }
  SmallVector<Value> next;
  unsigned numCarried = 0;
  for (auto [argument, origin] : llvm::zip_equal(arguments, backwardOrigins))
    next.push_back(origin < 0 || loop.getKind(origin) == CarryKind::Invariant
                       ? argument
                       : yield->getOperand(numCarried++));
  yield->erase();
  newBackward.finishBody(next);
}

/// Erases pure users of `value` that nothing uses.
static void eraseDeadUsers(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    for (Value result : user->getResults())
      eraseDeadUsers(result);
    if (user->use_empty())
      user->erase();
  }
}

/// Lets the results of `loop` be those of `made`, or the value outside that an
/// invariant one was.
static void replaceResults(const LoopCarries &loop, Operation *made,
                           ArrayRef<int64_t> origins) {
  for (unsigned number = 0; number < loop.size(); ++number)
    if (loop.getKind(number) == CarryKind::Invariant)
      loop.getResult(number).replaceAllUsesWith(loop.getInitialValue(number));
  for (auto [i, origin] : llvm::enumerate(origins))
    if (origin >= 0)
      loop.getResult(origin).replaceAllUsesWith(made->getResult(i));
}

void JointLoop::eraseLoops() {
  replaceResults(pair.forward, newForward, forwardOrigins);
  replaceResults(pair.backward, newBackward, backwardOrigins);
  joint.erase();
  pair.backward.getLoop()->erase();
  for (const PairedStack &stack : pair.stacks)
    if (!stack.isShared)
      eraseDeadUsers(pair.forward.getResult(stack.number));
  pair.forward.getLoop()->erase();
}

LogicalResult JointLoop::split() {
  if (failed(collectCrossing()))
    return failure();
  for (auto state : llvm::make_early_inc_range(
           joint.getBody().front().getOps<LoopStateOp>())) {
    if (const PairedStack *stack = keptRows.lookup(state.getResult()))
      keptRows[state.getValue()] = stack;
    state.getResult().replaceAllUsesWith(state.getValue());
    state.erase();
  }
  OpBuilder builder(joint);
  splitForward(builder);
  splitBackward(builder);
  eraseLoops();
  return success();
}
