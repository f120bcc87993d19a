//===- LoopNest.cpp - Loops of one operation -----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/LoopNest.h"
#include "act/Conversion/KernelUtils/Combiners.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;

/// Adds `factor` * `expr` to the strides and the offset of an operand.
static LogicalResult addLinear(AffineExpr expr, int64_t factor,
                               NestOperand &operand) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    operand.strides[dim.getPosition()] += factor;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    operand.offset += factor * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), factor, operand)) &&
                   succeeded(addLinear(binary.getRHS(), factor, operand)));
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !constant)
    return failure();
  return addLinear(binary.getLHS(), factor * constant.getValue(), operand);
}

static void removeLoop(LoopNest &nest, unsigned loop) {
  nest.extents.erase(nest.extents.begin() + loop);
  nest.isReduction.erase(nest.isReduction.begin() + loop);
  for (NestOperand &operand : nest.operands)
    if (!operand.scalar)
      operand.strides.erase(operand.strides.begin() + loop);
}

/// Makes one loop of two neighbours whose elements follow each other in every
/// operand.
static void mergeLoops(LoopNest &nest, unsigned numRows) {
  for (unsigned loop = numRows; loop + 1 < nest.getNumLoops();) {
    int64_t extent = nest.extents[loop + 1];
    bool mergeable =
        nest.isReduction[loop] == nest.isReduction[loop + 1] &&
        llvm::all_of(nest.operands, [&](const NestOperand &operand) {
          return operand.scalar ||
                 operand.strides[loop] == operand.strides[loop + 1] * extent;
        });
    if (!mergeable) {
      ++loop;
      continue;
    }
    nest.extents[loop + 1] *= nest.extents[loop];
    removeLoop(nest, loop);
  }
}

FailureOr<LoopNest> mlir::act::getLoopNest(linalg::GenericOp op,
                                           const KernelValues &values,
                                           unsigned numRows) {
  LoopNest nest;
  nest.op = op;
  nest.extents = op.getStaticLoopRanges();
  for (utils::IteratorType iterator : op.getIteratorTypesArray())
    nest.isReduction.push_back(iterator == utils::IteratorType::reduction);
  nest.initial.resize(op.getNumDpsInits());
  for (OpOperand &operand : op->getOpOperands()) {
    NestOperand &added = nest.operands.emplace_back();
    auto buffer = values.buffers.find(operand.get());
    if (buffer == values.buffers.end()) {
      added.scalar = values.scalars.lookup(operand.get());
      continue;
    }
    added.buffer = buffer->second;
    added.strides.assign(nest.getNumLoops(), 0);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, stride] :
         llvm::zip_equal(map.getResults(), added.buffer.strides))
      if (failed(addLinear(expr, stride, added)))
        return op.emitOpError("expects operand ")
               << operand.getOperandNumber()
               << " to be addressed by sums of loops, got "
               << AffineMapAttr::get(map);
  }
  // Loops of one iteration and loops that are one, unless the body counts them.
  if (!op.hasIndexSemantics()) {
    for (unsigned loop = nest.getNumLoops(); loop-- > numRows;)
      if (nest.extents[loop] == 1) {
        removeLoop(nest, loop);
      }
    mergeLoops(nest, numRows);
  }
  return nest;
}

/// The scalar constant that fills `op`'s destination, or null.
static TypedAttr getFilledConstant(linalg::GenericOp op) {
  TypedAttr constant;
  if (!isScalarFill(op) ||
      !matchPattern(op.getInputs()[0], m_Constant(&constant)))
    return {};
  return constant;
}

/// Whether `op` combines what its only destination holds with other values.
static bool isSingleReduction(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 && op.getNumDpsInits() == 1 &&
         getCombiners(op);
}

bool mlir::act::isReductionStart(linalg::GenericOp fill) {
  auto next = dyn_cast_or_null<linalg::GenericOp>(fill->getNextNode());
  return next && getFilledConstant(fill) && isSingleReduction(next) &&
         next.getOutputs()[0] == fill.getOutputs()[0];
}

TypedAttr mlir::act::getReductionStart(linalg::GenericOp reduction) {
  auto before = dyn_cast_or_null<linalg::GenericOp>(reduction->getPrevNode());
  if (!before || !isSingleReduction(reduction) ||
      before.getOutputs()[0] != reduction.getOutputs()[0])
    return {};
  return getFilledConstant(before);
}

bool LoopNest::isPerIteration(unsigned number) const {
  const NestOperand &operand = operands[op.getNumDpsInputs() + number];
  if (operand.scalar)
    return false;
  for (unsigned loop = 0; loop < getNumLoops(); ++loop)
    if (isReduction[loop] && operand.strides[loop] != 0)
      return true;
  return false;
}

int64_t mlir::act::getVectorLoop(const LoopNest &nest, unsigned numRows,
                                 int64_t lanes) {
  if (lanes < 2 || !hasVectorBody(nest.op))
    return -1;
  unsigned numInputs = nest.op.getNumDpsInputs();
  int64_t best = -1;
  double bestVote = 0;
  for (unsigned loop = numRows; loop < nest.getNumLoops(); ++loop) {
    // Lanes of a parallel loop are stored next to each other.
    bool storable = true;
    double vote = 0;
    for (auto [i, operand] : llvm::enumerate(nest.operands)) {
      if (operand.scalar)
        continue;
      int64_t stride = operand.strides[loop];
      if (i >= numInputs && !nest.isReduction[loop] && stride != 1)
        storable = false;
      double elements = 1;
      for (auto [other, extent] : llvm::enumerate(nest.extents))
        if (operand.strides[other] != 0)
          elements *= static_cast<double>(extent);
      if (stride == 1)
        vote += elements;
      else if (stride == 0)
        vote += 0.25 * elements / nest.extents[loop];
    }
    // Short loops waste lanes.
    vote *= std::min(1.0, static_cast<double>(nest.extents[loop]) / lanes);
    if (storable && nest.extents[loop] > 1 && vote > bestVote) {
      best = loop;
      bestVote = vote;
    }
  }
  return best;
}

double mlir::act::getIterationCost(linalg::GenericOp op) {
  double cost = 1;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<math::MathDialect>(inner.getDialect()))
      cost += 8;
    else if (isa<arith::DivFOp, memref::LoadOp>(inner))
      cost += 3;
    else
      cost += 0.5;
  }
  return cost;
}
