//===- Solver.h - Solves choices under shared limits -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear relaxation is solved by a dual simplex method for generalised
// upper bounds (G. B. Dantzig and R. M. Van Slyke, "Generalized upper bounding
// techniques", 1967) with rows generated when they are violated; its solution
// is rounded, repaired and improved by exchanges; branch and bound closes what
// gap remains. docs/Planner.md describes the method and its guarantees.
//
// All functions expect problems that `checkProblem` accepts, return the same
// plan for the same problem in every run, and stop by counted work, never by
// time.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PLANNER_SOLVER_H
#define ACT_PLANNER_SOLVER_H

#include "act/Planner/Problem.h"
#include <cstdint>

namespace mlir::act::planner {

struct SolverOptions {
  /// The search stops once (cost - bound) / cost is not above this.
  double targetGap = 1e-3;
  /// The search stops after about so many multiplications (5 seconds of one
  /// core by default). The relaxation and a first plan are always completed.
  uint64_t workLimit = 2'500'000'000;
};

enum class Status {
  /// The plan is feasible and its gap at most the target.
  Optimal,
  /// The plan is feasible; its gap is above the target.
  Feasible,
  /// It is proven that no plan exists.
  Infeasible,
  /// No plan was found within the work limit, and none is excluded.
  Unknown
};

/// How much was done for a solution.
struct Effort {
  uint64_t work = 0;          ///< multiplications, about
  uint64_t iterations = 0;    ///< steps of the simplex method
  uint64_t nodes = 0;         ///< of branch and bound
  unsigned rowsGenerated = 0; ///< rows and pairs that became violated
};

struct Solution {
  Status status = Status::Unknown;
  /// One option per item; empty without a plan.
  llvm::SmallVector<unsigned> choices;
  /// Of the plan, with its pairs; infinite without a plan.
  double cost = 0;
  /// No feasible plan costs less.
  double bound = 0;
  Effort effort;

  bool hasPlan() const {
    return status == Status::Optimal || status == Status::Feasible;
  }
  /// (cost - bound) / cost; 0 if both are equal, infinite without a plan.
  double getGap() const;
};

/// Minimises the cost within the limits of `problem`.
Solution solve(const Problem &problem, const SolverOptions &options = {});

/// Minimises the cost with `limit` as the limit of the peak rows, such that
/// more budget never means more cost and less budget never a higher peak: for
/// limits a < b, cost(a) >= cost(b) and peak(a) <= peak(b), for the plans
/// returned. `bound` holds for `limit`.
Solution solveMonotone(const Problem &problem, double limit,
                       const SolverOptions &options = {});

/// The least limit of the peak rows.
struct LeastLimit {
  /// `Infeasible` if the other rows alone admit no plan.
  Status status = Status::Unknown;
  /// The peak of `choices`: with this limit a plan exists.
  double limit = 0;
  /// With less than this no plan exists.
  double bound = 0;
  /// A plan with the peak `limit`.
  llvm::SmallVector<unsigned> choices;
  Effort effort;
};

/// Finds the least common limit of the peak rows for which a plan exists, whose
/// costs do not matter.
LeastLimit findLeastLimit(const Problem &problem,
                          const SolverOptions &options = {});

} // namespace mlir::act::planner

#endif // ACT_PLANNER_SOLVER_H
