//===- RangeOps.cpp - Ranges that outlive a step --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"

using namespace mlir;
using namespace mlir::act;

LogicalResult EmptyRangeOp::verify() {
  auto type = cast<RankedTensorType>(getResult().getType());
  if (!type.hasStaticShape() || type.getDimSize(0) != 2 ||
      type.getDimSize(1) < 1) // C1
    return emitOpError("expects a result of type 'tensor<2xNxf32>' with N of "
                       "at least 1, got ")
           << type;
  return success();
}

LogicalResult UpdateRangeOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  int64_t axis = getAxis();
  if (axis < 0) // C2
    return emitOpError("expects an axis that is not negative, got ") << axis;
  if (failed(verifyRangesApplyTo(type, axis, "a running range",
                                 [&] { return emitOpError(); }))) // C2
    return failure();
  RankedTensorType expected = getRangeType(type, axis);
  if (getState().getType() != expected) // C1
    return emitOpError("expects a state of type ")
           << expected << ", got " << getState().getType();
  double decay = getDecay().convertToDouble();
  if (!(decay >= 0 && decay < 1)) // C3
    return emitOpError("expects a decay of at least 0 and less than 1, got ")
           << decay;
  return success();
}
