//===- Model.h - What the relaxation is solved on -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_MODEL_H
#define ACT_LIB_PLANNER_MODEL_H

#include "Uses.h"
#include "act/Planner/Problem.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::act::planner {

/// A variable: how many of a group's items take one option.
struct Column {
  unsigned group;
  unsigned option; ///< its number among the options of the items
  double cost;     ///< scaled
  UseList uses;    ///< scaled
};

/// Equal items, whose columns sum to `count`; or a variable between 0 and 1
/// that stands for no item, with two columns that sum to 1.
struct Group {
  unsigned begin;
  unsigned end; ///< one past the last column
  unsigned count;
  llvm::SmallVector<unsigned, 1> items; ///< empty if it stands for no item
};

/// A problem in the form of the relaxation: rows are scaled to limits of about
/// 1 and costs to about 1, and every pair is a row that comes after the rows of
/// the problem (x + y - both <= 1) with a group for `both`.
struct Model {
  std::vector<double> limits;
  std::vector<Column> columns;
  std::vector<Group> groups;
  /// Cost of the problem = costScale * cost of the model + costOffset.
  double costScale = 1;
  double costOffset = 0;

  unsigned getNumRows() const { return limits.size(); }
};

enum class Grouping { Equal, Single };

/// The options of each item that matter, one bit each.
using OptionMask = std::vector<llvm::BitVector>;

/// Excludes options that another option of the item is at least as good as, in
/// cost, pairs and all rows.
OptionMask excludeDominated(const Problem &problem);

/// Numbers the items such that those that are equal in all options of `mask`,
/// and in no pair, have the same number, which is that of the first of them.
std::vector<unsigned> findEqualItems(const Problem &problem,
                                     const OptionMask &mask);

/// Makes the model of minimal cost with the options in `mask`. With
/// `Grouping::Equal` equal items become one group. Items with one option left
/// are taken into the limits and the offset of the cost.
Model makeCostModel(const Problem &problem, const OptionMask &mask,
                    Grouping grouping);

/// Makes the model whose cost is the common limit of the peak rows, between
/// `least` and `most`; the costs of `problem` do not count.
Model makePeakModel(const Problem &problem, const OptionMask &mask,
                    double least, double most);

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_MODEL_H
