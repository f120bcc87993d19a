//===- StepCandidate.cpp - A step partitioned one way ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepCandidate.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Analysis/SavedValues.h"

using namespace mlir;
using namespace mlir::act;

/// Relative error of a gradient that a minibatch makes by itself (.81 to 1.01
/// on the models of docs/Encodings.md). Where noise of the gradient limits a
/// step, variance that is added to it costs as many more steps.
static constexpr double kMinibatchNoise = 0.9;

//===----------------------------------------------------------------------===//
// CostModel
//===----------------------------------------------------------------------===//

double CostModel::getCost(Operation *op) const {
  if (auto loop = dyn_cast<LoopModelInterface>(op)) {
    double once = 0;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        once += getCost(block);
    return once * std::max<int64_t>(loop.getTripCount(), 1);
  }
  switch (getOpKind(op)) {
  case OpKind::Constant:
  case OpKind::View:
  case OpKind::Barrier:
    return 0;
  case OpKind::Contraction:
    return getFlops(op) / flopsPerByte;
  default:
    break;
  }
  double bytes = 0;
  for (Value result : op->getResults())
    bytes += getTensorBytes(result.getType()).value_or(0);
  return bytes;
}

double CostModel::getCost(Block &block) const {
  double sum = 0;
  for (Operation &op : block)
    sum += getCost(&op);
  return sum;
}

//===----------------------------------------------------------------------===//
// What backward computes again
//===----------------------------------------------------------------------===//

namespace {
/// The part of forward that backward runs again for one value that it reads.
struct Chain {
  llvm::SetVector<Value> sources; ///< survivors that it starts from
  llvm::SetVector<Operation *> operations;
};
} // namespace

/// Collects what backward runs again to have `value`, from `survivors`.
static Chain findChain(Value value, const AutodiffGraph &graph,
                       const llvm::DenseSet<Value> &survivors) {
  Chain chain;
  SmallVector<Value> stack = {value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = graph.getLeader(stack.pop_back_val());
    Operation *def = graph.getForwardDef(next);
    if (!def || graph.isHead(def) || graph.isKept(next) ||
        !seen.insert(next).second)
      continue;
    if (survivors.contains(next)) {
      chain.sources.insert(next);
      continue;
    }
    chain.operations.insert(def);
    llvm::append_range(stack, graph.getOperandLeaders(def));
  }
  return chain;
}

/// The value whose memory `value` needs if backward reads it: repeated and
/// reshaped values are made by what reads them.
static Value findStored(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    OpKind kind = getOpKind(def);
    if ((kind != OpKind::Broadcast && !isReshape(def)) ||
        def->getNumOperands() == 0)
      break;
    value = def->getOperand(0);
  }
  return value;
}

void StepCandidate::observe(const PartitionedBoundary &boundary) {
  const AutodiffGraph &graph = boundary.graph;
  CostModel costs;
  int64_t copies = graph.getNumCopies();
  llvm::DenseSet<Value> survivors(boundary.survivors.begin(),
                                  boundary.survivors.end());
  llvm::DenseSet<Value> stored;
  llvm::DenseSet<Operation *> counted;
  for (Value value : graph.getCrossing()) {
    value = graph.getLeader(value);
    Operation *def = graph.getForwardDef(value);
    if (!def || graph.isKept(value) || graph.isConstantLike(value))
      continue;
    Chain chain = findChain(value, graph, survivors);
    // It belongs to the largest value that it is made of.
    Value largest;
    int64_t most = 0;
    for (Value source : chain.sources) {
      int64_t bytes = getTensorBytes(source.getType()).value_or(0);
      if (!boundary.selection.getExactness(source) && bytes > most) {
        most = bytes;
        largest = source;
      }
    }
    if (!largest)
      continue;
    PlannedValue &planned = observed[boundary.keys.getKey(largest)];
    planned.followers.push_back(boundary.keys.getKey(value));
    Value memory = findStored(value);
    if (graph.getForwardDef(memory) && stored.insert(memory).second &&
        !graph.isReturned(memory))
      planned.keptBytes +=
          copies * getTensorBytes(memory.getType()).value_or(0);
    for (Operation *op : chain.operations)
      if (counted.insert(op).second)
        planned.recomputeCost += copies * costs.getCost(op);
  }
}

void StepCandidate::findContractions(const PartitionedBoundary &boundary) {
  const AutodiffGraph &graph = boundary.graph;
  PartitionOptions growing = options;
  growing.recompute = RecomputedContractions::Growing;
  EncodingPolicy policy = EncodingPolicy::get(step);
  SurvivorSelection selection(graph, policy, growing);
  llvm::DenseSet<Value> survivors(boundary.survivors.begin(),
                                  boundary.survivors.end());
  CostModel costs;
  for (Value survivor : boundary.survivors) {
    if (boundary.selection.getExactness(survivor))
      continue;
    // As if it were not saved: what it is made of must be there.
    survivors.erase(survivor);
    Chain chain = findChain(survivor, graph, survivors);
    survivors.insert(survivor);
    if (!llvm::all_of(chain.operations, [&](Operation *op) {
          return selection.isRecomputable(op);
        }))
      continue;
    PlannedValue &planned = observed[boundary.keys.getKey(survivor)];
    for (Operation *op : chain.operations) {
      planned.contractionCost += graph.getNumCopies() * costs.getCost(op);
      if (getOpKind(op) == OpKind::Contraction)
        planned.contractions.push_back(boundary.keys.getKey(op->getResult(0)));
    }
  }
}

//===----------------------------------------------------------------------===//
// StepCandidate
//===----------------------------------------------------------------------===//

FailureOr<StepCandidate> StepCandidate::build(FunctionOpInterface step,
                                              const PartitionOptions &options,
                                              const PlanContext &context) {
  StepCandidate candidate(options, context);
  candidate.module = step->getParentOfType<ModuleOp>().clone();
  candidate.step = cast<FunctionOpInterface>(
      SymbolTable::lookupSymbolIn(*candidate.module, step.getNameAttr()));
  candidate.stepCost =
      CostModel().getCost(candidate.step.getFunctionBody().front());
  auto observe = [&](const PartitionedBoundary &boundary) {
    candidate.observe(boundary);
    if (options.recompute == RecomputedContractions::None)
      candidate.findContractions(boundary);
  };
  if (failed(Partitioner(candidate.step, candidate.options, observe)
                 .run(context.numPrimalResults)) ||
      failed(candidate.collectSaves()))
    return failure();
  return candidate;
}

SmallVector<EncodingAttrInterface>
StepCandidate::getEncodings(CompressedSaveOp save) const {
  EncodingPolicy policy = EncodingPolicy::get(*module);
  int64_t copies = getNumCopies(save);
  Value value = save.getInput();
  for (const EncodingRule &rule : context->rules)
    if (EncodingAttrInterface encoding = rule.getEncoding(save))
      return {encoding};
  SmallVector<EncodingAttrInterface> encodings = {
      policy.getEncoding(value, save.getExact(), /*bits=*/0, copies)};
  if (save.getExact())
    return encodings;
  for (unsigned bits : {8u, 4u, 2u, 1u})
    if (context->leastBits != 0 && bits >= context->leastBits)
      encodings.push_back(
          policy.getEncoding(value, std::nullopt, bits, copies));
  return encodings;
}

LogicalResult StepCandidate::collectSaves() {
  CostModel costs;
  SmallVector<CompressedSaveOp> lossy;
  LogicalResult result = success();
  step.walk([&](CompressedSaveOp save) {
    StringRef key = save.getKey().value_or("");
    PlannedValue &planned = values.emplace_back(std::move(observed[key]));
    observed.erase(key);
    planned.key = key.str();
    planned.save = save;
    planned.encodings = getEncodings(save);
    if (planned.encodings.back().getRunningAxis())
      result = save.emitError("act-plan expects rules without running ranges, "
                              "which change the signature of the step");
    setEncoding(save, planned.encodings.back());
    if (llvm::any_of(planned.encodings,
                     [](EncodingAttrInterface e) { return !e.isLossless(); }))
      lossy.push_back(save);
    double bytes = getNumCopies(save) *
                   getTensorBytes(save.getInput().getType()).value_or(0);
    unsigned numLoads = 0;
    for (Value name : findSavedValues(save))
      for (Operation *user : name.getUsers())
        numLoads += isa<DequantizeLoadOp>(user);
    planned.codecCost =
        bytes * (costs.encodedByte + numLoads * costs.decodedByte);
  });
  if (failed(result))
    return failure();
  FailureOr<MemoryLiveness> live = MemoryLiveness::build(step);
  if (failed(live))
    return failure();
  sensitivity.emplace(context->profile, lossy);
  liveness = std::move(*live);
  return success();
}

namespace {
/// When a save is alive; it has several buffers, of codes and of parameters.
struct SaveSpan {
  unsigned begin, end;
  int64_t inResult = 0; ///< bytes that lie where results come later
};
} // namespace

/// Finds when the saves of a step live, and takes them out of the `timeline`.
static llvm::DenseMap<Operation *, SaveSpan>
extractSaves(const MemoryLiveness &liveness,
             MutableArrayRef<int64_t> timeline) {
  llvm::DenseMap<Operation *, SaveSpan> spans;
  for (const LiveBuffer &buffer : liveness.getBuffers()) {
    if (buffer.kind != LiveBuffer::Save)
      continue;
    auto it = spans.try_emplace(buffer.save, SaveSpan{buffer.begin, buffer.end})
                  .first;
    it->second.begin = std::min(it->second.begin, buffer.begin);
    it->second.end = std::max(it->second.end, buffer.end);
    if (buffer.isInResult)
      it->second.inResult += buffer.bytes;
    else
      for (unsigned at = buffer.begin; at <= buffer.end; ++at)
        timeline[at] -= buffer.bytes;
  }
  return spans;
}

planner::Item
StepCandidate::getItem(const PlannedValue &value, bool canPartition,
                       function_ref<void(planner::Option &, double)> use,
                       unsigned errorRow) const {
  planner::Item item;
  auto addOption = [&](double cost, double bytes, double variance) {
    planner::Option &option = item.options.emplace_back();
    option.cost =
        cost / stepCost + variance / (kMinibatchNoise * kMinibatchNoise);
    use(option, bytes);
    if (variance > 0)
      option.uses.emplace_back(errorRow, variance);
  };
  CompressedSaveOp save = value.save;
  RankedTensorType type = save.getResult().getType().getTensorType();
  int64_t copies = getNumCopies(save);
  for (EncodingAttrInterface encoding : value.encodings)
    addOption(value.recomputeCost +
                  (isa<RawAttr>(encoding) ? 0 : value.codecCost),
              copies * getStorageBytes(encoding, type),
              encoding.isLossless()
                  ? 0
                  : sensitivity->getErrorVariance(value.save, encoding));
  if (canPartition && value.canKeep())
    addOption(0, value.keptBytes, 0);
  if (canPartition && value.canRecompute())
    addOption(value.recomputeCost + value.contractionCost, 0, 0);
  return item;
}

planner::Problem StepCandidate::getProblem(bool canPartition) const {
  SmallVector<int64_t> rest = liveness->getTimeline();
  llvm::DenseMap<Operation *, SaveSpan> spans = extractSaves(*liveness, rest);
  SmallVector<unsigned> positions = liveness->getDominantPositions();
  // What lies in results dominates nothing, until it no longer fits there.
  if (llvm::any_of(spans, [](auto &span) { return span.second.inResult > 0; }))
    positions = llvm::to_vector(llvm::seq(liveness->getNumPositions()));
  planner::Problem problem;
  unsigned numRows = positions.size();
  problem.limits.resize(numRows + 1);
  for (unsigned row = 0; row < numRows; ++row)
    problem.peakRows.push_back(row);
  problem.limits[numRows] = context->errorBudget > 0
                                ? context->errorBudget * context->errorBudget
                                : 1e12;
  planner::Item fixed;
  fixed.options.emplace_back();
  for (unsigned row = 0; row < numRows; ++row)
    if (rest[positions[row]] != 0)
      fixed.options.back().uses.emplace_back(row, rest[positions[row]]);
  problem.items.push_back(std::move(fixed));

  for (const PlannedValue &value : values) {
    auto span = spans.find(value.save);
    auto use = [&](planner::Option &option, double bytes) {
      if (span == spans.end() || bytes <= span->second.inResult)
        return;
      auto *first = llvm::lower_bound(positions, span->second.begin);
      auto *last = llvm::upper_bound(positions, span->second.end);
      if (first != last)
        option.uses.emplace_back(first - positions.begin(),
                                 last - positions.begin() - 1, bytes);
    };
    problem.items.push_back(getItem(value, canPartition, use, numRows));
  }
  return problem;
}

LogicalResult StepCandidate::apply(ArrayRef<unsigned> choices) {
  for (auto [value, choice] : llvm::zip_equal(values, choices.drop_front()))
    setEncoding(
        value.save,
        value.encodings[std::min<size_t>(choice, value.encodings.size() - 1)]);
  FailureOr<MemoryLiveness> live = MemoryLiveness::build(step);
  if (failed(live))
    return failure();
  liveness = std::move(*live);
  return success();
}

double StepCandidate::getError() const {
  double variance = 0;
  for (const PlannedValue &value : values) {
    EncodingAttrInterface encoding =
        CompressedSaveOp(value.save).getResult().getType().getEncoding();
    if (!encoding.isLossless())
      variance += sensitivity->getErrorVariance(value.save, encoding);
  }
  return Sensitivity::getError(variance);
}
