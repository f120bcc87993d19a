//===- SurvivorSelection.cpp - Which forward values cross the boundary
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/SurvivorSelection.h"
#include "act/Analysis/MinCut.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <cmath>

using namespace mlir;
using namespace mlir::act;

SurvivorSelection::SurvivorSelection(const AutodiffGraph &graph,
                                     const EncodingPolicy &policy,
                                     const PartitionOptions &options,
                                     const StructuralKeys *keys)
    : graph(graph), policy(policy), options(options) {
  if (options.recompute == RecomputedContractions::Planned && keys)
    for (Operation *op : graph.getForward())
      if (getOpKind(op) == OpKind::Contraction && op->getNumResults() == 1 &&
          options.recomputed.contains(keys->getKey(op->getResult(0))))
        planned.insert(op);
  findStatistics();
  findMaskFills();
  findFree();
  findOrdered();
  findDivisors();
  findRederived();
  findProductSizes();
  findGrown();
}

//===----------------------------------------------------------------------===//
// Properties of forward values
//===----------------------------------------------------------------------===//

/// Elements of `value`; 0 if unknown.
static int64_t countElements(Value value) {
  return getNumElements(value.getType()).value_or(0);
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// True if `op` combines whole axes into one value. A window reduction keeps
/// its axes: its result is an activation.
static bool reducesAxes(Operation *op) {
  if (getOpKind(op) != OpKind::Reduction || op->getNumOperands() == 0)
    return false;
  auto from = dyn_cast<ShapedType>(op->getOperand(0).getType());
  auto to = dyn_cast<ShapedType>(op->getResult(0).getType());
  return from && to && from.hasRank() && to.hasRank() &&
         to.getRank() < from.getRank();
}

void SurvivorSelection::findStatistics() {
  for (Operation *op : graph.getForward()) {
    bool isStatistic = reducesAxes(op);
    if (!isStatistic && isCheapToRecompute(op)) {
      // A function of statistics and constants only that does not grow.
      bool hasStatistic = false;
      isStatistic = true;
      int64_t largest = 0;
      for (Value operand : getAllOperands(op)) {
        if (graph.isConstantLike(operand))
          continue;
        largest = std::max(largest, countElements(operand));
        hasStatistic |= statistics.contains(operand);
        isStatistic &= statistics.contains(operand);
      }
      isStatistic &= hasStatistic && op->getNumResults() == 1 &&
                     countElements(op->getResult(0)) <= largest;
    }
    if (isStatistic)
      statistics.insert_range(op->getResults());
  }
}

/// True if `value` is made by repeating or reshaping a constant with an element
/// above 1e4 in magnitude.
static bool isHugeConstant(Value value) {
  constexpr double kHuge = 1e4;
  while (Operation *def = value.getDefiningOp()) {
    if (Attribute elements = getConstantElements(def)) {
      auto isHuge = [&](const APFloat &x) {
        return std::abs(x.convertToDouble()) > kHuge;
      };
      if (auto scalar = dyn_cast<FloatAttr>(elements))
        return isHuge(scalar.getValue());
      auto dense = dyn_cast<DenseFPElementsAttr>(elements);
      if (!dense || dense.empty())
        return false;
      return dense.isSplat() ? isHuge(dense.getSplatValue<APFloat>())
                             : llvm::any_of(dense.getValues<APFloat>(), isHuge);
    }
    OpKind kind = getOpKind(def);
    bool passesThrough = kind == OpKind::Broadcast || kind == OpKind::View ||
                         kind == OpKind::Elementwise;
    if (!passesThrough || def->getNumOperands() != 1)
      return false;
    value = def->getOperand(0);
  }
  return false;
}

void SurvivorSelection::findMaskFills() {
  for (Operation *op : graph.getForward()) {
    OpKind kind = getOpKind(op);
    if (squashesRange(op) || kind == OpKind::Constant ||
        kind == OpKind::Contraction)
      continue;
    auto isFilled = [&](Value operand) { return maskFills.contains(operand); };
    if (llvm::any_of(op->getOperands(), isFilled) ||
        llvm::any_of(act::getSelectedValues(op), isHugeConstant))
      maskFills.insert_range(op->getResults());
  }
}

void SurvivorSelection::findFree() {
  for (Operation *op : graph.getForward()) {
    if (!isCheapToRecompute(op) && getOpKind(op) != OpKind::Constant)
      continue;
    if (llvm::all_of(getAllOperands(op), [&](Value operand) {
          return free.contains(operand) || !graph.getForwardDef(operand);
        }))
      free.insert_range(op->getResults());
  }
}

void SurvivorSelection::findOrdered() {
  for (Operation *op : graph.getBackward())
    if (isDiscontinuous(op))
      for (Value operand : op->getOperands())
        if (graph.getForwardDef(operand) && isFloat(operand) &&
            !free.contains(operand))
          ordered.insert(operand);
}

void SurvivorSelection::findDivisors() {
  SmallVector<Value> stack;
  auto push = [&](Value value) {
    value = graph.getLeader(value);
    if (value.getDefiningOp() && !free.contains(value) &&
        divisors.insert(value).second)
      stack.push_back(value);
  };
  for (ArrayRef<Operation *> part : {graph.getForward(), graph.getBackward()})
    for (Operation *op : part)
      for (Value operand : getSingularOperands(op))
        if (isFloat(operand) || isa<ComplexType>(getElementTypeOrSelf(operand)))
          push(operand);
  while (!stack.empty()) {
    Operation *def = stack.pop_back_val().getDefiningOp();
    if (keepsZero(def))
      llvm::for_each(def->getOperands(), push);
    else
      llvm::for_each(act::getSelectedValues(def), push);
  }
  findCarriedDivisors();
}

void SurvivorSelection::findCarriedDivisors() {
  // A divisor that iterations add to, as in normalised recurrences, is computed
  // again from what it was before: with that rounded, it would be off by a
  // multiple of itself where it is small.
  SmallVector<Value> stack(divisors.begin(), divisors.end());
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value value = graph.getLeader(stack.pop_back_val());
    Operation *def = graph.getForwardDef(value);
    if (!def || !seen.insert(value).second)
      continue;
    if (isa<LoopStateOp>(def))
      divisors.insert(value);
    else if (isCheapToRecompute(def))
      llvm::append_range(stack, getAllOperands(def));
  }
}

void SurvivorSelection::findRederived() {
  if (!options.rederive)
    return;
  for (Operation *op : graph.getForward()) {
    bool isRandom = op->hasAttr(kTiledRandomAttr);
    bool hasRandom = false;
    if (!isRandom && isCheapToRecompute(op))
      isRandom = llvm::all_of(getAllOperands(op),
                              [&](Value operand) {
                                hasRandom |= rederived.contains(operand);
                                return rederived.contains(operand) ||
                                       isArgument(operand);
                              }) &&
                 hasRandom;
    if (isRandom)
      rederived.insert_range(op->getResults());
  }
}

/// True if `act-slice` made a loop of what computes `value`, and each iteration
/// of it a part by a contraction: an activation like that of the contraction.
static bool isSlicedActivation(Value value) {
  Operation *loop = value.getDefiningOp();
  auto model = dyn_cast<LoopModelInterface>(loop);
  if (!model || !loop->hasAttr(kSlicedAttr))
    return false;
  Operation *update =
      model.getNextValues()[cast<OpResult>(value).getResultNumber()]
          .getDefiningOp();
  if (!update || getOpKind(update) != OpKind::Indexing ||
      update->getNumOperands() < 2)
    return false;
  Operation *def = update->getOperand(1).getDefiningOp();
  while (
      def && def->getNumOperands() == 1 &&
      (getOpKind(def) == OpKind::View || getOpKind(def) == OpKind::Elementwise))
    def = def->getOperand(0).getDefiningOp();
  return def && getOpKind(def) == OpKind::Contraction;
}

std::optional<Exactness> SurvivorSelection::getExactness(Value value) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return Exactness::Unsupported;
  Operation *def = graph.getForwardDef(value);
  // What a loop that saves in stacks returns are activations; of others one
  // cannot know.
  if (isFloat(value) && def && getOpKind(def) == OpKind::Control &&
      !savesInStacks(def) && !isSlicedActivation(value))
    return Exactness::LoopCarried;
  std::optional<Exactness> byType =
      EncodingPolicy::getTypeExactness(type, graph.getNumCopies());
  if (byType && *byType != Exactness::Small)
    return byType;
  if (statistics.contains(value))
    return Exactness::Statistic;
  if (maskFills.contains(value))
    return Exactness::MaskFill;
  // What a mask is compared from must not be rounded.
  if (ordered.contains(value) || rederived.contains(value))
    return Exactness::Ordered;
  if (divisors.contains(value))
    return Exactness::Divisor;
  return byType;
}

//===----------------------------------------------------------------------===//
// Cut
//===----------------------------------------------------------------------===//

bool SurvivorSelection::isArgument(Value value) const {
  return !graph.getForwardDef(value) || free.contains(value);
}

void SurvivorSelection::findProductSizes() {
  for (Operation *op : graph.getForward()) {
    if (getOpKind(op) != OpKind::Contraction || op->getNumResults() != 1)
      continue;
    SmallVector<Value> operands = graph.getOperandLeaders(op);
    if (!llvm::any_of(operands, [&](Value v) { return isArgument(v); }))
      continue;
    for (Value operand : operands)
      if (!isArgument(operand))
        productSizes[operand] += countElements(op->getResult(0));
  }
}

bool SurvivorSelection::isRecomputableContraction(Operation *op) const {
  if (options.recompute == RecomputedContractions::None ||
      op->getNumResults() != 1)
    return false;
  if (options.recompute == RecomputedContractions::Planned &&
      !planned.contains(op))
    return false;
  if (options.recompute == RecomputedContractions::All)
    return true;
  bool hasArgument = false;
  int64_t largest = 0;
  int64_t size = countElements(op->getResult(0));
  for (Value operand : graph.getOperandLeaders(op)) {
    if (isArgument(operand)) {
      hasArgument = true;
      continue;
    }
    largest = std::max(largest, countElements(operand));
    // Products of one activation with several weights count together: query,
    // key and value are three times as large as what they are made of.
    size = std::max(size, productSizes.lookup(operand));
  }
  if (hasArgument)
    return options.recompute != RecomputedContractions::Batch && largest > 0 &&
           size > largest;
  return largest > 0 && countElements(op->getResult(0)) > largest;
}

void SurvivorSelection::findGrown() {
  for (Operation *op : graph.getForward()) {
    int64_t size = 0;
    for (Value operand : getAllOperands(op))
      if (grown.contains(operand))
        size = std::max(size, countElements(operand));
    bool isGrown = getOpKind(op) == OpKind::Contraction
                       ? isRecomputableContraction(op)
                       : size > 0 && isCheapToRecompute(op) &&
                             countElements(op->getResult(0)) >= size;
    if (isGrown)
      grown.insert_range(op->getResults());
  }
}

bool SurvivorSelection::isRecomputable(Operation *op) const {
  if (getOpKind(op) == OpKind::Contraction)
    return isRecomputableContraction(op);
  if (op->hasAttr(kTiledRandomAttr))
    return options.rederive;
  // Softmax over scores that are computed again is normalised again: with
  // rounded scores and exact sums its rows no longer add up to one.
  if (reducesAxes(op))
    return llvm::any_of(op->getOperands(),
                        [&](Value v) { return grown.contains(v); });
  if (!isCheapToRecompute(op) && getOpKind(op) != OpKind::Constant)
    return false;
  // On a rounded value a comparison may come out differently.
  return options.bits == 0 || !isDiscontinuous(op) ||
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return !isFloat(operand) || isArgument(operand) ||
                  rederived.contains(operand);
         });
}

EncodingAttrInterface SurvivorSelection::getEncoding(Value value) const {
  return policy.getEncoding(value, getExactness(value), options.bits,
                            graph.getNumCopies());
}

int64_t SurvivorSelection::getCapacity(Value value) const {
  constexpr int64_t kUnit = 16; // bytes
  auto type = dyn_cast<RankedTensorType>(value.getType());
  std::optional<int64_t> bytes = getTensorBytes(value.getType());
  if (!type || !bytes)
    return FlowNetwork::kUnlimited / (int64_t{1} << 20);
  if (graph.isReturned(value) || graph.isKept(value))
    return 0; // alive to the end anyway
  EncodingAttrInterface encoding = getEncoding(value);
  int64_t stored = getStorageBytes(encoding, type);
  // Codes of equal distance lose the small ones of numbers that span orders of
  // magnitude, so rather save what an exponential is of, or what is made of it.
  Operation *def = value.getDefiningOp();
  if (def && isExponential(def) && !hasBoundedRange(def) &&
      !encoding.isLossless())
    stored *= 2;
  // R5: of two cuts with equally large codes take the one on the side of the
  // narrower element type, which costs less before it is encoded.
  int64_t width = *bytes / std::max<int64_t>(type.getNumElements(), 1);
  int64_t tieBreak = width <= 1 ? 0 : width == 2 ? 1 : width == 4 ? 2 : 3;
  return 4 * std::max<int64_t>(1, stored / kUnit) + tieBreak;
}

SmallVector<Value> SurvivorSelection::select() const {
  SmallVector<Value> values;
  llvm::DenseMap<Value, unsigned> ids;
  for (Operation *op : graph.getForward())
    for (Value result : op->getResults()) {
      ids[result] = values.size();
      values.push_back(result);
    }
  // Node 2i holds value i before, node 2i+1 after the boundary.
  unsigned source = 2 * values.size(), sink = source + 1;
  FlowNetwork network(sink + 1);
  for (auto [i, value] : llvm::enumerate(values))
    network.addEdge(2 * i, 2 * i + 1, getCapacity(value));
  for (Value value : graph.getCrossing())
    network.addEdge(2 * ids.lookup(value) + 1, sink, FlowNetwork::kUnlimited);
  for (Operation *op : graph.getForward()) {
    bool canRecompute = isRecomputable(op);
    SmallVector<Value> operands = graph.getOperandLeaders(op);
    for (Value result : op->getResults()) {
      unsigned before = 2 * ids.lookup(result);
      if (required.contains(result))
        continue; // needs nothing, and costs nothing more
      if (!canRecompute || ordered.contains(result)) {
        network.addEdge(source, before, FlowNetwork::kUnlimited);
        continue;
      }
      for (Value operand : operands)
        if (auto it = ids.find(operand); it != ids.end())
          network.addEdge(2 * it->second + 1, before, FlowNetwork::kUnlimited);
    }
  }
  network.maximizeFlow(source, sink);
  llvm::BitVector sourceSide = options.cut == CutSide::Sink
                                   ? network.getLargestSourceSide(sink)
                                   : network.getSmallestSourceSide(source);
  SmallVector<Value> survivors;
  for (auto [i, value] : llvm::enumerate(values))
    if (required.contains(value) ||
        (sourceSide.test(2 * i) && !sourceSide.test(2 * i + 1) &&
         !graph.isKept(value)))
      survivors.push_back(value);
  return survivors;
}

int64_t SurvivorSelection::getStorage(ArrayRef<Value> survivors) const {
  int64_t bytes = 0;
  for (Value value : survivors)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      bytes += getStorageBytes(getEncoding(value), type);
  return bytes * graph.getNumCopies();
}

double SurvivorSelection::getRecomputedFlops(ArrayRef<Value> survivors) const {
  llvm::DenseSet<Value> known(survivors.begin(), survivors.end());
  llvm::DenseSet<Operation *> seen;
  SmallVector<Value> stack(graph.getCrossing());
  double flops = 0;
  while (!stack.empty()) {
    Value value = graph.getLeader(stack.pop_back_val());
    Operation *def = graph.getForwardDef(value);
    if (!def || known.contains(value) || graph.isHead(def) ||
        graph.isKept(value) || !seen.insert(def).second)
      continue;
    if (getOpKind(def) == OpKind::Contraction)
      flops += getFlops(def);
    llvm::append_range(stack, getAllOperands(def));
  }
  return flops * graph.getNumCopies();
}
