//===- DecodedRange.cpp - Numbers that decoding returns ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/DecodedRange.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;

double mlir::act::getLargestDecoded(Type original) {
  Type type =
      original.isF64() ? Float32Type::get(original.getContext()) : original;
  llvm::APFloat largest =
      llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics());
  return largest.convertToDouble() * (1 - 0x1p-20);
}
