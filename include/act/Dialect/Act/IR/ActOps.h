//===- ActOps.h - Operations of the act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTOPS_H
#define ACT_DIALECT_ACT_IR_ACTOPS_H

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActTypes.h"
#include "act/Dialect/Act/IR/LinearAttentionInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::act::detail {

/// The shapes of the results of `op`, which are those of its destinations.
LogicalResult reifyDestinations(OpBuilder &builder,
                                DestinationStyleOpInterface op,
                                ReifiedRankedShapedTypeDims &shapes);

/// Buffers are read, destinations written too; tensors have no effects.
void getLinearAttentionEffects(
    LinearAttentionOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

/// The same for operations that do not read their destinations.
void getCodecEffects(DestinationStyleOpInterface op,
                     SmallVectorImpl<MemoryEffects::EffectInstance> &effects);

} // namespace mlir::act::detail

#define GET_OP_CLASSES
#include "act/Dialect/Act/IR/ActOps.h.inc"

namespace mlir::act {

/// String attribute of arguments and results of a step that are a state of
/// running ranges: its name.
constexpr llvm::StringLiteral kRangeAttr = "act.range";

/// The type of the tensor that `op` encodes or decodes, which may be a buffer.
RankedTensorType getPlainType(EncodeOp op);
RankedTensorType getPlainType(DecodeOp op);

/// How the work of `op` divides.
CodecUnits getCodecUnits(EncodeOp op);
CodecUnits getCodecUnits(DecodeOp op);

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_IR_ACTOPS_H
