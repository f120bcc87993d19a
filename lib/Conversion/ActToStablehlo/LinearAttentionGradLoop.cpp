//===- LinearAttentionGradLoop.cpp - Gradients as loops -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopBuilder.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

using Combiner = StablehloBuilder::Combiner;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

SmallVector<Value> Records::getAll() const {
  SmallVector<Value> all;
  for (Value value : {maxima, shares, weightedShares})
    if (value)
      all.push_back(value);
  return all;
}

Records Records::with(ValueRange values) const {
  Records result = *this;
  for (Value *member : {&result.maxima, &result.shares, &result.weightedShares})
    if (*member) {
      *member = values.front();
      values = values.drop_front();
    }
  return result;
}

SmallVector<Value> KeySweep::getAll() const {
  SmallVector<Value> all = gradient.getAll();
  for (Value value : {decayCarry, keys, values, decay})
    if (value)
      all.push_back(value);
  return all;
}

KeySweep KeySweep::with(ValueRange all) const {
  KeySweep result = *this;
  size_t count = gradient.getAll().size();
  result.gradient = gradient.with(all.take_front(count));
  all = all.drop_front(count);
  for (Value *member :
       {&result.decayCarry, &result.keys, &result.values, &result.decay})
    if (*member) {
      *member = all.front();
      all = all.drop_front();
    }
  return result;
}

Records LoopBuilder::makeRecords(int64_t chunks) {
  Records records;
  SmallVector<int64_t> shape{chunks, sizes.batch, sizes.stateHeads};
  if (sizes.map.isLogarithmic())
    records.maxima = zeros(shape, sizes.sums);
  if (sizes.decay == DecayKind::Head) {
    records.shares = zeros(shape, sizes.sums);
    records.weightedShares = zeros(shape, sizes.sums);
  }
  return records;
}

/// [number, 0, ...]
static SmallVector<Value> getRowStarts(StablehloBuilder &b, Value record,
                                       Value number) {
  auto type = cast<RankedTensorType>(record.getType());
  Value zero = b.scalar(b.getBuilder().getI32Type(), 0);
  SmallVector<Value> starts(type.getRank(), zero);
  starts.front() = number;
  return starts;
}

Value LoopBuilder::read(Value record, Value number) {
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(record.getType()).getShape());
  shape.front() = 1;
  Value row = b.dynamicSlice(record, getRowStarts(b, record, number), shape);
  return b.reshape(row, ArrayRef(shape).drop_front());
}

Value LoopBuilder::write(Value record, Value number, Value row) {
  auto shape =
      llvm::to_vector(cast<RankedTensorType>(record.getType()).getShape());
  shape.front() = 1;
  return b.dynamicUpdateSlice(record, b.reshape(row, shape),
                              getRowStarts(b, record, number));
}

/// Sums over tokens of `shares`, [B, Hs, n], times their numbers from 1 on.
static Value sumWeighted(StablehloBuilder &b, Value shares) {
  auto type = cast<RankedTensorType>(shares.getType());
  Value number = b.add(b.iota(type, 2), b.splatLike(shares, 1));
  return b.reduce(b.multiply(shares, number), {2}, Combiner::Add);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

AttentionState LoopBuilder::sweepQueries(TokenRange range, AttentionState state,
                                         Value &queries, Value &decay,
                                         Records &records) {
  // A decay per token or channel has room for what queries add to its gradient.
  bool keepsShares = decay && sizes.decay != DecayKind::Head;
  SmallVector<Value> carried{queries};
  if (keepsShares)
    carried.push_back(decay);
  size_t count = carried.size(), numStates = state.getAll().size();
  llvm::append_range(carried, state.getAll());
  llvm::append_range(carried, records.getAll());
  auto step = [&](AttentionChunk &chunk, Value number, ValueRange values) {
    AttentionState now =
        enter(chunk, state.with(values.slice(count, numStates)));
    Records kept = records.with(values.drop_front(count + numStates));
    Value gradient = chunk.buildQueryGradient(now);
    SmallVector<Value> next{
        chunk.store(values[0], chunk.buildQueryRowGradient(gradient))};
    if (kept.maxima)
      kept.maxima = write(kept.maxima, number, now.maximum);
    if (sizes.decay != DecayKind::None) {
      Value share = chunk.buildQueryShare(gradient);
      if (keepsShares) {
        next.push_back(chunk.store(values[1], share));
      } else {
        kept.shares =
            write(kept.shares, number, b.reduce(share, {2}, Combiner::Add));
        kept.weightedShares =
            write(kept.weightedShares, number, sumWeighted(b, share));
      }
    }
    llvm::append_range(next, chunk.advance(now).getAll());
    llvm::append_range(next, kept.getAll());
    return next;
  };
  carried = sweep(range, /*reverse=*/false, carried, step);
  queries = carried[0];
  if (keepsShares)
    decay = carried[1];
  records = records.with(ArrayRef(carried).drop_front(count + numStates));
  return state.with(ArrayRef(carried).slice(count, numStates));
}

/// Turns shares of queries and keys into the gradient of decay.
void LoopBuilder::stepDecay(AttentionChunk &chunk, Value number,
                            const Records &records, Value keyFeatureGradient,
                            KeySweep &carried) {
  Value share = chunk.buildKeyShare(keyFeatureGradient);
  if (sizes.decay == DecayKind::Head) {
    Value difference = b.subtract(read(records.shares, number),
                                  b.reduce(share, {2}, Combiner::Add));
    Value weighted =
        b.subtract(read(records.weightedShares, number), sumWeighted(b, share));
    Value later = b.multiply(carried.decayCarry,
                             b.splatLike(carried.decayCarry, chunk.getSize()));
    Value total = b.reduce(b.add(weighted, later), {0}, Combiner::Add);
    carried.decay = b.add(carried.decay, total);
    carried.decayCarry = b.add(carried.decayCarry, difference);
    return;
  }
  // Read before anything is written: XLA would copy all of it to read it later.
  SmallVector<Value> held =
      b.optimizationBarrier({chunk.load(carried.decay), carried.decay});
  carried.decay = held[1];
  Value difference = b.subtract(held[0], share);
  Value sums = chunk.sumSuffixes(difference);
  auto type = cast<RankedTensorType>(sums.getType());
  SmallVector<int64_t> dimensions{0, 1};
  if (type.getRank() == 4)
    dimensions.push_back(3);
  Value later =
      b.broadcastInDim(carried.decayCarry, type.getShape(), dimensions);
  carried.decay = chunk.store(carried.decay, b.add(sums, later));
  carried.decayCarry =
      b.add(carried.decayCarry, b.reduce(difference, {2}, Combiner::Add));
}

KeySweep LoopBuilder::stepKeys(AttentionChunk &chunk, Value number,
                               const Records &records,
                               const KeySweep &carried) {
  KeySweep next = carried;
  if (records.maxima) {
    Value maximum = read(records.maxima, number);
    Value factor = b.exponential(b.subtract(maximum, next.gradient.maximum));
    next.gradient = rescale(next.gradient, factor);
    next.gradient.maximum = maximum;
  }
  chunk.setMaximum(next.gradient.maximum);
  auto [ofKeys, ofValues] = chunk.buildKeyValueGradients(next.gradient);
  next.keys = chunk.store(next.keys, chunk.buildKeyRowGradient(ofKeys));
  next.values = chunk.store(next.values, ofValues);
  if (next.decay)
    stepDecay(chunk, number, records, ofKeys, next);
  next.gradient = chunk.retreatGradient(next.gradient);
  return next;
}

void LoopBuilder::sweepKeys(TokenRange range, const Records &records,
                            KeySweep &carried) {
  SmallVector<Value> values = carried.getAll();
  size_t count = values.size();
  llvm::append_range(values, records.getAll());
  auto step = [&](AttentionChunk &chunk, Value number, ValueRange arguments) {
    Records kept = records.with(arguments.drop_front(count));
    KeySweep now = carried.with(arguments.take_front(count));
    SmallVector<Value> next = stepKeys(chunk, number, kept, now).getAll();
    llvm::append_range(next, kept.getAll());
    return next;
  };
  values = sweep(range, /*reverse=*/true, values, step);
  carried = carried.with(ArrayRef(values).take_front(count));
}

/// What the state after the last token adds to the gradient of every decay.
Value LoopBuilder::startDecayCarry(const AttentionState &state,
                                   const AttentionState &gradient) {
  Value carry =
      b.reduce(b.multiply(state.sums, gradient.sums), {3}, Combiner::Add);
  if (state.keySum)
    carry = b.add(carry, b.multiply(state.keySum, gradient.keySum));
  if (sizes.decay != DecayKind::Channel)
    carry = b.reduce(carry, {2}, Combiner::Add);
  return carry;
}

/// One sweep that undoes `state` step by step.
void LoopBuilder::sweepBackwards(AttentionState state, Value &queries,
                                 KeySweep &carried) {
  SmallVector<Value> values = carried.getAll();
  size_t count = values.size();
  values.push_back(queries);
  llvm::append_range(values, state.getAll());
  auto step = [&](AttentionChunk &chunk, Value number, ValueRange arguments) {
    AttentionState now = state.with(arguments.drop_front(count + 1));
    chunk.setMaximum(now.maximum);
    now = chunk.retreat(now);
    Value gradient = chunk.buildQueryGradient(now);
    KeySweep next = stepKeys(chunk, number, Records(),
                             carried.with(arguments.take_front(count)));
    SmallVector<Value> result = next.getAll();
    result.push_back(
        chunk.store(arguments[count], chunk.buildQueryRowGradient(gradient)));
    llvm::append_range(result, now.getAll());
    return result;
  };
  values = sweep(getAll(), /*reverse=*/true, values, step);
  carried = carried.with(ArrayRef(values).take_front(count));
  queries = values[count];
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

/// The states after everything; `kept` gets those at the starts of segments.
AttentionState LoopBuilder::keepStates(const Segments &segments,
                                       AttentionState state,
                                       SmallVectorImpl<Value> &kept) {
  SmallVector<Value> values = state.getAll();
  size_t count = values.size();
  for (Value part : state.getAll()) {
    auto type = cast<RankedTensorType>(part.getType());
    SmallVector<int64_t> shape{segments.full + (segments.rest ? 1 : 0)};
    llvm::append_range(shape, type.getShape());
    values.push_back(zeros(shape, type.getElementType()));
  }
  auto step = [&](Value number, int64_t size, ValueRange values) {
    AttentionState now = state.with(values.take_front(count));
    SmallVector<Value> rows;
    for (auto [record, part] :
         llvm::zip_equal(values.drop_front(count), now.getAll()))
      rows.push_back(write(record, number, part));
    Value start = b.multiply(number, i32(segments.length));
    SmallVector<Value> next =
        sweepStates({start, size}, /*subtract=*/false, now).getAll();
    llvm::append_range(next, rows);
    return next;
  };
  values = loop(segments.full, values, [&](Value number, ValueRange arguments) {
    return step(number, segments.length, arguments);
  });
  if (segments.rest)
    values = step(i32(segments.full), segments.rest, values);
  kept.assign(values.begin() + count, values.end());
  return state.with(ArrayRef(values).take_front(count));
}

/// Both sweeps for one segment after the other, from the last on.
void LoopBuilder::sweepSegments(const Segments &segments,
                                const AttentionState &like, ValueRange kept,
                                Value &queries, KeySweep &carried) {
  SmallVector<Value> values = carried.getAll();
  size_t count = values.size();
  values.push_back(queries);
  llvm::append_range(values, kept);
  auto step = [&](Value number, int64_t size, ValueRange arguments) {
    KeySweep now = carried.with(arguments.take_front(count));
    Value queries = arguments[count];
    SmallVector<Value> parts;
    for (Value record : arguments.drop_front(count + 1))
      parts.push_back(read(record, number));
    TokenRange range{b.multiply(number, i32(segments.length)), size};
    Records records = makeRecords(countChunks(range));
    sweepQueries(range, like.with(parts), queries, now.decay, records);
    sweepKeys(range, records, now);
    SmallVector<Value> next = now.getAll();
    next.push_back(queries);
    llvm::append_range(next, arguments.drop_front(count + 1));
    return next;
  };
  if (segments.rest)
    values = step(i32(segments.full), segments.rest, values);
  values = loop(segments.full, values, [&](Value number, ValueRange arguments) {
    Value last = i32(segments.full - 1);
    return step(b.subtract(last, number), segments.length, arguments);
  });
  carried = carried.with(ArrayRef(values).take_front(count));
  queries = values[count];
}

//===----------------------------------------------------------------------===//
// The whole gradient
//===----------------------------------------------------------------------===//

/// Starts the sweep for keys, given the state after the last token.
void LoopBuilder::startKeys(const AttentionState &last, KeySweep &carried) {
  if (last.maximum) {
    carried.gradient = rescale(carried.gradient, b.exponential(last.maximum));
    carried.gradient.maximum = last.maximum;
  }
  if (carried.decay)
    carried.decayCarry = startDecayCarry(last, carried.gradient);
}

void LoopBuilder::sweepBoth(Attribute policy, AttentionState state,
                            Value &queries, KeySweep &carried) {
  if (isa<ReverseAttr>(policy)) {
    state = withFiniteUnits(toUnits(state));
    startKeys(state, carried);
    sweepBackwards(state, queries, carried);
    return;
  }
  state = toUnits(state);
  auto checkpoint = dyn_cast<CheckpointAttr>(policy);
  if (!checkpoint) {
    Records records = makeRecords(countChunks(getAll()));
    AttentionState last =
        sweepQueries(getAll(), state, queries, carried.decay, records);
    startKeys(last, carried);
    sweepKeys(getAll(), records, carried);
    return;
  }
  int64_t length =
      llvm::divideCeil(checkpoint.getSegment(), sizes.chunk) * sizes.chunk;
  length = std::min(length, sizes.length);
  Segments segments{length, sizes.length / length, sizes.length % length};
  SmallVector<Value> kept;
  startKeys(keepStates(segments, state, kept), carried);
  sweepSegments(segments, state, kept, queries, carried);
}

SmallVector<Value> LoopBuilder::build(LinearAttentionGradOp op) {
  size_t numStates = op.getStates().size();
  AttentionState state = getState(ArrayRef(states).take_front(numStates));
  KeySweep carried;
  carried.gradient = getState(ArrayRef(states).drop_front(numStates));
  // All of it is overwritten. Zeros would do too, but XLA makes equal ones a
  // single buffer that lives beside all loops and is copied into each.
  carried.keys = inputs.key;
  carried.values = inputs.value;
  if (inputs.decay)
    carried.decay =
        sizes.decay == DecayKind::Head ? zerosLike(inputs.decay) : inputs.decay;
  Value queries = inputs.query;
  if (sizes.length > 0)
    sweepBoth(op.getStatePolicy(), state, queries, carried);
  SmallVector<Value> results{queries, carried.keys, carried.values};
  if (carried.decay)
    results.push_back(carried.decay);
  llvm::append_range(results,
                     fromUnits(carried.gradient, /*inverse=*/true).getAll());
  return results;
}
