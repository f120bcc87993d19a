//===- Math.cpp - Functions of analysis on floats -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Math/IR/Math.h"
#include "PopulatePatterns.h"
#include "ScalarBuilder.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using arith::CmpFPredicate;

template <typename OpTy>
static Value emitUnary(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<OpTy>(b, x[0]);
}

template <typename OpTy>
static Value emitBinary(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<OpTy>(b, x[0], x[1]);
}

/// 1 / (1 + exp(-x)).
static Value emitLogistic(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  Value one = emitConstant(b, x[0].getType(), 1);
  Value power = emit<math::ExpOp>(b, emit<arith::NegFOp>(b, x[0]));
  return emit<arith::DivFOp>(b, one, emit<arith::AddFOp>(b, one, power));
}

static Value emitSquare(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<arith::MulFOp>(b, x[0], x[0]);
}

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

static Value emitIsFinite(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  if (isa<IntegerType>(x[0].getType()))
    return emitConstant(b, b.getI1Type(), 1);
  Value infinity = emitInfinity(b, cast<FloatType>(x[0].getType()));
  return emitCompare(b, CmpFPredicate::OLT, emit<math::AbsFOp>(b, x[0]),
                     infinity);
}

static Value emitIsInfinite(ImplicitLocOpBuilder &b, Operation *,
                            ValueRange x) {
  Value infinity = emitInfinity(b, cast<FloatType>(x[0].getType()));
  return emitCompare(b, CmpFPredicate::OEQ, emit<math::AbsFOp>(b, x[0]),
                     infinity);
}

template <bool isNegative>
static Value emitIsInfinity(ImplicitLocOpBuilder &b, Operation *,
                            ValueRange x) {
  Value infinity = emitInfinity(b, cast<FloatType>(x[0].getType()), isNegative);
  return emitCompare(b, CmpFPredicate::OEQ, x[0], infinity);
}

//===----------------------------------------------------------------------===//
// The inverse of the error function
//===----------------------------------------------------------------------===//

/// By two polynomials in w = -log(1 - x^2) in single precision: M. Giles,
/// "Approximating the erfinv function", GPU Computing Gems (2010).
static Value emitErfInvSingle(ImplicitLocOpBuilder &b, Value x) {
  static const double central[] = {
      2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
      -4.39150654e-06, 0.00021858087,  -0.00125372503,
      -0.00417768164,  0.246640727,    1.50140941};
  static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                -0.00367342844,  0.00573950773,  -0.0076224613,
                                0.00943887047,   1.00167406,     2.83297682};
  Type type = x.getType();
  Value square = emit<arith::MulFOp>(b, x, x);
  Value w = emit<arith::NegFOp>(
      b, emit<math::Log1pOp>(b, emit<arith::NegFOp>(b, square)));
  Value isCentral =
      emitCompare(b, CmpFPredicate::OLT, w, emitConstant(b, type, 5.0));
  Value nearZero = emit<arith::SubFOp>(b, w, emitConstant(b, type, 2.5));
  Value nearOne = emit<arith::SubFOp>(b, emit<math::SqrtOp>(b, w),
                                      emitConstant(b, type, 3.0));
  Value factor = emitSelect(b, isCentral, emitPolynomial(b, nearZero, central),
                            emitPolynomial(b, nearOne, tail));
  Value inside = emit<arith::MulFOp>(b, factor, x);
  // At 1 and -1 the tail would be inf - inf.
  Value isPole = emitCompare(b, CmpFPredicate::OEQ, emit<math::AbsFOp>(b, x),
                             emitConstant(b, type, 1.0));
  Value pole =
      emit<arith::MulFOp>(b, x, emitInfinity(b, cast<FloatType>(type)));
  return emitSelect(b, isPole, pole, inside);
}

/// Single precision, in double precision improved by two steps of Newton's
/// method on erf(y) - x.
static Value emitErfInv(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  auto type = cast<FloatType>(x[0].getType());
  Value single = emitFloatCast(b, x[0], b.getF32Type());
  if (type.getWidth() <= 32)
    return emitFloatCast(b, emitErfInvSingle(b, single), type);
  // 2 / sqrt(pi)
  Value slopeAtZero = emitConstant(b, type, 1.1283791670955126);
  Value y = emitFloatCast(b, emitErfInvSingle(b, single), type);
  Value start = y;
  for (int step = 0; step < 2; ++step) {
    Value error = emit<arith::SubFOp>(b, emit<math::ErfOp>(b, y), x[0]);
    Value decay = emit<math::ExpOp>(
        b, emit<arith::NegFOp>(b, emit<arith::MulFOp>(b, y, y)));
    Value slope = emit<arith::MulFOp>(b, slopeAtZero, decay);
    y = emit<arith::SubFOp>(b, y, emit<arith::DivFOp>(b, error, slope));
  }
  Value isFinite = emitIsFinite(b, nullptr, start);
  return emitSelect(b, isFinite, y, start);
}

void mlir::act::lowering::populateMathPatterns(LoweringPatterns &patterns) {
  auto add = [&](StringRef name, EmitScalar emitScalar) {
    patterns.addElementwise(name, 1, Elements::Floats, emitScalar);
  };
  add("stablehlo.exponential", emitUnary<math::ExpOp>);
  add("stablehlo.exponential_minus_one", emitUnary<math::ExpM1Op>);
  add("stablehlo.log", emitUnary<math::LogOp>);
  add("stablehlo.log_plus_one", emitUnary<math::Log1pOp>);
  add("stablehlo.logistic", emitLogistic);
  add("stablehlo.sqrt", emitUnary<math::SqrtOp>);
  add("stablehlo.rsqrt", emitUnary<math::RsqrtOp>);
  add("stablehlo.cbrt", emitUnary<math::CbrtOp>);
  add("stablehlo.sine", emitUnary<math::SinOp>);
  add("stablehlo.cosine", emitUnary<math::CosOp>);
  add("stablehlo.tan", emitUnary<math::TanOp>);
  add("stablehlo.tanh", emitUnary<math::TanhOp>);
  add("stablehlo.floor", emitUnary<math::FloorOp>);
  add("stablehlo.ceil", emitUnary<math::CeilOp>);
  add("stablehlo.round_nearest_afz", emitUnary<math::RoundOp>);
  add("stablehlo.round_nearest_even", emitUnary<math::RoundEvenOp>);
  add("chlo.acos", emitUnary<math::AcosOp>);
  add("chlo.acosh", emitUnary<math::AcoshOp>);
  add("chlo.asin", emitUnary<math::AsinOp>);
  add("chlo.asinh", emitUnary<math::AsinhOp>);
  add("chlo.atan", emitUnary<math::AtanOp>);
  add("chlo.atanh", emitUnary<math::AtanhOp>);
  add("chlo.cosh", emitUnary<math::CoshOp>);
  add("chlo.erf", emitUnary<math::ErfOp>);
  add("chlo.erfc", emitUnary<math::ErfcOp>);
  add("chlo.erf_inv", emitErfInv);
  add("chlo.sinh", emitUnary<math::SinhOp>);
  add("chlo.tan", emitUnary<math::TanOp>);
  add("chlo.square", emitSquare);
  patterns.addElementwise("stablehlo.atan2", 2, Elements::Floats,
                          emitBinary<math::Atan2Op>);
  patterns.addElementwise("stablehlo.is_finite", 1, Elements::ToBoolean,
                          emitIsFinite);
  auto addTest = [&](StringRef name, EmitScalar emitScalar) {
    patterns.addElementwise(name, 1, Elements::FloatsToBoolean, emitScalar);
  };
  addTest("chlo.is_inf", emitIsInfinite);
  addTest("chlo.is_pos_inf", emitIsInfinity<false>);
  addTest("chlo.is_neg_inf", emitIsInfinity<true>);
}
