//===- NestAccess.h - Reads and writes of an operation -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_NESTACCESS_H
#define ACT_CONVERSION_KERNELUTILS_NESTACCESS_H

#include "act/Conversion/KernelUtils/Combiners.h"
#include "act/Conversion/KernelUtils/LoopNest.h"

namespace mlir::act {

/// How the results of a reduction combine; nothing if there is no reduction, if
/// one result is not a combination, or has an element of each iteration.
std::optional<SmallVector<Combiner>> getNestCombiners(const LoopNest &nest);

/// The innermost part of the code of an operation, for one iteration of every
/// loop or a vector of them: what is read, computed, combined and written.
class NestAccess {
protected:
  using Accumulators = SmallVector<Value>;

  NestAccess(ImplicitLocOpBuilder &builder, const KernelValues &values,
             const LoopNest &nest, int64_t lanes, int64_t vectorLoop);

  /// Offset of the current iteration in an operand, without the vector loop's
  /// if `hoisted`.
  Value getOffset(const NestOperand &operand, bool hoisted = false);
  BodyEmitter createBody(int64_t loop, LaneMask mask);
  void loadInputs(BodyEmitter &body, bool vector, LaneMask mask);
  void storeResult(unsigned result, Value value, bool vector, LaneMask mask);

  Accumulators getNeutral(int64_t copies, bool vector);
  Value combine(unsigned result, Value left, Value right);
  Value reduceLanes(unsigned result, Value value);
  void addToResult(unsigned result, Value value, bool vector, LaneMask mask);
  Accumulators reduceOnce(ValueRange accumulated, LaneMask mask);

  ImplicitLocOpBuilder &builder;
  const KernelValues &values;
  const LoopNest &nest;
  Memory memory;
  /// The loop whose iterations are lanes, or -1.
  int64_t vectorLoop;
  std::optional<SmallVector<Combiner>> combiners;
  /// Number of the current iteration of every loop, index.
  SmallVector<Value> iterations;
  /// Inputs that are the same in all lanes, loaded before the vector loop.
  DenseMap<unsigned, Value> hoisted;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_NESTACCESS_H
