//===- ExpandVectorExp.cpp - Exponentials of vectors ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::act;

namespace {
struct ExpandVectorExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

LogicalResult
ExpandVectorExp::matchAndRewrite(math::ExpOp op,
                                 PatternRewriter &rewriter) const {
  Type type = op.getType();
  auto vector = dyn_cast<VectorType>(type);
  if (!getElementTypeOrSelf(type).isF32() || (!vector && !type.isF32()))
    return rewriter.notifyMatchFailure(op, "expects f32");
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Type integerType = b.getI32Type();
  if (vector)
    integerType = VectorType::get(vector.getShape(), integerType);
  auto constant = [&](TypedAttr value, Type type) -> Value {
    if (vector)
      value = DenseElementsAttr::get(cast<VectorType>(type), Attribute(value));
    return arith::ConstantOp::create(b, value);
  };
  auto splat = [&](float value) {
    return constant(b.getF32FloatAttr(value), type);
  };
  auto integer = [&](int32_t value) {
    return constant(b.getI32IntegerAttr(value), integerType);
  };
  auto fma = [&](Value x, Value y, Value z) -> Value {
    return math::FmaOp::create(b, x, y, z);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, predicate, x, y);
  };
  // Beyond these the result is 0 or infinity all the same. NaN passes both.
  Value x = op.getOperand();
  Value low = splat(-104.0f), high = splat(89.0f);
  x = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OLT, x, low),
                              low, x);
  x = arith::SelectOp::create(b, compare(arith::CmpFPredicate::OGT, x, high),
                              high, x);
  // x = n ln 2 + r; ln 2 in two parts, of which n times the first is exact.
  Value n = math::RoundEvenOp::create(
      b, arith::MulFOp::create(b, x, splat(1.44269504f)));
  Value r = fma(n, splat(-0.693359375f), x);
  r = fma(n, splat(2.12194440e-4f), r);
  // The polynomial of Cephes' expf for |r| <= ln(2) / 2.
  Value p = splat(1.9875691500e-4f);
  for (float coefficient :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f,
        5.0000001201e-1f})
    p = fma(p, r, splat(coefficient));
  p = fma(arith::MulFOp::create(b, p, r), r, r);
  p = arith::AddFOp::create(b, p, splat(1.0f));
  // 2^n in two factors, so that neither leaves the range of normal numbers.
  Value isNumber = compare(arith::CmpFPredicate::ORD, n, n);
  n = arith::SelectOp::create(b, isNumber, n, splat(0.0f));
  Value exponent = arith::FPToSIOp::create(b, integerType, n);
  Value half = arith::ShRSIOp::create(b, exponent, integer(1));
  for (Value part : {half, Value(arith::SubIOp::create(b, exponent, half))}) {
    Value bits = arith::ShLIOp::create(
        b, arith::AddIOp::create(b, part, integer(127)), integer(23));
    p = arith::MulFOp::create(b, p, arith::BitcastOp::create(b, type, bits));
  }
  rewriter.replaceOp(op, p);
  return success();
}

void mlir::act::populateExpandVectorExpPatterns(RewritePatternSet &patterns) {
  patterns.add<ExpandVectorExp>(patterns.getContext());
}
