//===- ExpandFunctions.cpp - Functions of f32 by way of f64 ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Powers, sines and others of f32, computed in f64 with polynomials that are
// exact to f32: what a device has no instruction for, or none that is exact
// enough.
//
//===----------------------------------------------------------------------===//

#include "ExpandFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// Builds arithmetic on f64 scalars or vectors of the shape of a type.
class Doubles {
public:
  Doubles(PatternRewriter &rewriter, Location loc, Type like)
      : b(loc, rewriter), like(like) {}

  Type get(Type element) {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Value number(double value) { return splat(b.getF64FloatAttr(value)); }
  Value integer(int64_t value) { return splat(b.getI64IntegerAttr(value)); }
  Value extend(Value value) {
    return arith::ExtFOp::create(b, get(b.getF64Type()), value);
  }
  Value cut(Value value) {
    return arith::TruncFOp::create(b, get(b.getF32Type()), value);
  }
  Value add(Value l, Value r) { return arith::AddFOp::create(b, l, r); }
  Value subtract(Value l, Value r) { return arith::SubFOp::create(b, l, r); }
  Value multiply(Value l, Value r) { return arith::MulFOp::create(b, l, r); }
  Value divide(Value l, Value r) { return arith::DivFOp::create(b, l, r); }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }
  Value absolute(Value value) { return math::AbsFOp::create(b, value); }
  Value negate(Value value) { return arith::NegFOp::create(b, value); }
  Value round(Value value) { return math::RoundEvenOp::create(b, value); }
  Value compare(arith::CmpFPredicate predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, predicate, l, r);
  }
  Value both(Value l, Value r) { return arith::AndIOp::create(b, l, r); }
  Value either(Value l, Value r) { return arith::OrIOp::create(b, l, r); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  /// The sum of coefficients[i] * x^i.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = number(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, number(coefficient));
    return sum;
  }

  Value log2(Value x);
  Value exp2(Value x);

  ImplicitLocOpBuilder b;

private:
  Value splat(TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(like))
      value = DenseElementsAttr::get(vector.clone(value.getType()),
                                     Attribute(value));
    return arith::ConstantOp::create(b, value);
  }

  Type like;
};
} // namespace

/// The logarithm of a normal number x = m 2^e with m in [sqrt(1/2), sqrt(2)):
/// e + 2 / ln(2) artanh(s) with s = (m - 1) / (m + 1), |s| < 0.172; what the
/// series leaves out is below 2^-39 of it.
Value Doubles::log2(Value x) {
  Type i64 = get(b.getI64Type());
  Value bits = arith::BitcastOp::create(b, i64, x);
  // The bits of sqrt(1/2), so that the exponent changes at it.
  Value half = integer(0x3FE6A09E667F3BCD);
  Value distance = arith::SubIOp::create(b, bits, half);
  Value exponent = arith::ShRSIOp::create(b, distance, integer(52));
  Value shift = arith::ShLIOp::create(b, exponent, integer(52));
  Value m = arith::BitcastOp::create(b, get(b.getF64Type()),
                                     arith::SubIOp::create(b, bits, shift));
  Value s = divide(subtract(m, number(1)), add(m, number(1)));
  Value square = multiply(s, s);
  Value series = polynomial(square, {1.0, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9,
                                     1.0 / 11, 1.0 / 13, 1.0 / 15});
  Value e = arith::SIToFPOp::create(b, get(b.getF64Type()), exponent);
  constexpr double twoByLn2 = 2.8853900817779268;
  return fma(multiply(s, number(twoByLn2)), series, e);
}

/// 2^x = 2^n e^(ln(2) f) with n the nearest integer, |f| <= 1/2. |x| up to
/// 1000.
Value Doubles::exp2(Value x) {
  constexpr double ln2 = 0.69314718055994531;
  Value n = round(x);
  Value f = multiply(subtract(x, n), number(ln2));
  Value power =
      polynomial(f, {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                     1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800});
  Value exponent = arith::FPToSIOp::create(b, get(b.getI64Type()), n);
  Value bits = arith::ShLIOp::create(
      b, arith::AddIOp::create(b, exponent, integer(1023)), integer(52));
  return multiply(power,
                  arith::BitcastOp::create(b, get(b.getF64Type()), bits));
}

namespace {
/// x^y as IEEE 754 defines it.
struct ExpandPow : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::PowFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "expects f32");
    using Predicate = arith::CmpFPredicate;
    Doubles d(rewriter, op.getLoc(), type);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Value x = d.extend(op.getLhs()), y = d.extend(op.getRhs());
    Value size = d.absolute(x);
    Value logarithm = d.log2(size);
    logarithm = d.select(d.compare(Predicate::OEQ, size, d.number(0)),
                         d.number(-infinity), logarithm);
    logarithm = d.select(d.compare(Predicate::OEQ, size, d.number(infinity)),
                         d.number(infinity), logarithm);
    Value exponent = d.multiply(y, logarithm);
    // Beyond this, the result is infinite or zero in f32. NaN stays NaN.
    constexpr double beyond = 300;
    Value bounded =
        d.select(d.compare(Predicate::OGT, exponent, d.number(beyond)),
                 d.number(beyond), exponent);
    bounded = d.select(d.compare(Predicate::OLT, exponent, d.number(-beyond)),
                       d.number(-beyond), bounded);
    Value isNumber = d.compare(Predicate::ORD, bounded, bounded);
    Value power = d.exp2(d.select(isNumber, bounded, d.number(0)));
    power = d.select(isNumber, power, exponent);

    Value whole = d.compare(Predicate::OEQ, d.round(y), y);
    Value half = d.multiply(y, d.number(0.5));
    Value odd = d.both(whole, d.compare(Predicate::ONE, d.round(half), half));
    Value sign = math::CopySignOp::create(d.b, d.number(1), x);
    Value negative = d.compare(Predicate::OLT, sign, d.number(0));
    power = d.select(d.both(negative, odd), d.negate(power), power);
    Value undefined =
        d.both(d.both(d.compare(Predicate::OLT, x, d.number(0)),
                      d.compare(Predicate::ONE, size, d.number(infinity))),
               d.compare(Predicate::ONE, d.round(y), y));
    power = d.select(undefined,
                     d.number(std::numeric_limits<double>::quiet_NaN()), power);
    power = d.select(d.compare(Predicate::UNO, x, y), d.add(x, y), power);
    Value infiniteOfOne =
        d.both(d.compare(Predicate::OEQ, size, d.number(1)),
               d.compare(Predicate::OEQ, d.absolute(y), d.number(infinity)));
    Value one = d.either(d.compare(Predicate::OEQ, x, d.number(1)),
                         d.compare(Predicate::OEQ, y, d.number(0)));
    power = d.select(d.either(one, infiniteOfOne), d.number(1), power);
    rewriter.replaceOp(op, d.cut(power));
    return success();
  }
};

/// sin(x) for `quarters` = 0, cos(x) for 1, both reduced to [-pi/4, pi/4].
Value buildSine(Doubles &d, Value x, int64_t quarters) {
  constexpr double twoByPi = 0.63661977236758134;
  // pi / 2 in two parts.
  constexpr double high = 1.5707963267948966, low = 6.123233995736766e-17;
  Value n = d.round(d.multiply(x, d.number(twoByPi)));
  Value r = d.fma(n, d.number(-high), x);
  r = d.fma(n, d.number(-low), r);
  Value square = d.multiply(r, r);
  Value sine =
      d.multiply(r, d.polynomial(square, {1.0, -1.0 / 6, 1.0 / 120, -1.0 / 5040,
                                          1.0 / 362880, -1.0 / 39916800}));
  Value cosine =
      d.polynomial(square, {1.0, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                            -1.0 / 3628800, 1.0 / 479001600});
  Value quadrant = arith::AddIOp::create(
      d.b, arith::FPToSIOp::create(d.b, d.get(d.b.getI64Type()), n),
      d.integer(quarters));
  auto hasBit = [&](int64_t bit) -> Value {
    return arith::CmpIOp::create(
        d.b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(d.b, quadrant, d.integer(bit)), d.integer(0));
  };
  // Adding zero to it would make minus zero positive.
  sine =
      d.select(d.compare(arith::CmpFPredicate::OEQ, x, d.number(0)), x, sine);
  Value result = d.select(hasBit(1), cosine, sine);
  return d.select(hasBit(2), d.negate(result), result);
}

template <typename Op, int64_t quarters>
struct ExpandSine : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expects f32");
    Doubles d(rewriter, op.getLoc(), op.getType());
    Value x = d.extend(op.getOperand());
    // Of infinities there is none.
    Value finite = d.compare(arith::CmpFPredicate::OLT, d.absolute(x),
                             d.number(std::numeric_limits<double>::infinity()));
    Value sine = buildSine(d, d.select(finite, x, d.number(0)), quarters);
    rewriter.replaceOp(
        op,
        d.cut(d.select(finite, sine,
                       d.number(std::numeric_limits<double>::quiet_NaN()))));
    return success();
  }
};
} // namespace

/// e^x; |x| up to 600.
static Value buildExp(Doubles &d, Value x) {
  constexpr double log2e = 1.4426950408889634;
  return d.exp2(d.multiply(x, d.number(log2e)));
}

/// `value`, but at most `most` in size.
static Value bound(Doubles &d, Value value, double most) {
  value = d.select(d.compare(arith::CmpFPredicate::OGT, value, d.number(most)),
                   d.number(most), value);
  return d.select(d.compare(arith::CmpFPredicate::OLT, value, d.number(-most)),
                  d.number(-most), value);
}

/// 1 - erf(x) = t e^(p(t) - x^2) for x >= 0, where t = 2 / (2 + x), and
/// 2 - erfc(-x) for others. The polynomial of 2 t - 1 was fitted to this form
/// at Chebyshev points for x up to 11, to 2e-12.
static Value buildErfc(Doubles &d, Value x) {
  Value size = d.absolute(bound(d, x, 20));
  Value t = d.divide(d.number(2), d.add(d.number(2), size));
  Value p = d.polynomial(
      d.fma(d.number(2), t, d.number(-1)),
      {-0.6717940840567919, 0.6726432239481334, 0.04734330686671733,
       -0.04689560816167096, -0.009872690850386645, 0.00882489649451268,
       0.0017589681970069993, -0.002345434759792198, -0.00014662121106075258,
       0.000671947166073364, -9.165010416910167e-05, -0.0001701790224574375,
       6.515102055674256e-05, 2.736978969197918e-05, -2.0359441341760046e-05,
       2.2847579853035197e-07, 1.5356504618679283e-06});
  Value tail = d.multiply(t, buildExp(d, d.fma(d.negate(size), size, p)));
  return d.select(d.compare(arith::CmpFPredicate::OLT, x, d.number(0)),
                  d.subtract(d.number(2), tail), tail);
}

/// (e^x - 1 / e^x) / 2, near zero its series.
static Value buildSinh(Doubles &d, Value x) {
  Value power = buildExp(d, bound(d, x, 200));
  Value sinh = d.multiply(d.number(0.5),
                          d.subtract(power, d.divide(d.number(1), power)));
  Value cube = d.multiply(d.multiply(x, x), x);
  Value isSmall =
      d.compare(arith::CmpFPredicate::OLT, d.absolute(x), d.number(1e-4));
  return d.select(isSmall, d.fma(cube, d.number(1.0 / 6), x), sinh);
}

static Value buildCosh(Doubles &d, Value x) {
  Value power = buildExp(d, bound(d, x, 200));
  return d.multiply(d.number(0.5), d.add(power, d.divide(d.number(1), power)));
}

namespace {
/// A function of one f32 that `build` computes of numbers.
template <typename Op, Value (*build)(Doubles &, Value)>
struct ExpandUnary : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expects f32");
    Doubles d(rewriter, op.getLoc(), op.getType());
    Value x = d.extend(op.getOperand());
    Value isNumber = d.compare(arith::CmpFPredicate::ORD, x, x);
    Value result = build(d, d.select(isNumber, x, d.number(0)));
    rewriter.replaceOp(op, d.cut(d.select(isNumber, result, x)));
    return success();
  }
};
} // namespace

void mlir::act::populateExpandFunctionPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandPow, ExpandSine<math::SinOp, 0>,
               ExpandSine<math::CosOp, 1>, ExpandUnary<math::ErfcOp, buildErfc>,
               ExpandUnary<math::SinhOp, buildSinh>,
               ExpandUnary<math::CoshOp, buildCosh>>(patterns.getContext());
}
