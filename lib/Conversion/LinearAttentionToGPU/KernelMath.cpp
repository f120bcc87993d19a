//===- KernelMath.cpp - Arithmetic of kernels ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelMath.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

/// Most iterations per thread that are written out, so that their loads
/// overlap.
static constexpr int64_t mostUnrolled = 8;

Value KernelMath::f32(double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value KernelMath::zero(Type type) {
  return arith::ConstantOp::create(b, b.getZeroAttr(type));
}

Value KernelMath::add(Value left, Value right) {
  if (isa<FloatType>(left.getType()))
    return arith::AddFOp::create(b, left, right);
  return b.createOrFold<arith::AddIOp>(left, right);
}

Value KernelMath::add(Value left, int64_t right) {
  return right ? add(left, kernel.intLike(left, right)) : left;
}

Value KernelMath::subtract(Value left, Value right) {
  if (isa<FloatType>(left.getType()))
    return arith::SubFOp::create(b, left, right);
  return b.createOrFold<arith::SubIOp>(left, right);
}

Value KernelMath::multiply(Value left, Value right) {
  if (isa<FloatType>(left.getType()))
    return arith::MulFOp::create(b, left, right);
  return b.createOrFold<arith::MulIOp>(left, right);
}

Value KernelMath::multiply(Value left, int64_t right) {
  return right == 1 ? left : multiply(left, kernel.intLike(left, right));
}

Value KernelMath::divide(Value left, int64_t right) {
  if (right == 1)
    return left;
  return b.createOrFold<arith::DivUIOp>(left, kernel.intLike(left, right));
}

Value KernelMath::remainder(Value left, int64_t right) {
  return b.createOrFold<arith::RemUIOp>(left, kernel.intLike(left, right));
}

Value KernelMath::divideFloats(Value left, Value right) {
  return arith::DivFOp::create(b, left, right);
}

Value KernelMath::fma(Value left, Value right, Value addend) {
  return LLVM::FMAOp::create(b, left, right, addend);
}

Value KernelMath::less(Value left, Value right) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, left, right);
}

Value KernelMath::less(Value left, int64_t right) {
  return less(left, kernel.intLike(left, right));
}

Value KernelMath::equal(Value left, int64_t right) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, left,
                               kernel.intLike(left, right));
}

Value KernelMath::select(Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}

Value KernelMath::extend(Value value) {
  if (value.getType().isF32())
    return value;
  return arith::ExtFOp::create(b, b.getF32Type(), value);
}

Value KernelMath::convert(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::TruncFOp::create(b, type, value);
}

Value KernelMath::extract(Value vector, int64_t number) {
  if (!isa<VectorType>(vector.getType()))
    return vector;
  return vector::ExtractOp::create(b, vector, number);
}

Value KernelMath::combine(ValueRange elements) {
  if (elements.size() == 1)
    return elements.front();
  auto type = VectorType::get({static_cast<int64_t>(elements.size())},
                              elements.front().getType());
  return vector::FromElementsOp::create(b, type, elements);
}

SmallVector<Value> KernelMath::loop(Value low, Value high, int64_t step,
                                    ValueRange inits, Body body) {
  auto loop =
      scf::ForOp::create(b, low, high, kernel.intLike(low, step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> results =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!inits.empty())
    scf::YieldOp::create(b, results);
  return SmallVector<Value>(loop.getResults());
}

void KernelMath::loop(Value low, Value high, int64_t step,
                      function_ref<void(Value)> body) {
  loop(low, high, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void KernelMath::when(Value condition, function_ref<void()> body) {
  auto op = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.thenBlock());
  body();
}

SmallVector<Value> KernelMath::choose(Value condition,
                                      function_ref<SmallVector<Value>()> yes,
                                      function_ref<SmallVector<Value>()> no) {
  auto fill = [&](function_ref<SmallVector<Value>()> body) {
    return [&b = b, body](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.restoreInsertionPoint(inner.saveInsertionPoint());
      scf::YieldOp::create(b, body());
    };
  };
  auto op = scf::IfOp::create(b, condition, fill(yes), fill(no));
  return SmallVector<Value>(op.getResults());
}

void KernelMath::forThreads(int64_t count, function_ref<void(Value)> body) {
  int64_t threads = kernel.getNumThreads();
  Value thread = kernel.getThread();
  if (count > mostUnrolled * threads) {
    loop(thread, kernel.i32(count), threads, body);
    return;
  }
  for (int64_t first = 0; first < count; first += threads) {
    Value number = add(thread, first);
    if (first + threads <= count)
      body(number);
    else
      when(less(number, count), [&] { body(number); });
  }
}
