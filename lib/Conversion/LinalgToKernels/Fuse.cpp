//===- Fuse.cpp - Elementwise operations into their users ----------------===//
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
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTFUSEPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Most operations in the body of a producer that is computed once per user.
static constexpr int64_t duplicatedOps = 12;
/// The same for a producer that reads nothing, such as an iota.
static constexpr int64_t generatedOps = 8;

/// Whether computing `op` again costs less than reading its result.
static bool isCheap(linalg::GenericOp op, int64_t limit) {
  int64_t count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(inner.getDialect()) ||
        isa<tensor::ExtractOp, arith::DivFOp, arith::DivSIOp, arith::DivUIOp,
            arith::RemSIOp, arith::RemUIOp>(inner))
      return false;
    ++count;
  }
  return count <= limit;
}

/// Whether `operand` has an element for every iteration of its owner.
static bool coversLoops(linalg::LinalgOp op, OpOperand *operand) {
  return op.getMatchingIndexingMap(operand).getNumResults() == op.getNumLoops();
}

/// Number of large operands that only `producer` reads.
static int64_t countNewInputs(linalg::GenericOp producer,
                              linalg::LinalgOp consumer) {
  return llvm::count_if(producer.getDpsInputOperands(), [&](OpOperand *input) {
    return coversLoops(producer, input) &&
           !llvm::is_contained(consumer->getOperands(), input->get());
  });
}

/// Whether the producer of `operand` becomes part of the operation that reads
/// it. Nothing is computed more often than it has elements, and what several
/// read is computed again only if that costs less than memory.
static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer || producer.getNumReductionLoops() != 0)
    return false;
  AffineMap map = consumer.getMatchingIndexingMap(operand);
  if (isContraction(consumer)) // operands of contractions are only permuted
    return isCopy(producer) &&
           producer.getMatchingIndexingMap(producer.getDpsInputOperand(0))
               .isPermutation();
  if (isCopy(producer))
    return true;
  if (producer.getNumDpsInputs() == 0)
    return isCheap(producer, generatedOps) &&
           (consumer.getNumReductionLoops() == 0 || map.isPermutation());
  if (!map.isPermutation())
    return false;
  if (producer->hasOneUse())
    return true;
  return countNewInputs(producer, consumer) <= 1 &&
         isCheap(producer, duplicatedOps);
}

/// Whether a reshape beside the operation of `operand` moves to its other side,
/// where it costs nothing: only if no contraction gets more loops by it.
static bool shouldFoldReshape(OpOperand *operand) {
  Operation *producer = operand->get().getDefiningOp();
  Operation *consumer = operand->getOwner();
  if (!producer || !producer->hasOneUse())
    return false;
  for (Operation *op : {producer, consumer})
    if (auto structured = dyn_cast<linalg::LinalgOp>(op))
      if (isContraction(structured) || structured.getNumReductionLoops() != 0)
        return false;
  return true;
}

namespace {
struct FusePass : act::impl::ActFusePassBase<FusePass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                      shouldFoldReshape);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    // A fixed point is not needed: what is left works as well.
    (void)applyPatternsGreedily(getOperation(), std::move(patterns), config);
  }
};
} // namespace
