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

LogicalResult StackType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t size, Type elementType) {
  if (size <= 0) // C1
    return emitError() << "expects a positive size, got " << size;
  if (!isa<CompressedType, StackType>(elementType)) // C2
    return emitError() << "expects elements that are compressed or stacks, got "
                       << elementType;
  return success();
}

CompressedType StackType::getCompressedType() const {
  Type element = getElementType();
  while (auto stack = dyn_cast<StackType>(element))
    element = stack.getElementType();
  return cast<CompressedType>(element);
}

StackType StackType::withCompressedType(CompressedType type) const {
  auto inner = dyn_cast<StackType>(getElementType());
  return StackType::get(getContext(), getSize(),
                        inner ? Type(inner.withCompressedType(type)) : type);
}

SmallVector<int64_t> StackType::getSizes() const {
  SmallVector<int64_t> sizes;
  Type type = *this;
  while (auto stack = dyn_cast<StackType>(type)) {
    sizes.push_back(stack.getSize());
    type = stack.getElementType();
  }
  return sizes;
}
