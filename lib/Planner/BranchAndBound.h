//===- BranchAndBound.h - Closes the gap of a relaxation -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_BRANCHANDBOUND_H
#define ACT_LIB_PLANNER_BRANCHANDBOUND_H

#include "Relaxation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <queue>

namespace mlir::act::planner {

/// Where a search ends, in the costs of the problem.
struct SearchLimits {
  double targetGap;
  uint64_t work;      ///< of `Effort::work`
  double boundTarget; ///< the search ends once its bound reaches this
};

/// Best-first search over the options of each item, which a branch splits in
/// two ranges of one order: that of what the options use, weighted by the
/// prices of the rows in the first relaxation. Every relaxation of a node is
/// solved from the basis of its parent.
class BranchAndBound {
public:
  /// Makes a plan from the values of the columns of a node. Returns the cost of
  /// the best plan known, infinite if none is.
  using PlanFinder = llvm::function_ref<double(llvm::ArrayRef<double>)>;

  /// `equalItems` as by `findEqualItems`: plans that differ in the order of
  /// equal items are searched once.
  BranchAndBound(const Model &model, llvm::ArrayRef<unsigned> equalItems,
                 PlanFinder findPlan, Effort &effort);

  /// Searches for better plans than one that costs `cost`.
  void run(double cost, const SearchLimits &limits);

  /// No plan costs less; infinite if there is none.
  double getBound() const { return bound; }

private:
  struct Node {
    double bound; ///< of the model
    uint64_t number;
    llvm::BitVector excluded;
    Basis basis;
    bool operator<(const Node &other) const {
      return bound != other.bound ? bound > other.bound : number > other.number;
    }
  };
  /// The columns of `group` up to `last` in its order, and the others.
  struct Split {
    unsigned group;
    unsigned last;
  };

  void orderColumns();
  void tryPlan();
  void makePlan();
  bool solveNode(Node &node);
  void expand(Node &node);
  llvm::SmallVector<Split> listSplits(const Node &node) const;
  llvm::SmallVector<Split> listAnySplit(const Node &node) const;
  Node makeChild(const Node &node, Split split, bool takesFirst);
  void excludeSide(llvm::BitVector &excluded, unsigned group, unsigned last,
                   bool keepsFirst) const;
  double getCutoff() const;
  void drop(double nodeBound);
  void updateBound();

  const Model &model;
  PlanFinder findPlan;
  Effort &effort;
  Relaxation relaxation;
  std::vector<unsigned> order; ///< columns, in an order within each group
  std::vector<double> weights; ///< per column, what the order is by
  /// Per group, the groups of equal items in their order, with itself.
  std::vector<llvm::SmallVector<unsigned, 1>> twins;
  std::priority_queue<Node> open;
  double cost = 0;       ///< of the best plan, of the problem
  uint64_t planWork = 0; ///< by `findPlan`
  double lowestDropped;  ///< bound of the model
  double bound;          ///< of the problem
};

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_BRANCHANDBOUND_H
