//===- ProblemTest.cpp - Choices under shared limits --------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Planner/Problem.h"
#include "act/Planner/Json.h"
#include "act/Planner/Solver.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mlir::act::planner;
using testing::ElementsAre;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Two items of two options, in two rows that share a limit, and a pair.
static Problem makeProblem() {
  Problem problem;
  problem.limits = {10, 10};
  problem.peakRows = {0, 1};
  Item item;
  item.options.resize(2);
  item.options[0].uses = {Use(0, 1, 6)};
  item.options[1].cost = 3;
  item.options[1].uses = {Use(1, 2)};
  problem.items = {item, item};
  problem.pairs = {{0, 1, 1, 1, 5}};
  return problem;
}

static std::string getMessage(const Problem &problem) {
  return llvm::toString(checkProblem(problem));
}

TEST(ProblemTest, AcceptsWhatIsWellFormed) {
  EXPECT_EQ(getMessage(makeProblem()), "");
  EXPECT_EQ(getMessage(Problem()), "");
}

TEST(ProblemTest, RejectsNumbersThatAreNotFinite) {
  for (double number : {kNaN, kInfinity, -kInfinity, 1e301}) {
    Problem problem = makeProblem();
    problem.limits[1] = number;
    EXPECT_THAT(getMessage(problem),
                testing::StartsWith("row 1: expects a finite limit, got "));
  }
  for (double number : {kNaN, kInfinity, -kInfinity}) {
    Problem problem = makeProblem();
    problem.items[1].options[0].uses[0].amount = number;
    EXPECT_THAT(getMessage(problem),
                testing::StartsWith(
                    "item 1, option 0, use 0: expects a finite amount, got "));
  }
  for (double number : {kNaN, kInfinity, -1.0}) {
    Problem problem = makeProblem();
    problem.items[0].options[1].cost = number;
    EXPECT_THAT(
        getMessage(problem),
        testing::StartsWith("item 0, option 1: expects a finite cost of "
                            "at least 0, got "));
    problem = makeProblem();
    problem.pairs[0].cost = number;
    EXPECT_THAT(getMessage(problem),
                testing::StartsWith(
                    "pair 0: expects a finite cost of at least 0, got "));
  }
  Problem problem = makeProblem();
  problem.items[0].options[1].uses[0].amount = 1e300;
  problem.items[1].options[1].uses[0].amount = 1e300;
  EXPECT_THAT(getMessage(problem),
              testing::HasSubstr("expects costs and amounts that sum to less"));
  problem = makeProblem();
  problem.pairs[0].cost = 1e301;
  EXPECT_THAT(getMessage(problem),
              testing::HasSubstr("expects costs that sum to less"));
}

TEST(ProblemTest, RejectsWhatDoesNotExist) {
  Problem problem = makeProblem();
  problem.items[1].options.clear();
  EXPECT_EQ(getMessage(problem),
            "item 1: expects at least one option, got none");
  problem = makeProblem();
  problem.items[0].options[0].uses[0].lastRow = 2;
  EXPECT_EQ(getMessage(problem),
            "item 0, option 0, use 0: expects a row below 2, got 2");
  problem = makeProblem();
  problem.items[0].options[1].uses[0].lastRow = 0;
  EXPECT_EQ(getMessage(problem),
            "item 0, option 1, use 0: expects a first row "
            "that is not behind the last row, got 1 and 0");
  problem = makeProblem();
  problem.pairs[0].second = 2;
  EXPECT_EQ(getMessage(problem), "pair 0: expects an item below 2, got 2");
  problem = makeProblem();
  problem.pairs[0].firstOption = 2;
  EXPECT_EQ(getMessage(problem),
            "pair 0: expects an option of item 0 below 2, got 2");
  problem = makeProblem();
  problem.pairs[0].second = 0;
  EXPECT_EQ(getMessage(problem),
            "pair 0: expects two different items, got item 0 twice");
  problem = makeProblem();
  problem.peakRows = {0, 2};
  EXPECT_EQ(getMessage(problem), "peak rows: expects a row below 2, got 2");
  problem.peakRows = {1, 1};
  EXPECT_EQ(getMessage(problem),
            "peak rows: expects each row once, got 1 twice");
}

TEST(ProblemTest, SumsWhatChoicesUseAndCost) {
  Problem problem = makeProblem();
  EXPECT_THAT(sumUses(problem, {0, 1}), ElementsAre(6, 8));
  EXPECT_EQ(sumCosts(problem, {0, 1}), 3);
  EXPECT_EQ(sumCosts(problem, {1, 1}), 11);
  EXPECT_EQ(getPeak(problem, {0, 0}), 12);
  EXPECT_TRUE(isFeasible(problem, {0, 1}));
  EXPECT_FALSE(isFeasible(problem, {0, 0}));
  // Uses of one option that overlap add up.
  problem.items[0].options[0].uses.emplace_back(1, 1, 3);
  EXPECT_THAT(sumUses(problem, {0, 1}), ElementsAre(6, 11));
}

TEST(ProblemTest, ComparesIntegersExactly) {
  // One byte more than 2^50 is too much, though it is less than the slack that
  // fractions get.
  Problem problem = makeProblem();
  double bytes = std::pow(2.0, 50);
  problem.items[0].options[0].uses[0].amount = bytes - 6;
  problem.setPeakLimit(bytes);
  EXPECT_TRUE(isFeasible(problem, {0, 0}));
  problem.setPeakLimit(bytes - 1);
  EXPECT_FALSE(isFeasible(problem, {0, 0}));
  EXPECT_EQ(solve(problem).cost, 3);
  // 0.1 + 0.2 > 0.3 in doubles.
  problem.items[0].options[0].uses[0].amount = 0.1;
  problem.items[1].options[0].uses[0].amount = 0.2;
  problem.setPeakLimit(0.3);
  EXPECT_TRUE(isFeasible(problem, {0, 0}));
  problem.setPeakLimit(0.3 * (1 - 1e-11));
  EXPECT_FALSE(isFeasible(problem, {0, 0}));
}

TEST(ProblemTest, SolvesWhatIsEmpty) {
  Solution solution = solve(Problem());
  EXPECT_EQ(solution.status, Status::Optimal);
  EXPECT_EQ(solution.cost, 0);
  EXPECT_EQ(solution.getGap(), 0);
  // No items, but a limit that is below zero.
  Problem problem;
  problem.limits = {-1};
  EXPECT_EQ(solve(problem).status, Status::Infeasible);
  // No rows.
  problem = makeProblem();
  problem.limits.clear();
  problem.peakRows.clear();
  for (Item &item : problem.items)
    for (Option &option : item.options)
      option.uses.clear();
  EXPECT_THAT(solve(problem).choices, ElementsAre(0, 0));
  EXPECT_THAT(solveMonotone(problem, 0).choices, ElementsAre(0, 0));
}

TEST(ProblemTest, ReadsJson) {
  llvm::Expected<Problem> problem = parseProblem(R"({
    "limits": [10, 10], "peak_rows": [0, 1],
    "items": [
      {"options": [{"cost": 0, "uses": [[0, 1, 6]]},
                   {"cost": 3, "uses": [[1, 2]]}]},
      {"options": [{"cost": 0, "uses": [[0, 1, 6]]},
                   {"cost": 3, "uses": [[1, 2]]}]}],
    "pairs": [{"first": [0, 1], "second": [1, 1], "cost": 5}]})");
  ASSERT_TRUE(bool(problem)) << llvm::toString(problem.takeError());
  EXPECT_THAT(problem->limits, ElementsAre(10, 10));
  EXPECT_THAT(problem->peakRows, ElementsAre(0, 1));
  EXPECT_EQ(sumCosts(*problem, {1, 1}), 11);
  EXPECT_THAT(sumUses(*problem, {0, 1}), ElementsAre(6, 8));
}
