//===- Slacks.h - What rows may use -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_SLACKS_H
#define ACT_LIB_PLANNER_SLACKS_H

#include "act/Planner/Problem.h"

namespace mlir::act::planner {

/// The most that `isFeasible` accepts of each row.
std::vector<double> getAllowances(const Problem &problem);

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_SLACKS_H
