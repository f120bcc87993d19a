//===- Solver.cpp - Solves choices under shared limits ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Planner/Solver.h"
#include "BranchAndBound.h"
#include "PlanSearch.h"
#include "SolveUntil.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir::act::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

namespace {
/// The stages of `solve`.
class CostSolver {
public:
  CostSolver(const Problem &problem, const SolverOptions &options);

  Solution run(double boundTarget);

private:
  bool isDone() const;
  double offer(llvm::ArrayRef<unsigned> choices);
  double roundPlan(const Model &model, llvm::ArrayRef<double> values,
                   bool thorough);
  bool solveRelaxation();
  void excludeExpensive(const Model &model, const Relaxation &relaxation);
  void searchTree(double boundTarget);
  Solution finish();

  const Problem &problem;
  const SolverOptions &options;
  OptionMask mask; ///< options that a better plan may take
  Solution best;
  PlanSearch search;
  bool infeasible = false;
};
} // namespace

double Solution::getGap() const {
  if (!hasPlan())
    return kInfinity;
  return cost > bound ? (cost - bound) / cost : 0;
}

CostSolver::CostSolver(const Problem &problem, const SolverOptions &options)
    : problem(problem), options(options), mask(excludeDominated(problem)),
      search(problem, mask, best.effort) {
  best.cost = kInfinity;
}

bool CostSolver::isDone() const {
  return infeasible || isWithinGap(best.cost, best.bound, options.targetGap);
}

/// Takes `choices` if they are feasible and cheaper than the best plan. Returns
/// the cost of the best plan.
double CostSolver::offer(llvm::ArrayRef<unsigned> choices) {
  double cost = sumCosts(problem, choices);
  if (cost < best.cost && isFeasible(problem, choices)) {
    best.choices.assign(choices.begin(), choices.end());
    best.cost = cost;
  }
  return best.cost;
}

/// Makes a plan near `values`.
double CostSolver::roundPlan(const Model &model, llvm::ArrayRef<double> values,
                             bool thorough) {
  search.start(roundValues(model, values, mask));
  if (!search.repair())
    return best.cost;
  if (thorough)
    search.improveByExchange(best.effort.work + options.workLimit / 20);
  else
    search.improve();
  return offer(search.getChoices());
}

/// Solves the relaxation with equal items as one, and rounds it.
bool CostSolver::solveRelaxation() {
  Model model = makeCostModel(problem, mask, Grouping::Equal);
  Relaxation relaxation(model, best.effort);
  llvm::BitVector none(model.columns.size());
  Basis basis = relaxation.getInitialBasis(none);
  Relaxation::Outcome outcome = relaxation.solve(basis, none, kInfinity);
  if (outcome == Relaxation::Outcome::Infeasible)
    return false;
  best.bound =
      std::max(0.0, relaxation.getBound() * model.costScale + model.costOffset);
  if (outcome != Relaxation::Outcome::Optimal)
    return true;
  roundPlan(model, relaxation.getValues(), /*thorough=*/true);
  excludeExpensive(model, relaxation);
  return true;
}

/// Excludes options that no plan takes that is better than the best known one.
void CostSolver::excludeExpensive(const Model &model,
                                  const Relaxation &relaxation) {
  std::vector<double> reduced = relaxation.getReducedCosts();
  double bound = relaxation.getBound() * model.costScale + model.costOffset;
  for (auto [column, cost] : llvm::zip_equal(model.columns, reduced)) {
    if (bound + cost * model.costScale <= best.cost)
      continue;
    for (unsigned item : model.groups[column.group].items)
      mask[item].reset(column.option);
  }
  search.setMask(mask);
}

void CostSolver::searchTree(double boundTarget) {
  Model model = makeCostModel(problem, mask, Grouping::Single);
  unsigned calls = 0;
  auto findPlan = [&](llvm::ArrayRef<double> values) {
    return roundPlan(model, values, calls++ == 0);
  };
  std::vector<unsigned> equalItems = findEqualItems(problem, mask);
  BranchAndBound tree(model, equalItems, findPlan, best.effort);
  tree.run(best.cost, {options.targetGap, options.workLimit, boundTarget});
  best.bound = std::max(best.bound, tree.getBound());
  infeasible = best.bound == kInfinity;
}

Solution CostSolver::finish() {
  best.bound = std::min(best.bound, best.cost);
  if (infeasible)
    best.status = Status::Infeasible;
  else if (best.choices.empty() && !problem.items.empty())
    best.status = Status::Unknown;
  else
    best.status = isDone() ? Status::Optimal : Status::Feasible;
  return std::move(best);
}

Solution CostSolver::run(double boundTarget) {
  infeasible = !solveRelaxation();
  if (!isDone() && best.bound < boundTarget)
    searchTree(boundTarget);
  if (infeasible)
    best.bound = kInfinity;
  return finish();
}

Solution mlir::act::planner::solveUntil(const Problem &problem,
                                        const SolverOptions &options,
                                        double boundTarget) {
  return CostSolver(problem, options).run(boundTarget);
}

Solution mlir::act::planner::solve(const Problem &problem,
                                   const SolverOptions &options) {
  return solveUntil(problem, options, kInfinity);
}
