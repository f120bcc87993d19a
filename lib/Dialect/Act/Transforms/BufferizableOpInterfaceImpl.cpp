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
template <typename OpTy>
struct LinearAttentionModel
    : DstBufferizableOpInterfaceExternalModel<LinearAttentionModel<OpTy>,
                                              OpTy> {
  /// Of destinations states only.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto attention = cast<OpTy>(op);
    unsigned number = operand.getOperandNumber();
    size_t numStates = attention.getStates().size();
    return number < attention.getOuts().getBeginOperandIndex() ||
           number >= op->getNumOperands() - numStates;
  }

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
      FailureOr<Value> other = allocateTensorForShapedValue(
          rewriter, op->getLoc(), out.get(), analysis.getOptions(),
          bufferization, /*copy=*/bufferizesToMemoryRead(op, out, analysis));
      if (failed(other))
        return failure();
      rewriter.modifyOpInPlace(op, [&] { out.set(*other); });
    }
    return success();
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto attention = cast<OpTy>(op);
    if (!attention.hasPureTensorSemantics())
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
    unsigned firstOut = attention.getOuts().getBeginOperandIndex();
    replaceOpWithBufferizedValues(rewriter, op,
                                  ArrayRef(buffers).drop_front(firstOut));
    return success();
  }
};
} // namespace

void mlir::act::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    LinearAttentionOp::attachInterface<LinearAttentionModel<LinearAttentionOp>>(
        *context);
    LinearAttentionGradOp::attachInterface<
        LinearAttentionModel<LinearAttentionGradOp>>(*context);
    LinearAttentionStateOp::attachInterface<
        LinearAttentionModel<LinearAttentionStateOp>>(*context);
  });
}
