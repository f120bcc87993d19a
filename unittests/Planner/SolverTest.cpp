//===- SolverTest.cpp - Solves choices under shared limits --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Planner/Solver.h"
#include "RandomProblems.h"
#include "gtest/gtest.h"

using namespace mlir::act::planner;

static constexpr unsigned kSeeds = 60;

/// Searches to the end.
static SolverOptions exactly() {
  SolverOptions options;
  options.targetGap = 0;
  return options;
}

/// Families of problems with at most 4^7 plans.
class SolverTest : public testing::TestWithParam<Family> {};

INSTANTIATE_TEST_SUITE_P(
    Families, SolverTest,
    testing::Values(Family{7, 4, 5}, Family{7, 4, 1}, Family{6, 4, 9},
                    Family{7, 4, 5, 6}, Family{6, 4, 4, 20}, Family{1, 4, 3},
                    Family{7, 1, 3, 0, false, false, 1, 1.2},
                    Family{7, 4, 5, 0, true}, Family{7, 4, 5, 6, true},
                    Family{7, 4, 5, 0, false, true},
                    Family{6, 4, 4, 0, false, false, 3},
                    Family{6, 4, 4, 0, true, true, 6},
                    Family{7, 4, 5, 4, false, false, 1, 0.3},
                    Family{7, 4, 5, 4, false, false, 1, 0.9}));

TEST_P(SolverTest, FindsTheLeastCost) {
  unsigned numFeasible = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = makeRandomProblem(GetParam(), seed);
    std::optional<double> least = findLeastCost(problem);
    Solution solution = solve(problem, exactly());
    if (!least) {
      EXPECT_EQ(solution.status, Status::Infeasible);
      EXPECT_TRUE(solution.choices.empty());
      continue;
    }
    ++numFeasible;
    ASSERT_TRUE(solution.hasPlan());
    EXPECT_TRUE(isFeasible(problem, solution.choices));
    EXPECT_EQ(solution.cost, sumCosts(problem, solution.choices));
    EXPECT_NEAR(solution.cost, *least, 1e-6);
    EXPECT_LE(solution.bound, *least + 1e-6);
    EXPECT_NEAR(solution.bound, *least, 1e-6 * (1 + *least));
  }
  EXPECT_GT(numFeasible, 0u);
}

TEST_P(SolverTest, FindsTheLeastLimit) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = makeRandomProblem(GetParam(), seed);
    std::optional<double> least = findLeastPeak(problem);
    LeastLimit result = findLeastLimit(problem, exactly());
    if (!least) {
      EXPECT_EQ(result.status, Status::Infeasible);
      continue;
    }
    ASSERT_EQ(result.choices.size(), problem.items.size());
    EXPECT_NEAR(result.limit, *least, 1e-6);
    EXPECT_LE(result.bound, *least + 1e-6);
    problem.setPeakLimit(result.limit);
    EXPECT_TRUE(isFeasible(problem, result.choices));
  }
}

/// Checks plans for limits from the least one on.
static void checkMonotone(const Family &family, unsigned numSeeds,
                          const SolverOptions &options) {
  for (unsigned seed = 0; seed < numSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = makeRandomProblem(family, seed);
    std::optional<double> least = findLeastPeak(problem);
    if (!least)
      continue;
    std::optional<Solution> previous;
    double previousPeak = 0;
    double step = std::max(1.0, std::abs(*least)) / 17;
    for (unsigned i = 0; i < 25; ++i) {
      double limit = *least + i * step;
      Solution solution = solveMonotone(problem, limit, options);
      // A poor search for the least limit may end above it.
      if (!solution.hasPlan() && !previous && i < 24)
        continue;
      ASSERT_TRUE(solution.hasPlan()) << limit;
      problem.setPeakLimit(limit);
      EXPECT_TRUE(isFeasible(problem, solution.choices));
      double peak = getPeak(problem, solution.choices);
      if (previous) {
        EXPECT_LE(solution.cost, previous->cost);
        EXPECT_GE(peak, previousPeak);
      }
      EXPECT_LE(solution.bound, *findLeastCost(problem) + 1e-6);
      previous = std::move(solution);
      previousPeak = peak;
    }
    EXPECT_FALSE(solveMonotone(problem, *least - step, options).hasPlan());
  }
}

TEST_P(SolverTest, IsMonotone) {
  checkMonotone(GetParam(), kSeeds / 10, SolverOptions());
}

TEST_P(SolverTest, IsMonotoneWithPoorPlans) {
  // The first plan of every search is good enough.
  SolverOptions options;
  options.targetGap = 1e9;
  checkMonotone(GetParam(), kSeeds / 2, options);
}

TEST_P(SolverTest, FindsAPlanForTheLeastLimit) {
  for (unsigned seed = 0; seed < kSeeds / 10; ++seed) {
    Problem problem = makeRandomProblem(GetParam(), seed);
    std::optional<double> least = findLeastPeak(problem);
    if (!least)
      continue;
    EXPECT_TRUE(solveMonotone(problem, *least).hasPlan());
    EXPECT_EQ(solveMonotone(problem, *least - 0.1).status, Status::Infeasible);
  }
}

TEST_P(SolverTest, IsDeterministic) {
  for (unsigned seed = 0; seed < kSeeds / 10; ++seed) {
    Problem problem = makeRandomProblem(GetParam(), seed);
    Solution one = solve(problem);
    Solution other = solve(problem);
    EXPECT_EQ(one.choices, other.choices);
    EXPECT_EQ(one.bound, other.bound);
    EXPECT_EQ(one.effort.work, other.effort.work);
  }
}
