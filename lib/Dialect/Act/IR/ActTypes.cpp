//===- ActTypes.cpp - Types of the act dialect ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActTypes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::act;

#define GET_TYPEDEF_CLASSES
#include "act/Dialect/Act/IR/ActTypes.cpp.inc"

void ActDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "act/Dialect/Act/IR/ActTypes.cpp.inc"
      >();
}

LogicalResult
CompressedType::verify(function_ref<InFlightDiagnostic()> emitError,
                       RankedTensorType tensorType,
                       EncodingAttrInterface encoding) {
  if (!encoding) // C1
    return emitError() << "expects an encoding attribute";
  return encoding.verifyAppliesTo(tensorType, emitError); // C2
}
