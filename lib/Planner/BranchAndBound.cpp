//===- BranchAndBound.cpp - Closes the gap of a relaxation --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAndBound.h"
#include "SolveUntil.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <map>

using namespace mlir::act::planner;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Values nearer to an integer are taken for it.
static constexpr double kIntegral = 1e-7;
/// Splits whose children are solved to choose between them.
static constexpr unsigned kMostSplits = 8;

BranchAndBound::BranchAndBound(const Model &model,
                               llvm::ArrayRef<unsigned> equalItems,
                               PlanFinder findPlan, Effort &effort)
    : model(model), findPlan(findPlan), effort(effort),
      relaxation(model, effort), twins(model.groups.size()),
      lowestDropped(kInfinity), bound(-kInfinity) {
  std::map<unsigned, llvm::SmallVector<unsigned, 1>> sets;
  for (auto [number, group] : llvm::enumerate(model.groups))
    if (!group.items.empty())
      sets[equalItems[group.items.front()]].push_back(number);
  for (auto &[first, groups] : sets)
    for (unsigned group : groups)
      twins[group] = groups;
}

/// Plans must cost less than this, of the model, to be worth a search.
double BranchAndBound::getCutoff() const {
  static constexpr double kRounding = 1e-9;
  if (cost == kInfinity)
    return kInfinity;
  return (cost - kRounding * std::abs(cost) - model.costOffset) /
         model.costScale;
}

void BranchAndBound::drop(double nodeBound) {
  lowestDropped = std::min(lowestDropped, nodeBound);
}

void BranchAndBound::updateBound() {
  double lowest = lowestDropped;
  if (!open.empty())
    lowest = std::min(lowest, open.top().bound);
  bound = std::min(cost, lowest * model.costScale + model.costOffset);
}

void BranchAndBound::run(double initialCost, const SearchLimits &limits) {
  cost = initialCost;
  llvm::BitVector none(model.columns.size());
  Node root{-kInfinity, 0, none, relaxation.getInitialBasis(none)};
  if (!solveNode(root)) {
    updateBound();
    return;
  }
  orderColumns();
  tryPlan();
  open.push(std::move(root));
  for (updateBound(); !open.empty(); updateBound()) {
    if (bound >= limits.boundTarget || effort.work >= limits.work ||
        isWithinGap(cost, bound, limits.targetGap))
      return;
    Node node = open.top();
    open.pop();
    if (node.bound >= getCutoff())
      drop(node.bound);
    else
      expand(node);
  }
}

/// Makes a plan from the relaxation that was just solved, if plans did not take
/// too much of the work so far.
void BranchAndBound::tryPlan() {
  static constexpr uint64_t kPart = 3;
  if (cost == kInfinity || kPart * planWork <= effort.work)
    makePlan();
}

void BranchAndBound::makePlan() {
  uint64_t before = effort.work;
  cost = std::min(cost, findPlan(relaxation.getValues()));
  planWork += effort.work - before;
}

/// Solves the relaxation of `node`; false if nothing in it is better than the
/// best plan.
bool BranchAndBound::solveNode(Node &node) {
  Relaxation::Outcome outcome =
      relaxation.solve(node.basis, node.excluded, getCutoff());
  if (outcome == Relaxation::Outcome::Infeasible)
    return false;
  node.bound = std::max(node.bound, relaxation.getBound());
  if (node.bound < getCutoff())
    return true;
  drop(node.bound);
  return false;
}

void BranchAndBound::orderColumns() {
  std::vector<double> reduced = relaxation.getReducedCosts();
  weights.clear();
  for (auto [column, cost] : llvm::zip_equal(model.columns, reduced)) {
    order.push_back(order.size());
    weights.push_back(cost - column.cost);
  }
  for (const Group &group : model.groups)
    std::sort(order.begin() + group.begin, order.begin() + group.end,
              [&](unsigned a, unsigned b) {
                return std::pair(weights[a], a) < std::pair(weights[b], b);
              });
}

/// Where the fractional groups of `node`, whose relaxation was just solved, can
/// be split such that its solution is on neither side: the most even first.
llvm::SmallVector<BranchAndBound::Split>
BranchAndBound::listSplits(const Node &node) const {
  const std::vector<double> &values = relaxation.getValues();
  llvm::SmallVector<std::pair<double, Split>> splits;
  for (auto [number, group] : llvm::enumerate(model.groups)) {
    if (group.items.empty())
      continue;
    double mean = 0, before = 0, after = 0;
    for (unsigned column = group.begin; column < group.end; ++column)
      if (!node.excluded.test(column)) {
        mean += values[column] * weights[column];
        after += values[column];
      }
    Split split{unsigned(number), 0};
    double evenness = 0;
    for (unsigned place = group.begin; place + 1 < group.end; ++place) {
      if (node.excluded.test(order[place]))
        continue;
      before += values[order[place]];
      after -= values[order[place]];
      if (before <= kIntegral || after <= kIntegral)
        continue;
      // The last place before the mean; the first one if all are behind it.
      if (evenness > 0 && weights[order[place]] > mean)
        break;
      split.last = place;
      evenness = std::min(before, after);
    }
    if (evenness > 0)
      splits.push_back({-evenness, split});
  }
  llvm::sort(splits, [](const auto &a, const auto &b) {
    return std::pair(a.first, a.second.group) <
           std::pair(b.first, b.second.group);
  });
  if (splits.size() > kMostSplits)
    splits.resize(kMostSplits);
  return llvm::to_vector(llvm::make_second_range(splits));
}

/// Some split of a node that leaves a choice. Its solution is integral, but the
/// plan was not accepted: it is above a limit by less than the relaxation sees.
llvm::SmallVector<BranchAndBound::Split>
BranchAndBound::listAnySplit(const Node &node) const {
  for (auto [number, group] : llvm::enumerate(model.groups)) {
    if (group.items.empty())
      continue;
    unsigned first = group.end;
    for (unsigned place = group.begin; place < group.end; ++place) {
      if (node.excluded.test(order[place]))
        continue;
      if (first != group.end)
        return {Split{unsigned(number), first}};
      first = place;
    }
  }
  return {};
}

void BranchAndBound::excludeSide(llvm::BitVector &excluded, unsigned group,
                                 unsigned last, bool keepsFirst) const {
  unsigned from = keepsFirst ? last + 1 : model.groups[group].begin;
  unsigned to = keepsFirst ? model.groups[group].end : last + 1;
  for (unsigned place = from; place < to; ++place)
    excluded.set(order[place]);
}

/// The side of `split` with its first columns, or the other. Equal items take
/// options in order, so that those before or behind the split one are on its
/// side.
BranchAndBound::Node BranchAndBound::makeChild(const Node &node, Split split,
                                               bool takesFirst) {
  Node child{node.bound, ++effort.nodes, node.excluded, node.basis};
  llvm::ArrayRef<unsigned> groups = twins[split.group];
  unsigned offset = split.last - model.groups[split.group].begin;
  size_t self = llvm::find(groups, split.group) - groups.begin();
  groups = takesFirst ? groups.take_front(self + 1) : groups.drop_front(self);
  for (unsigned group : groups)
    excludeSide(child.excluded, group, model.groups[group].begin + offset,
                takesFirst);
  return child;
}

void BranchAndBound::expand(Node &node) {
  if (!solveNode(node))
    return;
  llvm::SmallVector<Split> splits = listSplits(node);
  if (splits.empty()) {
    makePlan();
    splits = listAnySplit(node);
  } else {
    tryPlan();
  }
  // The split whose children's bounds rise most, as a product.
  double bestScore = -1;
  std::vector<Node> best;
  double bestDropped = kInfinity;
  double droppedBefore = lowestDropped;
  for (Split split : splits) {
    lowestDropped = kInfinity;
    std::vector<Node> children;
    double score = 1;
    for (bool takesFirst : {true, false}) {
      Node child = makeChild(node, split, takesFirst);
      static constexpr double kLeastRise = 1e-6;
      if (solveNode(child)) {
        score *= std::max(child.bound - node.bound, kLeastRise);
        children.push_back(std::move(child));
      } else {
        score *= 1e6;
      }
    }
    if (score > bestScore) {
      bestScore = score;
      best = std::move(children);
      bestDropped = lowestDropped;
    }
    if (best.empty())
      break;
  }
  lowestDropped = std::min(droppedBefore, bestDropped);
  for (Node &child : best)
    open.push(std::move(child));
}
