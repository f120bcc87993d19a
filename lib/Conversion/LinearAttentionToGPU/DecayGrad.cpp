//===- DecayGrad.cpp - Gradients of decay --------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FinishKernels.h"

using namespace mlir;
using namespace mlir::act;

GpuKernel mlir::act::buildStateProduct(const KernelPlace &place,
                                       const StateProductOptions &o) {
  FinishEmitter e(place, {{o.state, true},
                          {o.stateGrad, true},
                          {o.result, false},
                          {o.sums, true},
                          {o.sumGrad, true}});
  GpuKernelBuilder &kernel = e.getKernel();
  Value head = e.remainder(kernel.getBlock(), o.heads);
  Value sequence = e.divide(kernel.getBlock(), o.heads);
  Value none = kernel.i32(0);
  auto load = [&](unsigned parameter, const AttentionTensor &tensor, Value row,
                  Value column) {
    Value base = e.getBase(parameter, tensor, sequence, head);
    Value offset = e.add(e.multiply(row, tensor.rowStride), column);
    return e.load(tensor, kernel.getAddress(base, tensor.type, offset));
  };
  e.forThreads(o.features, [&](Value m) {
    Value sum = e.loop(none, kernel.i32(o.values), 1, {e.f32(0.0)},
                       [&](Value i, ValueRange now) -> SmallVector<Value> {
                         return {e.fma(load(0, o.state, m, i),
                                       load(1, o.stateGrad, m, i), now[0])};
                       })[0];
    if (o.sums)
      sum = e.fma(load(3, o.sums, m, none), load(4, o.sumGrad, m, none), sum);
    kernel.store(
        sum, e.at(o.result, e.getBase(2, o.result, sequence, head), none, m));
  });
  return e.finish(o.heads * o.sequences);
}

namespace {
class DecayGradEmitter : public FinishEmitter {
public:
  DecayGradEmitter(const KernelPlace &place, const DecayGradOptions &options)
      : FinishEmitter(place, {{options.ofQueries, true},
                              {options.ofKeys, true},
                              {options.ends, true},
                              {options.result, false}}),
        o(options), blocks(o.sequences * o.heads) {}

  GpuKernel emit() {
    switch (o.kind) {
    case DecayKind::Channel:
      emitChannel();
      break;
    case DecayKind::Token:
      emitToken();
      break;
    default:
      emitHead();
    }
    return finish(blocks);
  }

private:
  /// Adds up `count` numbers from `first` on of products at `token`, of the
  /// queries less of the keys.
  Value addProducts(Value token, Value first, int64_t count) {
    Value sum = f32(0.0);
    for (int64_t n = 0; n < o.group; ++n) {
      Value from = add(multiply(head, o.group), n);
      Value queries = getBase(0, o.ofQueries, sequence, from);
      Value keys = getBase(1, o.ofKeys, sequence, from);
      for (int64_t i = 0; i < count; ++i) {
        Value column = add(first, i);
        Value ofQuery =
            load(o.ofQueries, at(o.ofQueries, queries, token, column));
        Value ofKey = load(o.ofKeys, at(o.ofKeys, keys, token, column));
        sum = add(sum, subtract(ofQuery, ofKey));
      }
    }
    return sum;
  }
  Value loadEnd(Value feature) {
    return load(o.ends, at(o.ends, getBase(2, o.ends, sequence, head),
                           kernel.i32(0), feature));
  }
  /// The sum over features of `ends`.
  Value sumEnds() {
    return loop(kernel.i32(0), kernel.i32(o.features), 1, {f32(0.0)},
                [&](Value m, ValueRange now) -> SmallVector<Value> {
                  return {add(now[0], loadEnd(m))};
                })[0];
  }
  void store(Value value, Value token, Value column) {
    kernel.store(value, at(o.result, getBase(3, o.result, sequence, head),
                           token, column));
  }
  void splitBlock() {
    head = remainder(kernel.getBlock(), o.heads);
    sequence = divide(kernel.getBlock(), o.heads);
  }

  void emitChannel();
  void emitToken();
  void emitHead();
  Value sumBefore(Value value, Value buffer);

  DecayGradOptions o;
  int64_t blocks;
  Value sequence, head;
};
} // namespace

/// A thread per feature sums over later tokens.
void DecayGradEmitter::emitChannel() {
  splitBlock();
  forThreads(o.features, [&](Value m) {
    loop(kernel.i32(0), kernel.i32(o.length), 1, {loadEnd(m)},
         [&](Value n, ValueRange now) -> SmallVector<Value> {
           Value token = subtract(kernel.i32(o.length - 1), n);
           Value sum = add(now[0], addProducts(token, m, 1));
           store(sum, token, m);
           return {sum};
         });
  });
}

/// The sum of what threads up to this one have.
Value DecayGradEmitter::sumBefore(Value value, Value buffer) {
  Value thread = kernel.getThread();
  Type type = b.getF32Type();
  auto place = [&](Value number) {
    return kernel.getAddress(buffer, type, number);
  };
  for (int64_t distance = 1; distance < blockThreads; distance *= 2) {
    kernel.store(value, place(thread));
    kernel.barrier();
    Value other = choose(
        less(thread, distance), [&] { return SmallVector<Value>{f32(0.0)}; },
        [&] {
          return SmallVector<Value>{
              kernel.load(type, place(add(thread, -distance)))};
        })[0];
    value = add(value, other);
    kernel.barrier();
  }
  return value;
}

/// A block sums over later tokens, as many at a time as it has threads.
void DecayGradEmitter::emitToken() {
  splitBlock();
  Value buffer = kernel.allocateShared(blockThreads * 4);
  Value thread = kernel.getThread();
  int64_t steps = (o.length + blockThreads - 1) / blockThreads;
  loop(kernel.i32(0), kernel.i32(steps), 1, {sumEnds()},
       [&](Value step, ValueRange now) -> SmallVector<Value> {
         Value number = add(multiply(step, blockThreads), thread);
         Value token = subtract(kernel.i32(o.length - 1), number);
         Value isToken = less(number, o.length);
         Value own = choose(
             isToken,
             [&] {
               return SmallVector<Value>{
                   addProducts(token, kernel.i32(0), o.parts)};
             },
             [&] { return SmallVector<Value>{f32(0.0)}; })[0];
         Value sum = sumBefore(own, buffer);
         Value result = add(now[0], sum);
         when(isToken, [&] { store(result, token, kernel.i32(0)); });
         Value last = kernel.i32(blockThreads - 1);
         Value address = kernel.getAddress(buffer, b.getF32Type(), last);
         kernel.store(sum, kernel.getAddress(buffer, b.getF32Type(), thread));
         kernel.barrier();
         Value total = kernel.load(b.getF32Type(), address);
         kernel.barrier();
         return {add(now[0], total)};
       });
}

/// One number for all tokens: a token's products count once for it and each
/// token before. The terms cancel to a large part, hence f64.
void DecayGradEmitter::emitHead() {
  blocks = o.heads;
  head = kernel.getBlock();
  Type wide = b.getF64Type();
  Value total = loop(
      kernel.i32(0), kernel.i32(o.sequences), 1, {zero(wide)},
      [&](Value n, ValueRange now) -> SmallVector<Value> {
        sequence = n;
        Value sum =
            loop(kernel.getThread(), kernel.i32(o.length), blockThreads, now,
                 [&](Value token, ValueRange inner) -> SmallVector<Value> {
                   Value products = addProducts(token, kernel.i32(0), o.parts);
                   Value count =
                       arith::SIToFPOp::create(b, wide, add(token, 1));
                   products = arith::ExtFOp::create(b, wide, products);
                   return {fma(products, count, inner[0])};
                 })[0];
        return {loop(
            kernel.getThread(), kernel.i32(o.features), blockThreads, {sum},
            [&](Value m, ValueRange inner) -> SmallVector<Value> {
              Value end = arith::ExtFOp::create(b, wide, loadEnd(m));
              Value length =
                  arith::ConstantOp::create(b, b.getF64FloatAttr(o.length));
              return {fma(end, length, inner[0])};
            })[0]};
      })[0];
  ThreadGroup block(kernel, blockThreads);
  total = block.reduce(total, [&](unsigned, Value left, Value right) {
    return add(left, right);
  })[0];
  when(equal(kernel.getThread(), 0), [&] {
    sequence = kernel.i32(0);
    store(arith::TruncFOp::create(b, b.getF32Type(), total), kernel.i32(0),
          kernel.i32(0));
  });
}

GpuKernel mlir::act::buildDecayGrad(const KernelPlace &place,
                                    const DecayGradOptions &options) {
  return DecayGradEmitter(place, options).emit();
}
