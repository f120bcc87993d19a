//===- Monotone.cpp - More budget never costs more ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search that may end with a gap can find a cheaper plan for a smaller limit.
// So plans are made for a ladder of limits that depends on the problem and not
// on the limit that is asked for: rungs l(0) > l(1) > ... > l(n), where l(0) is
// the peak of the plan without a limit and l(n) the least limit. The plan of
// rung k is kept only if its peak is above l(k + 1), the next rung. The result
// for a limit b is, of the kept plans of the rungs that are not above b, the
// one of least cost, and of those the one of the highest rung.
//
// Let a < b. The rungs not above a are among those not above b, so that
// cost(b) <= cost(a). If the result for b is of a rung that is not above a, it
// comes first among the plans for a, too, and both results are the same. If it
// is of rung k with a < l(k), every rung that is not above a is at most l(k +
// 1); the peak of the result for a is at most its rung, and so below the peak
// for b. In both cases peak(a) <= peak(b).
//
// Rungs are solved from the highest, until the bound of one reaches the best
// cost: bounds hold for all lower rungs.
//
//===----------------------------------------------------------------------===//

#include "SolveUntil.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir::act::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// A limit that no peak reaches; see `checkProblem`.
static constexpr double kNoLimit = 1e300;
/// Rungs below this part of the first are not tried, besides the last.
static constexpr double kLowestPart = 1e-3;
/// A part of the work limit for each of the problems that are solved.
static constexpr uint64_t kWorkParts = 4;

/// The ratio of neighbouring rungs: what lies between them is lost. Plans of
/// few items have peaks that lie far apart, and more rungs would only have the
/// same.
static double getRatio(size_t numItems) {
  return 1 + std::clamp(0.2 / std::max(numItems, size_t(1)), 0.001, 0.005);
}

namespace {
/// The rungs of a problem, with the plans of the first and the last.
class Ladder {
public:
  Ladder(const Problem &problem, const SolverOptions &options);

  Solution choose(double limit);

private:
  Solution solveRung(double limit, double boundTarget);
  double getRung(unsigned index) const;
  void offer(Solution rung, double nextRung);
  void chooseAmongRungs(double limit);
  void boundFor(double limit);
  void count(const Effort &effort);

  Problem problem;
  SolverOptions options;
  LeastLimit least;
  Solution free;
  double top = 0; ///< the first rung
  Solution best;
};
} // namespace

Ladder::Ladder(const Problem &problem, const SolverOptions &options)
    : problem(problem),
      options{options.targetGap, options.workLimit / kWorkParts} {
  best.cost = kInfinity;
  least = findLeastLimit(problem, this->options);
  count(least.effort);
  if (!least.choices.empty() || problem.items.empty())
    free = solveRung(kNoLimit, kInfinity);
  if (free.hasPlan())
    top = getPeak(problem, free.choices);
  if (free.hasPlan() && top < least.limit) {
    least.limit = top;
    least.choices = free.choices;
  }
}

double Ladder::getRung(unsigned index) const {
  double part = std::pow(getRatio(problem.items.size()), -double(index));
  if (top <= 0 || part < kLowestPart)
    return index == 0 ? std::max(top, least.limit) : least.limit;
  return std::max(top * part, least.limit);
}

void Ladder::count(const Effort &effort) {
  best.effort.work += effort.work;
  best.effort.iterations += effort.iterations;
  best.effort.nodes += effort.nodes;
  best.effort.rowsGenerated += effort.rowsGenerated;
}

Solution Ladder::solveRung(double limit, double boundTarget) {
  problem.setPeakLimit(limit);
  Solution solution = solveUntil(problem, options, boundTarget);
  count(solution.effort);
  return solution;
}

/// Takes the plan of a rung if it is kept and cheaper than those of higher
/// rungs.
void Ladder::offer(Solution rung, double nextRung) {
  if (!rung.hasPlan() || !(rung.cost < best.cost) ||
      !(getPeak(problem, rung.choices) > nextRung))
    return;
  best.choices = std::move(rung.choices);
  best.cost = rung.cost;
}

void Ladder::chooseAmongRungs(double limit) {
  // A plan of the least limit may only be known from the search for that limit.
  Solution last;
  last.status = Status::Feasible;
  last.choices = least.choices;
  last.cost = sumCosts(problem, last.choices);
  double lastRung = least.limit;
  unsigned index = 0;
  while (getRung(index) > limit)
    ++index;
  for (;; ++index) {
    double rung = getRung(index);
    double next = rung > lastRung ? getRung(index + 1) : -kInfinity;
    Solution solution =
        index == 0 && top >= lastRung ? free : solveRung(rung, best.cost);
    if (best.cost < kInfinity && solution.bound >= best.cost)
      return;
    offer(solution, next);
    if (next == -kInfinity)
      break;
  }
  offer(last, -kInfinity);
}

/// Finds a bound of the cost with `limit`.
void Ladder::boundFor(double limit) {
  Solution solution =
      solveRung(limit, best.cost - options.targetGap * best.cost);
  best.bound = std::min(best.cost, solution.bound);
  best.status = isWithinGap(best.cost, best.bound, options.targetGap)
                    ? Status::Optimal
                    : Status::Feasible;
}

Solution Ladder::choose(double limit) {
  if (least.status == Status::Infeasible || limit < least.bound) {
    best.status = Status::Infeasible;
    best.bound = kInfinity;
  } else if (limit >= least.limit) {
    chooseAmongRungs(limit);
    boundFor(limit);
  }
  return std::move(best);
}

Solution mlir::act::planner::solveMonotone(const Problem &problem, double limit,
                                           const SolverOptions &options) {
  return Ladder(problem, options).choose(limit);
}
