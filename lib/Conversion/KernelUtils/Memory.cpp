//===- Memory.cpp - Elements in memory -----------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/Memory.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;

Type mlir::act::getStoredType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isInteger(1))
    return IntegerType::get(context, 8);
  return type.isIndex() ? Type(IntegerType::get(context, 64)) : type;
}

FailureOr<SmallVector<int64_t>> mlir::act::getKnownStrides(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic) || !type.hasStaticShape())
    return failure();
  return strides;
}

static Type getElement(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getElementType() : type;
}

/// `type`, or a vector of it of the shape of `like`.
static Type getLike(Type type, Type like) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(VectorType::get(vector.getShape(), type)) : type;
}

unsigned Memory::getVectorAlignment(const KernelBuffer &buffer, Type stored) {
  return buffer.alignment ? buffer.alignment : getAlignment(stored);
}

unsigned Memory::getAlignment(Type stored) {
  return llvm::divideCeil(getElement(stored).getIntOrFloatBitWidth(), 8);
}

Value Memory::getIndex(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value Memory::addOffset(Value offset, Value index, int64_t stride) {
  if (stride == 0)
    return offset;
  if (stride != 1)
    index = arith::MulIOp::create(builder, index, getIndex(stride));
  if (matchPattern(offset, m_Zero()))
    return index;
  return arith::AddIOp::create(builder, offset, index);
}

Value Memory::getAddress(const KernelBuffer &buffer, Value offset) {
  Value number =
      arith::IndexCastOp::create(builder, builder.getI64Type(), offset);
  return LLVM::GEPOp::create(builder, buffer.pointer.getType(),
                             getStoredType(buffer.elementType), buffer.pointer,
                             ArrayRef<LLVM::GEPArg>{number});
}

Value Memory::fromStored(Value value, Type type) {
  if (type.isInteger(1)) {
    Value zero = arith::ConstantOp::create(
        builder, builder.getZeroAttr(value.getType()));
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, getLike(type, value.getType()),
                                      value);
  return value;
}

Value Memory::toStored(Value value) {
  Type type = getElement(value.getType());
  Type stored = getLike(getStoredType(type), value.getType());
  if (type.isInteger(1))
    return arith::ExtUIOp::create(builder, stored, value);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, stored, value);
  return value;
}

Value Memory::loadScalar(const KernelBuffer &buffer, Value offset) {
  Type stored = getStoredType(buffer.elementType);
  Value value = LLVM::LoadOp::create(
      builder, stored, getAddress(buffer, offset), getAlignment(stored));
  return fromStored(value, buffer.elementType);
}

void Memory::storeScalar(const KernelBuffer &buffer, Value offset,
                         Value value) {
  value = toStored(value);
  LLVM::StoreOp::create(builder, value, getAddress(buffer, offset),
                        getAlignment(value.getType()));
}

LaneMask Memory::getMask(Value count) {
  auto type = VectorType::get({lanes}, builder.getI1Type());
  return {vector::CreateMaskOp::create(builder, type, count), count};
}

Value Memory::broadcast(Value scalar) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(
      builder, VectorType::get({lanes}, scalar.getType()), scalar);
}

Value Memory::getSequence(Value base) {
  Type type = base.getType();
  auto vectorType = VectorType::get({lanes}, type);
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(builder.getIntegerAttr(type, i));
  Value steps = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(vectorType, numbers));
  return arith::AddIOp::create(builder, broadcast(base), steps);
}

/// One of every lane, so that nothing divides by zero where no element is.
static TypedAttr getHarmless(Type stored) {
  Type element = getElement(stored);
  TypedAttr one = isa<FloatType>(element)
                      ? TypedAttr(FloatAttr::get(element, 1.0))
                      : TypedAttr(IntegerAttr::get(element, 1));
  return DenseElementsAttr::get(cast<VectorType>(stored), one);
}

Value Memory::loadVector(const KernelBuffer &buffer, Value offset,
                         int64_t stride, LaneMask mask) {
  Type type = buffer.elementType;
  if (stride == 0)
    return broadcast(loadScalar(buffer, offset));
  if (stride != 1) {
    Value places = getSequence(getIndex(0));
    places =
        arith::MulIOp::create(builder, places, broadcast(getIndex(stride)));
    return gather(buffer,
                  arith::AddIOp::create(builder, places, broadcast(offset)),
                  mask);
  }
  Type stored = VectorType::get({lanes}, getStoredType(type));
  Value address = getAddress(buffer, offset);
  unsigned alignment = getVectorAlignment(buffer, stored);
  Value value;
  if (mask) {
    Value other = arith::ConstantOp::create(builder, getHarmless(stored));
    value =
        LLVM::MaskedLoadOp::create(builder, stored, address, mask.lanes, other,
                                   builder.getI32IntegerAttr(alignment));
  } else {
    value = LLVM::LoadOp::create(builder, stored, address, alignment);
  }
  return fromStored(value, type);
}

void Memory::storeVector(const KernelBuffer &buffer, Value offset,
                         int64_t stride, Value value, LaneMask mask) {
  assert(stride == 1 && "vectors are stored without gaps");
  value = toStored(broadcast(value));
  Value address = getAddress(buffer, offset);
  unsigned alignment = getVectorAlignment(buffer, value.getType());
  if (mask)
    LLVM::MaskedStoreOp::create(builder, value, address, mask.lanes,
                                builder.getI32IntegerAttr(alignment));
  else
    LLVM::StoreOp::create(builder, value, address, alignment);
}

Value Memory::gather(const KernelBuffer &buffer, Value offsets, LaneMask mask) {
  Type stored = getStoredType(buffer.elementType);
  Value result =
      LLVM::PoisonOp::create(builder, VectorType::get({lanes}, stored));
  Value last =
      mask ? Value(arith::SubIOp::create(builder, mask.count, getIndex(1)))
           : Value();
  for (int64_t lane = 0; lane < lanes; ++lane) {
    Value position = getIndex(lane);
    if (mask) // lanes beyond the end repeat the last one
      position = arith::MinSIOp::create(builder, position, last);
    Value offset =
        vector::ExtractOp::create(builder, offsets, OpFoldResult(position));
    Value element = LLVM::LoadOp::create(
        builder, stored, getAddress(buffer, offset), getAlignment(stored));
    result = vector::InsertOp::create(builder, element, result, lane);
  }
  return fromStored(result, buffer.elementType);
}
