//===- LoopPair.cpp - A forward loop and the backward loop that undoes it
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/LoopPair.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Dialect/Act/IR/ActOps.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The type of one row of a stack, without the first axis; null if it is none.
static Type getRowType(Type stack) {
  if (auto type = dyn_cast<StackType>(stack))
    return type.getElementType();
  auto tensor = dyn_cast<RankedTensorType>(stack);
  if (!tensor || tensor.getRank() == 0)
    return {};
  return RankedTensorType::get(tensor.getShape().drop_front(),
                               tensor.getElementType());
}

static int64_t getNumRows(Type stack) {
  if (auto type = dyn_cast<StackType>(stack))
    return type.getSize();
  return cast<RankedTensorType>(stack).getDimSize(0);
}

static std::optional<RowAccess> getAnyRowRead(Operation *op) {
  if (auto read = dyn_cast<StackReadOp>(op))
    return RowAccess{read.getStack(), read.getIndex(), read.getResult()};
  return getRowRead(op);
}

static std::optional<RowAccess> getAnyRowWrite(Operation *op) {
  if (auto push = dyn_cast<StackPushOp>(op))
    return RowAccess{push.getStack(), push.getIndex(), push.getValue()};
  return getRowWrite(op);
}

/// What `slice` was made of by adding the first axis, or null.
static Value dropFirstAxis(Value slice, Type rowType) {
  if (slice.getType() == rowType)
    return slice;
  Operation *def = slice.getDefiningOp();
  return def && isReshape(def) && def->getOperand(0).getType() == rowType
             ? def->getOperand(0)
             : Value();
}

//===----------------------------------------------------------------------===//
// LoopCarries
//===----------------------------------------------------------------------===//

std::optional<LoopCarries> LoopCarries::get(Operation *op) {
  auto loop = dyn_cast<LoopModelInterface>(op);
  Value counter = loop ? loop.getCounter() : Value();
  if (!counter)
    return std::nullopt;
  LoopCarries carries;
  carries.loop = loop;
  carries.body = loop.getLoopBody();
  carries.counter = counter;
  carries.tripCount = loop.getTripCount();
  carries.initial = loop.getInitialValues();
  carries.arguments = loop.getCarriedArguments();
  carries.next = loop.getNextValues();
  for (unsigned number = 0; number < carries.size(); ++number)
    carries.classify(number);
  return carries;
}

void LoopCarries::classify(unsigned number) {
  Value argument = arguments[number];
  kinds.push_back(argument == counter        ? CarryKind::Counter
                  : next[number] == argument ? CarryKind::Invariant
                                             : CarryKind::State);
  Operation *def = next[number].getDefiningOp();
  if (kinds.back() != CarryKind::State || !def || def->getBlock() != body ||
      !argument.hasOneUse() || !next[number].hasOneUse())
    return;
  std::optional<RowAccess> write = getAnyRowWrite(def);
  if (!write || write->stack != argument ||
      getNumRows(argument.getType()) != tripCount)
    return;
  std::optional<LinearForm> index = getLinearForm(write->index, counter);
  Value row = dropFirstAxis(write->row, getRowType(argument.getType()));
  if (!row || (index != LinearForm{1, 0} && index != getReversed()))
    return;
  writes.try_emplace(number, StackWrite{def, *index, row});
  kinds.back() = CarryKind::Stack;
}

//===----------------------------------------------------------------------===//
// Pairs
//===----------------------------------------------------------------------===//

namespace {
/// Looks for the stacks that two loops share.
class PairFinder {
public:
  PairFinder(const AutodiffGraph &graph, const LoopCarries &forward,
             const LoopCarries &backward)
      : graph(graph), forward(forward), backward(backward) {}

  std::optional<LoopPair> find(SmallVectorImpl<std::string> &reasons);

private:
  /// The number of the forward result that `value` is, possibly by way of
  /// reshaping it there and back.
  std::optional<unsigned> getForwardNumber(Value value) const;
  std::optional<PairedStack> match(unsigned number, std::string &reason) const;
  /// Adds the reads of the stack by its name `alias` in the backward loop.
  /// That loop may pass it on as carried value `passedOn`.
  bool addReads(Value alias, std::optional<unsigned> passedOn, LinearForm index,
                SmallVectorImpl<StackRead> &reads, std::string &reason) const;
  /// Finds out who else than the backward loop, in which the stack is known as
  /// `stack.consumers`, needs `value`, the stack or a view of it.
  void findOtherUses(Value value, PairedStack &stack) const;

  const AutodiffGraph &graph;
  const LoopCarries &forward;
  const LoopCarries &backward;
};
} // namespace

std::optional<unsigned> PairFinder::getForwardNumber(Value value) const {
  Type type = value.getType();
  while (Operation *def = value.getDefiningOp()) {
    if (def == forward.getLoop())
      return value.getType() == type
                 ? std::optional(cast<OpResult>(value).getResultNumber())
                 : std::nullopt;
    if (!isReshape(def))
      return std::nullopt;
    value = def->getOperand(0);
  }
  return std::nullopt;
}

bool PairFinder::addReads(Value alias, std::optional<unsigned> passedOn,
                          LinearForm index, SmallVectorImpl<StackRead> &reads,
                          std::string &reason) const {
  Type rowType = getRowType(alias.getType());
  for (OpOperand &use : alias.getUses()) {
    Operation *user = use.getOwner();
    bool isPassedOn = user == backward.getBody().getTerminator() && passedOn &&
                      use.getOperandNumber() == *passedOn;
    if (isPassedOn || !backward.getLoop()->isProperAncestor(user))
      continue;
    std::optional<RowAccess> read = getAnyRowRead(user);
    if (!read || read->stack != alias) {
      reason =
          ("backward uses it whole in " + user->getName().getStringRef()).str();
      return false;
    }
    if (getLinearForm(read->index, backward.getCounter()) != index) {
      reason = "backward does not read it in the opposite order";
      return false;
    }
    StackRead rows{user, {}};
    if (read->row.getType() == rowType) {
      rows.rows.push_back(read->row);
    } else {
      for (Operation *view : read->row.getUsers()) {
        if (!isReshape(view) || view->getResult(0).getType() != rowType) {
          reason = "backward reads rows in an unknown form";
          return false;
        }
        rows.rows.push_back(view->getResult(0));
      }
    }
    reads.push_back(std::move(rows));
  }
  return true;
}

void PairFinder::findOtherUses(Value value, PairedStack &stack) const {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    auto isConsumer = [&](unsigned number) {
      return backward.getInitialValue(number) == use.get();
    };
    // Reads of the stack itself by the backward loop have been looked at.
    bool isRead = backward.getLoop()->isProperAncestor(user) &&
                  value == forward.getResult(stack.number);
    if (isRead || (user == backward.getLoop() &&
                   llvm::any_of(stack.consumers, isConsumer)))
      continue;
    if (isReshape(user)) {
      findOtherUses(user->getResult(0), stack);
      continue;
    }
    stack.isShared = true;
    stack.isKept |= !graph.isForward(user);
  }
  stack.isShared |= stack.isKept;
}

std::optional<PairedStack> PairFinder::match(unsigned number,
                                             std::string &reason) const {
  PairedStack stack{number, {}, {}, false, false};
  LinearForm index = forward.getWrite(number).index == LinearForm{1, 0}
                         ? backward.getReversed()
                         : LinearForm{1, 0};
  Value result = forward.getResult(number);
  for (unsigned k = 0; k < backward.size(); ++k) {
    if (backward.getKind(k) != CarryKind::Invariant ||
        getForwardNumber(backward.getInitialValue(k)) != number)
      continue;
    stack.consumers.push_back(k);
    stack.isKept |= !backward.getResult(k).use_empty();
    if (!addReads(backward.getArgument(k), k, index, stack.reads, reason))
      return std::nullopt;
  }
  if (!addReads(result, std::nullopt, index, stack.reads, reason))
    return std::nullopt;
  findOtherUses(result, stack);
  return stack;
}

std::optional<LoopPair>
PairFinder::find(SmallVectorImpl<std::string> &reasons) {
  if (forward.getTripCount() != backward.getTripCount() ||
      forward.getCounter().getType() != backward.getCounter().getType())
    return std::nullopt;
  LoopPair pair{forward, backward, {}};
  for (unsigned number = 0; number < forward.size(); ++number) {
    if (forward.getKind(number) != CarryKind::Stack)
      continue;
    std::string reason;
    std::optional<PairedStack> stack = match(number, reason);
    if (!stack)
      reasons.push_back("the stack of result " + std::to_string(number) +
                        " of the forward loop stays: " + reason);
    else if (!stack->reads.empty())
      pair.stacks.push_back(std::move(*stack));
  }
  if (pair.stacks.empty())
    return std::nullopt;
  for (unsigned number = 0; number < forward.size(); ++number)
    if (forward.getKind(number) == CarryKind::State &&
        !isa<RankedTensorType>(forward.getArgument(number).getType())) {
      reasons.push_back("the forward loop carries a value that is no tensor");
      return std::nullopt;
    }
  return pair;
}

std::optional<LoopPair>
mlir::act::findLoopPair(const AutodiffGraph &graph,
                        const llvm::DenseSet<Operation *> &done,
                        SmallVectorImpl<std::string> &reasons) {
  std::vector<LoopCarries> forwardLoops;
  for (Operation *op : graph.getForward())
    if (std::optional<LoopCarries> carries = LoopCarries::get(op))
      forwardLoops.push_back(std::move(*carries));
  if (forwardLoops.empty())
    return std::nullopt;
  for (Operation *op : graph.getBackward()) {
    std::optional<LoopCarries> backward;
    if (!done.contains(op))
      backward = LoopCarries::get(op);
    if (!backward)
      continue;
    for (const LoopCarries &forward : llvm::reverse(forwardLoops))
      if (std::optional<LoopPair> pair =
              PairFinder(graph, forward, *backward).find(reasons))
        return pair;
  }
  return std::nullopt;
}
