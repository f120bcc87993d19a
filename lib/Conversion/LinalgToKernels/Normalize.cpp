//===- Normalize.cpp - One form for equal operations ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTNORMALIZEPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// x + 0 and 0 + x become x, as compilers of frameworks do it (a negative zero
/// keeps its sign).
struct FoldZeroSum : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    for (auto [zero, other] : {std::pair(op.getLhs(), op.getRhs()),
                               std::pair(op.getRhs(), op.getLhs())})
      if (matchPattern(zero, m_AnyZeroFloat())) {
        rewriter.replaceOp(op, other);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no operand is zero");
  }
};

/// A sum of products whose only use permutes it writes the permuted result.
struct FoldTransposedContraction : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp copy,
                                PatternRewriter &rewriter) const override {
    if (!isCopy(copy) || !copy.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(copy, "not a permutation");
    auto product = copy.getInputs()[0].getDefiningOp<linalg::GenericOp>();
    if (!product || !isContraction(product) || !product->hasOneUse())
      return rewriter.notifyMatchFailure(copy, "no contraction of one use");
    auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
    AffineMap in = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
    AffineMap out = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
    auto type = cast<RankedTensorType>(copy.getResult(0).getType());
    if (!fill || !in.isPermutation() || !out.isPermutation() ||
        getElementTypeOrSelf(product.getResult(0)) != type.getElementType())
      return rewriter.notifyMatchFailure(copy, "not a permutation");
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    maps.back() = out.compose(inversePermutation(in)).compose(maps.back());
    Location loc = product.getLoc();
    rewriter.setInsertionPoint(product);
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                          type.getElementType());
    Value zero =
        linalg::FillOp::create(rewriter, loc, fill.getInputs()[0], empty)
            .getResult(0);
    auto permuted = linalg::GenericOp::create(
        rewriter, loc, TypeRange{type}, product.getInputs(), ValueRange{zero},
        maps, product.getIteratorTypesArray());
    rewriter.cloneRegionBefore(product.getRegion(), permuted.getRegion(),
                               permuted.getRegion().begin());
    rewriter.replaceOp(copy, permuted.getResults());
    return success();
  }
};

/// Makes named operations generic. Fills stay, which say what a sum starts
/// from.
struct Generalize : OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp>(op))
      return rewriter.notifyMatchFailure(op, "has its form");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

struct NormalizePass : act::impl::ActNormalizePassBase<NormalizePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    // Not in windows: without a loop of one iteration what is left of an
    // expression looks as if it had to cover its dimension.
    linalg::ControlDropUnitDims control;
    auto allLoops = control.controlFn;
    control.controlFn = [allLoops](Operation *op) -> SmallVector<unsigned> {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (generic &&
          !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) {
            return map.isProjectedPermutation(
                /*allowZeroInResults=*/true);
          }))
        return {};
      return allLoops(op);
    };
    linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
    linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(patterns,
                                                               control);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    patterns.add<FoldZeroSum, FoldTransposedContraction, Generalize>(context);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
  }
};
} // namespace
