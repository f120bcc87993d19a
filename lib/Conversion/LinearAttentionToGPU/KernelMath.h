//===- KernelMath.h - Arithmetic of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_KERNELMATH_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_KERNELMATH_H

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::act {

/// Arithmetic and loops of a kernel, on scalars of i32, i64, f32 and f64.
class KernelMath {
public:
  explicit KernelMath(GpuKernelBuilder &kernel)
      : kernel(kernel), b(kernel.getBuilder()) {}

  Value f32(double value);
  Value zero(Type type);
  Value add(Value left, Value right);
  Value add(Value left, int64_t right);
  Value subtract(Value left, Value right);
  Value multiply(Value left, Value right);
  Value multiply(Value left, int64_t right);
  /// Of integers that are not negative.
  Value divide(Value left, int64_t right);
  Value remainder(Value left, int64_t right);
  Value divideFloats(Value left, Value right);
  /// left * right + addend, rounded once.
  Value fma(Value left, Value right, Value addend);
  Value less(Value left, Value right);
  Value less(Value left, int64_t right);
  Value equal(Value left, int64_t right);
  Value select(Value condition, Value yes, Value no);
  /// To f32, or from f32 to `type`.
  Value extend(Value value);
  Value convert(Value value, Type type);
  /// Element `number` of a vector, and a vector of `elements`.
  Value extract(Value vector, int64_t number);
  Value combine(ValueRange elements);

  using Body = function_ref<SmallVector<Value>(Value, ValueRange)>;
  /// For each number from `low` to below `high`, i32.
  SmallVector<Value> loop(Value low, Value high, int64_t step, ValueRange inits,
                          Body body);
  void loop(Value low, Value high, int64_t step,
            function_ref<void(Value)> body);
  void when(Value condition, function_ref<void()> body);
  SmallVector<Value> choose(Value condition,
                            function_ref<SmallVector<Value>()> yes,
                            function_ref<SmallVector<Value>()> no);
  /// Spreads 0 to below `count` over the threads of the block.
  void forThreads(int64_t count, function_ref<void(Value)> body);

protected:
  GpuKernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_KERNELMATH_H
