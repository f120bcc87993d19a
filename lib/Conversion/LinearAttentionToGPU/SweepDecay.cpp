//===- SweepDecay.cpp - Decay in a sweep ---------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::act;

Value SweepEmitter::loadShared(Value pointer, Value offset) {
  Type type = b.getF32Type();
  return kernel.load(type, kernel.getAddress(pointer, type, offset));
}

void SweepEmitter::storeShared(Value value, Value pointer, Value offset) {
  kernel.store(value, kernel.getAddress(pointer, value.getType(), offset));
}

void SweepEmitter::allocateDecay() {
  if (!hasDecay())
    return;
  if (isChannel()) {
    decayColumns = options.contractsFeatures() ? roleB.wanted : tileColumns;
    steps = allocateFloats((C + 1) * decayColumns);
    untilEnd = allocateFloats(C * decayColumns);
  } else {
    steps = allocateFloats(C + 1);
    between = allocateFloats(C * getBetweenStride());
  }
  sinceStart = allocateFloats((C + 1) * decayColumns);
  if (!has(SweepBuffer::Left))
    return;
  leftOfSegment = allocateFloats(decayColumns);
  forThreads(decayColumns,
             [&](Value i) { storeShared(f32(1.0), leftOfSegment, i); });
}

/// The logarithm of what is left from row `step` - 1 to row `step`, of feature
/// `column`; row C is behind the chunk. Sweeps in reverse order have the decay
/// of a token behind it.
Value SweepEmitter::loadStep(Value start, Value step, Value column) {
  const AttentionTensor &buffer = options[SweepBuffer::Decay];
  Value row = options.isReverse() ? add(step, -1) : step;
  Value isRow = options.isReverse() ? less(kernel.i32(0), step) : less(step, C);
  Value token = getToken(start, row);
  Value valid = arith::AndIOp::create(b, isRow, less(token, options.length));
  Value feature = column;
  if (isChannel()) {
    if (!options.contractsFeatures())
      feature = add(column, tileStart);
    valid = arith::AndIOp::create(b, valid, less(feature, options.features));
  }
  return choose(
      valid,
      [&]() -> SmallVector<Value> {
        Value base = getBase(SweepBuffer::Decay);
        if (options.decay == DecayKind::Head)
          return {kernel.load(buffer.type, base)};
        return loadRaw(SweepBuffer::Decay, base, token, feature, 1);
      },
      [&] { return SmallVector<Value>{f32(0.0)}; })[0];
}

void SweepEmitter::computeDecay(Value start) {
  if (!hasDecay())
    return;
  Value zeroColumn = kernel.i32(0);
  forThreads((C + 1) * decayColumns, [&](Value i) {
    Value column = isChannel() ? remainder(i, decayColumns) : zeroColumn;
    Value step = loadStep(start, divide(i, decayColumns), column);
    if (isChannel())
      step = math::ExpOp::create(b, step);
    storeShared(step, steps, i);
  });
  kernel.barrier();
  if (isChannel())
    computeChannelDecay();
  else
    computePairDecay();
  kernel.barrier();
  if (!leftOfSegment)
    return;
  forThreads(decayColumns, [&](Value i) {
    Value left = multiply(loadShared(leftOfSegment, i),
                          loadShared(sinceStart, add(i, C * decayColumns)));
    storeShared(left, leftOfSegment, i);
  });
}

/// Row s of `between` holds in column t what is left at t of what was written
/// at s, in column C what is left at the end. There is no difference of sums,
/// which would be wrong for steps that reset the state: they can be minus
/// infinity.
void SweepEmitter::computePairDecay() {
  int64_t parts = std::min(C, kernel.getNumThreads() / C);
  int64_t rows = C / parts;
  int64_t columns = C + 1;
  forThreads(parts * columns, [&](Value i) {
    Value part = divide(i, columns), t = remainder(i, columns);
    Value low = multiply(part, rows);
    Value high = arith::MinSIOp::create(b, add(low, rows), add(t, 1));
    // Steps behind the part, from t down.
    Value sum = loop(high, add(t, 1), 1, {f32(0.0)},
                     [&](Value n, ValueRange now) -> SmallVector<Value> {
                       Value step = subtract(add(high, t), n);
                       return {add(now[0], loadShared(steps, step))};
                     })[0];
    sum = loop(low, high, 1, {sum},
               [&](Value n, ValueRange now) -> SmallVector<Value> {
                 Value s = subtract(add(add(high, low), -1), n);
                 Value at = add(multiply(s, getBetweenStride()), t);
                 // Behind itself a token has all left.
                 storeShared(math::ExpOp::create(b, now[0]), between, at);
                 return {add(now[0], loadShared(steps, s))};
               })[0];
    // Nothing is left before; whole vectors are read.
    Value later = arith::MaxSIOp::create(b, low, high);
    loop(later, add(low, rows), 1, [&](Value s) {
      Value at = add(multiply(s, getBetweenStride()), t);
      storeShared(f32(0.0), between, at);
    });
    when(equal(part, 0),
         [&] { storeShared(math::ExpOp::create(b, sum), sinceStart, t); });
  });
}

void SweepEmitter::computeChannelDecay() {
  forThreads(decayColumns, [&](Value m) {
    auto at = [&](Value row) { return add(multiply(row, decayColumns), m); };
    loop(kernel.i32(0), kernel.i32(C + 1), 1, {f32(1.0)},
         [&](Value t, ValueRange now) -> SmallVector<Value> {
           Value left = multiply(now[0], loadShared(steps, at(t)));
           storeShared(left, sinceStart, at(t));
           return {left};
         });
    loop(kernel.i32(0), kernel.i32(C), 1, {f32(1.0)},
         [&](Value n, ValueRange now) -> SmallVector<Value> {
           Value s = subtract(kernel.i32(C - 1), n);
           Value left = multiply(now[0], loadShared(steps, at(add(s, 1))));
           storeShared(left, untilEnd, at(s));
           return {left};
         });
  });
}

Value SweepEmitter::loadSinceStart(Value row, Value column) {
  if (isChannel())
    row = add(multiply(row, decayColumns), column);
  return loadShared(sinceStart, row);
}

Value SweepEmitter::loadUntilEnd(Value row, Value column) {
  if (isChannel())
    return loadShared(untilEnd, add(multiply(row, decayColumns), column));
  return loadShared(between, add(multiply(row, getBetweenStride()), C));
}

Value SweepEmitter::loadTotal(Value column) {
  return loadSinceStart(kernel.i32(C), column);
}

void SweepEmitter::storeLeft() {
  if (!leftOfSegment)
    return;
  kernel.barrier();
  const AttentionTensor &buffer = options[SweepBuffer::Left];
  int64_t count = isChannel() ? options.features : 1;
  when(equal(tile, 0), [&] {
    forThreads(count, [&](Value i) {
      Value address =
          kernel.getAddress(getStateBase(SweepBuffer::Left), buffer.type, i);
      kernel.store(loadShared(leftOfSegment, i), address);
    });
  });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Element [m, d] of a state for row p and column r of the sweep's, and whether
/// there is such.
std::pair<Value, Value> SweepEmitter::locateState(SweepBuffer which, Value p,
                                                  Value r) {
  Value column = add(r, tileStart);
  Value valid = arith::AndIOp::create(b, less(p, P), less(column, R));
  int64_t stride = options[which].rowStride;
  bool isStraight = options.contractsFeatures();
  Value row = isStraight ? p : column;
  Value offset = add(multiply(row, stride), isStraight ? column : p);
  return {offset, valid};
}

/// Whether the block starts from a state, null if it always does.
Value SweepEmitter::startsFromState() {
  if (!options.startsOnce)
    return {};
  int64_t first = options.isReverse() ? options.segments - 1 : 0;
  Value starts = equal(segment, first);
  if (options.startHeads > 1)
    starts = arith::AndIOp::create(
        b, starts, equal(remainder(head, options.startHeads), 0));
  return starts;
}

Value SweepEmitter::loadStart(SweepBuffer which, Value offset, Value valid) {
  const AttentionTensor &buffer = options[which];
  if (Value starts = startsFromState())
    valid = arith::AndIOp::create(b, valid, starts);
  return choose(
      valid,
      [&]() -> SmallVector<Value> {
        Value base = getStateBase(which);
        return {kernel.load(buffer.type,
                            kernel.getAddress(base, buffer.type, offset))};
      },
      [&] { return SmallVector<Value>{f32(0.0)}; })[0];
}

void SweepEmitter::storeFinal(SweepBuffer which, Value value, Value offset,
                              Value valid) {
  const AttentionTensor &buffer = options[which];
  when(valid, [&] {
    kernel.store(value,
                 kernel.getAddress(getStateBase(which), buffer.type, offset));
  });
}

bool SweepEmitter::hasSums() const {
  return options.normalize && options.kind != SweepKind::ValueGrad;
}

void SweepEmitter::loadSums() {
  if (!hasSums())
    return;
  sums = allocateFloats(getSumColumns());
  forThreads(getSumColumns(), [&](Value i) {
    Value at = options.contractsFeatures() ? i : add(i, tileStart);
    storeShared(
        loadStart(SweepBuffer::StartSums, at, less(at, options.features)), sums,
        i);
  });
}

void SweepEmitter::storeSums() {
  if (!hasSums() || !has(SweepBuffer::FinalSums))
    return;
  forThreads(getSumColumns(), [&](Value i) {
    Value at = i, valid;
    if (options.contractsFeatures())
      valid =
          arith::AndIOp::create(b, less(at, options.features), equal(tile, 0));
    else
      valid = less(at = add(i, tileStart), options.features);
    storeFinal(SweepBuffer::FinalSums, loadShared(sums, i), at, valid);
  });
}

int64_t SweepEmitter::getSumColumns() const {
  return options.contractsFeatures() ? roleB.wanted : tileColumns;
}

void SweepEmitter::loadDenominatorGrads(Value start) {
  if (!has(SweepBuffer::DenominatorGrad))
    return;
  Value base = getBase(SweepBuffer::DenominatorGrad);
  forThreads(C, [&](Value row) {
    storeShared(loadToken(base, SweepBuffer::DenominatorGrad,
                          getToken(start, row), 0.0),
                tokenGrads, row);
  });
}
