//===- ScalarBuilder.cpp - Arithmetic on elements -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarBuilder.h"

using namespace mlir;
using namespace mlir::act::lowering;

Value mlir::act::lowering::emitConstant(ImplicitLocOpBuilder &b, Type type,
                                        double value) {
  if (isa<FloatType>(type))
    return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
  APInt number(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(),
               static_cast<int64_t>(value), /*isSigned=*/true,
               /*implicitTrunc=*/true);
  return emitConstant(b, type, number);
}

Value mlir::act::lowering::emitConstant(ImplicitLocOpBuilder &b, Type type,
                                        const APInt &value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

Value mlir::act::lowering::emitInfinity(ImplicitLocOpBuilder &b, FloatType type,
                                        bool isNegative) {
  return arith::ConstantOp::create(
      b, FloatAttr::get(type,
                        APFloat::getInf(type.getFloatSemantics(), isNegative)));
}

Value mlir::act::lowering::emitFloatCast(ImplicitLocOpBuilder &b, Value x,
                                         FloatType type) {
  auto from = cast<FloatType>(x.getType());
  if (from == type)
    return x;
  if (from.getWidth() < type.getWidth())
    return emit<arith::ExtFOp>(b, type, x);
  if (from.getWidth() > type.getWidth())
    return emit<arith::TruncFOp>(b, type, x);
  // Between formats of one width, by one that holds both.
  Value wide = emit<arith::ExtFOp>(b, b.getF32Type(), x);
  return emit<arith::TruncFOp>(b, type, wide);
}

Value mlir::act::lowering::emitBits(ImplicitLocOpBuilder &b, Value x) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  if (isa<IntegerType>(x.getType()))
    return x;
  return emit<arith::BitcastOp>(b, b.getIntegerType(width), x);
}

Value mlir::act::lowering::emitPolynomial(ImplicitLocOpBuilder &b, Value x,
                                          ArrayRef<double> coefficients) {
  Type type = x.getType();
  Value sum = emitConstant(b, type, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = emit<arith::AddFOp>(b, emit<arith::MulFOp>(b, sum, x),
                              emitConstant(b, type, coefficient));
  return sum;
}

Value mlir::act::lowering::emitOrdinal(ImplicitLocOpBuilder &b, Value x) {
  Value bits = emitBits(b, x);
  unsigned width = bits.getType().getIntOrFloatBitWidth();
  Value isNegative = emitCompare(b, arith::CmpIPredicate::slt, bits,
                                 emitConstant(b, bits.getType(), 0));
  Value flipped = emit<arith::XOrIOp>(
      b, bits,
      emitConstant(b, bits.getType(), APInt::getSignedMaxValue(width)));
  return emitSelect(b, isNegative, flipped, bits);
}
