//===- NestEmitter.h - Code of one operation -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_NESTEMITTER_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_NESTEMITTER_H

#include "act/Conversion/KernelUtils/NestAccess.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::act {

/// The part of a loop that a unit computes; `begin` alone if `end` is null.
struct LoopRange {
  Value begin;
  Value end;
};

/// Emits the loops of an operation. Sums are added up in an order that depends
/// on extents and on the number of lanes alone.
class NestEmitter : NestAccess {
public:
  NestEmitter(ImplicitLocOpBuilder &builder, const KernelValues &values,
              const LoopNest &nest, int64_t lanes, unsigned numRows);

  /// Emits the iterations in `ranges`, one for every loop.
  void emit(ArrayRef<LoopRange> ranges);

private:
  using LoopBody = llvm::function_ref<Accumulators(Value, ValueRange)>;

  void emitElementwise();
  void emitInnerReduction();
  void emitOuterReduction();
  void emitScalar();

  /// Emits nested loops over `loops` around `body`.
  void emitLoops(ArrayRef<unsigned> loops, llvm::function_ref<void()> body);
  /// A loop over [begin, end) in steps that carries accumulators.
  Accumulators emitLoop(Value begin, Value end, int64_t step,
                        ValueRange carried, LoopBody body);
  /// Calls `body` for the vectors of the vector loop, the last one perhaps with
  /// a mask.
  void emitVectors(llvm::function_ref<void(LaneMask)> body);

  bool isWhole(unsigned loop) const;
  bool dividesBy(unsigned loop, int64_t count) const;
  Accumulators reduceLoops(ArrayRef<unsigned> loops, ValueRange carried);
  Accumulators reduceVectors(ValueRange carried);
  Accumulators reduceColumns(ArrayRef<unsigned> loops, int64_t vectors,
                             LaneMask mask);

  unsigned numRows;
  SmallVector<LoopRange> ranges;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_NESTEMITTER_H
