//===- PlanSearch.cpp - Rounding, repair and exchanges ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSearch.h"
#include "Slacks.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>
#include <tuple>

using namespace mlir::act::planner;

/// Savings below this part of the cost are rounding errors.
static constexpr double kLeastSaving = 1e-12;

PlanSearch::PlanSearch(const Problem &problem, OptionMask mask, Effort &effort)
    : problem(problem), mask(std::move(mask)), effort(effort),
      neighbors(problem.items.size()), allowances(getAllowances(problem)),
      units(problem.limits.size()) {
  for (const Item &item : problem.items) {
    std::vector<UseList> &options = uses.emplace_back();
    for (const Option &option : item.options) {
      options.push_back(normalizeUses(option.uses));
      for (const Use &use : options.back())
        for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
          units[row] = std::max(units[row], std::abs(use.amount));
    }
  }
  for (auto [unit, limit] : llvm::zip_equal(units, problem.limits))
    unit = limit != 0 ? std::abs(limit) : unit > 0 ? unit : 1;
  for (const Pair &pair : problem.pairs) {
    neighbors[pair.first].push_back(
        {pair.firstOption, pair.second, pair.secondOption, pair.cost});
    neighbors[pair.second].push_back(
        {pair.secondOption, pair.first, pair.firstOption, pair.cost});
  }
}

void PlanSearch::setPeakLimit(double limit) {
  for (unsigned row : problem.peakRows) {
    allowances[row] = limit;
    units[row] = limit != 0 ? std::abs(limit) : units[row];
  }
}

void PlanSearch::start(llvm::ArrayRef<unsigned> newChoices) {
  choices.assign(newChoices.begin(), newChoices.end());
  sums = sumUses(problem, choices);
  effort.work += sums.size();
}

double PlanSearch::getMoveCost(unsigned item, unsigned option) const {
  const std::vector<Option> &options = problem.items[item].options;
  double cost = options[option].cost - options[choices[item]].cost;
  for (const Neighbor &neighbor : neighbors[item]) {
    if (choices[neighbor.item] != neighbor.option)
      continue;
    if (neighbor.ownOption == option)
      cost += neighbor.cost;
    if (neighbor.ownOption == choices[item])
      cost -= neighbor.cost;
  }
  return cost;
}

/// What `option` of `item` uses more than its choice.
UseList PlanSearch::getDifference(unsigned item, unsigned option) {
  llvm::ArrayRef<Use> after = uses[item][option];
  llvm::ArrayRef<Use> before = uses[item][choices[item]];
  UseList result;
  // Both lists are in order: the next row where either changes ends a piece.
  unsigned row = 0;
  while (!after.empty() || !before.empty()) {
    unsigned end = std::numeric_limits<unsigned>::max();
    unsigned next = end;
    double amount = 0;
    for (auto [list, sign] : {std::pair(after, 1.0), std::pair(before, -1.0)}) {
      if (list.empty())
        continue;
      const Use &use = list.front();
      next = std::min(next, std::max(row, use.firstRow));
      if (use.firstRow > row) {
        end = std::min(end, use.firstRow - 1);
        continue;
      }
      end = std::min(end, use.lastRow);
      amount += sign * use.amount;
    }
    if (next > row) {
      row = next;
      continue;
    }
    if (amount != 0)
      result.emplace_back(row, end, amount);
    row = end + 1;
    for (llvm::ArrayRef<Use> *list : {&after, &before})
      if (!list->empty() && list->front().lastRow < row)
        *list = list->drop_front();
  }
  return result;
}

/// How the sum of relative excesses changes with `difference`.
double PlanSearch::getExcessChange(llvm::ArrayRef<Use> difference) {
  double change = 0;
  for (const Use &use : difference) {
    for (unsigned row = use.firstRow; row <= use.lastRow; ++row) {
      double excess = sums[row] - allowances[row];
      change += (std::max(0.0, excess + use.amount) - std::max(0.0, excess)) /
                units[row];
    }
    effort.work += use.lastRow - use.firstRow + 1;
  }
  return change;
}

bool PlanSearch::fits(llvm::ArrayRef<Use> difference) {
  for (const Use &use : difference)
    for (unsigned row = use.firstRow; row <= use.lastRow; ++row) {
      ++effort.work;
      if (use.amount > 0 && !(sums[row] + use.amount <= allowances[row]))
        return false;
    }
  return true;
}

double PlanSearch::getAmount(unsigned item, unsigned option,
                             unsigned row) const {
  for (const Use &use : uses[item][option])
    if (use.firstRow <= row && row <= use.lastRow)
      return use.amount;
  return 0;
}

void PlanSearch::apply(unsigned item, unsigned option) {
  for (const Use &use : getDifference(item, option))
    for (unsigned row = use.firstRow; row <= use.lastRow; ++row)
      sums[row] += use.amount;
  choices[item] = option;
}

bool PlanSearch::repair() {
  // Every move removes excess, but with fractions perhaps only a rounding
  // error.
  for (size_t left = 20 * problem.items.size() + 100; left > 0; --left) {
    bool violated = false;
    for (auto [sum, allowance] : llvm::zip_equal(sums, allowances))
      violated |= !(sum <= allowance);
    if (!violated)
      return true;
    double bestScore = std::numeric_limits<double>::infinity();
    Move best{};
    for (unsigned item = 0; item < problem.items.size(); ++item)
      for (unsigned option : mask[item].set_bits()) {
        if (option == choices[item])
          continue;
        double change = getExcessChange(getDifference(item, option));
        if (!(change < 0))
          continue;
        double cost = getMoveCost(item, option);
        // Savings are better the larger they are, costs per excess removed.
        double score = cost > 0 ? cost / -change : cost;
        if (score < bestScore) {
          bestScore = score;
          best = {item, option, cost};
        }
      }
    if (bestScore == std::numeric_limits<double>::infinity())
      return false;
    apply(best.item, best.option);
  }
  return false;
}

/// Moves that change the cost by less than `below`, the greatest savings first.
std::vector<PlanSearch::Move> PlanSearch::listMoves(double below) const {
  std::vector<Move> moves;
  for (unsigned item = 0; item < problem.items.size(); ++item)
    for (unsigned option : mask[item].set_bits()) {
      if (option == choices[item])
        continue;
      double cost = getMoveCost(item, option);
      if (cost < below)
        moves.push_back({item, option, cost});
    }
  llvm::sort(moves, [](const Move &a, const Move &b) {
    return std::tie(a.cost, a.item, a.option) <
           std::tie(b.cost, b.item, b.option);
  });
  return moves;
}

void PlanSearch::improve() {
  double least = kLeastSaving * sumCosts(problem, choices);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Move &move : listMoves(-least)) {
      // Earlier moves of this round may have changed what this one does.
      if (move.option == choices[move.item] ||
          !(getMoveCost(move.item, move.option) < -least) ||
          !fits(getDifference(move.item, move.option)))
        continue;
      apply(move.item, move.option);
      changed = true;
    }
  }
}

unsigned PlanSearch::findWorstRow() const {
  unsigned worst = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (unsigned row = 0; row < sums.size(); ++row) {
    double excess = (sums[row] - allowances[row]) / units[row];
    if (excess > most) {
      most = excess;
      worst = row;
    }
  }
  return worst;
}

/// Makes `move` and a cheaper one that makes room for it; false if there is
/// none.
bool PlanSearch::exchange(const Move &move) {
  unsigned oldOption = choices[move.item];
  apply(move.item, move.option);
  unsigned worst = findWorstRow();
  double excess = sums[worst] - allowances[worst];
  double least = kLeastSaving * sumCosts(problem, choices);
  for (const Move &other : listMoves(-move.cost - least)) {
    ++effort.work;
    if (other.item == move.item ||
        getAmount(other.item, choices[other.item], worst) -
                getAmount(other.item, other.option, worst) <
            excess)
      continue;
    unsigned otherOption = choices[other.item];
    apply(other.item, other.option);
    effort.work += sums.size();
    bool feasible =
        llvm::all_of(llvm::zip_equal(sums, allowances), [](auto pair) {
          return std::get<0>(pair) <= std::get<1>(pair);
        });
    if (feasible)
      return true;
    apply(other.item, otherOption);
  }
  apply(move.item, oldOption);
  return false;
}

void PlanSearch::improveByExchange(uint64_t workLimit) {
  improve();
  bool changed = true;
  while (changed) {
    changed = false;
    double least = kLeastSaving * sumCosts(problem, choices);
    for (const Move &move : listMoves(-least)) {
      if (effort.work >= workLimit)
        return;
      effort.work += 8 * problem.items.size();
      if (move.option == choices[move.item] ||
          getMoveCost(move.item, move.option) != move.cost)
        continue;
      changed |= exchange(move);
    }
    if (changed)
      improve();
  }
}

llvm::SmallVector<unsigned> mlir::act::planner::roundValues(
    const Model &model, llvm::ArrayRef<double> values, const OptionMask &mask) {
  llvm::SmallVector<unsigned> choices;
  for (const llvm::BitVector &options : mask)
    choices.push_back(options.find_first());
  for (const Group &group : model.groups) {
    // Items take the options in turn; what is left of an option adds to the
    // next.
    double taken = 0;
    unsigned column = group.begin;
    if (group.items.size() == 1) {
      unsigned best = group.begin;
      for (unsigned other = group.begin; other < group.end; ++other)
        if (values[other] > values[best])
          best = other;
      choices[group.items.front()] = model.columns[best].option;
      continue;
    }
    for (auto [index, item] : llvm::enumerate(group.items)) {
      while (column + 1 < group.end && taken + values[column] < index + 0.5)
        taken += values[column++];
      choices[item] = model.columns[column].option;
    }
  }
  return choices;
}
