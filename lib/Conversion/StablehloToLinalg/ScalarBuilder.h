//===- ScalarBuilder.h - Arithmetic on elements -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARBUILDER_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::act::lowering {

/// Creates an operation on elements, or finds what it folds to.
template <typename OpTy, typename... Args>
Value emit(ImplicitLocOpBuilder &b, Args &&...args) {
  return b.createOrFold<OpTy>(std::forward<Args>(args)...);
}

/// A constant of a type of integers or floats; `value` is rounded or wrapped.
Value emitConstant(ImplicitLocOpBuilder &b, Type type, double value);
Value emitConstant(ImplicitLocOpBuilder &b, Type type, const APInt &value);
inline Value emitConstant(ImplicitLocOpBuilder &b, Type type, int value) {
  return emitConstant(b, type, static_cast<double>(value));
}
Value emitInfinity(ImplicitLocOpBuilder &b, FloatType type,
                   bool isNegative = false);

inline Value emitSelect(ImplicitLocOpBuilder &b, Value predicate, Value onTrue,
                        Value onFalse) {
  return emit<arith::SelectOp>(b, predicate, onTrue, onFalse);
}
inline Value emitCompare(ImplicitLocOpBuilder &b,
                         arith::CmpIPredicate predicate, Value lhs, Value rhs) {
  return emit<arith::CmpIOp>(b, predicate, lhs, rhs);
}
inline Value emitCompare(ImplicitLocOpBuilder &b,
                         arith::CmpFPredicate predicate, Value lhs, Value rhs) {
  return emit<arith::CmpFOp>(b, predicate, lhs, rhs);
}
/// True if `x`, a float, is no number.
inline Value emitIsNaN(ImplicitLocOpBuilder &b, Value x) {
  return emitCompare(b, arith::CmpFPredicate::UNO, x, x);
}

/// `x` between float types, rounded to nearest even.
Value emitFloatCast(ImplicitLocOpBuilder &b, Value x, FloatType type);
/// The bits of a float and back.
Value emitBits(ImplicitLocOpBuilder &b, Value x);
/// Integers that are ordered like floats in total order: -NaN < -inf < ... <
/// -0 < 0 < ... < inf < NaN.
Value emitOrdinal(ImplicitLocOpBuilder &b, Value x);

/// A polynomial in `x` with the highest coefficient first.
Value emitPolynomial(ImplicitLocOpBuilder &b, Value x,
                     ArrayRef<double> coefficients);

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_SCALARBUILDER_H
