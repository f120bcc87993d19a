//===- Axis.h - Positions in strided buffers -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_AXIS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_AXIS_H

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"

namespace mlir::act {

/// Arithmetic of positions with constants. Operands are i32 or i64. Sums and
/// products do not overflow where their result is of use, and say so: constant
/// parts of offsets then become parts of instructions.
class PositionMath {
public:
  explicit PositionMath(GpuKernelBuilder &kernel)
      : kernel(kernel), b(kernel.getBuilder()) {}

  Value add(Value left, Value right);
  Value add(Value value, int64_t constant);
  Value multiply(Value value, int64_t constant);
  /// Of numbers that are not negative.
  Value divide(Value value, int64_t constant);
  Value remainder(Value value, int64_t constant);
  /// Unsigned: also false for negative numbers.
  Value isLess(Value value, int64_t constant);
  /// Both conditions, each of which may be null for true.
  Value both(Value left, Value right);

private:
  GpuKernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
};

/// A loop that goes through a buffer.
struct AxisLoop {
  int64_t extent = 1;
  int64_t stride = 0;
};

/// Loops that count as one, the last one fastest, in one buffer.
struct Axis {
  SmallVector<AxisLoop> loops;

  int64_t getExtent() const;
  /// Elements from the first to the last one that it leads to.
  int64_t getSpan() const;
  /// The largest power of two up to `most`, such that as many positions from a
  /// multiple of it on are neighbours in memory.
  int64_t getVector(int64_t most) const;
  /// Whether every stride, but for that of the last loop if `exceptLast`, is a
  /// multiple of `elements`.
  bool isMultiple(int64_t elements, bool exceptLast) const;
  /// The offset in elements of `position` (i32): i64 if `wide`, else i32.
  Value getOffset(GpuKernelBuilder &kernel, Value position, bool wide) const;
};

/// `position` of loops of `extents` taken apart, the last one fastest.
SmallVector<Value> getDigits(GpuKernelBuilder &kernel, Value position,
                             ArrayRef<int64_t> extents);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_AXIS_H
