//===- LeastLimit.cpp - The least budget that a plan exists for ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAndBound.h"
#include "PlanSearch.h"
#include "SolveUntil.h"
#include "act/Planner/Solver.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir::act::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// Minimises the peak with the search of `BranchAndBound`.
class PeakSolver {
public:
  PeakSolver(const Problem &problem, const SolverOptions &options);

  LeastLimit run();

private:
  double roundPlan(const Model &model, llvm::ArrayRef<double> values);
  bool offer(llvm::ArrayRef<unsigned> choices);

  /// The problem without costs, and with peak rows that never bind.
  Problem free;
  const SolverOptions &options;
  double least = kInfinity; ///< no peak is below
  double most = -kInfinity; ///< no peak is above
  OptionMask mask;
  LeastLimit best;
  PlanSearch search;
};
} // namespace

static Problem withoutCosts(const Problem &problem) {
  Problem free = problem;
  free.pairs.clear();
  for (Item &item : free.items)
    for (Option &option : item.options)
      option.cost = 0;
  return free;
}

PeakSolver::PeakSolver(const Problem &problem, const SolverOptions &options)
    : free(withoutCosts(problem)), options(options),
      mask(excludeDominated(free)), search(free, mask, best.effort) {
  // What each row takes at least and at most.
  std::vector<double> lows(problem.limits.size()), highs(lows), lowest(lows),
      highest(lows);
  for (const Item &item : problem.items) {
    llvm::fill(lowest, kInfinity);
    llvm::fill(highest, -kInfinity);
    for (const Option &option : item.options) {
      std::vector<double> sums(lows.size());
      for (const Use &use : option.uses)
        for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
          sums[row] += use.amount;
      for (auto [low, high, sum] : llvm::zip_equal(lowest, highest, sums)) {
        low = std::min(low, sum);
        high = std::max(high, sum);
      }
    }
    for (size_t row = 0; row < lows.size(); ++row) {
      lows[row] += lowest[row];
      highs[row] += highest[row];
    }
  }
  for (unsigned row : problem.peakRows) {
    // The peak is at least what any of the rows takes.
    least = least == kInfinity ? lows[row] : std::max(least, lows[row]);
    most = std::max(most, highs[row]);
  }
  // The peak is measured in parts of this range.
  most = std::max(most, least + std::max(1.0, std::abs(least)));
  best.limit = kInfinity;
  free.setPeakLimit(most);
}

/// Takes `choices` if their peak is below that of the best plan and they keep
/// the other limits.
bool PeakSolver::offer(llvm::ArrayRef<unsigned> choices) {
  double peak = getPeak(free, choices);
  if (!(peak < best.limit) || !isFeasible(free, choices))
    return false;
  best.choices.assign(choices.begin(), choices.end());
  best.limit = peak;
  return true;
}

/// Makes a plan near `values`, and then lowers its peak for as long as repairs
/// allow.
double PeakSolver::roundPlan(const Model &model,
                             llvm::ArrayRef<double> values) {
  search.start(roundValues(model, values, mask));
  search.setPeakLimit(most);
  if (!search.repair())
    return best.limit;
  offer(search.getChoices());
  llvm::SmallVector<unsigned> start(search.getChoices());
  double low = std::max(least, best.bound);
  double high = std::min(best.limit, getPeak(free, start));
  static constexpr unsigned kHalvings = 12;
  for (unsigned i = 0; i < kHalvings && low < high; ++i) {
    double middle = i == 0 ? low : low + (high - low) / 2;
    search.start(start);
    search.setPeakLimit(middle);
    if (!search.repair()) {
      low = middle;
      continue;
    }
    start.assign(search.getChoices().begin(), search.getChoices().end());
    offer(start);
    high = getPeak(free, start);
  }
  return best.limit;
}

LeastLimit PeakSolver::run() {
  best.bound = least;
  Model model = makePeakModel(free, mask, least, most);
  std::vector<unsigned> equalItems = findEqualItems(free, mask);
  auto findPlan = [&](llvm::ArrayRef<double> values) {
    return roundPlan(model, values);
  };
  BranchAndBound tree(model, equalItems, findPlan, best.effort);
  tree.run(kInfinity, {options.targetGap, options.workLimit, kInfinity});
  best.bound = std::max(best.bound, tree.getBound());
  if (best.limit != kInfinity) {
    best.bound = std::min(best.bound, best.limit);
    best.status = isWithinGap(best.limit, best.bound, options.targetGap)
                      ? Status::Optimal
                      : Status::Feasible;
  } else if (tree.getBound() == kInfinity) {
    best.status = Status::Infeasible;
    best.bound = kInfinity;
  }
  return std::move(best);
}

LeastLimit mlir::act::planner::findLeastLimit(const Problem &problem,
                                              const SolverOptions &options) {
  return PeakSolver(problem, options).run();
}
