//===- RandomProblems.h - Small problems and their solutions -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_UNITTESTS_PLANNER_RANDOMPROBLEMS_H
#define ACT_UNITTESTS_PLANNER_RANDOMPROBLEMS_H

#include "act/Planner/Problem.h"
#include <optional>

namespace mlir::act::planner {

/// What the problems of a family have.
struct Family {
  unsigned items;
  unsigned options; ///< at most, per item
  unsigned rows;    ///< besides one that is no peak row
  unsigned pairs = 0;
  bool negative = false;   ///< some amounts are below 0
  bool fractional = false; ///< amounts are no integers
  unsigned copies = 1;     ///< equal items in a row
  double limitRatio = 0.5; ///< limits, as a part of what the first options use
};

/// A problem that depends on `family` and `seed` only.
Problem makeRandomProblem(const Family &family, unsigned seed);

/// The least cost of all plans that keep the limits, by trying all.
std::optional<double> findLeastCost(const Problem &problem);

/// The least peak of all plans that keep the limits of the other rows, by
/// trying all.
std::optional<double> findLeastPeak(const Problem &problem);

} // namespace mlir::act::planner

#endif // ACT_UNITTESTS_PLANNER_RANDOMPROBLEMS_H
