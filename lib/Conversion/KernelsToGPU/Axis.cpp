//===- Axis.cpp - Positions in strided buffers ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Axis.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// PositionMath
//===----------------------------------------------------------------------===//

Value PositionMath::add(Value left, Value right) {
  return arith::AddIOp::create(b, left, right,
                               arith::IntegerOverflowFlags::nsw);
}

Value PositionMath::add(Value value, int64_t constant) {
  return constant == 0 ? value : add(value, kernel.intLike(value, constant));
}

Value PositionMath::multiply(Value value, int64_t constant) {
  if (constant == 1)
    return value;
  return arith::MulIOp::create(b, value, kernel.intLike(value, constant),
                               arith::IntegerOverflowFlags::nsw);
}

Value PositionMath::divide(Value value, int64_t constant) {
  if (constant == 1)
    return value;
  return arith::DivUIOp::create(b, value, kernel.intLike(value, constant));
}

Value PositionMath::remainder(Value value, int64_t constant) {
  if (constant == 1)
    return kernel.intLike(value, 0);
  return arith::RemUIOp::create(b, value, kernel.intLike(value, constant));
}

Value PositionMath::isLess(Value value, int64_t constant) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, value,
                               kernel.intLike(value, constant));
}

Value PositionMath::both(Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(b, left, right);
}

//===----------------------------------------------------------------------===//
// Axis
//===----------------------------------------------------------------------===//

int64_t Axis::getExtent() const {
  int64_t extent = 1;
  for (const AxisLoop &loop : loops)
    extent *= loop.extent;
  return extent;
}

int64_t Axis::getSpan() const {
  int64_t span = 1;
  for (const AxisLoop &loop : loops)
    span += (loop.extent - 1) * std::abs(loop.stride);
  return span;
}

int64_t Axis::getVector(int64_t most) const {
  if (loops.empty() || loops.back().stride != 1)
    return 1;
  int64_t elements = most;
  while (elements > 1 && loops.back().extent % elements != 0)
    elements /= 2;
  return elements;
}

bool Axis::isMultiple(int64_t elements, bool exceptLast) const {
  ArrayRef<AxisLoop> checked = loops;
  if (exceptLast && !checked.empty())
    checked = checked.drop_back();
  return llvm::all_of(checked, [&](const AxisLoop &loop) {
    return loop.extent == 1 || loop.stride % elements == 0;
  });
}

SmallVector<Value> mlir::act::getDigits(GpuKernelBuilder &kernel,
                                        Value position,
                                        ArrayRef<int64_t> extents) {
  PositionMath math(kernel);
  SmallVector<Value> digits(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    digits[i] = i == 0 ? position : math.remainder(position, extents[i]);
    if (i != 0)
      position = math.divide(position, extents[i]);
  }
  return digits;
}

Value Axis::getOffset(GpuKernelBuilder &kernel, Value position,
                      bool wide) const {
  PositionMath math(kernel);
  SmallVector<int64_t> extents;
  for (const AxisLoop &loop : loops)
    extents.push_back(loop.extent);
  Value offset;
  for (auto [digit, loop] :
       llvm::zip_equal(getDigits(kernel, position, extents), loops)) {
    if (loop.stride == 0)
      continue;
    Value part = math.multiply(wide ? kernel.toI64(digit) : digit, loop.stride);
    offset = offset ? math.add(offset, part) : part;
  }
  if (!offset)
    return wide ? kernel.i64(0) : kernel.i32(0);
  return offset;
}
