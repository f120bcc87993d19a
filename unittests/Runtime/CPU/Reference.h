//===- Reference.h - Linear attention token by token -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_UNITTESTS_RUNTIME_CPU_REFERENCE_H
#define ACT_UNITTESTS_RUNTIME_CPU_REFERENCE_H

#include "act-c/LinearAttention.h"
#include <cstdint>
#include <string>
#include <vector>

namespace mlir::act::test {

using Array = std::vector<float>;

/// All arrays of a call, those that do not apply empty.
struct Problem {
  ActLinearAttentionSignature signature = {};
  Array q, k, v, decay, state, sums;
  Array o, d, finalState, finalSums;
  Array outputGrad, finalStateGrad, finalSumsGrad;
  Array queryGrad, keyGrad, valueGrad, decayGrad, stateGrad, sumsGrad;

  int64_t getStateHeads() const;
  int64_t getHeads() const;
};

/// A problem of the given shape with random inputs and results that are NaN.
Problem makeProblem(const ActLinearAttentionSignature &signature);

/// The problem solved in f64, one token after the other.
Problem solve(const Problem &problem);

/// Root mean square of the difference, relative to that of `expected`.
double getError(const Array &actual, const Array &expected);

} // namespace mlir::act::test

#endif // ACT_UNITTESTS_RUNTIME_CPU_REFERENCE_H
