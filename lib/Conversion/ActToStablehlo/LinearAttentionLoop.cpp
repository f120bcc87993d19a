//===- LinearAttentionLoop.cpp - Linear attention as loops ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearAttentionLoop.h"
#include "LoopBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

using Combiner = StablehloBuilder::Combiner;

//===----------------------------------------------------------------------===//
// Sizes and operands
//===----------------------------------------------------------------------===//

/// What XLA on the CPU runs fastest with least memory; with a decay per
/// channel the work on pairs grows with features too.
static int64_t chooseChunk(LinearAttentionOpInterface op) {
  auto hint = static_cast<int64_t>(op.getChunk());
  int64_t most = op.getDecayKind() == DecayKind::Channel ? 16 : 32;
  if (hint != 0)
    most =
        op.getDecayKind() == DecayKind::Channel ? std::min(hint, most) : hint;
  return std::max<int64_t>(std::min(most, op.getLength()), 1);
}

AttentionSizes::AttentionSizes(LinearAttentionOpInterface op)
    : batch(op.getBatchSize()), length(op.getLength()),
      queryHeads(op.getNumQueryHeads()), keyHeads(op.getNumKeyHeads()),
      valueHeads(op.getNumValueHeads()), heads(op.getNumHeads()),
      stateHeads(op.getNumStateHeads()), group(heads / stateHeads),
      features(op.getNumFeatures()), value(op.getValueSize()),
      chunk(chooseChunk(op)), rows(op.getRowElementType()),
      sums(op.getStateElementType()), decay(op.getDecayKind()),
      normalize(op.getNormalize()),
      map(cast<StablehloFeatureMapInterface>(op.getFeatureMap())) {
  if (auto forward = dyn_cast<LinearAttentionOp>(op.getOperation())) {
    scale = forward.getScale().convertToDouble();
    epsilon = forward.getEpsilon().convertToDouble();
  } else if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation())) {
    scale = grad.getScale().convertToDouble();
  }
}

static std::array<Value AttentionInputs::*, 8> getInputMembers() {
  return {&AttentionInputs::query,       &AttentionInputs::key,
          &AttentionInputs::value,       &AttentionInputs::decay,
          &AttentionInputs::features,    &AttentionInputs::output,
          &AttentionInputs::denominator, &AttentionInputs::gradient};
}

SmallVector<Value> AttentionInputs::getAll() const {
  SmallVector<Value> all;
  for (Value AttentionInputs::*member : getInputMembers())
    if (this->*member)
      all.push_back(this->*member);
  return all;
}

AttentionInputs AttentionInputs::with(ValueRange values) const {
  AttentionInputs result = *this;
  for (Value AttentionInputs::*member : getInputMembers())
    if (this->*member) {
      result.*member = values.front();
      values = values.drop_front();
    }
  return result;
}

SmallVector<Value> AttentionState::getAll() const {
  SmallVector<Value> all;
  for (Value value : {sums, keySum, maximum})
    if (value)
      all.push_back(value);
  return all;
}

AttentionState AttentionState::with(ValueRange values) const {
  AttentionState result = *this;
  for (Value *member : {&result.sums, &result.keySum, &result.maximum})
    if (*member) {
      *member = values.front();
      values = values.drop_front();
    }
  return result;
}

/// The operands of `op` that chunks are cut from.
static AttentionInputs getInputs(LinearAttentionOpInterface op) {
  AttentionInputs inputs;
  inputs.query = op.getQuery();
  inputs.key = op.getKey();
  inputs.value = op.getValue();
  inputs.decay = op.getDecay();
  inputs.features = op.getFeatures();
  if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation())) {
    inputs.output = grad.getOutput();
    inputs.denominator = grad.getDenominator();
    inputs.gradient = grad.getGradient();
  }
  return inputs;
}

SmallVector<Value> mlir::act::getReadOperands(LinearAttentionOpInterface op) {
  SmallVector<Value> operands = getInputs(op).getAll();
  llvm::append_range(operands, op.getStates());
  if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation()))
    llvm::append_range(operands, grad.getStateGradients());
  return operands;
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

LoopBuilder::LoopBuilder(StablehloBuilder &b, LinearAttentionOpInterface op,
                         ValueRange operands)
    : b(b), sizes(op) {
  AttentionInputs original = getInputs(op);
  size_t count = original.getAll().size();
  inputs = original.with(operands.take_front(count));
  states = llvm::to_vector(operands.drop_front(count));
}

/// A loop that also carries the inputs, which its body reads. One iteration is
/// no loop.
SmallVector<Value>
LoopBuilder::loop(int64_t count, ValueRange carried,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  if (count == 0)
    return llvm::to_vector(carried);
  if (count == 1)
    return body(i32(0), carried);
  AttentionInputs outer = inputs;
  SmallVector<Value> operands = llvm::to_vector(carried);
  llvm::append_range(operands, outer.getAll());
  auto step = [&](Value number, ValueRange arguments) {
    inputs = outer.with(arguments.drop_front(carried.size()));
    SmallVector<Value> next =
        body(number, arguments.take_front(carried.size()));
    llvm::append_range(next, arguments.drop_front(carried.size()));
    return next;
  };
  SmallVector<Value> results = b.countedLoop(count, operands, step);
  results.truncate(carried.size());
  inputs = outer;
  return results;
}

/// Full chunks in a loop, tokens that are left over behind it (or before it, in
/// reverse).
SmallVector<Value> LoopBuilder::sweep(TokenRange range, bool reverse,
                                      ValueRange carried, Body body) {
  int64_t full = range.length / sizes.chunk, rest = range.length % sizes.chunk;
  SmallVector<Value> values = llvm::to_vector(carried);
  auto run = [&](Value from, Value number, int64_t size, ValueRange values) {
    Value start = b.add(from, b.multiply(number, i32(sizes.chunk)));
    AttentionChunk chunk(b, sizes, inputs, start, size);
    return body(chunk, number, values);
  };
  if (reverse && rest)
    values = run(range.start, i32(full), rest, values);
  values.push_back(range.start);
  values = loop(full, values, [&](Value number, ValueRange arguments) {
    if (reverse)
      number = b.subtract(i32(full - 1), number);
    Value from = arguments.back();
    SmallVector<Value> next =
        run(from, number, sizes.chunk, arguments.drop_back());
    next.push_back(from);
    return next;
  });
  values.pop_back();
  if (!reverse && rest)
    values = run(range.start, i32(full), rest, values);
  return values;
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

AttentionState LoopBuilder::getState(ValueRange values) const {
  AttentionState state;
  state.sums = values[0];
  if (sizes.normalize)
    state.keySum = values[1];
  return state;
}

AttentionState LoopBuilder::rescale(AttentionState state, Value factor) {
  auto times = [&](Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return b.multiply(value, b.broadcastInDim(factor, type.getShape(), {0, 1}));
  };
  state.sums = times(state.sums);
  if (state.keySum)
    state.keySum = times(state.keySum);
  return state;
}

/// Where features are exponentials: the state in units of its greatest element.
AttentionState LoopBuilder::toUnits(AttentionState state) {
  if (!sizes.map.isLogarithmic())
    return state;
  Value greatest = b.reduce(b.abs(state.sums), {2, 3}, Combiner::Maximum);
  if (state.keySum)
    greatest = b.maximum(greatest,
                         b.reduce(b.abs(state.keySum), {2}, Combiner::Maximum));
  // log(0) = -inf says that there is nothing to keep in range.
  Value maximum = b.log(greatest);
  Value none = b.compare(StablehloBuilder::Comparison::EQ, greatest,
                         zerosLike(greatest));
  Value divisor = b.select(none, b.splatLike(greatest, 1), greatest);
  state = rescale(state, b.divide(b.splatLike(divisor, 1), divisor));
  state.maximum = maximum;
  return state;
}

/// The units of a state that keys are subtracted from: they stay the same.
AttentionState LoopBuilder::withFiniteUnits(AttentionState state) {
  if (state.maximum)
    state.maximum = b.select(b.isFinite(state.maximum), state.maximum,
                             zerosLike(state.maximum));
  return state;
}

AttentionState LoopBuilder::fromUnits(AttentionState state, bool inverse) {
  if (!state.maximum)
    return state;
  Value exponent = inverse ? b.negate(state.maximum) : state.maximum;
  state = rescale(state, b.exponential(exponent));
  state.maximum = Value();
  return state;
}

/// Prepares `chunk` and puts `state` into its units.
AttentionState LoopBuilder::enter(AttentionChunk &chunk, AttentionState state) {
  if (!state.maximum)
    return state;
  Value maximum = chunk.getMaximum(state.maximum);
  state = rescale(state, b.exponential(b.subtract(state.maximum, maximum)));
  state.maximum = maximum;
  chunk.setMaximum(maximum);
  return state;
}

AttentionState LoopBuilder::sweepStates(TokenRange range, bool subtract,
                                        AttentionState state) {
  return state.with(
      sweep(range, subtract, state.getAll(),
            [&](AttentionChunk &chunk, Value, ValueRange carried) {
              AttentionState now = state.with(carried);
              if (!subtract)
                return chunk.advance(enter(chunk, now)).getAll();
              chunk.setMaximum(now.maximum);
              return chunk.retreat(now).getAll();
            }));
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

SmallVector<Value> LoopBuilder::build(LinearAttentionStateOp op) {
  AttentionState state = getState(states);
  if (sizes.length == 0)
    return state.getAll();
  state = toUnits(state);
  if (op.getSubtract())
    state = withFiniteUnits(state);
  state = sweepStates(getAll(), op.getSubtract(), state);
  return fromUnits(state, /*inverse=*/false).getAll();
}

/// What o is written over: the values, see the gradient's `build`.
Value LoopBuilder::startOutput() {
  int64_t repeats = sizes.heads / sizes.valueHeads;
  SmallVector<int64_t> shape{sizes.batch, sizes.length, sizes.valueHeads,
                             repeats, sizes.value};
  Value repeated = inputs.value;
  if (repeats > 1)
    repeated = b.broadcastInDim(inputs.value, shape, {0, 1, 2, 4});
  return b.reshape(repeated,
                   {sizes.batch, sizes.length, sizes.heads, sizes.value});
}

SmallVector<Value> LoopBuilder::build(LinearAttentionOp op) {
  AttentionState state = getState(states);
  SmallVector<Value> carried{startOutput()};
  if (sizes.normalize)
    carried.push_back(
        zeros({sizes.batch, sizes.length, sizes.heads}, sizes.sums));
  size_t count = carried.size();
  if (sizes.length > 0) {
    state = toUnits(state);
    llvm::append_range(carried, state.getAll());
    carried = sweep(getAll(), /*reverse=*/false, carried,
                    [&](AttentionChunk &chunk, Value, ValueRange values) {
                      AttentionState now =
                          enter(chunk, state.with(values.drop_front(count)));
                      auto [output, denominator] = chunk.attend(now);
                      SmallVector<Value> next{chunk.store(values[0], output)};
                      if (denominator)
                        next.push_back(chunk.store(values[1], denominator));
                      llvm::append_range(next, chunk.advance(now).getAll());
                      return next;
                    });
    state = fromUnits(state.with(ArrayRef(carried).drop_front(count)),
                      /*inverse=*/false);
    carried.truncate(count);
  }
  llvm::append_range(carried, state.getAll());
  return carried;
}

//===----------------------------------------------------------------------===//
// Any operation
//===----------------------------------------------------------------------===//

SmallVector<Value> mlir::act::buildLinearAttentionLoop(
    StablehloBuilder &b, LinearAttentionOpInterface op, ValueRange operands) {
  LoopBuilder loops(b, op, operands);
  return llvm::TypeSwitch<Operation *, SmallVector<Value>>(op.getOperation())
      .Case<LinearAttentionOp, LinearAttentionGradOp, LinearAttentionStateOp>(
          [&](auto typed) { return loops.build(typed); });
}
