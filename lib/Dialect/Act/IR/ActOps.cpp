//===- ActOps.cpp - Operations of the act dialect ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"
#include "ConvolutionSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::act;

#define GET_OP_CLASSES
#include "act/Dialect/Act/IR/ActOps.cpp.inc"

LogicalResult CompressedSaveOp::verify() {
  CompressedType stored = getResult().getType();
  if (stored.getTensorType() != getInput().getType()) // C1
    return emitOpError("expects the result to store ")
           << getInput().getType() << ", got " << stored.getTensorType();
  if (getExact() && !stored.getEncoding().isLossless()) // C2
    return emitOpError("expects a lossless encoding for an exact value, got ")
           << stored.getEncoding();
  if (static_cast<int64_t>(getId()) < 0) // C3
    return emitOpError("expects an id that is not negative, got ")
           << static_cast<int64_t>(getId());
  std::optional<int64_t> axis = stored.getEncoding().getRunningAxis();
  if (axis.has_value() != static_cast<bool>(getRange())) // C4
    return emitOpError("expects ") << (axis ? "a range" : "no range") << " for "
                                   << stored.getEncoding();
  if (!axis)
    return success();
  RankedTensorType expected = getRangeType(stored.getTensorType(), *axis);
  if (getRange().getType() != expected) // C5
    return emitOpError("expects a range of type ")
           << expected << ", got " << getRange().getType();
  return success();
}

LogicalResult DequantizeLoadOp::verify() {
  RankedTensorType stored = getInput().getType().getTensorType();
  if (stored != getResult().getType()) // C1
    return emitOpError("expects a result of type ")
           << stored << ", got " << getResult().getType();
  return success();
}

LogicalResult RoundTripOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (failed(getEncoding().verifyAppliesTo(
          type, [&] { return emitOpError(); }))) // C2
    return failure();
  if (static_cast<int64_t>(getId()) < 0) // C3
    return emitOpError("expects an id that is not negative, got ")
           << static_cast<int64_t>(getId());
  return success();
}

LogicalResult BarrierOp::verify() {
  if (getInputs().empty()) // C1
    return emitOpError("expects at least one operand");
  if (getInputs().getTypes() != getResults().getTypes()) // C2
    return emitOpError("expects results of the types of its operands");
  return success();
}

ParseResult BarrierOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands) ||
      parser.parseOptionalAttrDict(result.attributes) ||
      (!operands.empty() && parser.parseColonTypeList(types)) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  result.addTypes(types);
  return success();
}

void BarrierOp::print(OpAsmPrinter &printer) {
  if (!getInputs().empty())
    printer << ' ' << getInputs();
  printer.printOptionalAttrDict((*this)->getAttrs());
  if (!getInputs().empty())
    printer << " : " << getInputs().getTypes();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult JointLoopOp::verifyRegions() {
  auto points = getBody().getOps<TurningPointOp>();
  int64_t count = std::distance(points.begin(), points.end());
  if (count != 1) // C1
    return emitOpError("expects one act.turning_point, got ") << count;
  if (!isa<JointYieldOp>(getBody().front().back()))
    return emitOpError("expects a body that ends in act.joint_yield");
  return success();
}

TurningPointOp JointLoopOp::getTurningPoint() {
  return *getBody().getOps<TurningPointOp>().begin();
}
