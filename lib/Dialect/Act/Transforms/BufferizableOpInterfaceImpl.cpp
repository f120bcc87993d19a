//===- BufferizableOpInterfaceImpl.cpp - From tensors to buffers ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/BufferizableOpInterfaceImpl.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::bufferization;

namespace {
/// What operations have in common whose last operands are the destinations of
/// all their results.
template <typename Model, typename OpTy>
struct DestinationModel : DstBufferizableOpInterfaceExternalModel<Model, OpTy> {
  /// The analysis looks at writes of other operations only: two destinations
  /// that are the same tensor would be one buffer.
  LogicalResult
  resolveConflicts(Operation *op, RewriterBase &rewriter,
                   const AnalysisState &analysis,
                   const BufferizationState &bufferization) const {
    if (failed(
            cast<BufferizableOpInterface>(op).resolveTensorOpOperandConflicts(
                rewriter, analysis, bufferization)))
      return failure();
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    llvm::SmallPtrSet<Value, 6> seen;
    for (OpOperand &out : cast<OpTy>(op).getOutsMutable()) {
      if (seen.insert(out.get()).second)
        continue;
      bool isRead = static_cast<const Model *>(this)->bufferizesToMemoryRead(
          op, out, analysis);
      FailureOr<Value> other = allocateTensorForShapedValue(
          rewriter, op->getLoc(), out.get(), analysis.getOptions(),
          bufferization, /*copy=*/isRead);
      if (failed(other))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { out.set(*other); });
    }
    return success();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto destinationOp = cast<OpTy>(op);
    if (!destinationOp.hasPureTensorSemantics())
      return op->emitOpError("expects tensors only where some are");
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    clone(rewriter, op, /*newResultTypes=*/TypeRange(), buffers);
    unsigned firstOut = destinationOp.getOuts().getBeginOperandIndex();
    replaceOpWithBufferizedValues(rewriter, op,
                                  ArrayRef(buffers).drop_front(firstOut));
    return success();
  }
};

template <typename OpTy>
struct LinearAttentionModel
    : DestinationModel<LinearAttentionModel<OpTy>, OpTy> {
  /// Of destinations states only.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto attention = cast<OpTy>(op);
    unsigned number = operand.getOperandNumber();
    size_t numStates = attention.getStates().size();
    return number < attention.getOuts().getBeginOperandIndex() ||
           number >= op->getNumOperands() - numStates;
  }
};

/// Destinations are written without being read.
template <typename OpTy>
struct OverwritingModel : DestinationModel<OverwritingModel<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<OpTy>(op).isDpsInit(&operand);
  }
};
/// A barrier returns the buffers of its operands.
struct BarrierModel
    : BufferizableOpInterface::ExternalModel<BarrierModel, BarrierOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    return {{op->getResult(operand.getOperandNumber()),
             BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      if (!isa<TensorType>(operand.getType()))
        return op->emitOpError("expects tensors, got ") << operand.getType();
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};
} // namespace

void mlir::act::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    BarrierOp::attachInterface<BarrierModel>(*context);
    ConvolutionOp::attachInterface<OverwritingModel<ConvolutionOp>>(*context);
    DecodeOp::attachInterface<OverwritingModel<DecodeOp>>(*context);
    EncodeOp::attachInterface<OverwritingModel<EncodeOp>>(*context);
    LinearAttentionOp::attachInterface<LinearAttentionModel<LinearAttentionOp>>(
        *context);
    LinearAttentionGradOp::attachInterface<
        LinearAttentionModel<LinearAttentionGradOp>>(*context);
    LinearAttentionStateOp::attachInterface<
        LinearAttentionModel<LinearAttentionStateOp>>(*context);
  });
}
