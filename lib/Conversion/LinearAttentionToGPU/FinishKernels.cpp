//===- FinishKernels.cpp - Kernels around sweeps -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinishKernels.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

GpuKernel mlir::act::buildDenominatorGrad(const KernelPlace &place,
                                          const DenominatorGradOptions &o) {
  FinishEmitter e(place, {{o.gradient, true},
                          {o.output, true},
                          {o.denominator, true},
                          {o.result, false}});
  GpuKernelBuilder &kernel = e.getKernel();
  ThreadGroup warp(kernel, warpThreads);
  int64_t rows = o.length * o.heads;
  int64_t blocks = llvm::divideCeil(rows, warp.getCount());
  Value sequence = e.divide(kernel.getBlock(), blocks);
  Value row =
      e.add(e.multiply(e.remainder(kernel.getBlock(), blocks), warp.getCount()),
            warp.getNumber());
  // A warp takes part in its reduction as a whole.
  e.when(e.less(row, rows), [&] {
    Value token = e.divide(row, o.heads), head = e.remainder(row, o.heads);
    Value gradient = e.getBase(0, o.gradient, sequence, head);
    Value output = e.getBase(1, o.output, sequence, head);
    Value sum = e.loop(
        warp.getRank(), kernel.i32(o.values), warpThreads, {e.f32(0.0)},
        [&](Value i, ValueRange now) -> SmallVector<Value> {
          Value left = e.load(o.gradient, e.at(o.gradient, gradient, token, i));
          Value right = e.load(o.output, e.at(o.output, output, token, i));
          return {e.fma(left, right, now[0])};
        })[0];
    sum = warp.reduce(sum, [&](unsigned, Value left, Value right) {
      return e.add(left, right);
    })[0];
    e.when(e.equal(warp.getRank(), 0), [&] {
      Value none = kernel.i32(0);
      Value d = e.load(o.denominator,
                       e.at(o.denominator,
                            e.getBase(2, o.denominator, sequence, head), token,
                            none));
      Value result = e.divideFloats(e.subtract(e.f32(0.0), sum), d);
      kernel.store(
          result,
          e.at(o.result, e.getBase(3, o.result, sequence, head), token, none));
    });
  });
  return e.finish(blocks * o.sequences);
}

GpuKernel mlir::act::buildCarry(const KernelPlace &place,
                                const CarryOptions &o) {
  FinishEmitter e(place, {{o.initial, false},
                          {o.segments, false},
                          {o.left, true},
                          {o.final, false}});
  GpuKernelBuilder &kernel = e.getKernel();
  int64_t count = o.features * o.columns;
  int64_t blocks = llvm::divideCeil(count, blockThreads);
  Value rest = kernel.getBlock();
  Value number = e.add(e.multiply(e.remainder(rest, blocks), blockThreads),
                       kernel.getThread());
  rest = e.divide(rest, blocks);
  Value head = e.remainder(rest, o.heads), sequence = e.divide(rest, o.heads);
  e.when(e.less(number, count), [&] {
    Value row = e.divide(number, o.columns);
    Value column = e.remainder(number, o.columns);
    auto getPlace = [&](unsigned parameter, const AttentionTensor &state,
                        int64_t sharing) {
      Value base =
          e.getBase(parameter, state, sequence, e.divide(head, sharing));
      Value offset = e.add(e.multiply(row, state.rowStride), column);
      return kernel.getAddress(base, state.type, offset);
    };
    Value initial = kernel.load(
        o.initial.type, getPlace(0, o.initial, o.heads / o.initial.heads));
    if (o.startHeads > 1)
      initial = e.select(e.equal(e.remainder(head, o.startHeads), 0), initial,
                         e.f32(0.0));
    Value base = getPlace(1, o.segments, 1), left;
    if (o.left)
      left = e.getBase(2, o.left, sequence,
                       e.divide(head, o.heads / o.left.heads));
    Value none = kernel.i32(0);
    Value last = e.loop(
        none, kernel.i32(o.segmentCount), 1, {initial},
        [&](Value n, ValueRange now) -> SmallVector<Value> {
          Value segment =
              o.reverse ? e.subtract(kernel.i32(o.segmentCount - 1), n) : n;
          Value address = e.at(o.segments, base, segment, none);
          Value ended = kernel.load(o.segments.type, address);
          kernel.store(now[0], address);
          Value carried = now[0];
          if (left)
            carried = e.multiply(
                carried, e.load(o.left, e.at(o.left, left, segment,
                                             o.perChannel ? row : none)));
          return {e.select(e.equal(n, 0), ended, e.add(carried, ended))};
        })[0];
    if (o.final)
      kernel.store(last, getPlace(o.left ? 3 : 2, o.final, 1));
  });
  return e.finish(blocks * o.heads * o.sequences);
}

GpuKernel mlir::act::buildSumHeads(const KernelPlace &place,
                                   const SumHeadsOptions &o) {
  FinishEmitter e(place, {{o.from, true}, {o.to, false}});
  GpuKernelBuilder &kernel = e.getKernel();
  int64_t sharing = o.from.heads / o.to.heads;
  Value row = e.remainder(kernel.getBlock(), o.rows);
  Value sequence = e.divide(kernel.getBlock(), o.rows);
  e.forThreads(o.to.heads * o.columns, [&](Value i) {
    Value head = e.divide(i, o.columns), column = e.remainder(i, o.columns);
    Value sum;
    for (int64_t n = 0; n < sharing; ++n) {
      Value base =
          e.getBase(0, o.from, sequence, e.add(e.multiply(head, sharing), n));
      Value term = e.load(o.from, e.at(o.from, base, row, column));
      sum = sum ? e.add(sum, term) : term;
    }
    Value base = e.getBase(1, o.to, sequence, head);
    kernel.store(e.convert(sum, o.to.type), e.at(o.to, base, row, column));
  });
  return e.finish(o.rows * o.sequences);
}
