//===- BodyEmitter.h - Bodies of operations in vectors -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_BODYEMITTER_H
#define ACT_CONVERSION_KERNELUTILS_BODYEMITTER_H

#include "act/Conversion/KernelUtils/Memory.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// A value of a body for all lanes: the same one, one per lane, or `value` plus
/// the number of the lane.
struct LaneValue {
  enum Kind { Uniform, Varying, Sequence };
  Value value;
  Kind kind = Uniform;
};

/// How a body sees memory and loops.
struct BodyContext {
  /// Buffers that the body reads elements of, as `memref.load` does.
  const DenseMap<Value, KernelBuffer> &buffers;
  /// Scalars of the kernel.
  const DenseMap<Value, Value> &scalars;
  /// Number of the iteration of every loop.
  ArrayRef<Value> iterations;
  /// The loop whose iterations are lanes, or -1.
  int64_t vectorLoop;
  LaneMask mask;
};

/// Whether the body of `op` can run in vectors: all of it is elementwise.
bool hasVectorBody(linalg::GenericOp op);

/// Computes values of the body of an operation, lane by lane in vectors unless
/// they are the same for all lanes.
class BodyEmitter {
public:
  BodyEmitter(ImplicitLocOpBuilder &builder, Memory &memory,
              linalg::GenericOp op, BodyContext context)
      : builder(builder), memory(memory), op(op), context(context) {}

  void setArgument(unsigned number, LaneValue value) {
    values[op.getBody()->getArgument(number)] = value;
  }
  /// Computes `value` and what it depends on.
  LaneValue get(Value value);
  /// The same as a vector, or as a scalar without lanes.
  Value getLanes(Value value);

private:
  LaneValue emit(Operation *inner, unsigned result);
  LaneValue emitLoad(Operation *load);
  LaneValue emitElementwise(Operation *inner);
  std::optional<LaneValue> emitSequence(Operation *inner);
  Value toLanes(LaneValue value);

  ImplicitLocOpBuilder &builder;
  Memory &memory;
  linalg::GenericOp op;
  BodyContext context;
  DenseMap<Value, LaneValue> values;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_BODYEMITTER_H
