//===- BodyEmitter.cpp - Bodies of operations in vectors -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/BodyEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

bool mlir::act::hasVectorBody(linalg::GenericOp op) {
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<linalg::IndexOp, memref::LoadOp, arith::ConstantOp>(inner) ||
           (OpTrait::hasElementwiseMappableTraits(&inner) &&
            inner.getNumResults() == 1);
  });
}

Value BodyEmitter::toLanes(LaneValue value) {
  if (context.vectorLoop < 0)
    return value.value;
  if (value.kind == LaneValue::Sequence)
    return memory.getSequence(value.value);
  return memory.broadcast(value.value);
}

Value BodyEmitter::getLanes(Value value) { return toLanes(get(value)); }

LaneValue BodyEmitter::get(Value value) {
  auto found = values.find(value);
  if (found != values.end())
    return found->second;
  Operation *producer = value.getDefiningOp();
  // Values of the kernel outside of the body are scalars.
  if (!producer || producer->getBlock() != op.getBody())
    return values[value] = {context.scalars.lookup(value), LaneValue::Uniform};
  // In order, so that no chain of operations is followed recursively.
  for (Operation &inner : *op.getBody()) {
    if (!values.count(inner.getNumResults() ? Value(inner.getResult(0))
                                            : Value()) &&
        llvm::all_of(inner.getOperands(), [&](Value operand) {
          return operand.getParentBlock() != op.getBody() ||
                 values.count(operand);
        }))
      for (OpResult result : inner.getResults())
        values[result] = emit(&inner, result.getResultNumber());
    if (&inner == producer)
      break;
  }
  return values.lookup(value);
}

LaneValue BodyEmitter::emit(Operation *inner, unsigned result) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    bool isLane = static_cast<int64_t>(index.getDim()) == context.vectorLoop;
    return {context.iterations[index.getDim()],
            isLane ? LaneValue::Sequence : LaneValue::Uniform};
  }
  if (isa<memref::LoadOp>(inner))
    return emitLoad(inner);
  bool uniform = llvm::all_of(inner->getOperands(), [&](Value operand) {
    return get(operand).kind == LaneValue::Uniform;
  });
  if (!uniform) {
    if (std::optional<LaneValue> sequence = emitSequence(inner))
      return *sequence;
    return emitElementwise(inner);
  }
  IRMapping mapping;
  inner->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (!inner->isAncestor(operand.getParentBlock()->getParentOp()))
        mapping.map(operand, get(operand).value);
  });
  return {builder.clone(*inner, mapping)->getResult(result),
          LaneValue::Uniform};
}

/// A sequence plus a uniform number, or converted, is a sequence.
std::optional<LaneValue> BodyEmitter::emitSequence(Operation *inner) {
  auto isSequence = [&](Value operand) {
    return get(operand).kind == LaneValue::Sequence;
  };
  bool converts = isa<arith::IndexCastOp, arith::IndexCastUIOp>(inner) &&
                  isSequence(inner->getOperand(0));
  bool adds =
      isa<arith::AddIOp>(inner) &&
      isSequence(inner->getOperand(0)) != isSequence(inner->getOperand(1)) &&
      llvm::none_of(inner->getOperands(), [&](Value operand) {
        return get(operand).kind == LaneValue::Varying;
      });
  bool subtracts = isa<arith::SubIOp>(inner) &&
                   isSequence(inner->getOperand(0)) &&
                   get(inner->getOperand(1)).kind == LaneValue::Uniform;
  if (!converts && !adds && !subtracts)
    return std::nullopt;
  IRMapping mapping;
  for (Value operand : inner->getOperands())
    mapping.map(operand, get(operand).value);
  return LaneValue{builder.clone(*inner, mapping)->getResult(0),
                   LaneValue::Sequence};
}

LaneValue BodyEmitter::emitElementwise(Operation *inner) {
  OperationState state(builder.getLoc(), inner->getName());
  for (Value operand : inner->getOperands())
    state.addOperands(getLanes(operand));
  for (Type type : inner->getResultTypes())
    state.addTypes(VectorType::get({memory.getLanes()}, type));
  state.addAttributes(inner->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = inner->getPropertiesAsAttribute();
  return {builder.create(state)->getResult(0), LaneValue::Varying};
}

LaneValue BodyEmitter::emitLoad(Operation *inner) {
  auto load = cast<memref::LoadOp>(inner);
  const KernelBuffer &buffer = context.buffers.find(load.getMemRef())->second;
  Value offset = memory.getIndex(0);
  SmallVector<std::pair<Value, int64_t>> varying;
  std::optional<int64_t> sequenceStride;
  for (auto [index, stride] :
       llvm::zip_equal(load.getIndices(), buffer.strides)) {
    LaneValue value = get(index);
    if (value.kind == LaneValue::Varying) {
      varying.push_back({value.value, stride});
      continue;
    }
    if (value.kind == LaneValue::Sequence)
      sequenceStride = sequenceStride.value_or(0) + stride;
    offset = memory.addOffset(offset, value.value, stride);
  }
  if (varying.empty() && !sequenceStride)
    return {memory.loadScalar(buffer, offset), LaneValue::Uniform};
  if (varying.empty())
    return {memory.loadVector(buffer, offset, *sequenceStride, context.mask),
            LaneValue::Varying};
  Value offsets = memory.broadcast(offset);
  if (sequenceStride)
    varying.push_back(
        {memory.getSequence(memory.getIndex(0)), *sequenceStride});
  for (auto [index, stride] : varying)
    offsets = arith::AddIOp::create(
        builder, offsets,
        arith::MulIOp::create(builder, index,
                              memory.broadcast(memory.getIndex(stride))));
  return {memory.gather(buffer, offsets, context.mask), LaneValue::Varying};
}
