//===- Model.cpp - What the relaxation is solved on ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>
#include <utility>

using namespace mlir::act::planner;

namespace {
/// What an option stands for, in the units of the problem, with the rows of its
/// pairs.
struct Alternative {
  double cost;
  UseList uses;
};
using Alternatives = std::vector<std::vector<Alternative>>;

/// Builds a model from a problem.
class ModelBuilder {
public:
  ModelBuilder(const Problem &problem, const OptionMask &mask);

  void scaleCosts();
  void addItems(Grouping grouping);
  void addPairs();
  void addPeakGroup(double least, double most);

  Model model;

private:
  UseList scaleUses(unsigned item, unsigned option) const;
  void addItem(unsigned item);
  Group &addGroup();
  void addColumn(unsigned option, double cost, llvm::ArrayRef<Use> uses);

  const Problem &problem;
  const OptionMask &mask;
  std::vector<double> scales; ///< per row
};
} // namespace

/// The options of each item with a use of 1 of the row of each pair they are
/// in.
static Alternatives getAlternatives(const Problem &problem) {
  Alternatives result(problem.items.size());
  for (auto [item, alternatives] : llvm::zip_equal(problem.items, result))
    for (const Option &option : item.options)
      alternatives.push_back({option.cost, normalizeUses(option.uses)});
  for (auto [index, pair] : llvm::enumerate(problem.pairs)) {
    unsigned row = problem.limits.size() + index;
    result[pair.first][pair.firstOption].uses.emplace_back(row, 1.0);
    result[pair.second][pair.secondOption].uses.emplace_back(row, 1.0);
  }
  return result;
}

OptionMask mlir::act::planner::excludeDominated(const Problem &problem) {
  OptionMask mask;
  for (const std::vector<Alternative> &options : getAlternatives(problem)) {
    llvm::BitVector &kept = mask.emplace_back(options.size(), true);
    for (unsigned worse = 0; worse < options.size(); ++worse)
      for (unsigned better = 0; better < options.size(); ++better)
        if (better != worse && kept.test(better) &&
            options[better].cost <= options[worse].cost &&
            usesAtMost(options[better].uses, options[worse].uses)) {
          kept.reset(worse);
          break;
        }
  }
  return mask;
}

ModelBuilder::ModelBuilder(const Problem &problem, const OptionMask &mask)
    : problem(problem), mask(mask), scales(problem.limits.size()) {
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      for (const Use &use : option.uses)
        for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
          scales[row] = std::max(scales[row], std::abs(use.amount));
  // Rows are measured in their limits, so that rows with the same limit keep
  // equal amounts; a limit far below or above what options take would be a poor
  // unit.
  for (auto [scale, limit] : llvm::zip_equal(scales, problem.limits)) {
    double unit = std::abs(limit);
    if (unit < 1e-6 * scale || unit > 1e9 * scale)
      unit = scale;
    scale = unit > 0 ? 1 / unit : 1;
    model.limits.push_back(limit * scale);
  }
}

void ModelBuilder::scaleCosts() {
  // The mean of what items may cost: relations between costs matter, not units.
  double total = 0;
  unsigned count = 0;
  for (const Item &item : problem.items)
    for (const Option &option : item.options)
      if (option.cost > 0) {
        total += option.cost;
        ++count;
      }
  for (const Pair &pair : problem.pairs)
    if (pair.cost > 0) {
      total += pair.cost;
      ++count;
    }
  model.costScale = count && total / count > 0 ? total / count : 1;
}

Group &ModelBuilder::addGroup() {
  unsigned begin = model.columns.size();
  model.groups.push_back({begin, begin, 1, {}});
  return model.groups.back();
}

void ModelBuilder::addColumn(unsigned option, double cost,
                             llvm::ArrayRef<Use> uses) {
  Column column{unsigned(model.groups.size() - 1), option, cost,
                UseList(uses.begin(), uses.end())};
  model.columns.push_back(std::move(column));
  model.groups.back().end = model.columns.size();
}

UseList ModelBuilder::scaleUses(unsigned item, unsigned option) const {
  UseList scaled;
  for (const Use &use : normalizeUses(problem.items[item].options[option].uses))
    for (unsigned row = use.firstRow; row <= use.lastRow; ++row) {
      double amount = use.amount * scales[row];
      if (!scaled.empty() && scaled.back().lastRow + 1 == row &&
          scaled.back().amount == amount)
        scaled.back().lastRow = row;
      else
        scaled.emplace_back(row, amount);
    }
  return scaled;
}

void ModelBuilder::addItem(unsigned item) {
  const std::vector<Option> &options = problem.items[item].options;
  if (mask[item].count() == 1) {
    unsigned option = mask[item].find_first();
    model.costOffset += options[option].cost;
    for (const Use &use : scaleUses(item, option))
      for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
        model.limits[row] -= use.amount;
    return;
  }
  addGroup().items.push_back(item);
  for (unsigned option : mask[item].set_bits())
    addColumn(option, options[option].cost / model.costScale,
              scaleUses(item, option));
}

/// What makes items equal, as numbers that can be compared.
static std::vector<double> getSignature(const Item &item,
                                        const llvm::BitVector &mask) {
  std::vector<double> signature;
  for (unsigned option : mask.set_bits()) {
    UseList uses = normalizeUses(item.options[option].uses);
    signature.insert(
        signature.end(),
        {double(option), item.options[option].cost, double(uses.size())});
    for (const Use &use : uses)
      signature.insert(signature.end(),
                       {double(use.firstRow), double(use.lastRow), use.amount});
  }
  return signature;
}

std::vector<unsigned>
mlir::act::planner::findEqualItems(const Problem &problem,
                                   const OptionMask &mask) {
  llvm::BitVector paired(problem.items.size());
  for (const Pair &pair : problem.pairs) {
    paired.set(pair.first);
    paired.set(pair.second);
  }
  std::vector<unsigned> result;
  std::map<std::vector<double>, unsigned> firstItems;
  for (unsigned item = 0; item < problem.items.size(); ++item)
    result.push_back(
        paired.test(item)
            ? item
            : firstItems
                  .try_emplace(getSignature(problem.items[item], mask[item]),
                               item)
                  .first->second);
  return result;
}

void ModelBuilder::addItems(Grouping grouping) {
  if (grouping == Grouping::Single) {
    for (unsigned item = 0; item < problem.items.size(); ++item)
      addItem(item);
    return;
  }
  std::vector<unsigned> firstItems = findEqualItems(problem, mask);
  std::vector<unsigned> groups(problem.items.size());
  for (auto [item, first] : llvm::enumerate(firstItems)) {
    if (first == item || mask[item].count() == 1) {
      groups[item] = model.groups.size();
      addItem(item);
      continue;
    }
    Group &group = model.groups[groups[first]];
    ++group.count;
    group.items.push_back(item);
  }
}

void ModelBuilder::addPairs() {
  // Columns of the items, by item and option.
  std::map<std::pair<unsigned, unsigned>, unsigned> columns;
  for (auto [index, column] : llvm::enumerate(model.columns))
    for (unsigned item : model.groups[column.group].items)
      columns[{item, column.option}] = index;
  for (const Pair &pair : problem.pairs) {
    unsigned row = model.limits.size();
    model.limits.push_back(1);
    if (!mask[pair.first].test(pair.firstOption) ||
        !mask[pair.second].test(pair.secondOption) || pair.cost == 0)
      continue;
    auto first = columns.find({pair.first, pair.firstOption});
    auto second = columns.find({pair.second, pair.secondOption});
    // An item without columns takes the option of the pair in any case.
    if (first == columns.end() && second == columns.end()) {
      model.costOffset += pair.cost;
    } else if (first == columns.end()) {
      model.columns[second->second].cost += pair.cost / model.costScale;
    } else if (second == columns.end()) {
      model.columns[first->second].cost += pair.cost / model.costScale;
    } else {
      model.columns[first->second].uses.emplace_back(row, 1.0);
      model.columns[second->second].uses.emplace_back(row, 1.0);
      addGroup();
      addColumn(0, 0, {});
      addColumn(1, pair.cost / model.costScale, {Use(row, -1.0)});
    }
  }
}

void ModelBuilder::addPeakGroup(double least, double most) {
  // The limit is most - (most - least) * x, where x is the second column.
  addGroup();
  model.costOffset = least;
  model.costScale = most - least;
  addColumn(0, 1, {});
  llvm::SmallVector<unsigned> rows(problem.peakRows.begin(),
                                   problem.peakRows.end());
  llvm::sort(rows);
  UseList uses;
  for (unsigned row : rows)
    uses.emplace_back(row, (most - least) * scales[row]);
  addColumn(1, 0, uses);
}

Model mlir::act::planner::makeCostModel(const Problem &problem,
                                        const OptionMask &mask,
                                        Grouping grouping) {
  ModelBuilder builder(problem, mask);
  builder.scaleCosts();
  builder.addItems(grouping);
  builder.addPairs();
  return std::move(builder.model);
}

Model mlir::act::planner::makePeakModel(const Problem &problem,
                                        const OptionMask &mask, double least,
                                        double most) {
  Problem free = problem;
  free.pairs.clear();
  free.setPeakLimit(most);
  for (Item &item : free.items)
    for (Option &option : item.options)
      option.cost = 0;
  ModelBuilder builder(free, mask);
  builder.addItems(Grouping::Single);
  builder.addPeakGroup(least, most);
  return std::move(builder.model);
}
