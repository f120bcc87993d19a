//===- LinearAttentionFolds.cpp - Simpler forms of linear attention -------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that are compiled on: passes of act leave forward as it is.
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// No tokens
//===----------------------------------------------------------------------===//

/// Without tokens states stay what they are and rows have no elements: results
/// are the destinations.
template <typename OpTy>
static LogicalResult foldNoTokens(OpTy op,
                                  SmallVectorImpl<OpFoldResult> &results) {
  if (op.getLength() != 0 || !op.hasPureTensorSemantics())
    return failure();
  llvm::append_range(results, op.getOuts());
  return success();
}

LogicalResult LinearAttentionOp::fold(FoldAdaptor,
                                      SmallVectorImpl<OpFoldResult> &results) {
  return foldNoTokens(*this, results);
}

LogicalResult
LinearAttentionStateOp::fold(FoldAdaptor,
                             SmallVectorImpl<OpFoldResult> &results) {
  return foldNoTokens(*this, results);
}

LogicalResult
LinearAttentionGradOp::fold(FoldAdaptor,
                            SmallVectorImpl<OpFoldResult> &results) {
  // Its gradient is a sum over tokens: zero, whatever its destination holds.
  if (getDecayKind() == DecayKind::Head)
    return failure();
  return foldNoTokens(*this, results);
}

//===----------------------------------------------------------------------===//
// No decay
//===----------------------------------------------------------------------===//

/// Whether `decay`, a logarithm, is a constant that multiplies by one.
static bool isZero(Value decay) {
  return matchPattern(decay, m_AnyZeroFloat()) || isZeroConstant(decay);
}

template <typename OpTy>
static LogicalResult matchZeroDecay(OpTy op, PatternRewriter &rewriter) {
  if (!op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "expects tensors");
  if (!op.getDecay() || !isZero(op.getDecay()))
    return rewriter.notifyMatchFailure(op, "expects a decay of constant zero");
  return success();
}

/// A decay of zero is none.
template <typename OpTy>
static LogicalResult dropZeroDecay(OpTy op, PatternRewriter &rewriter) {
  if (failed(matchZeroDecay(op, rewriter)))
    return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getDecayMutable().clear(); });
  return success();
}

/// A decay of zero is none where its gradient is not asked for.
static LogicalResult dropZeroDecayOfGrad(LinearAttentionGradOp op,
                                         PatternRewriter &rewriter) {
  if (failed(matchZeroDecay(op, rewriter)))
    return failure();
  unsigned number = cast<OpResult>(op.getDecayGradient()).getResultNumber();
  if (!op.getDecayGradient().use_empty())
    return rewriter.notifyMatchFailure(op, "the gradient of decay has uses");
  auto without = [&](ValueRange values) {
    SmallVector<Value> rest = llvm::to_vector(values);
    rest.erase(rest.begin() + number);
    return rest;
  };
  SmallVector<Value> outs = without(op.getOuts());
  auto simpler = LinearAttentionGradOp::create(
      rewriter, op.getLoc(), TypeRange(ValueRange(outs)), op.getQuery(),
      op.getKey(), op.getValue(), /*decay=*/Value(), op.getFeatures(),
      op.getOutput(), op.getDenominator(), op.getGradient(), op.getStates(),
      outs, op.getFeatureMapAttr(), op.getScaleAttr(), op.getNormalizeAttr(),
      op.getEpsilonAttr(), op.getChunkAttr(), op.getStatePolicyAttr());
  simpler->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(without(op.getResults()), simpler.getResults()))
    rewriter.replaceAllUsesWith(from, to);
  rewriter.eraseOp(op);
  return success();
}

//===----------------------------------------------------------------------===//
// No attending
//===----------------------------------------------------------------------===//

/// Where only states are used, attention is the update of states.
static LogicalResult keepStatesOnly(LinearAttentionOp op,
                                    PatternRewriter &rewriter) {
  if (!op.hasPureTensorSemantics())
    return rewriter.notifyMatchFailure(op, "expects tensors");
  unsigned number = op.getStateNumber();
  auto rows = op.getResults().take_front(number);
  if (!llvm::all_of(rows, [](Value row) { return row.use_empty(); }))
    return rewriter.notifyMatchFailure(op, "rows of results have uses");
  auto states = op.getResults().drop_front(number);
  auto update = LinearAttentionStateOp::create(
      rewriter, op.getLoc(), states.getTypes(), op.getKey(), op.getValue(),
      op.getDecay(), op.getFeatures(), op.getStates(), op.getFeatureMapAttr(),
      op.getNormalizeAttr(), op.getChunkAttr(), /*subtract=*/UnitAttr());
  update->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceAllUsesWith(states, update.getResults());
  rewriter.eraseOp(op);
  return success();
}

void LinearAttentionOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                                    MLIRContext *) {
  patterns.add(dropZeroDecay<LinearAttentionOp>);
  patterns.add(keepStatesOnly);
}

void LinearAttentionStateOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropZeroDecay<LinearAttentionStateOp>);
}

void LinearAttentionGradOp::getCanonicalizationPatterns(
    RewritePatternSet &patterns, MLIRContext *) {
  patterns.add(dropZeroDecayOfGrad);
}
