//===- PlanSearch.h - Rounding, repair and exchanges -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_PLANSEARCH_H
#define ACT_LIB_PLANNER_PLANSEARCH_H

#include "Model.h"
#include "act/Planner/Solver.h"

namespace mlir::act::planner {

/// Changes plans one item at a time, in the exact numbers of the problem.
class PlanSearch {
public:
  PlanSearch(const Problem &problem, OptionMask mask, Effort &effort);

  /// Replaces the limit of the peak rows.
  void setPeakLimit(double limit);
  /// Restricts moves to the options in `mask`.
  void setMask(OptionMask newMask) { mask = std::move(newMask); }

  /// Starts from `newChoices`.
  void start(llvm::ArrayRef<unsigned> newChoices);
  /// Makes the cheapest moves per excess removed until no row is above its
  /// limit; false if no move helps.
  bool repair();
  /// Makes moves that save cost for as long as one is feasible. Expects a
  /// feasible plan.
  void improve();
  /// Also tries two moves at once, of which one makes room for the other, until
  /// `effort.work` reaches `workLimit`.
  void improveByExchange(uint64_t workLimit);

  llvm::ArrayRef<unsigned> getChoices() const { return choices; }

private:
  struct Move {
    unsigned item;
    unsigned option;
    double cost; ///< change of the cost
  };
  struct Neighbor {
    unsigned ownOption;
    unsigned item;
    unsigned option;
    double cost;
  };

  double getMoveCost(unsigned item, unsigned option) const;
  UseList getDifference(unsigned item, unsigned option);
  double getExcessChange(llvm::ArrayRef<Use> difference);
  bool fits(llvm::ArrayRef<Use> difference);
  double getAmount(unsigned item, unsigned option, unsigned row) const;
  void apply(unsigned item, unsigned option);
  std::vector<Move> listMoves(double below) const;
  bool exchange(const Move &move);
  unsigned findWorstRow() const;

  const Problem &problem;
  OptionMask mask;
  Effort &effort;
  std::vector<std::vector<UseList>> uses;       ///< per item and option
  std::vector<std::vector<Neighbor>> neighbors; ///< per item
  std::vector<double> allowances;
  std::vector<double> units; ///< what excess of a row is measured in
  llvm::SmallVector<unsigned> choices;
  std::vector<double> sums;
};

/// The choices nearest to `values` of the columns of `model`; items without
/// columns keep their only option in `mask`.
llvm::SmallVector<unsigned> roundValues(const Model &model,
                                        llvm::ArrayRef<double> values,
                                        const OptionMask &mask);

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_PLANSEARCH_H
