//===- FeatureMaps.cpp - Attributes of linear attention -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActAttributes.h"

using namespace mlir;
using namespace mlir::act;

StringRef IdentityAttr::getName() const { return getMnemonic(); }
bool IdentityAttr::hasParameters() const { return false; }

StringRef ReluAttr::getName() const { return getMnemonic(); }
bool ReluAttr::hasParameters() const { return false; }

StringRef EluPlusOneAttr::getName() const { return getMnemonic(); }
bool EluPlusOneAttr::hasParameters() const { return false; }

StringRef SquareAttr::getName() const { return getMnemonic(); }
bool SquareAttr::hasParameters() const { return false; }

StringRef ExpAttr::getName() const { return getMnemonic(); }
bool ExpAttr::hasParameters() const { return false; }

StringRef FavorPlusAttr::getName() const { return getMnemonic(); }
bool FavorPlusAttr::hasParameters() const { return true; }

LogicalResult
CheckpointAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t segment) {
  if (segment > 0) // C1
    return success();
  return emitError() << "expects a positive segment, got " << segment;
}
