//===- Relaxation.h - The linear relaxation of a model -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dual simplex method for groups of columns that sum to a constant
// (generalised upper bounds, Dantzig and Van Slyke 1967). Every group has a key
// column that is basic; the rest of the basis is as large as the number of
// tight rows, which is small, so that it is factorised anew in each step. In
// dual terms a step moves the row prices along an edge of the Lagrangian
// function
//   sum over groups of count * min over columns (cost + prices * amounts)
//   - prices * limits,
// past the points where groups change their best column for as long as it rises
// (the long step rule). Its value at any prices that are not negative is a
// lower bound, whatever the rounding errors of the steps.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_RELAXATION_H
#define ACT_LIB_PLANNER_RELAXATION_H

#include "DenseFactor.h"
#include "Model.h"
#include "act/Planner/Solver.h"

namespace mlir::act::planner {

/// A vertex of the dual: `tight` and `extra` have the same size.
struct Basis {
  std::vector<unsigned> keys;           ///< a column per group
  llvm::SmallVector<unsigned, 8> tight; ///< numbers of active rows
  llvm::SmallVector<unsigned, 8> extra; ///< basic columns that are no keys
};

class Relaxation {
public:
  enum class Outcome { Optimal, Infeasible, Cutoff, Stalled };

  Relaxation(const Model &model, Effort &effort);

  /// Solves without the columns in `excluded`, starting from `basis`, and adds
  /// rows of the model while they are violated. Ends early with `Cutoff` once
  /// the bound reaches `cutoff`.
  Outcome solve(Basis &basis, const llvm::BitVector &excluded, double cutoff);

  /// The basis in which every group has its cheapest column that is not
  /// excluded.
  Basis getInitialBasis(const llvm::BitVector &excluded) const;

  /// After `solve`: a lower bound of the model's cost, valid for every outcome.
  double getBound() const { return bound; }
  /// After `solve`: the value of each column.
  const std::vector<double> &getValues() const { return values; }
  /// After `solve`: what taking a column adds to the bound, at least.
  std::vector<double> getReducedCosts() const;
  /// Rows of the model that were generated so far.
  llvm::ArrayRef<unsigned> getActiveRows() const { return activeRows; }
  void activateRows(llvm::ArrayRef<unsigned> rows);

private:
  /// What leaves the basis to remove a violation.
  struct Leaving {
    enum Kind { None, Key, Extra, Excluded, Row } kind = None;
    unsigned index = 0; ///< group, position in `extra`, or active row
    double violation = 0;
  };
  /// The end of a step.
  struct Entering {
    enum Kind { None, Column, Row } kind = None;
    unsigned index = 0; ///< column, or position in `tight`
    double step = 0;
  };

  bool adoptExclusions();
  Outcome pivotToOptimum(double cutoff);
  bool refresh();
  void computePrices();
  void computeAmounts();
  Leaving chooseLeaving() const;
  void exchangeKey(unsigned group);
  void computeDirection(const Leaving &leaving);
  bool provesInfeasible() const;
  Entering findBlocking() const;
  Entering chooseEntering(double slope);
  double findCrossing(unsigned from, unsigned &column) const;
  void pivot(const Leaving &leaving, const Entering &entering);
  bool generateRows();
  void computeBound();
  void computeValues();

  const Model &model;
  Effort &effort;
  std::vector<double> costs; ///< perturbed downwards, so that ties are rare
  std::vector<unsigned> activeRows;
  std::vector<int> activeNumbers;                ///< per row, -1 if not active
  std::vector<std::vector<double>> coefficients; ///< per active row and column

  // The state of a solve.
  Basis *basis = nullptr;
  const llvm::BitVector *excluded = nullptr;
  std::vector<unsigned> extraCounts; ///< per group
  DenseFactor factor;
  std::vector<double> rowPrices;   ///< per active row
  std::vector<double> prices;      ///< per column, with the rows it uses
  std::vector<double> slacks;      ///< per active row
  std::vector<double> extraValues; ///< per extra column
  std::vector<double> keyValues;   ///< per group
  std::vector<double> rowRates;    ///< per active row, along the step
  std::vector<double> rates;       ///< per column, along the step
  std::vector<unsigned> newKeys;   ///< per group, along the step
  std::vector<double> values;
  double bound = 0;
};

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_RELAXATION_H
