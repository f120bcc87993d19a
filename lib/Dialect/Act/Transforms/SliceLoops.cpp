//===- SliceLoops.cpp - Loops over the parts of a region
//-------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceLoops.h"
#include "SlicePart.h"
#include "act/Analysis/AutodiffGraph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// 16-bit floats are summed up in f32, except by operations that add parts to
/// what they are given.
static RankedTensorType getSumType(Value value, bool isWide = true) {
  RankedTensorType type = getType(value);
  if (!isWide)
    return type;
  Type element = type.getElementType();
  bool isShort =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isShort ? type.clone(Float32Type::get(type.getContext())) : type;
}

namespace {
class SliceLoopBuilder : SliceState {
public:
  using SliceState::SliceState;

  SmallVector<Operation *> run();

private:
  void buildSweep(const Sweep &sweep, OpBuilder &builder);
  void setPosition(ArrayRef<Sweep> sweeps, OpBuilder &builder);
  SmallVector<Value> getInputs(const Sweep &sweep) const;
  Value findAnchor(const Sweep &sweep) const;
  /// What the parts of `sum` are added to; null for zeros.
  Value getSumBase(Value sum) const;
  Carried buildInitial(const Sweep &sweep, StablehloBuilder &b);
  /// Builds a loop over `count` parts of `length` from number `first` on.
  Carried buildLoop(const Sweep &sweep, OpBuilder &builder,
                    const Carried &initial, int64_t first, int64_t count,
                    int64_t length);
  bool readsFinalStates() const;
  void finishSweep(const Sweep &sweep, StablehloBuilder &b,
                   const Carried &result);
  Location getLoc(const Sweep &sweep) const;
  void replaceUses();

  bool hasStates = false; ///< states before all parts are known
  SmallVector<Operation *> loops;
  Value anchor; ///< holds back what the current sweep begins with
};
} // namespace

Location SliceLoopBuilder::getLoc(const Sweep &sweep) const {
  auto outputs = llvm::concat<const Value>(sweep.parts, sweep.sums);
  for (Value value : outputs)
    if (!isBackwardLocation(value.getLoc()))
      return value.getLoc();
  for (Value value : outputs)
    return value.getLoc();
  return tracks.front().op.getLoc();
}

SmallVector<Value> SliceLoopBuilder::getInputs(const Sweep &sweep) const {
  llvm::SetVector<Value> inputs;
  auto add = [&](Value value) {
    if (Value whole = complete.lookup(value))
      inputs.insert(whole);
    else if (!region.getDef(value) || region.getDim(value) < 0)
      inputs.insert(value);
  };
  for (Operation *op : sweep.work)
    llvm::for_each(getAllOperands(op), add);
  for (const StateTrack &track : tracks)
    llvm::for_each(track.op->getOperands(), add);
  return inputs.takeVector();
}

/// Operations that `values` depend on, and that do not stand before `position`.
static void hoistAncestors(ValueRange values, Operation *position) {
  llvm::SetVector<Operation *> moved;
  SmallVector<Value> work(values);
  while (!work.empty()) {
    Operation *def = work.pop_back_val().getDefiningOp();
    if (!def || def->getBlock() != position->getBlock() ||
        def->isBeforeInBlock(position) || !moved.insert(def))
      continue;
    llvm::append_range(work, getAllOperands(def));
  }
  SmallVector<Operation *> ops = moved.takeVector();
  llvm::sort(ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ops)
    op->moveBefore(position);
}

void SliceLoopBuilder::setPosition(ArrayRef<Sweep> sweeps, OpBuilder &builder) {
  Block &block = region.getBlock();
  Operation *first = block.getTerminator(), *last = nullptr;
  SmallVector<Value> inputs;
  for (const Sweep &sweep : sweeps) {
    llvm::append_range(inputs, getInputs(sweep));
    auto visit = [&](Value value) {
      for (Operation *user : value.getUsers()) {
        Operation *top = block.findAncestorOpInBlock(*user);
        if (!region.contains(top) && top->isBeforeInBlock(first))
          first = top;
      }
    };
    llvm::for_each(sweep.parts, visit);
    llvm::for_each(sweep.sums, visit);
    for (Operation *op : sweep.work)
      for (IterationAxis::Carry carry : region.getAxis(op).carries)
        visit(op->getResult(carry.result));
  }
  for (Value input : inputs)
    if (Operation *def = input.getDefiningOp();
        def && def->getBlock() == &block &&
        (!last || last->isBeforeInBlock(def)))
      last = def;
  if (last && last->isBeforeInBlock(first))
    return builder.setInsertionPointAfter(last);
  hoistAncestors(inputs, first);
  builder.setInsertionPoint(first);
}

/// The largest value that `sweep` reads in parts, or null.
Value SliceLoopBuilder::findAnchor(const Sweep &sweep) const {
  Value largest;
  for (Operation *op : sweep.work)
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), region.getAxis(op).operandDims))
      if (dim >= 0 && !region.getDef(operand) &&
          !operand.getDefiningOp<tensor::EmptyOp>() &&
          (!largest || *getTensorBytes(largest.getType()) <
                           *getTensorBytes(operand.getType())))
        largest = operand;
  return largest;
}

/// Zeros of the given types that exist only once `anchor` does, which is
/// replaced: else they would be alive from the start of the step.
static SmallVector<Value> buildTiedZeros(StablehloBuilder &b,
                                         ArrayRef<RankedTensorType> types,
                                         Value &anchor) {
  llvm::SmallMapVector<Type, Value, 2> scalars;
  for (RankedTensorType type : types)
    scalars[type.getElementType()] = {};
  SmallVector<Value> tied;
  for (auto &[type, scalar] : scalars)
    tied.push_back(b.scalar(type, 0));
  if (anchor && !tied.empty()) {
    tied.push_back(anchor);
    tied = b.optimizationBarrier(tied);
    anchor = tied.pop_back_val();
  }
  for (auto [entry, scalar] : llvm::zip_equal(scalars, tied))
    entry.second = scalar;
  return llvm::map_to_vector(types, [&](RankedTensorType type) {
    return b.broadcastInDim(scalars.lookup(type.getElementType()),
                            type.getShape(), {});
  });
}

static bool isZeroSplat(Value value) {
  Operation *def = value.getDefiningOp();
  if (def && getOpKind(def) == OpKind::Broadcast && def->getNumOperands() == 1)
    def = def->getOperand(0).getDefiningOp();
  auto elements =
      def ? dyn_cast_or_null<SplatElementsAttr>(getConstantElements(def))
          : nullptr;
  if (!elements)
    return false;
  if (auto number = dyn_cast<FloatAttr>(elements.getSplatValue<Attribute>()))
    return number.getValue().isPosZero();
  auto number = dyn_cast<IntegerAttr>(elements.getSplatValue<Attribute>());
  return number && number.getValue().isZero();
}

Value SliceLoopBuilder::getSumBase(Value sum) const {
  Operation *def = sum.getDefiningOp();
  int64_t number = region.getAxis(def).accumulator;
  if (number < 0 || isZeroSplat(def->getOperand(number)))
    return {};
  return def->getOperand(number);
}

Carried SliceLoopBuilder::buildInitial(const Sweep &sweep,
                                       StablehloBuilder &b) {
  Carried initial;
  SmallVector<RankedTensorType> types;
  for (Value value : sweep.parts)
    types.push_back(getType(value));
  for (Value value : sweep.sums)
    if (!getSumBase(value))
      types.push_back(getSumType(
          value, region.getAxis(value.getDefiningOp()).accumulator < 0));
  anchor = findAnchor(sweep);
  Value tied = anchor;
  SmallVector<Value> zeros = buildTiedZeros(b, types, tied);
  if (tied != anchor)
    complete[anchor] = tied;
  const Value *zero = zeros.begin();
  for (size_t i = 0; i < sweep.parts.size(); ++i)
    initial.parts.push_back(*zero++);
  for (Value value : sweep.sums) {
    Value base = getSumBase(value);
    initial.sums.push_back(base ? base : *zero++);
  }
  if (sweep.advancesStates)
    for (const StateTrack &track : tracks)
      llvm::append_range(initial.states,
                         sweep.isReversed ? track.final : track.initial);
  if (sweep.storesStates)
    for (Value state : initial.states) {
      SmallVector<int64_t> shape{numParts};
      llvm::append_range(shape, getType(state).getShape());
      initial.stacks.push_back(b.splat(getType(state).clone(shape), 0));
    }
  if (sweep.isReversed)
    for (Operation *op : sweep.work)
      if (region.getAxis(op).isReversed)
        for (IterationAxis::Carry carry : region.getAxis(op).carries)
          initial.gradients.push_back(op->getOperand(carry.operand));
  return initial;
}

Carried SliceLoopBuilder::buildLoop(const Sweep &sweep, OpBuilder &builder,
                                    const Carried &initial, int64_t first,
                                    int64_t count, int64_t length) {
  Location loc = getLoc(sweep);
  StablehloBuilder b(builder, loc);
  Type i32 = builder.getI32Type();
  auto buildBody = [&](Value index, ValueRange carried) {
    Value number = index;
    if (sweep.isReversed)
      number = b.subtract(b.scalar(i32, first + count - 1), index);
    else if (first != 0)
      number = b.add(b.scalar(i32, first), index);
    return PartBuilder(*this, sweep, builder, number, length,
                       initial.withValues(carried))
        .build()
        .flatten();
  };
  SmallVector<Value> results =
      b.countedLoop(count, initial.flatten(), buildBody);
  Operation *loop = results.front().getDefiningOp();
  loop->setDiscardableAttr(kSlicedAttr, builder.getUnitAttr());
  if (sweep.isReversed)
    loop->setDiscardableAttr(kSlicedStepAttr, builder.getUnitAttr());
  loops.push_back(loop);
  return initial.withValues(results);
}

void SliceLoopBuilder::finishSweep(const Sweep &sweep, StablehloBuilder &b,
                                   const Carried &result) {
  complete.erase(anchor);
  SmallVector<Value> wholes = result.parts;
  for (auto [value, sum] : llvm::zip_equal(sweep.sums, result.sums))
    wholes.push_back(b.convert(sum, getType(value).getElementType()));
  // Sums are narrowed before the other results are used, not where they are.
  if (ArrayRef(wholes).drop_front(result.parts.size()) != ArrayRef(result.sums))
    wholes = b.optimizationBarrier(wholes);
  for (auto [value, whole] : llvm::zip_equal(
           llvm::concat<const Value>(sweep.parts, sweep.sums), wholes))
    complete[value] = whole;
  unsigned gradient = 0;
  for (Operation *op : sweep.work) {
    const IterationAxis &axis = region.getAxis(op);
    if (axis.isReversed && sweep.isReversed)
      for (IterationAxis::Carry carry : axis.carries)
        complete[op->getResult(carry.result)] = result.gradients[gradient++];
  }
  unsigned first = 0;
  for (StateTrack &track : tracks) {
    unsigned count = track.initial.size();
    if (sweep.advancesStates && !sweep.isReversed) {
      track.final.assign(result.states.begin() + first,
                         result.states.begin() + first + count);
      for (Operation *op : region.getOps()) {
        const IterationAxis &axis = region.getAxis(op);
        auto attention = dyn_cast<LinearAttentionOpInterface>(op);
        if (attention && !axis.isReversed && track.matches(attention))
          for (auto [carry, state] : llvm::zip_equal(axis.carries, track.final))
            complete[op->getResult(carry.result)] = state;
      }
    }
    first += count;
  }
}

void SliceLoopBuilder::buildSweep(const Sweep &sweep, OpBuilder &builder) {
  StablehloBuilder b(builder, getLoc(sweep));
  Carried carried = buildInitial(sweep, b);
  // A loop of its own, so that what is done with loops is done with the tail.
  auto buildTail = [&] {
    if (tailLength != 0)
      carried = buildLoop(sweep, builder, carried, /*first=*/numParts,
                          /*count=*/1, tailLength);
  };
  if (sweep.isReversed)
    buildTail();
  carried = buildLoop(sweep, builder, carried, /*first=*/0, numParts,
                      plan.partLength);
  if (sweep.storesStates) {
    unsigned first = 0;
    for (StateTrack &track : tracks)
      for (unsigned i = 0, e = track.initial.size(); i < e; ++i, ++first) {
        track.stacks.push_back(carried.stacks[first]);
        track.beforeTail.push_back(carried.states[first]);
      }
  }
  // Stored states after the tail are of no use, unless others read them.
  bool isOnlyForStates = sweep.storesStates && sweep.parts.empty() &&
                         sweep.sums.empty() && !readsFinalStates();
  if (!sweep.isReversed && !isOnlyForStates)
    buildTail();
  finishSweep(sweep, b, carried);
}

bool SliceLoopBuilder::readsFinalStates() const {
  return llvm::any_of(region.getOps(), [&](Operation *op) {
    const IterationAxis &axis = region.getAxis(op);
    return !axis.isReversed &&
           llvm::any_of(axis.carries, [&](IterationAxis::Carry carry) {
             return !op->getResult(carry.result).use_empty();
           });
  });
}

//===----------------------------------------------------------------------===//
// All sweeps
//===----------------------------------------------------------------------===//

void SliceLoopBuilder::replaceUses() {
  for (auto [value, whole] : complete) {
    if (!region.getDef(value))
      continue;
    value.replaceUsesWithIf(whole, [&](OpOperand &use) {
      Operation *top = region.getBlock().findAncestorOpInBlock(*use.getOwner());
      return top && !region.contains(top);
    });
  }
}

SmallVector<Operation *> SliceLoopBuilder::run() {
  unsigned maxLevel = 0;
  for (Operation *op : region.getOps())
    maxLevel = std::max(maxLevel, region.getLevel(op));
  SmallVector<Operation *> originals(region.getOps());
  for (unsigned level = 0; level <= maxLevel; ++level) {
    bool isReversed = hasReversed(level);
    SmallVector<Sweep> sweeps;
    if (isReversed && !hasStates) {
      sweeps.push_back(planStateSweep());
      hasStates = true;
    }
    Sweep sweep = planSweep(level, isReversed);
    if (!isReversed && sweep.advancesStates && !hasStates) {
      sweep.storesStates =
          plan.states == SliceStates::Stored && level < maxLevel;
      hasStates = true;
    }
    if (!sweep.isEmpty())
      sweeps.push_back(std::move(sweep));
    if (sweeps.empty())
      continue;
    OpBuilder builder(region.getBlock().getParentOp()->getContext());
    setPosition(sweeps, builder);
    for (const Sweep &next : sweeps)
      buildSweep(next, builder);
    replaceUses();
  }
  for (Operation *op : llvm::reverse(originals))
    if (isOpTriviallyDead(op))
      op->erase();
  return std::move(loops);
}

SmallVector<Operation *> mlir::act::buildSliceLoops(const SliceRegion &region,
                                                    const SlicePlan &plan) {
  return SliceLoopBuilder(region, plan).run();
}
