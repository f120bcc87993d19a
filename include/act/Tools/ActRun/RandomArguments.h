//===- RandomArguments.h - Random arguments of a step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTRUN_RANDOMARGUMENTS_H
#define ACT_TOOLS_ACTRUN_RANDOMARGUMENTS_H

#include "act/Tools/ActRun/Array.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::act::run {

/// What an argument stands for, as its uses tell: the rules of
/// python/act/random_arguments.py.
enum class ArgumentRole {
  /// i1: 0 or 1.
  Mask,
  /// ui32 and ui64: all bits.
  Key,
  /// A single integer that selects nothing: 1.
  Counter,
  /// Integers below `bound`.
  Index,
  /// Floats without a sign, because their root or logarithm is taken.
  SecondMoment,
  /// Other floats, normal with `mean` and `deviation`.
  Normal
};

struct ArgumentKind {
  ArgumentRole role = ArgumentRole::Normal;
  double mean = 0;
  double deviation = 1;
  int64_t bound = 2;
};

/// How to draw each of `arguments` of the function `name` of a StableHLO
/// module. Without that function, by element type and rank alone.
SmallVector<ArgumentKind> getArgumentKinds(ModuleOp module, StringRef name,
                                           ArrayRef<ValueInfo> arguments);

/// Draws a value for every argument. The same seed gives the same values, on
/// every machine.
std::vector<Array> drawArguments(ArrayRef<ValueInfo> arguments,
                                 ArrayRef<ArgumentKind> kinds, uint64_t seed);

} // namespace mlir::act::run

#endif // ACT_TOOLS_ACTRUN_RANDOMARGUMENTS_H
