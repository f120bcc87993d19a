//===- Problem.cpp - Choices under shared limits ------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Planner/Problem.h"
#include "Slacks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>
#include <limits>

using namespace mlir::act::planner;

/// Sums of all numbers of a problem stay below this, so that none is infinite.
static constexpr double kLargestSum = 1e300;

template <typename... Args>
static llvm::Error makeError(const char *format, Args &&...args) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Args>(args)...).str());
}

static llvm::Error checkUses(const Option &option, unsigned numRows,
                             const std::string &place, double &total) {
  for (auto [index, use] : llvm::enumerate(option.uses)) {
    if (use.firstRow > use.lastRow)
      return makeError(
          "{0}, use {1}: expects a first row that is not behind the "
          "last row, got {2} and {3}",
          place, index, use.firstRow, use.lastRow);
    if (use.lastRow >= numRows)
      return makeError("{0}, use {1}: expects a row below {2}, got {3}", place,
                       index, numRows, use.lastRow);
    if (!std::isfinite(use.amount))
      return makeError("{0}, use {1}: expects a finite amount, got {2}", place,
                       index, use.amount);
    total += std::abs(use.amount);
  }
  return llvm::Error::success();
}

static llvm::Error checkCost(double cost, const std::string &place) {
  if (std::isfinite(cost) && cost >= 0)
    return llvm::Error::success();
  return makeError("{0}: expects a finite cost of at least 0, got {1}", place,
                   cost);
}

static llvm::Error checkItems(const Problem &problem) {
  double total = 0;
  for (auto [number, item] : llvm::enumerate(problem.items)) {
    if (item.options.empty())
      return makeError("item {0}: expects at least one option, got none",
                       number);
    for (auto [index, option] : llvm::enumerate(item.options)) {
      std::string place =
          llvm::formatv("item {0}, option {1}", number, index).str();
      if (llvm::Error error = checkCost(option.cost, place))
        return error;
      if (llvm::Error error =
              checkUses(option, problem.limits.size(), place, total))
        return error;
      total += option.cost;
      if (total > kLargestSum)
        return makeError("{0}: expects costs and amounts that sum to less than "
                         "{1}",
                         place, kLargestSum);
    }
  }
  return llvm::Error::success();
}

static llvm::Error checkPair(const Problem &problem, const Pair &pair,
                             const std::string &place) {
  if (llvm::Error error = checkCost(pair.cost, place))
    return error;
  if (pair.cost > kLargestSum / double(problem.pairs.size()))
    return makeError("{0}: expects costs that sum to less than {1}", place,
                     kLargestSum);
  if (pair.first == pair.second)
    return makeError("{0}: expects two different items, got item {1} twice",
                     place, pair.first);
  for (auto [item, option] : {std::pair(pair.first, pair.firstOption),
                              std::pair(pair.second, pair.secondOption)}) {
    if (item >= problem.items.size())
      return makeError("{0}: expects an item below {1}, got {2}", place,
                       problem.items.size(), item);
    if (option >= problem.items[item].options.size())
      return makeError("{0}: expects an option of item {1} below {2}, got {3}",
                       place, item, problem.items[item].options.size(), option);
  }
  return llvm::Error::success();
}

static llvm::Error checkPeakRows(const Problem &problem) {
  llvm::BitVector seen(problem.limits.size());
  for (unsigned row : problem.peakRows) {
    if (row >= problem.limits.size())
      return makeError("peak rows: expects a row below {0}, got {1}",
                       problem.limits.size(), row);
    if (seen.test(row))
      return makeError("peak rows: expects each row once, got {0} twice", row);
    seen.set(row);
  }
  return llvm::Error::success();
}

llvm::Error mlir::act::planner::checkProblem(const Problem &problem) {
  // Row numbers and their successors are counted in 32 bits.
  if (problem.limits.size() >= std::numeric_limits<int32_t>::max())
    return makeError("rows: expects fewer than 2^31, got {0}",
                     problem.limits.size());
  for (auto [row, limit] : llvm::enumerate(problem.limits))
    if (!(std::abs(limit) <= kLargestSum))
      return makeError("row {0}: expects a finite limit, got {1}", row, limit);
  if (llvm::Error error = checkItems(problem))
    return error;
  for (auto [index, pair] : llvm::enumerate(problem.pairs))
    if (llvm::Error error =
            checkPair(problem, pair, llvm::formatv("pair {0}", index).str()))
      return error;
  return checkPeakRows(problem);
}

void Problem::setPeakLimit(double limit) {
  for (unsigned row : peakRows)
    limits[row] = limit;
}

std::vector<double>
mlir::act::planner::sumUses(const Problem &problem,
                            llvm::ArrayRef<unsigned> choices) {
  std::vector<double> sums(problem.limits.size());
  for (auto [item, choice] : llvm::zip_equal(problem.items, choices))
    for (const Use &use : item.options[choice].uses)
      for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
        sums[row] += use.amount;
  return sums;
}

double mlir::act::planner::sumCosts(const Problem &problem,
                                    llvm::ArrayRef<unsigned> choices) {
  double cost = 0;
  for (auto [item, choice] : llvm::zip_equal(problem.items, choices))
    cost += item.options[choice].cost;
  for (const Pair &pair : problem.pairs)
    if (choices[pair.first] == pair.firstOption &&
        choices[pair.second] == pair.secondOption)
      cost += pair.cost;
  return cost;
}

double mlir::act::planner::getPeak(const Problem &problem,
                                   llvm::ArrayRef<unsigned> choices) {
  if (problem.peakRows.empty())
    return 0;
  std::vector<double> sums = sumUses(problem, choices);
  double peak = -std::numeric_limits<double>::infinity();
  for (unsigned row : problem.peakRows)
    peak = std::max(peak, sums[row]);
  return peak;
}

std::vector<double> mlir::act::planner::getAllowances(const Problem &problem) {
  static constexpr double kRelativeSlack = 1e-12;
  llvm::BitVector fractional(problem.limits.size());
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      for (const Use &use : option.uses)
        if (use.amount != std::floor(use.amount))
          fractional.set(use.firstRow, use.lastRow + 1);
  std::vector<double> allowances(problem.limits);
  for (auto [row, allowance] : llvm::enumerate(allowances))
    if (fractional.test(row) || allowance != std::floor(allowance))
      allowance += kRelativeSlack * std::abs(allowance);
  return allowances;
}

bool mlir::act::planner::isFeasible(const Problem &problem,
                                    llvm::ArrayRef<unsigned> choices) {
  for (auto [sum, allowance] :
       llvm::zip_equal(sumUses(problem, choices), getAllowances(problem)))
    if (!(sum <= allowance))
      return false;
  return true;
}
