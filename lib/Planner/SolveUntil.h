//===- SolveUntil.h - Solves with an early end -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_SOLVEUNTIL_H
#define ACT_LIB_PLANNER_SOLVEUNTIL_H

#include "act/Planner/Solver.h"
#include <cmath>

namespace mlir::act::planner {

/// True if `cost`, which may be infinite, is within the relative `gap` of
/// `bound`.
inline bool isWithinGap(double cost, double bound, double gap) {
  return cost <= bound ||
         (std::isfinite(cost) && cost - bound <= gap * std::abs(cost));
}

/// As `solve`, but ends as soon as the bound reaches `boundTarget`: its plan is
/// the plan of `solve` unless its bound is at least `boundTarget`.
Solution solveUntil(const Problem &problem, const SolverOptions &options,
                    double boundTarget);

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_SOLVEUNTIL_H
