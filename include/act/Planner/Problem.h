//===- Problem.h - Choices under shared limits -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PLANNER_PROBLEM_H
#define ACT_PLANNER_PROBLEM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace mlir::act::planner {

/// What an option takes of each of the rows `firstRow` to `lastRow`, both
/// included: a tensor that is live over a range of positions is one use. Uses
/// of one option that overlap add up.
struct Use {
  Use(unsigned row, double amount)
      : firstRow(row), lastRow(row), amount(amount) {}
  Use(unsigned firstRow, unsigned lastRow, double amount)
      : firstRow(firstRow), lastRow(lastRow), amount(amount) {}

  unsigned firstRow;
  unsigned lastRow;
  /// In the unit of the row (bytes at a position, error, ...). May be negative:
  /// an option that frees what another item's options take.
  double amount;
};

/// One way to treat an item.
struct Option {
  double cost = 0; ///< at least 0
  llvm::SmallVector<Use, 2> uses;
};

/// A decision: exactly one of its options is taken.
struct Item {
  std::vector<Option> options;
};

/// A cost of at least 0 that is paid if two options are both taken, as by a
/// recomputation that starts from a recomputed value.
struct Pair {
  unsigned first;
  unsigned firstOption;
  unsigned second; ///< another item than `first`
  unsigned secondOption;
  double cost;
};

/// Minimise the cost of one option per item and of the pairs, such that what is
/// used of each row is at most its limit: a multiple-choice knapsack problem
/// with many rows.
struct Problem {
  std::vector<double> limits; ///< one per row; any finite number
  std::vector<Item> items;
  std::vector<Pair> pairs;
  /// The rows that share one limit, the budget, which `solveMonotone` and
  /// `findLeastLimit` set.
  std::vector<unsigned> peakRows;

  /// Sets the limit of every peak row.
  void setPeakLimit(double limit);
};

/// Checks that `problem` is well-formed: items have options; rows, items and
/// options that are named exist; peak rows are not named twice; pairs join two
/// items; numbers are finite, costs not negative, and sums stay below 1e300.
/// The error names the place and says what was expected.
llvm::Error checkProblem(const Problem &problem);

/// What the options `choices`, one per item, use of each row: sums in the order
/// of the items, exact for integers below 2^53.
std::vector<double> sumUses(const Problem &problem,
                            llvm::ArrayRef<unsigned> choices);

/// What the options `choices` and the pairs among them cost.
double sumCosts(const Problem &problem, llvm::ArrayRef<unsigned> choices);

/// The most that `choices` use of any peak row; 0 without peak rows.
double getPeak(const Problem &problem, llvm::ArrayRef<unsigned> choices);

/// True if `choices` use no more of each row than its limit. Rows whose amounts
/// and limit are integers are compared exactly, others with a relative slack of
/// 1e-12, which sums of fractions in another order may need.
bool isFeasible(const Problem &problem, llvm::ArrayRef<unsigned> choices);

} // namespace mlir::act::planner

#endif // ACT_PLANNER_PROBLEM_H
