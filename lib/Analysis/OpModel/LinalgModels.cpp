//===- LinalgModels.cpp - Models of linalg operations ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Structured operations tell everything by their iterators, indexing maps and
// body, named ones too. Where a body compares floats the whole operation counts
// as discontinuous, though a result such as select(x > 0, x, 0) is not.
//
//===----------------------------------------------------------------------===//

#include "LinalgModels.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;
using linalg::LinalgOp;

/// Operations of the body that compute something.
static auto getComputations(LinalgOp op) {
  return llvm::make_filter_range(
      op.getBlock()->without_terminator(),
      [](Operation &inner) { return !isa<linalg::IndexOp>(inner); });
}

/// The kind of an operation that only moves elements.
static OpKind getMoveKind(LinalgOp op) {
  auto yielded =
      dyn_cast<BlockArgument>(op.getBlock()->getTerminator()->getOperand(0));
  if (!yielded || yielded.getOwner() != op.getBlock())
    return OpKind::Broadcast; // a fill by a value from outside
  AffineMap map = op.getIndexingMapsArray()[yielded.getArgNumber()];
  if (map.isPermutation())
    return OpKind::View;
  return map.isProjectedPermutation(/*allowZeroInResults=*/true)
             ? OpKind::Broadcast
             : OpKind::Indexing;
}

static bool multiplies(LinalgOp op) {
  return llvm::any_of(getComputations(op), [](Operation &inner) {
    return isa<arith::MulFOp, arith::MulIOp>(inner);
  });
}

static OpKind getStructuredKind(LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !isMemoryEffectFree(op))
    return OpKind::Opaque;
  if (isa<linalg::FillRng2DOp>(op))
    return OpKind::Random;
  if (op.getNumReductionLoops() > 0) {
    bool isProduct = linalg::isaContractionOpInterface(op) ||
                     (linalg::isaConvolutionOpInterface(op) && multiplies(op));
    return isProduct ? OpKind::Contraction : OpKind::Reduction;
  }
  auto computations = getComputations(op);
  if (computations.empty())
    return getMoveKind(op);
  if (llvm::any_of(computations, llvm::IsaPred<tensor::ExtractOp>))
    return OpKind::Indexing;
  bool aligned = llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
    return map.isProjectedPermutation(/*allowZeroInResults=*/true);
  });
  return aligned ? OpKind::Elementwise : OpKind::Indexing;
}

/// True if every result has passed an operation that makes huge values small.
static bool bodySquashes(LinalgOp op) {
  llvm::SmallDenseSet<Value> huge;
  for (BlockArgument argument : op.getBlock()->getArguments())
    if (isa<FloatType>(argument.getType()))
      huge.insert(argument);
  if (huge.empty())
    return false;
  auto isHuge = [&](Value value) { return huge.contains(value); };
  for (Operation &inner : op.getBlock()->without_terminator())
    if (llvm::any_of(inner.getOperands(), isHuge) && !squashesRange(&inner))
      huge.insert(inner.result_begin(), inner.result_end());
  return llvm::none_of(op.getBlock()->getTerminator()->getOperands(), isHuge);
}

/// Operands that the body's only operation, a select, selects from.
static SmallVector<Value> getStructuredSelected(LinalgOp op) {
  auto computations = getComputations(op);
  if (!llvm::hasSingleElement(computations))
    return {};
  auto select = dyn_cast<arith::SelectOp>(*computations.begin());
  if (!select || op.getBlock()->getTerminator()->getOperand(0) != select)
    return {};
  SmallVector<Value> selected;
  for (Value value : {select.getTrueValue(), select.getFalseValue()}) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != op.getBlock())
      return {};
    selected.push_back(op->getOperand(argument.getArgNumber()));
  }
  return selected;
}

/// Follows bounds through the body.
static std::optional<uint64_t>
getStructuredBound(LinalgOp op,
                   ArrayRef<std::optional<uint64_t>> operandBounds) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() > 0)
    return std::nullopt;
  llvm::SmallDenseMap<Value, std::optional<uint64_t>> bounds;
  for (auto [argument, bound] :
       llvm::zip(op.getBlock()->getArguments(), operandBounds))
    bounds[argument] = bound;
  for (Operation &inner : op.getBlock()->without_terminator()) {
    auto model = dyn_cast<OpModelInterface>(inner);
    if (!model || inner.getNumResults() != 1)
      continue;
    SmallVector<std::optional<uint64_t>> operands;
    for (Value operand : inner.getOperands())
      operands.push_back(bounds.lookup(operand));
    bounds[inner.getResult(0)] = model.getUpperBound(operands);
  }
  return bounds.lookup(op.getBlock()->getTerminator()->getOperand(0));
}

/// Iterations times the body's operations on floats.
static double getStructuredFlops(LinalgOp op) {
  double iterations = 1;
  for (int64_t range : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(range))
      return getDefaultFlops(op);
    iterations *= static_cast<double>(range);
  }
  auto computesFloat = [](Operation &inner) {
    return llvm::any_of(inner.getOperandTypes(), llvm::IsaPred<FloatType>) &&
           getOpKind(&inner) == OpKind::Elementwise;
  };
  return iterations * static_cast<double>(
                          llvm::count_if(getComputations(op), computesFloat));
}

namespace {
template <typename OpTy>
struct StructuredModel
    : OpModelInterface::ExternalModel<StructuredModel<OpTy>, OpTy> {
  OpKind getOpKind(Operation *op) const {
    return getStructuredKind(cast<LinalgOp>(op));
  }
  bool isCheapToRecompute(Operation *op) const {
    return isCheapKind(getOpKind(op)) &&
           llvm::all_of(getComputations(cast<LinalgOp>(op)),
                        [](Operation &inner) {
                          return act::isCheapToRecompute(&inner);
                        });
  }
  bool isDiscontinuous(Operation *op) const {
    return llvm::any_of(
        getComputations(cast<LinalgOp>(op)),
        [](Operation &inner) { return act::isDiscontinuous(&inner); });
  }
  bool squashesRange(Operation *op) const {
    return bodySquashes(cast<LinalgOp>(op));
  }
  SmallVector<Value> getSelectedValues(Operation *op) const {
    return getStructuredSelected(cast<LinalgOp>(op));
  }
  Attribute getConstantElements(Operation *) const { return {}; }
  std::optional<uint64_t>
  getUpperBound(Operation *op,
                ArrayRef<std::optional<uint64_t>> operandBounds) const {
    return getStructuredBound(cast<LinalgOp>(op), operandBounds);
  }
  double getFlops(Operation *op) const {
    return getStructuredFlops(cast<LinalgOp>(op));
  }
};

struct SoftmaxModel
    : OpModelInterface::ExternalModel<SoftmaxModel, linalg::SoftmaxOp> {
  OpKind getOpKind(Operation *) const { return OpKind::Reduction; }
  bool isCheapToRecompute(Operation *) const { return false; }
  bool isDiscontinuous(Operation *) const { return false; }
  bool squashesRange(Operation *) const { return true; }
  SmallVector<Value> getSelectedValues(Operation *) const { return {}; }
  Attribute getConstantElements(Operation *) const { return {}; }
  std::optional<uint64_t>
  getUpperBound(Operation *, ArrayRef<std::optional<uint64_t>>) const {
    return std::nullopt;
  }
  double getFlops(Operation *op) const { return 5 * getDefaultFlops(op); }
};
} // namespace

template <typename... Ops>
static void attachStructured(MLIRContext *context) {
  (Ops::template attachInterface<StructuredModel<Ops>>(*context), ...);
}

void mlir::act::attachLinalgModels(MLIRContext *context,
                                   linalg::LinalgDialect *) {
  attachStructured<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
      >(context);
  linalg::SoftmaxOp::attachInterface<SoftmaxModel>(*context);
}
