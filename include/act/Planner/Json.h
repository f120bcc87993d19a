//===- Json.h - Problems and solutions as JSON -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/Planner.md describes the keys.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PLANNER_JSON_H
#define ACT_PLANNER_JSON_H

#include "act/Planner/Solver.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace mlir::act::planner {

/// Reads a problem and checks it. The error names the place in the text and
/// what was expected there.
llvm::Expected<Problem> parseProblem(llvm::StringRef text);

/// The result of `solve` or `solveMonotone` for `problem`.
llvm::json::Value toJson(const Problem &problem, const Solution &solution);

/// The result of `findLeastLimit`.
llvm::json::Value toJson(const LeastLimit &least);

} // namespace mlir::act::planner

#endif // ACT_PLANNER_JSON_H
