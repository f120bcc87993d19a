//===- RandomProblems.cpp - Small problems and their solutions ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cmath>
#include <random>

using namespace mlir::act::planner;

namespace {
/// Numbers that are the same with every standard library.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  /// From 0 to `end` - 1.
  unsigned below(unsigned end) { return engine() % end; }

private:
  std::mt19937 engine;
};
} // namespace

static Item makeRandomItem(const Family &family, Random &random) {
  Item item;
  unsigned numOptions = 1 + random.below(family.options);
  for (unsigned i = 0; i < numOptions; ++i) {
    Option option;
    option.cost = random.below(4) ? random.below(100) : 0;
    // Row 0 is no peak row; later options are cheaper there.
    option.uses.emplace_back(0, random.below(20));
    unsigned first = 1 + random.below(family.rows);
    unsigned last = first + random.below(family.rows + 1 - first);
    double amount = 1 + random.below(50);
    if (family.fractional)
      amount /= 7;
    if (family.negative && random.below(4) == 0)
      amount = -amount;
    option.uses.emplace_back(first, last, amount);
    option.uses.emplace_back(1 + random.below(family.rows), random.below(30));
    item.options.push_back(option);
  }
  return item;
}

Problem mlir::act::planner::makeRandomProblem(const Family &family,
                                              unsigned seed) {
  Random random(seed);
  Problem problem;
  problem.limits.assign(family.rows + 1, 0);
  while (problem.items.size() < family.items) {
    Item item = makeRandomItem(family, random);
    for (unsigned i = 0; i < family.copies; ++i)
      problem.items.push_back(item);
  }
  llvm::SmallVector<unsigned> first(problem.items.size(), 0);
  std::vector<double> sums = sumUses(problem, first);
  problem.limits[0] = std::floor(sums[0] * std::max(0.9, family.limitRatio));
  for (unsigned row = 1; row <= family.rows; ++row)
    problem.peakRows.push_back(row);
  problem.setPeakLimit(std::floor(getPeak(problem, first) * family.limitRatio));
  for (unsigned i = 0; i < family.pairs; ++i) {
    unsigned one = random.below(problem.items.size());
    unsigned other = (one + 1 + random.below(problem.items.size() - 1)) %
                     problem.items.size();
    problem.pairs.push_back(
        {one, random.below(problem.items[one].options.size()), other,
         random.below(problem.items[other].options.size()),
         double(random.below(80))});
  }
  return problem;
}

static void
forEachPlan(const Problem &problem,
            llvm::function_ref<void(llvm::ArrayRef<unsigned>)> visit) {
  llvm::SmallVector<unsigned> choices(problem.items.size(), 0);
  while (true) {
    visit(choices);
    size_t item = 0;
    while (item < choices.size() &&
           ++choices[item] == problem.items[item].options.size())
      choices[item++] = 0;
    if (item == choices.size())
      return;
  }
}

std::optional<double>
mlir::act::planner::findLeastCost(const Problem &problem) {
  std::optional<double> least;
  forEachPlan(problem, [&](llvm::ArrayRef<unsigned> choices) {
    double cost = sumCosts(problem, choices);
    if ((!least || cost < *least) && isFeasible(problem, choices))
      least = cost;
  });
  return least;
}

std::optional<double>
mlir::act::planner::findLeastPeak(const Problem &problem) {
  std::optional<double> least;
  Problem free = problem;
  free.setPeakLimit(1e300);
  forEachPlan(problem, [&](llvm::ArrayRef<unsigned> choices) {
    double peak = getPeak(free, choices);
    if ((!least || peak < *least) && isFeasible(free, choices))
      least = peak;
  });
  return least;
}
