//===- SlicePart.cpp - What a loop does for one part
//-----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SlicePart.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::act;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType withLength(RankedTensorType type, int64_t dim,
                                   int64_t length) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = length;
  return type.clone(shape);
}

static const llvm::SetVector<Operation *> &getNoOps() {
  static const llvm::SetVector<Operation *> none;
  return none;
}

/// Tensors of at most this many elements are read rather than computed again.
static constexpr int64_t kMaxLeafElements = 1 << 12;

PartBuilder::PartBuilder(const SliceState &state, const Sweep &sweep,
                         OpBuilder &builder, Value number, int64_t length,
                         const Carried &carried)
    : state(state), region(state.region), sweep(sweep), builder(builder),
      b(builder, number.getLoc()), number(number), length(length),
      isTail(length != state.plan.partLength), carried(carried),
      tiler(state.region.getBlock(), kMaxLeafElements, getNoOps()) {
  offset =
      b.multiply(number, b.scalar(builder.getI32Type(), state.plan.partLength));
}

Tile PartBuilder::getTile(int64_t dim) const {
  return {dim, state.plan.partLength, length, 0, region.getLength()};
}

/// Random bits and what is made of small values are computed part by part too,
/// by the operations that compute the whole.
void PartBuilder::prepareTiles() {
  for (Operation *op : sweep.work)
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), region.getAxis(op).operandDims)) {
      Operation *def = operand.getDefiningOp();
      if (dim < 0 || !def || region.contains(def) ||
          def->getBlock() != &region.getBlock() ||
          state.complete.count(operand) || region.dependsOnRegion(def) ||
          isTiled.count({operand, dim}))
        continue;
      bool &isFeasible = isTiled[{operand, dim}];
      BlockTiler probe(region.getBlock(), kMaxLeafElements, getNoOps());
      probe.request(operand, getTile(dim));
      isFeasible = probe.getLeaves().empty() && succeeded(probe.plan());
      if (isFeasible)
        tiler.request(operand, getTile(dim));
    }
  if (succeeded(tiler.plan()))
    tiler.build(builder, number);
  else
    isTiled.clear();
}

/// Where the part from `offset` along `dim` starts.
static SmallVector<Value> getStarts(StablehloBuilder &b, int64_t rank,
                                    int64_t dim, Value offset) {
  SmallVector<Value> starts(rank,
                            b.scalar(getType(offset).getElementType(), 0));
  starts[dim] = offset;
  return starts;
}

Value PartBuilder::getPart(Value whole, int64_t dim) {
  Value &part = slices[{whole, dim}];
  if (part)
    return part;
  RankedTensorType type = withLength(getType(whole), dim, length);
  if (whole.getDefiningOp<tensor::EmptyOp>())
    return part = tensor::EmptyOp::create(builder, b.getLoc(), type.getShape(),
                                          type.getElementType());
  if (isTiled.lookup({whole, dim}))
    return part = tiler.get(whole, getTile(dim));
  return part = b.dynamicSlice(whole, getStarts(b, type.getRank(), dim, offset),
                               type.getShape());
}

Value PartBuilder::getOperand(Operation *op, unsigned index) {
  Value operand = op->getOperand(index);
  int64_t dim = region.getAxis(op).operandDims[index];
  if (Value value = values.lookup(operand))
    return value;
  if (Value whole = state.complete.lookup(operand))
    return dim < 0 ? whole : getPart(whole, dim);
  return dim < 0 ? operand : getPart(operand, dim);
}

static Value writePart(StablehloBuilder &b, Value whole, Value part,
                       int64_t dim, Value offset) {
  return b.dynamicUpdateSlice(
      whole, part, getStarts(b, getType(whole).getRank(), dim, offset));
}

Value PartBuilder::readRow(Value stack) {
  RankedTensorType type = getType(stack);
  Value row = b.dynamicSlice(stack, getStarts(b, type.getRank(), 0, number),
                             withLength(type, 0, 1).getShape());
  return b.reshape(row, type.getShape().drop_front());
}

std::pair<const StateTrack *, unsigned>
PartBuilder::findTrack(Operation *op) const {
  unsigned first = 0;
  for (const StateTrack &track : state.tracks) {
    if (track.matches(cast<LinearAttentionOpInterface>(op)))
      return {&track, first};
    first += track.initial.size();
  }
  llvm_unreachable("all operations on states have a track");
}

SmallVector<Value> PartBuilder::buildStateUpdate(LinearAttentionOpInterface op,
                                                 ValueRange states,
                                                 bool subtract) {
  auto get = [&](Value operand) -> Value {
    for (OpOperand &use : op->getOpOperands())
      if (use.get() == operand)
        return getOperand(op, use.getOperandNumber());
    return {};
  };
  auto update = LinearAttentionStateOp::create(
      builder, op.getLoc(), states.getTypes(), get(op.getKey()),
      get(op.getValue()), get(op.getDecay()), get(op.getFeatures()), states,
      op.getFeatureMap(), op.getNormalize(), op.getChunk(), subtract);
  return llvm::to_vector_of<Value>(update.getResults());
}

ArrayRef<Value> PartBuilder::getStatesBefore(LinearAttentionOpInterface op,
                                             const StateTrack &track,
                                             unsigned first) {
  SmallVector<Value> &states = before[&track];
  if (!states.empty())
    return states;
  unsigned count = track.initial.size();
  if (!sweep.isReversed) {
    llvm::append_range(states, ArrayRef(carried.states).slice(first, count));
  } else if (state.plan.states == SliceStates::Reverse) {
    states = buildStateUpdate(op, ArrayRef(carried.states).slice(first, count),
                              /*subtract=*/true);
    llvm::copy(states, carried.states.begin() + first);
  } else if (isTail) {
    states.assign(track.beforeTail.begin(), track.beforeTail.end());
  } else {
    for (Value stack : track.stacks)
      states.push_back(readRow(stack));
  }
  return states;
}

void PartBuilder::buildSequential(Operation *op) {
  const IterationAxis &axis = region.getAxis(op);
  auto attention = cast<LinearAttentionOpInterface>(op);
  auto [track, first] = findTrack(op);
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(getOperand(op, i));
  ArrayRef<Value> states = getStatesBefore(attention, *track, first);
  llvm::copy(states,
             operands.begin() + attention.getStates().getBeginOperandIndex());
  // Gradients of states walk against the sequence.
  unsigned firstGradient = nextGradient;
  if (axis.isReversed)
    for (IterationAxis::Carry carry : axis.carries)
      operands[carry.operand] = carried.gradients[nextGradient++];
  Operation *part = buildPart(op, builder, operands, axis, length, offset);
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), part->getResults()))
    values[result] = value;
  for (auto [i, carry] : llvm::enumerate(axis.carries)) {
    Value next = part->getResult(carry.result);
    if (axis.isReversed)
      carried.gradients[firstGradient + i] = next;
    else if (!sweep.isReversed)
      carried.states[first + i] = next;
  }
  if (!axis.isReversed)
    advanced.insert(track);
}

void PartBuilder::addToSum(Value value, Value part) {
  const auto *found = llvm::find(sweep.sums, value);
  if (found == sweep.sums.end())
    return;
  Value &sum = carried.sums[found - sweep.sums.begin()];
  sum = b.add(sum, b.convert(part, getType(sum).getElementType()));
}

void PartBuilder::buildBarrier(Operation *op) {
  const auto &passing = sweep.passing.find(op)->second;
  SmallVector<Value> operands, results;
  for (OpResult result : op->getResults())
    if (passing.contains(result.getResultNumber())) {
      operands.push_back(getOperand(op, result.getResultNumber()));
      results.push_back(result);
    }
  for (auto [result, value] :
       llvm::zip_equal(results, b.optimizationBarrier(operands)))
    values[result] = value;
}

void PartBuilder::buildOp(Operation *op) {
  b.setLoc(op->getLoc());
  const IterationAxis &axis = region.getAxis(op);
  if (axis.kind == AxisKind::Sequential) {
    buildSequential(op);
  } else if (getOpKind(op) == OpKind::Barrier) {
    return buildBarrier(op);
  } else {
    SmallVector<Value> operands;
    Value *sum = nullptr;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      if (static_cast<int64_t>(i) == axis.accumulator)
        if (const auto *found = llvm::find(sweep.sums, op->getResult(0));
            found != sweep.sums.end()) {
          sum = &carried.sums[found - sweep.sums.begin()];
          operands.push_back(*sum);
          continue;
        }
      operands.push_back(getOperand(op, i));
    }
    Operation *part = buildPart(op, builder, operands, axis, length, offset);
    for (auto [result, value] :
         llvm::zip_equal(op->getResults(), part->getResults()))
      values[result] = value;
    if (sum) {
      *sum = part->getResult(0);
      return;
    }
  }
  for (auto [result, dim] : llvm::zip_equal(op->getResults(), axis.resultDims))
    if (dim < 0)
      addToSum(result, values.lookup(result));
}

Carried PartBuilder::build() {
  prepareTiles();
  if (sweep.storesStates && !isTail)
    for (auto [stack, state] :
         llvm::zip_equal(carried.stacks, carried.states)) {
      SmallVector<int64_t> row{1};
      llvm::append_range(row, getType(state).getShape());
      stack = writePart(b, stack, b.reshape(state, row), 0, number);
    }
  for (Operation *op : sweep.work)
    buildOp(op);
  unsigned first = 0;
  for (const StateTrack &track : state.tracks) {
    unsigned count = track.initial.size();
    if (sweep.advancesStates && !sweep.isReversed &&
        !advanced.contains(&track)) {
      SmallVector<Value> next = buildStateUpdate(
          track.op, ArrayRef(carried.states).slice(first, count),
          /*subtract=*/false);
      llvm::copy(next, carried.states.begin() + first);
    }
    first += count;
  }
  for (auto [whole, value] : llvm::zip_equal(carried.parts, sweep.parts))
    whole =
        writePart(b, whole, values.lookup(value), region.getDim(value), offset);
  return carried;
}
