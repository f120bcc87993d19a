//===- CodecOps.cpp - Encoding and decoding into destinations -------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"

using namespace mlir;
using namespace mlir::act;

void mlir::act::detail::getCodecEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

/// `type` without the signedness of integers.
static Type getSignless(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

/// The tensor type with the shape and elements of `value`, which may be a
/// buffer.
static RankedTensorType getPlainType(Value value) {
  auto type = cast<ShapedType>(value.getType());
  return RankedTensorType::get(type.getShape(), type.getElementType());
}

/// C1 of both operations.
static LogicalResult verifyTensorsOrBuffers(Operation *op) {
  auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isBuffer) &&
      !llvm::all_of(op->getOperandTypes(), isBuffer))
    return op->emitOpError("expects operands that are all tensors or all "
                           "buffers, got ")
           << op->getOperandTypes();
  return success();
}

/// The encoding applies to `plain`, and `storage` is what it stores for that.
static LogicalResult verifyStorage(Operation *op,
                                   EncodingAttrInterface encoding, Value plain,
                                   ValueRange storage) {
  RankedTensorType type = getPlainType(plain);
  if (failed(encoding.verifyAppliesTo(type, [&] { return op->emitOpError(); })))
    return failure();
  SmallVector<RankedTensorType> expected = encoding.getStorageTypes(type);
  if (storage.size() != expected.size())
    return op->emitOpError("expects ")
           << expected.size() << " storage operands for " << encoding
           << ", got " << storage.size();
  for (auto [number, value, part] : llvm::enumerate(storage, expected)) {
    auto got = cast<ShapedType>(value.getType());
    if (got.getShape() != part.getShape() ||
        getSignless(got.getElementType()) != getSignless(part.getElementType()))
      return op->emitOpError("expects storage operand ")
             << number << " with the shape and elements of " << part << ", got "
             << got;
  }
  return success();
}

LogicalResult EncodeOp::verify() {
  if (failed(verifyTensorsOrBuffers(*this)) || // C1
      failed(verifyStorage(*this, getEncoding(), getInput(),
                           getOuts()))) // C2, C3
    return failure();
  if (getEncoding().getRunningAxis()) // C5
    return emitOpError("expects an encoding without running ranges, got ")
           << getEncoding();
  bool usesSalt = getEncoding().usesSalt();
  if (usesSalt != static_cast<bool>(getSalt())) // C4
    return emitOpError("expects ")
           << (usesSalt ? "a salt" : "no salt") << " for " << getEncoding();
  if (!usesSalt)
    return success();
  auto type = cast<ShapedType>(getSalt().getType());
  if (type.getRank() != 0 || !type.getElementType().isInteger(32)) // C4
    return emitOpError("expects a salt of rank 0 with 32-bit integers, got ")
           << type;
  return success();
}

LogicalResult DecodeOp::verify() {
  if (failed(verifyTensorsOrBuffers(*this))) // C1
    return failure();
  if (getOuts().size() != 1) // C2
    return emitOpError("expects one destination, got ") << getOuts().size();
  return verifyStorage(*this, getEncoding(), getOuts().front(),
                       getInputs()); // C3, C4
}

//===----------------------------------------------------------------------===//
// Units of work
//===----------------------------------------------------------------------===//

RankedTensorType mlir::act::getPlainType(EncodeOp op) {
  return ::getPlainType(op.getInput());
}

RankedTensorType mlir::act::getPlainType(DecodeOp op) {
  return ::getPlainType(op.getOuts().front());
}

CodecUnits mlir::act::getCodecUnits(EncodeOp op) {
  return op.getEncoding().getUnits(getPlainType(op));
}

CodecUnits mlir::act::getCodecUnits(DecodeOp op) {
  return op.getEncoding().getUnits(getPlainType(op));
}
