//===- NestAccess.cpp - What the code of an operation reads and writes===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/NestAccess.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

std::optional<SmallVector<Combiner>>
mlir::act::getNestCombiners(const LoopNest &nest) {
  bool writesElements =
      llvm::any_of(llvm::seq<unsigned>(nest.op.getNumDpsInits()),
                   [&](unsigned i) { return nest.isPerIteration(i); });
  if (!llvm::is_contained(nest.isReduction, true) || writesElements)
    return std::nullopt;
  return getCombiners(nest.op);
}

NestAccess::NestAccess(ImplicitLocOpBuilder &builder,
                       const KernelValues &values, const LoopNest &nest,
                       int64_t lanes, int64_t vectorLoop)
    : builder(builder), values(values), nest(nest), memory(builder, lanes),
      vectorLoop(vectorLoop), combiners(getNestCombiners(nest)),
      iterations(nest.getNumLoops()) {}

Value NestAccess::getOffset(const NestOperand &operand, bool hoisted) {
  Value offset = memory.getIndex(operand.offset);
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!(hoisted && static_cast<int64_t>(loop) == vectorLoop))
      offset =
          memory.addOffset(offset, iterations[loop], operand.strides[loop]);
  return offset;
}

BodyEmitter NestAccess::createBody(int64_t loop, LaneMask mask) {
  return BodyEmitter(builder, memory, nest.op,
                     {values.buffers, values.scalars, iterations, loop, mask});
}

/// Loads what the body reads of operands; without combiners it may read what
/// destinations held before.
void NestAccess::loadInputs(BodyEmitter &body, bool vector, LaneMask mask) {
  unsigned numInputs = nest.op.getNumDpsInputs();
  for (unsigned i = 0; i < nest.operands.size(); ++i) {
    if (i >= numInputs && combiners)
      break;
    const NestOperand &operand = nest.operands[i];
    if (operand.scalar) {
      body.setArgument(i, {operand.scalar, LaneValue::Uniform});
      continue;
    }
    if (Value value = hoisted.lookup(i)) {
      body.setArgument(i, {value, LaneValue::Uniform});
      continue;
    }
    if (nest.op.getBody()->getArgument(i).use_empty())
      continue;
    Value offset = getOffset(operand);
    int64_t stride = vector ? operand.strides[vectorLoop] : 0;
    if (stride == 0)
      body.setArgument(
          i, {memory.loadScalar(operand.buffer, offset), LaneValue::Uniform});
    else
      body.setArgument(i,
                       {memory.loadVector(operand.buffer, offset, stride, mask),
                        LaneValue::Varying});
  }
}

void NestAccess::storeResult(unsigned result, Value value, bool vector,
                             LaneMask mask) {
  const NestOperand &operand =
      nest.operands[nest.op.getNumDpsInputs() + result];
  Value offset = getOffset(operand);
  if (vector)
    memory.storeVector(operand.buffer, offset, operand.strides[vectorLoop],
                       value, mask);
  else
    memory.storeScalar(operand.buffer, offset, value);
}

/// `copies` times the neutral element of every result.
NestAccess::Accumulators NestAccess::getNeutral(int64_t copies, bool vector) {
  Accumulators neutral;
  for (int64_t copy = 0; copy < copies; ++copy)
    for (const Combiner &combiner : *combiners) {
      Value value = arith::ConstantOp::create(builder, combiner.neutral);
      neutral.push_back(vector ? memory.broadcast(value) : value);
    }
  return neutral;
}

Value NestAccess::combine(unsigned result, Value left, Value right) {
  Operation *combiner = (*combiners)[result].op;
  OperationState state(builder.getLoc(), combiner->getName());
  state.addOperands({left, right});
  state.addTypes(left.getType());
  state.propertiesAttr = combiner->getPropertiesAsAttribute();
  return builder.create(state)->getResult(0);
}

/// Halves a vector until one lane is left.
Value NestAccess::reduceLanes(unsigned result, Value value) {
  for (int64_t width = memory.getLanes() / 2; width >= 1; width /= 2) {
    SmallVector<int64_t> places = llvm::to_vector(llvm::seq<int64_t>(width));
    Value low = vector::ShuffleOp::create(builder, value, value, places);
    for (int64_t &place : places)
      place += width;
    Value high = vector::ShuffleOp::create(builder, value, value, places);
    value = combine(result, low, high);
  }
  return vector::ExtractOp::create(builder, value, 0);
}

/// Combines what the destination held with `value` and stores it.
void NestAccess::addToResult(unsigned result, Value value, bool vector,
                             LaneMask mask) {
  const NestOperand &operand =
      nest.operands[nest.op.getNumDpsInputs() + result];
  Value before;
  if (TypedAttr initial = nest.initial[result]) {
    before = arith::ConstantOp::create(builder, initial);
    if (vector)
      before = memory.broadcast(before);
  } else if (vector) {
    before = memory.loadVector(operand.buffer, getOffset(operand),
                               operand.strides[vectorLoop], mask);
  } else {
    before = memory.loadScalar(operand.buffer, getOffset(operand));
  }
  storeResult(result, combine(result, before, value), vector, mask);
}

/// Accumulators after the current iteration.
NestAccess::Accumulators NestAccess::reduceOnce(ValueRange accumulated,
                                                LaneMask mask) {
  BodyEmitter body = createBody(vectorLoop, mask);
  loadInputs(body, vectorLoop >= 0, mask);
  Accumulators next;
  for (auto [i, combiner] : llvm::enumerate(*combiners)) {
    Value reduced = body.getLanes(combiner.reduced);
    if (mask) {
      Value neutral = memory.broadcast(
          arith::ConstantOp::create(builder, combiner.neutral));
      reduced = arith::SelectOp::create(builder, mask.lanes, reduced, neutral);
    }
    next.push_back(combine(i, accumulated[i], reduced));
  }
  return next;
}
