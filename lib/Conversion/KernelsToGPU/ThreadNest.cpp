//===- ThreadNest.cpp - Loops of an operation over threads ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadNest.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

SmallVector<Value> mlir::act::delinearize(ImplicitLocOpBuilder &b, Value number,
                                          ArrayRef<int64_t> extents) {
  SmallVector<Value> digits(extents.size());
  for (size_t i = extents.size(); i-- > 1;) {
    Value extent = arith::ConstantOp::create(
        b, b.getIntegerAttr(number.getType(), extents[i]));
    digits[i] = arith::RemUIOp::create(b, number, extent);
    number = arith::DivUIOp::create(b, number, extent);
  }
  if (!digits.empty())
    digits[0] = number;
  return digits;
}

//===----------------------------------------------------------------------===//
// Lanes and spaces
//===----------------------------------------------------------------------===//

struct ThreadNest::Lanes {
  int64_t count = 1;
  int64_t vectorLoop = -1;
  int64_t fastLoop = -1;
};

ThreadNest::Lanes ThreadNest::chooseLanes(const LoopNest &nest,
                                          unsigned numRows, int64_t mostLanes,
                                          int64_t leastVectors) {
  Lanes lanes;
  lanes.fastLoop = getVectorLoop(nest, numRows, warpThreads);
  if (lanes.fastLoop < 0)
    return lanes;
  // A reduction that is not a combination goes from one iteration to the next.
  if (llvm::is_contained(nest.isReduction, true) && !getNestCombiners(nest))
    return lanes;
  int64_t bytes = 1;
  for (const NestOperand &operand : nest.operands)
    if (!operand.scalar && operand.strides[lanes.fastLoop] == 1)
      bytes = std::max(bytes, getElementBytes(operand.buffer.elementType));
  int64_t extent = nest.extents[lanes.fastLoop];
  lanes.count = std::min(mostLanes, std::max<int64_t>(1, 16 / bytes));
  while (lanes.count > 1 &&
         (extent % lanes.count != 0 || extent / lanes.count < leastVectors))
    lanes.count /= 2;
  if (lanes.count > 1)
    lanes.vectorLoop = lanes.fastLoop;
  return lanes;
}

ThreadNest::ThreadNest(GpuKernelBuilder &kernel, const KernelValues &values,
                       LoopNest &nest, unsigned numRows, int64_t mostLanes,
                       int64_t leastVectors)
    : ThreadNest(kernel, values, nest, numRows,
                 chooseLanes(nest, numRows, mostLanes, leastVectors)) {}

ThreadNest::ThreadNest(GpuKernelBuilder &kernel, const KernelValues &values,
                       LoopNest &nest, unsigned numRows, Lanes lanes)
    : NestAccess(kernel.getBuilder(), values, nest, lanes.count,
                 lanes.vectorLoop),
      kernel(kernel), numRows(numRows), fastLoop(lanes.fastLoop),
      parallel(collectSpace(/*reduction=*/false)),
      reduced(collectSpace(/*reduction=*/true)) {
  alignOperands(nest);
}

LoopSpace ThreadNest::collectSpace(bool reduction) const {
  LoopSpace space;
  for (unsigned loop = numRows; loop < nest.getNumLoops(); ++loop)
    if (nest.isReduction[loop] == reduction &&
        static_cast<int64_t>(loop) != fastLoop)
      space.loops.push_back(loop);
  if (fastLoop >= 0 && nest.isReduction[fastLoop] == reduction)
    space.loops.push_back(fastLoop);
  for (int64_t extent : getExtents(space))
    space.count *= extent;
  return space;
}

SmallVector<int64_t> ThreadNest::getExtents(const LoopSpace &space) const {
  SmallVector<int64_t> extents;
  for (unsigned loop : space.loops)
    extents.push_back(static_cast<int64_t>(loop) == vectorLoop
                          ? nest.extents[loop] / memory.getLanes()
                          : nest.extents[loop]);
  return extents;
}

/// Notes the alignment that vectors of every operand have.
void ThreadNest::alignOperands(LoopNest &nest) {
  if (vectorLoop < 0)
    return;
  for (NestOperand &operand : nest.operands) {
    if (operand.scalar || operand.strides[vectorLoop] != 1)
      continue;
    int64_t bytes = getElementBytes(operand.buffer.elementType);
    int64_t alignment =
        std::gcd(std::max<int64_t>(operand.buffer.alignment, bytes),
                 memory.getLanes() * bytes);
    alignment = std::gcd(alignment, operand.offset * bytes);
    for (auto [loop, stride] : llvm::enumerate(operand.strides))
      if (static_cast<int64_t>(loop) != vectorLoop && nest.extents[loop] > 1)
        alignment = std::gcd(alignment, stride * bytes);
    operand.buffer.alignment = alignment;
  }
}

bool ThreadNest::reducesAlongMemory() const {
  return fastLoop >= 0 && nest.isReduction[fastLoop];
}

/// Whether one combination of the parallel space is a vector.
bool ThreadNest::isVector() const {
  return vectorLoop >= 0 && !nest.isReduction[vectorLoop];
}

void ThreadNest::setRows(ArrayRef<Value> rows) {
  for (auto [loop, row] : llvm::enumerate(rows))
    iterations[loop] =
        arith::IndexCastOp::create(builder, builder.getIndexType(), row);
}

void ThreadNest::setIterations(const LoopSpace &space, Value number) {
  SmallVector<Value> digits = delinearize(builder, number, getExtents(space));
  for (auto [loop, digit] : llvm::zip_equal(space.loops, digits)) {
    if (static_cast<int64_t>(loop) == vectorLoop)
      digit = arith::MulIOp::create(builder, digit,
                                    kernel.intLike(digit, memory.getLanes()));
    iterations[loop] =
        arith::IndexCastOp::create(builder, builder.getIndexType(), digit);
  }
}

std::optional<std::string> ThreadNest::getThreadMap(Value buffer,
                                                    int64_t threads) const {
  bool loads = false;
  nest.op.getBody()->walk([&](Operation *inner) {
    loads |= llvm::is_contained(inner->getOperands(), buffer);
  });
  // Every thread computes what there is one of, and one thread stores it.
  if (loads || reduces() != isSingle())
    return std::nullopt;
  const LoopSpace &space = reduces() ? reduced : parallel;
  std::optional<std::string> map;
  for (auto [i, operand] : llvm::enumerate(nest.operands)) {
    if (nest.op->getOperand(i) != buffer || operand.scalar)
      continue;
    // One thread stores totals.
    if (reduces() && static_cast<int64_t>(i) >= nest.op.getNumDpsInputs())
      return std::nullopt;
    std::string text;
    llvm::raw_string_ostream os(text);
    os << threads << " " << memory.getLanes() << " " << operand.offset;
    for (auto [loop, extent] : llvm::zip_equal(space.loops, getExtents(space)))
      os << " " << extent << "*" << operand.strides[loop];
    if (map && *map != text)
      return std::nullopt;
    map = text;
  }
  return map;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

ThreadNest::Accumulators ThreadNest::emitRounds(
    Value first, int64_t step, int64_t count, ValueRange carried,
    llvm::function_ref<Accumulators(Value, ValueRange)> body) {
  Accumulators current(carried);
  Type type = first.getType();
  int64_t rounds = count / step;
  auto getNumber = [&](Value round) -> Value {
    Value distance =
        arith::MulIOp::create(builder, round, kernel.intLike(first, step));
    return arith::AddIOp::create(builder, first, distance);
  };
  if (rounds == 1) {
    current = body(first, current);
  } else if (rounds > 1) {
    auto bound = [&](int64_t value) -> Value {
      return arith::ConstantOp::create(builder,
                                       builder.getIntegerAttr(type, value));
    };
    auto loop =
        scf::ForOp::create(builder, bound(0), bound(rounds), bound(1), current);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Accumulators next =
        body(getNumber(loop.getInductionVar()), loop.getRegionIterArgs());
    if (!next.empty())
      scf::YieldOp::create(builder, next);
    current.assign(loop.getResults().begin(), loop.getResults().end());
  }
  int64_t rest = count % step;
  if (rest == 0)
    return current;
  Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                       first, kernel.intLike(first, rest));
  Value number = arith::AddIOp::create(builder, first,
                                       kernel.intLike(first, rounds * step));
  auto tail = scf::IfOp::create(builder, TypeRange(ValueRange(current)), exists,
                                /*addThenBlock=*/true,
                                /*addElseBlock=*/!current.empty());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tail.thenBlock());
  Accumulators next = body(number, current);
  scf::YieldOp::create(builder, next);
  if (!current.empty()) {
    builder.setInsertionPointToStart(tail.elseBlock());
    scf::YieldOp::create(builder, current);
  }
  return Accumulators(tail.getResults());
}

/// What a loop of constant extent makes of accumulators.
static SmallVector<Value>
emitLoop(ImplicitLocOpBuilder &b, int64_t extent, int64_t step,
         ValueRange carried,
         llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto loop =
      scf::ForOp::create(b, index(0), index(extent), index(step), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!next.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

ThreadNest::Accumulators
ThreadNest::reduceSequentially(ArrayRef<unsigned> loops, ValueRange carried) {
  if (loops.empty())
    return reduceOnce(carried, {});
  unsigned loop = loops.front();
  int64_t step =
      static_cast<int64_t>(loop) == vectorLoop ? memory.getLanes() : 1;
  return emitLoop(builder, nest.extents[loop], step, carried,
                  [&](Value iteration, ValueRange accumulated) {
                    iterations[loop] = iteration;
                    return reduceSequentially(loops.drop_front(), accumulated);
                  });
}

/// The share of the reduced space that starts at number `first`.
ThreadNest::Accumulators ThreadNest::reduceShare(Value first, int64_t step) {
  Accumulators neutral = getNeutral(1, vectorLoop >= 0);
  return emitRounds(first, step, reduced.count, neutral,
                    [&](Value number, ValueRange accumulated) {
                      setIterations(reduced, number);
                      return reduceOnce(accumulated, {});
                    });
}

/// One number of the lanes that were accumulated along a vector.
ThreadNest::Accumulators ThreadNest::finishLanes(Accumulators accumulated) {
  if (vectorLoop >= 0 && !isVector())
    for (auto [i, value] : llvm::enumerate(accumulated))
      value = reduceLanes(i, value);
  return accumulated;
}

/// Totals together with what the destination held before.
ThreadNest::Accumulators ThreadNest::addInitial(ValueRange totals) {
  Accumulators results;
  for (auto [i, total] : llvm::enumerate(totals)) {
    const NestOperand &operand = nest.operands[nest.op.getNumDpsInputs() + i];
    Value before;
    if (TypedAttr initial = nest.initial[i])
      before = arith::ConstantOp::create(builder, initial);
    else if (operand.scalar)
      before = operand.scalar;
    else
      before = memory.loadScalar(operand.buffer, getOffset(operand));
    results.push_back(combine(i, before, total));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Iterations by one thread
//===----------------------------------------------------------------------===//

void ThreadNest::emitIteration(Value number) {
  setIterations(parallel, number);
  if (!reduces()) {
    BodyEmitter body = createBody(vectorLoop, {});
    loadInputs(body, vectorLoop >= 0, {});
    auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
    SmallVector<Value> results;
    for (Value value : yield.getOperands())
      results.push_back(vectorLoop >= 0 ? body.getLanes(value)
                                        : body.get(value).value);
    for (auto [i, value] : llvm::enumerate(results))
      storeResult(i, value, vectorLoop >= 0, {});
    return;
  }
  if (!combiners)
    return emitGeneralReduction();
  Accumulators totals = finishLanes(
      reduceSequentially(reduced.loops, getNeutral(1, vectorLoop >= 0)));
  for (auto [i, total] : llvm::enumerate(totals))
    addToResult(i, total, isVector(), {});
}

/// A reduction whose body is more than one combination: what it holds goes from
/// one iteration to the next, but for results of each iteration.
void ThreadNest::emitGeneralReduction() {
  Accumulators carried;
  for (unsigned i = 0; i < nest.op.getNumDpsInits(); ++i) {
    const NestOperand &operand = nest.operands[nest.op.getNumDpsInputs() + i];
    if (!nest.isPerIteration(i))
      carried.push_back(memory.loadScalar(operand.buffer, getOffset(operand)));
  }
  carried = carryGeneral(reduced.loops, carried);
  auto *next = carried.begin();
  for (unsigned i = 0; i < nest.op.getNumDpsInits(); ++i)
    if (!nest.isPerIteration(i))
      storeResult(i, *next++, /*vector=*/false, {});
}

ThreadNest::Accumulators ThreadNest::carryGeneral(ArrayRef<unsigned> loops,
                                                  ValueRange carried) {
  if (!loops.empty())
    return emitLoop(builder, nest.extents[loops.front()], 1, carried,
                    [&](Value iteration, ValueRange values) {
                      iterations[loops.front()] = iteration;
                      return carryGeneral(loops.drop_front(), values);
                    });
  BodyEmitter body = createBody(-1, {});
  unsigned numInputs = nest.op.getNumDpsInputs();
  auto accumulated = carried.begin();
  for (unsigned i = 0; i < nest.operands.size(); ++i) {
    const NestOperand &operand = nest.operands[i];
    Value value = operand.scalar;
    if (i >= numInputs && !nest.isPerIteration(i - numInputs))
      value = *accumulated++;
    else if (!value)
      value = memory.loadScalar(operand.buffer, getOffset(operand));
    body.setArgument(i, {value, LaneValue::Uniform});
  }
  auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
  Accumulators results;
  for (Value value : yield.getOperands())
    results.push_back(body.get(value).value);
  Accumulators next;
  for (auto [i, value] : llvm::enumerate(results)) {
    if (nest.isPerIteration(i))
      storeResult(i, value, /*vector=*/false, {});
    else
      next.push_back(value);
  }
  return next;
}

void ThreadNest::emitIterations(Value rank, int64_t threads) {
  emitRounds(rank, threads, parallel.count, {},
             [&](Value number, ValueRange) -> Accumulators {
               emitIteration(number);
               return {};
             });
}

SmallVector<Value> ThreadNest::computeOnce() {
  assert(isSingle() && !reduces() && "expects one element");
  setIterations(parallel, kernel.i32(0));
  BodyEmitter body = createBody(-1, {});
  loadInputs(body, /*vector=*/false, {});
  auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
  SmallVector<Value> results;
  for (Value value : yield.getOperands())
    results.push_back(body.get(value).value);
  return results;
}

//===----------------------------------------------------------------------===//
// Totals by threads together
//===----------------------------------------------------------------------===//

SmallVector<Value> ThreadNest::computeTotals(Value number, ThreadGroup &group) {
  assert(!isVector() && "expects totals that are scalars");
  setIterations(parallel, number);
  Accumulators totals =
      finishLanes(reduceShare(group.getRank(), group.getSize()));
  totals = group.reduce(totals, [&](unsigned i, Value left, Value right) {
    return combine(i, left, right);
  });
  return addInitial(totals);
}

void ThreadNest::storeTotals(ValueRange totals) {
  for (auto [i, total] : llvm::enumerate(totals))
    if (!nest.operands[nest.op.getNumDpsInputs() + i].scalar)
      storeResult(i, total, /*vector=*/false, {});
}

void ThreadNest::emitTotals(ThreadGroup &group) {
  auto emit = [&](Value number) {
    SmallVector<Value> totals = computeTotals(number, group);
    Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                          group.getRank(), kernel.i32(0));
    auto once = scf::IfOp::create(builder, isFirst, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(once.thenBlock());
    storeTotals(totals);
  };
  emitRounds(kernel.i32(0), 1, parallel.count, {},
             [&](Value number, ValueRange) -> Accumulators {
               emit(number);
               return {};
             });
}

void ThreadNest::emitColumns(Value firstNumber, int64_t columns) {
  int64_t shares = kernel.getNumThreads() / columns;
  Value thread = kernel.getThread();
  Value column = arith::RemUIOp::create(builder, thread, kernel.i32(columns));
  Value share = arith::DivUIOp::create(builder, thread, kernel.i32(columns));
  Value number = arith::AddIOp::create(builder, firstNumber, column);
  Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                       number, kernel.i32(parallel.count));
  Accumulators neutral = getNeutral(1, vectorLoop >= 0);
  auto work = scf::IfOp::create(builder, TypeRange(ValueRange(neutral)), exists,
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(work.thenBlock());
    setIterations(parallel, number);
    scf::YieldOp::create(builder, reduceShare(share, shares));
    builder.setInsertionPointToStart(work.elseBlock());
    scf::YieldOp::create(builder, neutral);
  }
  Accumulators totals = finishLanes(Accumulators(work.getResults()));
  // A slot of every thread, those of a share side by side.
  int64_t width = isVector() ? memory.getLanes() : 1;
  SmallVector<KernelBuffer> slots;
  for (Value total : totals) {
    Type element = getElementTypeOrSelf(total.getType());
    int64_t bytes = getElementBytes(element) * width;
    slots.push_back({kernel.allocateShared(bytes * kernel.getNumThreads()),
                     element,
                     {1},
                     bytes});
  }
  auto getSlot = [&](Value place) -> Value {
    place = arith::MulIOp::create(builder, place, kernel.i32(width));
    return arith::IndexCastOp::create(builder, builder.getIndexType(), place);
  };
  for (auto [total, slot] : llvm::zip_equal(totals, slots)) {
    if (isVector())
      memory.storeVector(slot, getSlot(thread), 1, total, {});
    else
      memory.storeScalar(slot, getSlot(thread), total);
  }
  kernel.barrier();
  Value isFirst = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        share, kernel.i32(0));
  Value stores = arith::AndIOp::create(builder, isFirst, exists);
  auto once = scf::IfOp::create(builder, stores, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(once.thenBlock());
  setIterations(parallel, number);
  for (auto [i, total] : llvm::enumerate(totals))
    for (int64_t other = 1; other < shares; ++other) {
      Value place =
          arith::AddIOp::create(builder, column, kernel.i32(other * columns));
      Value part = isVector()
                       ? memory.loadVector(slots[i], getSlot(place), 1, {})
                       : memory.loadScalar(slots[i], getSlot(place));
      total = combine(i, total, part);
    }
  for (auto [i, total] : llvm::enumerate(totals))
    addToResult(i, total, isVector(), {});
}
