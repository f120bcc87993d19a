//===- ExpandMath.cpp - Functions as polynomials -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToCPU/Passes.h"
#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTEXPANDMATHPASS
#include "act/Conversion/KernelsToCPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Functions whose approximations are good everywhere. The others are left to
/// the C library.
static bool hasApproximation(StringRef name) {
  return llvm::is_contained(
      {math::TanhOp::getOperationName(), math::ErfOp::getOperationName(),
       math::LogOp::getOperationName(), math::Log1pOp::getOperationName(),
       math::ExpM1Op::getOperationName()},
      name);
}

namespace {
/// exp(x) - 1 of f64. For |x| < 1/2 it is 2 t / (1 - t), where t = tanh(x / 2),
/// which is as exact near zero as the tangent.
struct ExpandExpM1 : OpRewritePattern<math::ExpM1Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpM1Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF64())
      return rewriter.notifyMatchFailure(op, "expects f64");
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      TypedAttr attr = rewriter.getF64FloatAttr(value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(rewriter, loc, attr);
    };
    Value half =
        arith::MulFOp::create(rewriter, loc, op.getOperand(), constant(0.5));
    Value t = math::TanhOp::create(rewriter, loc, half);
    Value twice = arith::AddFOp::create(rewriter, loc, t, t);
    Value rest = arith::SubFOp::create(rewriter, loc, constant(1), t);
    Value small = arith::DivFOp::create(rewriter, loc, twice, rest);
    Value large = arith::SubFOp::create(
        rewriter, loc, math::ExpOp::create(rewriter, loc, op.getOperand()),
        constant(1));
    Value isSmall = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OLT,
        math::AbsFOp::create(rewriter, loc, op.getOperand()), constant(0.5));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isSmall, small, large);
    return success();
  }
};

/// f64 becomes bf16 by way of f32, for which there is code.
struct TruncateThroughF32 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(op.getIn()).isF64() ||
        !getElementTypeOrSelf(type).isBF16())
      return rewriter.notifyMatchFailure(op, "expects f64 to bf16");
    Type middle = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(type))
      middle = vector.clone(middle);
    Value narrow =
        arith::TruncFOp::create(rewriter, op.getLoc(), middle, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, narrow);
    return success();
  }
};

} // namespace

void mlir::act::populateActExpandMathPatterns(RewritePatternSet &patterns) {
  populateExpandVectorExpPatterns(patterns);
  populateMathF32ExpansionPatterns(patterns, [](StringRef) { return true; });
  patterns.add<ExpandExpM1, TruncateThroughF32>(patterns.getContext());
  populateMathPolynomialApproximationPatterns(patterns, hasApproximation);
  math::populateExpansionPatterns(patterns,
                                  {math::RsqrtOp::getOperationName()});
}

namespace {
struct ExpandMathPass : act::impl::ActExpandMathPassBase<ExpandMathPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    populateActExpandMathPatterns(patterns);
    arith::populateExpandBFloat16Patterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
