//===- NestEmitter.cpp - Code of one operation ---------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NestEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;

/// Accumulators of the innermost loop of a reduction, which hide the latency of
/// one sum behind the next.
static constexpr int64_t chains = 4;
/// Iterations of the outer loop of a reduction after which partial sums are
/// added to the total, so that rounding errors stay small.
static constexpr int64_t partialLength = 128;

NestEmitter::NestEmitter(ImplicitLocOpBuilder &builder,
                         const KernelValues &values, const LoopNest &nest,
                         int64_t lanes, unsigned numRows)
    : NestAccess(builder, values, nest, lanes,
                 getVectorLoop(nest, numRows, lanes)),
      numRows(numRows) {}

void NestEmitter::emit(ArrayRef<LoopRange> given) {
  ranges.assign(given.begin(), given.end());
  iterations.assign(nest.getNumLoops(), Value());
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!ranges[loop].end)
      iterations[loop] = ranges[loop].begin;
  bool reduces = llvm::is_contained(nest.isReduction, true);
  if (vectorLoop >= 0 && !ranges[vectorLoop].end)
    vectorLoop = -1;
  if (!reduces && vectorLoop >= 0)
    emitElementwise();
  else if (!reduces || !combiners)
    emitScalar();
  else if (vectorLoop >= 0 && !nest.isReduction[vectorLoop])
    emitOuterReduction();
  else
    emitInnerReduction();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

NestEmitter::Accumulators NestEmitter::emitLoop(Value begin, Value end,
                                                int64_t step,
                                                ValueRange carried,
                                                LoopBody body) {
  auto loop =
      scf::ForOp::create(builder, begin, end, memory.getIndex(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  if (carried.empty()) {
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    body(loop.getInductionVar(), ValueRange());
    return {};
  }
  builder.setInsertionPointToStart(loop.getBody());
  Accumulators next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(builder, next);
  return Accumulators(loop.getResults());
}

void NestEmitter::emitLoops(ArrayRef<unsigned> loops,
                            llvm::function_ref<void()> body) {
  if (loops.empty())
    return body();
  unsigned loop = loops.front();
  if (!ranges[loop].end)
    return emitLoops(loops.drop_front(), body);
  emitLoop(ranges[loop].begin, ranges[loop].end, 1, {},
           [&](Value iteration, ValueRange) -> Accumulators {
             iterations[loop] = iteration;
             emitLoops(loops.drop_front(), body);
             return {};
           });
}

/// Whether the unit computes all iterations of `loop`.
bool NestEmitter::isWhole(unsigned loop) const {
  return ranges[loop].end && matchPattern(ranges[loop].begin, m_Zero()) &&
         getConstantIntValue(ranges[loop].end) == nest.extents[loop];
}

bool NestEmitter::dividesBy(unsigned loop, int64_t count) const {
  return isWhole(loop) && nest.extents[loop] % count == 0;
}

/// `begin` plus the largest multiple of `step` that [begin, end) has.
static Value getMainEnd(ImplicitLocOpBuilder &builder, Memory &memory,
                        LoopRange range, int64_t step) {
  Value length = arith::SubIOp::create(builder, range.end, range.begin);
  Value rest = arith::RemUIOp::create(builder, length, memory.getIndex(step));
  return arith::SubIOp::create(builder, range.end, rest);
}

void NestEmitter::emitVectors(llvm::function_ref<void(LaneMask)> body) {
  LoopRange range = ranges[vectorLoop];
  int64_t lanes = memory.getLanes();
  Value mainEnd = dividesBy(vectorLoop, lanes)
                      ? range.end
                      : getMainEnd(builder, memory, range, lanes);
  emitLoop(range.begin, mainEnd, lanes, {},
           [&](Value iteration, ValueRange) -> Accumulators {
             iterations[vectorLoop] = iteration;
             body({});
             return {};
           });
  if (dividesBy(vectorLoop, lanes))
    return;
  Value rest = arith::SubIOp::create(builder, range.end, mainEnd);
  Value some = arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, rest,
                                     memory.getIndex(0));
  auto tail = scf::IfOp::create(builder, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(tail.thenBlock());
  iterations[vectorLoop] = mainEnd;
  body(memory.getMask(rest));
}

//===----------------------------------------------------------------------===//
// Without reduction
//===----------------------------------------------------------------------===//

/// Loops outside of lanes: the one in which most operands that are not
/// contiguous along lanes are contiguous is the innermost, so that what one
/// vector touches serves the next ones.
static SmallVector<unsigned> orderLoops(const LoopNest &nest, unsigned numRows,
                                        int64_t vectorLoop) {
  SmallVector<unsigned> order;
  int64_t inner = -1;
  for (const NestOperand &operand : nest.operands) {
    if (operand.scalar || vectorLoop < 0 || operand.strides[vectorLoop] <= 1)
      continue;
    for (unsigned loop = numRows; loop < nest.getNumLoops(); ++loop)
      if (operand.strides[loop] == 1)
        inner = loop;
  }
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (loop != inner && static_cast<int64_t>(loop) != vectorLoop)
      order.push_back(loop);
  if (inner >= 0)
    order.push_back(inner);
  return order;
}

void NestEmitter::emitElementwise() {
  SmallVector<unsigned> order = orderLoops(nest, numRows, vectorLoop);
  bool transposes =
      llvm::any_of(nest.operands, [&](const NestOperand &operand) {
        return !operand.scalar && operand.strides[vectorLoop] > 1;
      });
  SmallVector<unsigned> inner;
  if (transposes && !order.empty() && ranges[order.back()].end)
    inner.push_back(order.pop_back_val());
  auto compute = [&](LaneMask mask) {
    BodyEmitter body = createBody(vectorLoop, mask);
    loadInputs(body, /*vector=*/true, mask);
    auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
    SmallVector<Value> results;
    for (Value value : yield.getOperands())
      results.push_back(body.getLanes(value));
    for (auto [i, value] : llvm::enumerate(results))
      storeResult(i, value, /*vector=*/true, mask);
  };
  emitLoops(order, [&] {
    hoisted.clear();
    if (inner.empty())
      for (unsigned i = 0; i < nest.op.getNumDpsInputs(); ++i) {
        const NestOperand &operand = nest.operands[i];
        if (!operand.scalar && operand.strides[vectorLoop] == 0)
          hoisted[i] = memory.loadScalar(operand.buffer,
                                         getOffset(operand, /*hoisted=*/true));
      }
    emitVectors(
        [&](LaneMask mask) { emitLoops(inner, [&] { compute(mask); }); });
  });
  hoisted.clear();
}

void NestEmitter::emitScalar() {
  SmallVector<unsigned> order = orderLoops(nest, numRows, -1);
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return nest.isReduction[a] < nest.isReduction[b];
  });
  emitLoops(order, [&] {
    BodyEmitter body = createBody(-1, {});
    loadInputs(body, /*vector=*/false, {});
    auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
    SmallVector<Value> results;
    for (Value value : yield.getOperands())
      results.push_back(body.get(value).value);
    for (auto [i, value] : llvm::enumerate(results))
      storeResult(i, value, /*vector=*/false, {});
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Reduces along lanes, in several chains of accumulators.
NestEmitter::Accumulators NestEmitter::reduceVectors(ValueRange carried) {
  LoopRange range = ranges[vectorLoop];
  int64_t lanes = memory.getLanes();
  size_t numResults = combiners->size();
  Value begin = range.begin;
  Accumulators current(carried);
  for (int64_t count : {chains, int64_t(1)}) {
    if (nest.extents[vectorLoop] < count * lanes)
      continue;
    Value end = getMainEnd(builder, memory, {begin, range.end}, count * lanes);
    current =
        emitLoop(begin, end, count * lanes, current,
                 [&](Value iteration, ValueRange accumulated) {
                   Accumulators next(accumulated);
                   for (int64_t chain = 0; chain < count; ++chain) {
                     iterations[vectorLoop] = arith::AddIOp::create(
                         builder, iteration, memory.getIndex(chain * lanes));
                     Accumulators part = reduceOnce(
                         accumulated.slice(chain * numResults, numResults), {});
                     llvm::copy(part, next.begin() + chain * numResults);
                   }
                   return next;
                 });
    begin = end;
  }
  if (nest.extents[vectorLoop] % lanes == 0)
    return current;
  Value rest = arith::SubIOp::create(builder, range.end, begin);
  iterations[vectorLoop] = begin;
  Accumulators tail = reduceOnce(ValueRange(current).take_front(numResults),
                                 memory.getMask(rest));
  llvm::copy(tail, current.begin());
  return current;
}

/// Reduces over `loops`, outermost first, then along lanes if there are any.
NestEmitter::Accumulators NestEmitter::reduceLoops(ArrayRef<unsigned> loops,
                                                   ValueRange carried) {
  if (loops.empty())
    return vectorLoop >= 0 ? reduceVectors(carried) : reduceOnce(carried, {});
  unsigned loop = loops.front();
  return emitLoop(ranges[loop].begin, ranges[loop].end, 1, carried,
                  [&](Value iteration, ValueRange accumulated) {
                    iterations[loop] = iteration;
                    return reduceLoops(loops.drop_front(), accumulated);
                  });
}

void NestEmitter::emitInnerReduction() {
  SmallVector<unsigned> parallel, reduced;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (static_cast<int64_t>(loop) != vectorLoop)
      (nest.isReduction[loop] ? reduced : parallel).push_back(loop);
  int64_t copies = vectorLoop >= 0 ? chains : 1;
  size_t numResults = combiners->size();
  emitLoops(parallel, [&] {
    Accumulators totals =
        reduceLoops(reduced, getNeutral(copies, vectorLoop >= 0));
    // Pairs of chains, then pairs of lanes.
    for (int64_t half = copies / 2; half >= 1; half /= 2)
      for (size_t i = 0; i < half * numResults; ++i)
        totals[i] =
            combine(i % numResults, totals[i], totals[i + half * numResults]);
    for (size_t i = 0; i < numResults; ++i) {
      Value total = vectorLoop >= 0 ? reduceLanes(i, totals[i]) : totals[i];
      addToResult(i, total, /*vector=*/false, {});
    }
  });
}

/// Totals of `vectors` neighbouring vectors over `loops`.
NestEmitter::Accumulators NestEmitter::reduceColumns(ArrayRef<unsigned> loops,
                                                     int64_t vectors,
                                                     LaneMask mask) {
  size_t numResults = combiners->size();
  Value first = iterations[vectorLoop];
  std::function<Accumulators(ArrayRef<unsigned>, ValueRange)> reduce =
      [&](ArrayRef<unsigned> rest, ValueRange carried) -> Accumulators {
    if (!rest.empty())
      return emitLoop(ranges[rest.front()].begin, ranges[rest.front()].end, 1,
                      carried, [&](Value iteration, ValueRange accumulated) {
                        iterations[rest.front()] = iteration;
                        return reduce(rest.drop_front(), accumulated);
                      });
    Accumulators next;
    for (int64_t i = 0; i < vectors; ++i) {
      iterations[vectorLoop] = arith::AddIOp::create(
          builder, first, memory.getIndex(i * memory.getLanes()));
      llvm::append_range(
          next, reduceOnce(carried.slice(i * numResults, numResults), mask));
    }
    iterations[vectorLoop] = first;
    return next;
  };
  Accumulators neutral = getNeutral(vectors, /*vector=*/true);
  unsigned outer = loops.front();
  if (nest.extents[outer] < 2 * partialLength)
    return reduce(loops, neutral);
  LoopRange whole = ranges[outer];
  Accumulators totals =
      emitLoop(whole.begin, whole.end, partialLength, neutral,
               [&](Value begin, ValueRange total) {
                 Value end = arith::AddIOp::create(
                     builder, begin, memory.getIndex(partialLength));
                 ranges[outer] = {
                     begin, arith::MinSIOp::create(builder, end, whole.end)};
                 Accumulators part = reduce(loops, neutral);
                 for (size_t i = 0; i < part.size(); ++i)
                   part[i] = combine(i % numResults, total[i], part[i]);
                 return part;
               });
  ranges[outer] = whole;
  return totals;
}

void NestEmitter::emitOuterReduction() {
  SmallVector<unsigned> parallel, reduced;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (static_cast<int64_t>(loop) != vectorLoop)
      (nest.isReduction[loop] ? reduced : parallel).push_back(loop);
  size_t numResults = combiners->size();
  int64_t lanes = memory.getLanes();
  auto compute = [&](int64_t vectors, LaneMask mask) {
    Accumulators totals = reduceColumns(reduced, vectors, mask);
    Value first = iterations[vectorLoop];
    for (auto [i, total] : llvm::enumerate(totals)) {
      iterations[vectorLoop] = arith::AddIOp::create(
          builder, first, memory.getIndex(i / numResults * lanes));
      addToResult(i % numResults, total, /*vector=*/true, mask);
    }
  };
  emitLoops(parallel, [&] {
    // Several vectors at a time, then the rest one by one.
    LoopRange whole = ranges[vectorLoop];
    if (nest.extents[vectorLoop] >= chains * lanes) {
      Value end = getMainEnd(builder, memory, whole, chains * lanes);
      emitLoop(whole.begin, end, chains * lanes, {},
               [&](Value iteration, ValueRange) -> Accumulators {
                 iterations[vectorLoop] = iteration;
                 compute(chains, {});
                 return {};
               });
      ranges[vectorLoop].begin = end;
    }
    emitVectors([&](LaneMask mask) { compute(1, mask); });
    ranges[vectorLoop] = whole;
  });
}
