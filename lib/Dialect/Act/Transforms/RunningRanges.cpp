//===- RunningRanges.cpp - Pass running ranges from step to step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/SavedValues.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTRUNNINGRANGESPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// The ranges of one update, as a state of the step.
struct RangeState {
  UpdateRangeOp update;
  std::string name;
  /// How often each of the loops around the update runs, outermost first.
  SmallVector<int64_t> tripCounts;
  /// Of these, the innermost ones in each iteration of which ranges are other
  /// ones.
  unsigned numStacked = 0;

  /// The type of the state inside of the outermost `depth` loops.
  RankedTensorType getType(unsigned depth) const;
  /// True if the iterations of the loop at `depth` have rows of their own.
  bool isStacked(unsigned depth) const {
    return depth + numStacked >= tripCounts.size();
  }
};

/// Lets states pass through the blocks of one function.
class StatePasser {
public:
  explicit StatePasser(MLIRContext *context) : builder(context) {}

  /// Gives the updates of `states` in `block`, which is inside of `depth`
  /// loops, the states `values`, and changes these to what they are at its end.
  void pass(Block &block, unsigned depth, ArrayRef<RangeState *> states,
            MutableArrayRef<Value> values);

private:
  /// The same for all in one loop, which is replaced.
  void passLoop(LoopModelInterface loop, unsigned depth,
                ArrayRef<RangeState *> states, MutableArrayRef<Value> values);
  Value readRow(Value stack, Value index);
  Value writeRow(Value stack, Value row, Value index);

  OpBuilder builder;
};

struct ActRunningRangesPass
    : mlir::act::impl::ActRunningRangesPassBase<ActRunningRangesPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult addStates(FunctionOpInterface function);
};
} // namespace

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

RankedTensorType RangeState::getType(unsigned depth) const {
  auto type = cast<RankedTensorType>(update->getOperand(1).getType());
  ArrayRef<int64_t> counts = tripCounts;
  ArrayRef<int64_t> inside = counts.drop_front(depth);
  SmallVector<int64_t> shape(
      inside.take_back(std::min<size_t>(numStacked, inside.size())));
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

/// The save that encodes with the range of `update`, or null.
static CompressedSaveOp getSave(UpdateRangeOp update) {
  for (Operation *user : update.getRange().getUsers())
    if (auto save = dyn_cast<CompressedSaveOp>(user))
      return save;
  return {};
}

/// In how many loops what `save` saves is collected.
static unsigned getStackDepth(CompressedSaveOp save) {
  size_t depth = 0;
  for (Value value : findSavedValues(save))
    if (auto stack = dyn_cast<StackType>(value.getType()))
      depth = std::max(depth, stack.getSizes().size());
  return depth;
}

/// A name for the state of `update` that is not among `taken` yet.
static std::string makeName(UpdateRangeOp update, llvm::StringSet<> &taken) {
  CompressedSaveOp save = getSave(update);
  std::string name = "range";
  if (save && save.getKey())
    name = save.getKey()->str();
  else if (save)
    name = ("save" + Twine(static_cast<int64_t>(save.getId()))).str();
  std::string unique = name;
  for (unsigned number = 2; !taken.insert(unique).second; ++number)
    unique = (name + "." + Twine(number)).str();
  return unique;
}

/// What is around the update of `state`.
static LogicalResult findLoops(RangeState &state,
                               FunctionOpInterface function) {
  UpdateRangeOp update = state.update;
  SmallVector<LoopModelInterface> loops; // innermost first
  for (Operation *op = update; op->getParentOp() != function;
       op = op->getParentOp()) {
    auto loop = dyn_cast<LoopModelInterface>(op->getParentOp());
    if (!loop || op->getBlock() != loop.getLoopBody())
      return update.emitOpError("expects to be in functions and in bodies of "
                                "loops that carry values, got one in '")
             << op->getParentOp()->getName() << "'";
    loops.push_back(loop);
  }
  if (CompressedSaveOp save = getSave(update))
    state.numStacked = getStackDepth(save);
  for (auto [number, loop] : llvm::enumerate(loops)) {
    Value counter = loop.getCounter();
    if (number < state.numStacked &&
        !(counter && isa<RankedTensorType>(counter.getType()))) {
      InFlightDiagnostic diag =
          update.emitOpError("expects loops that collect what is saved to "
                             "count in a tensor");
      diag.attachNote(loop->getLoc()) << "this one does not";
      return diag;
    }
    state.tripCounts.push_back(loop.getTripCount());
  }
  std::reverse(state.tripCounts.begin(), state.tripCounts.end());
  return success();
}

//===----------------------------------------------------------------------===//
// StatePasser
//===----------------------------------------------------------------------===//

/// `index`, then as many zeros of its type as a tensor like `stack` has further
/// axes.
static SmallVector<Value> getStart(StablehloBuilder &b, Value stack,
                                   Value index) {
  Value zero = b.scalar(getElementTypeOrSelf(index.getType()), 0);
  SmallVector<Value> start(cast<RankedTensorType>(stack.getType()).getRank(),
                           zero);
  start.front() = index;
  return start;
}

Value StatePasser::readRow(Value stack, Value index) {
  StablehloBuilder b(builder, stack.getLoc());
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(stack.getType()).getShape());
  shape.front() = 1;
  Value row = b.dynamicSlice(stack, getStart(b, stack, index), shape);
  return b.reshape(row, ArrayRef(shape).drop_front());
}

Value StatePasser::writeRow(Value stack, Value row, Value index) {
  StablehloBuilder b(builder, stack.getLoc());
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(stack.getType()).getShape());
  shape.front() = 1;
  return b.dynamicUpdateSlice(stack, b.reshape(row, shape),
                              getStart(b, stack, index));
}

void StatePasser::pass(Block &block, unsigned depth,
                       ArrayRef<RangeState *> states,
                       MutableArrayRef<Value> values) {
  llvm::MapVector<Operation *, SmallVector<unsigned>> byLoop;
  for (auto [i, state] : llvm::enumerate(states)) {
    UpdateRangeOp update = state->update;
    Operation *ancestor = block.findAncestorOpInBlock(*update);
    if (ancestor != update) {
      byLoop[ancestor].push_back(i);
      continue;
    }
    Operation *empty = update.getState().getDefiningOp();
    update.getStateMutable().assign(values[i]);
    values[i] = update.getNext();
    if (empty->use_empty())
      empty->erase();
  }
  for (auto &[loop, numbers] : byLoop) {
    auto inside =
        llvm::map_to_vector(numbers, [&](unsigned i) { return states[i]; });
    auto passed =
        llvm::map_to_vector(numbers, [&](unsigned i) { return values[i]; });
    passLoop(cast<LoopModelInterface>(loop), depth, inside, passed);
    for (auto [i, value] : llvm::zip_equal(numbers, passed))
      values[i] = value;
  }
}

void StatePasser::passLoop(LoopModelInterface loop, unsigned depth,
                           ArrayRef<RangeState *> states,
                           MutableArrayRef<Value> values) {
  SmallVector<Value> initial = loop.getInitialValues();
  unsigned numOld = initial.size();
  llvm::append_range(initial, values);
  auto origins = llvm::to_vector(llvm::seq<int64_t>(numOld));
  origins.append(values.size(), -1);
  // Once its body is gone the loop has no counter any longer.
  SmallVector<Value> arguments = loop.getCarriedArguments();
  size_t counter = llvm::find(arguments, loop.getCounter()) - arguments.begin();
  builder.setInsertionPoint(loop);
  auto made =
      cast<LoopModelInterface>(loop.createLike(builder, initial, origins));

  Block *from = loop.getLoopBody(), *body = made.getLoopBody();
  for (auto [old, argument] :
       llvm::zip(from->getArguments(), body->getArguments()))
    old.replaceAllUsesWith(argument);
  body->getOperations().splice(body->end(), from->getOperations());

  SmallVector<Value> carried = made.getCarriedArguments();
  SmallVector<Value> inside(ArrayRef(carried).drop_front(numOld));
  builder.setInsertionPointToStart(body);
  for (auto [state, value] : llvm::zip_equal(states, inside))
    if (state->isStacked(depth))
      value = readRow(value, carried[counter]);
  pass(*body, depth + 1, states, inside);

  Operation *end = &body->back();
  builder.setInsertionPoint(end);
  SmallVector<Value> next(end->getOperands());
  for (auto [i, state] : llvm::enumerate(states))
    next.push_back(
        state->isStacked(depth)
            ? writeRow(carried[numOld + i], inside[i], carried[counter])
            : inside[i]);
  end->erase();
  made.finishBody(next);

  loop->replaceAllUsesWith(made->getResults().take_front(numOld));
  llvm::copy(made->getResults().drop_front(numOld), values.begin());
  loop->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult ActRunningRangesPass::addStates(FunctionOpInterface function) {
  SmallVector<RangeState> states;
  llvm::StringSet<> names;
  WalkResult found = function->walk([&](UpdateRangeOp update) -> WalkResult {
    if (!update.getState().getDefiningOp<EmptyRangeOp>())
      return WalkResult::advance();
    update.setDecay(APFloat(decay.getValue()));
    RangeState &state = states.emplace_back();
    state.update = update;
    state.name = makeName(update, names);
    return findLoops(state, function);
  });
  if (found.wasInterrupted())
    return failure();
  if (states.empty())
    return success();
  if (!function.getFunctionBody().hasOneBlock())
    return function->emitOpError("expects one block, got several");
  auto uses = SymbolTable::getSymbolUses(function, getOperation());
  if (!uses || !uses->empty())
    return function->emitOpError("expects that nothing calls a function that "
                                 "gets states: run act-inline first");

  Block &block = function.getFunctionBody().front();
  SmallVector<Value> values;
  SmallVector<RangeState *> pointers;
  Builder builder(function->getContext());
  for (RangeState &state : states) {
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(kRangeAttr, builder.getStringAttr(state.name)));
    RankedTensorType type = state.getType(/*depth=*/0);
    if (failed(function.insertArgument(function.getNumArguments(), type,
                                       attributes, state.update.getLoc())) ||
        failed(
            function.insertResult(function.getNumResults(), type, attributes)))
      return function->emitOpError("expects a signature that states can be "
                                   "added to");
    values.push_back(function.getArguments().back());
    pointers.push_back(&state);
  }
  StatePasser(function->getContext())
      .pass(block, /*depth=*/0, pointers, values);
  Operation *terminator = block.getTerminator();
  terminator->insertOperands(terminator->getNumOperands(), values);
  return success();
}

void ActRunningRangesPass::runOnOperation() {
  if (!(decay >= 0 && decay < 1)) {
    getOperation().emitError("act-running-ranges expects a decay of at least 0 "
                             "and less than 1, got ")
        << decay.getValue();
    return signalPassFailure();
  }
  for (auto function : getOperation().getOps<FunctionOpInterface>())
    if (failed(addStates(function)))
      return signalPassFailure();
}
