//===- LoopNest.h - Loops of one operation -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_LOOPNEST_H
#define ACT_CONVERSION_KERNELUTILS_LOOPNEST_H

#include "act/Conversion/KernelUtils/BodyEmitter.h"

namespace mlir::act {

/// What the operations of a kernel refer to, as its function has it.
struct KernelValues {
  DenseMap<Value, KernelBuffer> buffers;
  DenseMap<Value, Value> scalars;
};

/// An operand of a loop nest: element `offset` + sum of iteration * stride.
struct NestOperand {
  KernelBuffer buffer;
  int64_t offset = 0;
  SmallVector<int64_t> strides;
  /// Not a buffer but this value.
  Value scalar;
};

/// The loops of a structured operation with their strides in every operand.
/// Neighbouring loops are one where that makes no difference.
struct LoopNest {
  mutable linalg::GenericOp op;
  SmallVector<int64_t> extents;
  SmallVector<bool> isReduction;
  SmallVector<NestOperand, 0> operands;
  /// What the destinations held before, if that is known: one element each.
  SmallVector<TypedAttr> initial;

  unsigned getNumLoops() const { return extents.size(); }
  /// Whether result `number` has an element for each iteration of a reduction.
  bool isPerIteration(unsigned number) const;
};

/// The nest of `op`, the first `numRows` loops of which stay as they are, or
/// failure with an error if an operand is not addressed by linear expressions.
FailureOr<LoopNest> getLoopNest(linalg::GenericOp op,
                                const KernelValues &values, unsigned numRows);

/// Whether `fill` sets a buffer to a constant for the next operation alone: a
/// reduction with combiners, which starts from it.
bool isReductionStart(linalg::GenericOp fill);

/// The constant that the operation before `reduction` fills its destination
/// with, for a reduction with combiners; else null.
TypedAttr getReductionStart(linalg::GenericOp reduction);

/// The loop whose iterations are lanes, or -1 if the body has no vector form.
int64_t getVectorLoop(const LoopNest &nest, unsigned numRows, int64_t lanes);

/// A measure of the time of one iteration: 1 for a sum of two numbers.
double getIterationCost(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_LOOPNEST_H
