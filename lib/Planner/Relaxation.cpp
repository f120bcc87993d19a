//===- Relaxation.cpp - The linear relaxation of a model ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Relaxation.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir::act::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Rows and columns are scaled to about 1; less than this is no violation.
static constexpr double kTolerance = 1e-9;
/// Rows that are generated at a time.
static constexpr unsigned kRowsPerRound = 10;

/// A number in [0.5, 1) that depends on `index` only.
static double perturb(uint64_t index) {
  uint64_t hash = (index + 1) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 29;
  hash *= 0xBF58476D1CE4E5B9ull;
  return 0.5 + 0.5 * double(hash >> 11) / double(uint64_t(1) << 53);
}

Relaxation::Relaxation(const Model &model, Effort &effort)
    : model(model), effort(effort), activeNumbers(model.getNumRows(), -1),
      extraCounts(model.groups.size()) {
  // Downwards, so that bounds with these costs hold for the true ones.
  static constexpr double kPerturbation = 1e-8;
  for (auto [index, column] : llvm::enumerate(model.columns))
    costs.push_back(column.cost - kPerturbation * perturb(index));
}

Basis Relaxation::getInitialBasis(const llvm::BitVector &without) const {
  Basis initial;
  for (const Group &group : model.groups) {
    unsigned best = group.begin;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!without.test(column) &&
          (without.test(best) || costs[column] < costs[best]))
        best = column;
    initial.keys.push_back(best);
  }
  return initial;
}

void Relaxation::activateRows(llvm::ArrayRef<unsigned> rows) {
  size_t first = activeRows.size();
  for (unsigned row : rows)
    if (activeNumbers[row] < 0) {
      activeNumbers[row] = activeRows.size();
      activeRows.push_back(row);
      coefficients.emplace_back(model.columns.size());
    }
  for (auto [index, column] : llvm::enumerate(model.columns))
    for (const Use &use : column.uses)
      for (size_t active = first; active < activeRows.size(); ++active)
        if (use.firstRow <= activeRows[active] &&
            activeRows[active] <= use.lastRow)
          coefficients[active][index] += use.amount;
  effort.rowsGenerated += activeRows.size() - first;
  effort.work += model.columns.size() * (activeRows.size() - first);
}

Relaxation::Outcome
Relaxation::solve(Basis &start, const llvm::BitVector &without, double cutoff) {
  basis = &start;
  excluded = &without;
  bound = -kInfinity;
  if (!adoptExclusions())
    return Outcome::Infeasible;
  Outcome outcome;
  do {
    outcome = pivotToOptimum(cutoff);
    computeBound();
    computeValues();
    if (outcome != Outcome::Optimal)
      return outcome;
  } while (generateRows());
  return outcome;
}

bool Relaxation::adoptExclusions() {
  llvm::fill(extraCounts, 0);
  for (unsigned column : basis->extra)
    ++extraCounts[model.columns[column].group];
  bool usable = refresh();
  if (usable)
    computePrices();
  for (auto [number, group] : llvm::enumerate(model.groups)) {
    unsigned &key = basis->keys[number];
    if (!excluded->test(key))
      continue;
    bool found = false;
    for (unsigned &column : basis->extra)
      if (!found && model.columns[column].group == number &&
          !excluded->test(column)) {
        std::swap(key, column);
        found = true;
      }
    if (found)
      continue;
    // The prices stay as they are if the key is the group's only basic column;
    // else there is no basis near by.
    usable &= extraCounts[number] == 0;
    unsigned best = group.end;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!excluded->test(column) &&
          (best == group.end || (usable && prices[column] < prices[best])))
        best = column;
    if (best == group.end)
      return false;
    key = best;
  }
  if (!usable) {
    *basis = getInitialBasis(*excluded);
    llvm::fill(extraCounts, 0);
  }
  return true;
}

Relaxation::Outcome Relaxation::pivotToOptimum(double cutoff) {
  // Perturbed costs make steps of length zero, and so cycles, unlikely; the
  // limit makes an end certain.
  uint64_t limit = 50 * (model.groups.size() + activeRows.size()) + 1000;
  bool restarted = false;
  for (uint64_t iteration = 0; iteration < limit; ++iteration) {
    ++effort.iterations;
    if (!refresh()) {
      if (restarted)
        return Outcome::Stalled;
      restarted = true;
      *basis = getInitialBasis(*excluded);
      llvm::fill(extraCounts, 0);
      continue;
    }
    computePrices();
    double value = 0;
    for (auto [group, key] : llvm::zip_equal(model.groups, basis->keys))
      value += group.count * prices[key];
    for (unsigned row : basis->tight)
      value -= rowPrices[row] * model.limits[activeRows[row]];
    if (value >= cutoff)
      return Outcome::Cutoff;
    computeAmounts();
    Leaving leaving = chooseLeaving();
    if (leaving.kind == Leaving::None)
      return Outcome::Optimal;
    if (leaving.kind == Leaving::Key) {
      exchangeKey(leaving.index);
      continue;
    }
    computeDirection(leaving);
    Entering entering = chooseEntering(leaving.violation);
    if (entering.kind == Entering::None)
      return provesInfeasible() ? Outcome::Infeasible : Outcome::Stalled;
    pivot(leaving, entering);
  }
  return Outcome::Stalled;
}

/// Factorises the basis: a row per tight row, a column per extra column, whose
/// entry is what it takes more than the key of its group.
bool Relaxation::refresh() {
  unsigned size = basis->tight.size();
  factor.reset(size);
  for (unsigned i = 0; i < size; ++i) {
    const std::vector<double> &row = coefficients[basis->tight[i]];
    for (unsigned j = 0; j < size; ++j) {
      unsigned column = basis->extra[j];
      factor.at(i, j) =
          row[column] - row[basis->keys[model.columns[column].group]];
    }
  }
  effort.work += uint64_t(size) * size * (size + 3) / 3;
  return factor.factorize();
}

void Relaxation::computePrices() {
  // Extra columns are as good as the keys of their groups.
  std::vector<double> solution;
  for (unsigned column : basis->extra)
    solution.push_back(costs[basis->keys[model.columns[column].group]] -
                       costs[column]);
  factor.solveTransposed(solution);
  rowPrices.assign(activeRows.size(), 0);
  prices = costs;
  for (auto [row, price] : llvm::zip_equal(basis->tight, solution)) {
    rowPrices[row] = price = std::max(price, 0.0);
    const double *from = coefficients[row].data();
    for (size_t i = 0, end = prices.size(); i < end; ++i)
      prices[i] += price * from[i];
  }
  effort.work += prices.size() * basis->tight.size();
}

void Relaxation::computeAmounts() {
  slacks.resize(activeRows.size());
  for (auto [active, slack] : llvm::enumerate(slacks)) {
    slack = model.limits[activeRows[active]];
    const double *row = coefficients[active].data();
    for (auto [group, key] : llvm::zip_equal(model.groups, basis->keys))
      slack -= group.count * row[key];
  }
  extraValues.clear();
  for (unsigned row : basis->tight)
    extraValues.push_back(slacks[row]);
  factor.solve(extraValues);
  keyValues.resize(model.groups.size());
  for (auto [group, value] : llvm::zip_equal(model.groups, keyValues))
    value = group.count;
  for (auto [column, value] : llvm::zip_equal(basis->extra, extraValues)) {
    unsigned group = model.columns[column].group;
    keyValues[group] -= value;
    for (auto [slack, row] : llvm::zip_equal(slacks, coefficients))
      slack -= value * (row[column] - row[basis->keys[group]]);
  }
  for (unsigned row : basis->tight)
    slacks[row] = 0;
  effort.work += activeRows.size() * (model.groups.size() + extraValues.size());
}

Relaxation::Leaving Relaxation::chooseLeaving() const {
  Leaving best;
  best.violation = kTolerance;
  auto offer = [&](Leaving::Kind kind, unsigned index, double violation) {
    if (violation > best.violation)
      best = {kind, index, violation};
  };
  for (auto [index, column] : llvm::enumerate(basis->extra)) {
    unsigned group = model.columns[column].group;
    offer(Leaving::Extra, index, -extraValues[index]);
    if (excluded->test(column))
      offer(Leaving::Excluded, index, extraValues[index]);
    offer(Leaving::Key, group, -keyValues[group]);
  }
  for (auto [row, slack] : llvm::enumerate(slacks))
    offer(Leaving::Row, row, -slack);
  return best;
}

/// Makes the largest extra column of `group` its key, so that the key, which is
/// negative, can leave.
void Relaxation::exchangeKey(unsigned group) {
  unsigned best = 0;
  double bestValue = -kInfinity;
  for (auto [index, column] : llvm::enumerate(basis->extra))
    if (model.columns[column].group == group && !excluded->test(column) &&
        extraValues[index] > bestValue) {
      best = index;
      bestValue = extraValues[index];
    }
  if (bestValue > -kInfinity)
    std::swap(basis->keys[group], basis->extra[best]);
}

void Relaxation::computeDirection(const Leaving &leaving) {
  std::vector<double> solution(basis->tight.size());
  if (leaving.kind == Leaving::Row) {
    const std::vector<double> &row = coefficients[leaving.index];
    for (auto [column, value] : llvm::zip_equal(basis->extra, solution))
      value = row[basis->keys[model.columns[column].group]] - row[column];
  } else {
    solution[leaving.index] = leaving.kind == Leaving::Extra ? 1 : -1;
  }
  factor.solveTransposed(solution);
  rowRates.assign(activeRows.size(), 0);
  for (auto [row, rate] : llvm::zip_equal(basis->tight, solution))
    rowRates[row] = rate;
  if (leaving.kind == Leaving::Row)
    rowRates[leaving.index] = 1;
  rates.assign(model.columns.size(), 0);
  for (auto [row, rate] : llvm::zip_equal(coefficients, rowRates)) {
    if (rate == 0)
      continue;
    effort.work += rates.size();
    const double *from = row.data();
    double factorOfRow = rate;
    for (size_t i = 0, end = rates.size(); i < end; ++i)
      rates[i] += factorOfRow * from[i];
  }
}

/// True if the rows, weighted by `rowRates`, cannot be met by any choice: what
/// the groups take at least is more than the limits.
bool Relaxation::provesInfeasible() const {
  std::vector<double> taken(model.columns.size());
  double limit = 0, magnitude = 0;
  for (auto [active, rate] : llvm::enumerate(rowRates)) {
    if (rate <= 0)
      continue;
    limit += rate * model.limits[activeRows[active]];
    magnitude += rate * std::abs(model.limits[activeRows[active]]);
    for (auto [sum, amount] : llvm::zip_equal(taken, coefficients[active]))
      sum += rate * amount;
  }
  double least = 0;
  for (const Group &group : model.groups) {
    double best = kInfinity;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!excluded->test(column))
        best = std::min(best, taken[column]);
    least += group.count * best;
    magnitude += group.count * std::abs(best);
  }
  static constexpr double kRounding = 1e-11;
  return least - limit > kRounding * magnitude;
}

/// Where the line of column `from` is first undercut by another of its group;
/// its number goes to `column`. Infinite if nowhere.
double Relaxation::findCrossing(unsigned from, unsigned &column) const {
  const Group &group = model.groups[model.columns[from].group];
  double nearest = kInfinity;
  double best = 0;
  for (unsigned other = group.begin; other < group.end; ++other) {
    double rate = rates[from] - rates[other];
    if (rate <= kTolerance || excluded->test(other))
      continue;
    double step = std::max(0.0, (prices[other] - prices[from]) / rate);
    if (step < nearest || (step == nearest && rate > best)) {
      nearest = step;
      best = rate;
      column = other;
    }
  }
  return nearest;
}

/// The nearest point that a step cannot pass: the price of a row becomes zero,
/// or a group that has extra columns gets another one.
Relaxation::Entering Relaxation::findBlocking() const {
  Entering blocking;
  blocking.step = kInfinity;
  for (auto [index, row] : llvm::enumerate(basis->tight))
    if (rowRates[row] < -kTolerance) {
      double step = rowPrices[row] / -rowRates[row];
      if (step < blocking.step)
        blocking = {Entering::Row, unsigned(index), step};
    }
  for (unsigned extra : basis->extra) {
    unsigned column = 0;
    double step = findCrossing(basis->keys[model.columns[extra].group], column);
    if (step < blocking.step)
      blocking = {Entering::Column, column, step};
  }
  return blocking;
}

/// How far to go when the bound rises by `slope`: to where it rises no more.
Relaxation::Entering Relaxation::chooseEntering(double slope) {
  Entering blocking = findBlocking();
  // What remains of the slope after crossings may be a rounding error.
  double flat = slope * kTolerance;
  newKeys = basis->keys;
  // The next crossing of each group without extra columns: a heap by step.
  struct Crossing {
    double step;
    unsigned group;
    unsigned column;
  };
  auto isLater = [](const Crossing &a, const Crossing &b) {
    return a.step != b.step ? a.step > b.step : a.group > b.group;
  };
  std::vector<Crossing> heap;
  auto push = [&](unsigned group) {
    unsigned column = 0;
    double step = findCrossing(newKeys[group], column);
    if (step < blocking.step)
      heap.push_back({step, group, column});
    return step < blocking.step;
  };
  for (unsigned group = 0; group < newKeys.size(); ++group)
    if (extraCounts[group] == 0)
      push(group);
  effort.work += model.columns.size();
  std::make_heap(heap.begin(), heap.end(), isLater);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), isLater);
    Crossing next = heap.back();
    heap.pop_back();
    double change = rates[newKeys[next.group]] - rates[next.column];
    slope -= change * model.groups[next.group].count;
    if (slope <= flat)
      return {Entering::Column, next.column, next.step};
    newKeys[next.group] = next.column;
    if (push(next.group))
      std::push_heap(heap.begin(), heap.end(), isLater);
  }
  return blocking;
}

void Relaxation::pivot(const Leaving &leaving, const Entering &entering) {
  basis->keys = newKeys;
  if (leaving.kind == Leaving::Row) {
    basis->tight.push_back(leaving.index);
  } else {
    --extraCounts[model.columns[basis->extra[leaving.index]].group];
    basis->extra.erase(basis->extra.begin() + leaving.index);
  }
  if (entering.kind == Entering::Row) {
    basis->tight.erase(basis->tight.begin() + entering.index);
  } else {
    ++extraCounts[model.columns[entering.index].group];
    basis->extra.push_back(entering.index);
  }
}

void Relaxation::computeValues() {
  values.assign(model.columns.size(), 0);
  // Without a solution these are those of the last step that had one.
  if (keyValues.size() != basis->keys.size() ||
      extraValues.size() != basis->extra.size())
    return;
  for (auto [key, value] : llvm::zip_equal(basis->keys, keyValues))
    values[key] = value;
  for (auto [column, value] : llvm::zip_equal(basis->extra, extraValues))
    values[column] = value;
}

bool Relaxation::generateRows() {
  std::vector<double> sums(model.getNumRows() + 1);
  for (auto [column, value] : llvm::zip_equal(model.columns, values)) {
    if (value == 0)
      continue;
    for (const Use &use : column.uses) {
      sums[use.firstRow] += value * use.amount;
      sums[use.lastRow + 1] -= value * use.amount;
    }
  }
  effort.work += sums.size() + values.size();
  for (size_t row = 1; row < sums.size(); ++row)
    sums[row] += sums[row - 1];
  auto getExcess = [&](unsigned row) { return sums[row] - model.limits[row]; };
  // Neighbouring rows say nearly the same, so only the worst of them is taken.
  std::vector<std::pair<double, unsigned>> violated;
  for (unsigned row = 0; row < model.getNumRows(); ++row)
    if (getExcess(row) > kTolerance && activeNumbers[row] < 0 &&
        (row == 0 || activeNumbers[row - 1] >= 0 ||
         getExcess(row) >= getExcess(row - 1)) &&
        (row + 1 == model.getNumRows() || activeNumbers[row + 1] >= 0 ||
         getExcess(row) > getExcess(row + 1)))
      violated.emplace_back(-getExcess(row), row);
  llvm::sort(violated);
  if (violated.size() > kRowsPerRound)
    violated.resize(kRowsPerRound);
  std::vector<unsigned> rows;
  for (auto [excess, row] : violated)
    rows.push_back(row);
  activateRows(rows);
  return !rows.empty();
}

void Relaxation::computeBound() {
  bound = 0;
  for (const Group &group : model.groups) {
    double least = kInfinity;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!excluded->test(column))
        least = std::min(least, prices[column] - costs[column] +
                                    model.columns[column].cost);
    bound += group.count * least;
  }
  for (auto [row, price] : llvm::zip_equal(activeRows, rowPrices))
    bound -= price * model.limits[row];
  effort.work += prices.size();
}

std::vector<double> Relaxation::getReducedCosts() const {
  std::vector<double> result(model.columns.size(), kInfinity);
  for (const Group &group : model.groups) {
    double least = kInfinity;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!excluded->test(column)) {
        result[column] =
            prices[column] - costs[column] + model.columns[column].cost;
        least = std::min(least, result[column]);
      }
    for (unsigned column = group.begin; column < group.end; ++column)
      result[column] -= least;
  }
  return result;
}
