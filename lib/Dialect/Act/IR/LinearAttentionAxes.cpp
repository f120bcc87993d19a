//===- LinearAttentionAxes.cpp - Linear attention in parts ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"

using namespace mlir;
using namespace mlir::act;

static bool isShared(LinearAttentionOpInterface op, Value operand) {
  return operand == op.getFeatures() ||
         (operand == op.getDecay() && op.getDecayKind() == DecayKind::Head);
}

/// The sequence, with states as carries; gradients walk against it.
static IterationAxis getSequenceAxis(LinearAttentionOpInterface op,
                                     bool isReversed) {
  IterationAxis axis;
  axis.kind = AxisKind::Sequential;
  axis.isReversed = isReversed;
  unsigned numStates = op.getStates().size();
  unsigned numOperands = op->getNumOperands();
  unsigned numResults = op->getNumResults();
  unsigned firstState = op.getStates().getBeginOperandIndex();
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    bool isState = number + numStates >= numOperands ||
                   (number >= firstState && number < firstState + numStates);
    axis.operandDims.push_back(isState || isShared(op, operand.get()) ? -1 : 1);
  }
  axis.resultDims.assign(numResults, 1);
  for (unsigned i = 0; i < numStates; ++i) {
    unsigned result = numResults - numStates + i;
    axis.resultDims[result] = -1;
    axis.carries.push_back({numOperands - numStates + i, result});
  }
  return axis;
}

/// The gradient of a decay per head, which is a sum over tokens and sequences.
static std::optional<unsigned> getSummedResult(LinearAttentionOpInterface op) {
  auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation());
  if (!grad || op.getDecayKind() != DecayKind::Head)
    return std::nullopt;
  return cast<OpResult>(grad.getDecayGradient()).getResultNumber();
}

static SmallVector<IterationAxis> getAxes(LinearAttentionOpInterface op,
                                          bool isReversed) {
  SmallVector<IterationAxis> axes;
  auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
  if (!llvm::all_of(op->getOperandTypes(), isTensor))
    return axes;
  auto hasParts = [](int64_t size) {
    return !ShapedType::isDynamic(size) && size > 1;
  };
  std::optional<unsigned> summed = getSummedResult(op);
  if (hasParts(op.getBatchSize()) && !summed) {
    IterationAxis batch;
    for (Value operand : op->getOperands())
      batch.operandDims.push_back(isShared(op, operand) ? -1 : 0);
    batch.resultDims.assign(op->getNumResults(), 0);
    axes.push_back(std::move(batch));
  }
  if (hasParts(op.getLength())) {
    IterationAxis sequence = getSequenceAxis(op, isReversed);
    if (summed) {
      sequence.operandDims[op.getOuts().getBeginOperandIndex() + *summed] = -1;
      sequence.resultDims[*summed] = -1;
    }
    axes.push_back(std::move(sequence));
  }
  return axes;
}

SmallVector<IterationAxis> LinearAttentionOp::getIterationAxes() {
  return getAxes(*this, /*isReversed=*/false);
}

SmallVector<IterationAxis> LinearAttentionGradOp::getIterationAxes() {
  if (isa<ReverseAttr>(getStatePolicy()))
    return {}; // knows the state after the last token only
  return getAxes(*this, /*isReversed=*/true);
}

SmallVector<IterationAxis> LinearAttentionStateOp::getIterationAxes() {
  return getAxes(*this, /*isReversed=*/getSubtract());
}
