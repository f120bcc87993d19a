//===- Plan.cpp - Decide what is kept, encoded and computed again
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepCandidate.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Analysis/SavedValues.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "act/Planner/Solver.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"
#include <map>

#define DEBUG_TYPE "act-plan"

namespace mlir::act {
#define GEN_PASS_DEF_ACTPLANPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// A decision for all values of a step.
struct StepPlan {
  PartitionOptions options; ///< with what is kept
  llvm::StringMap<EncodingAttrInterface> encodings;
  int64_t peak = 0;
  int64_t lowerBound = 0;
  double cost = 0, bound = 0, error = 0;
};

/// Finds plans of one step.
class StepPlanner {
public:
  StepPlanner(FunctionOpInterface step, const PlanContext &context,
              int64_t budget)
      : step(step), context(context), budget(budget) {}

  /// Looks for plans with the partition `options`.
  LogicalResult consider(const PartitionOptions &options);

  /// The cheapest plan within the budget.
  const std::optional<StepPlan> &getBest() const { return best; }
  /// The plan with the least peak.
  const std::optional<StepPlan> &getLeast() const { return least; }

private:
  /// Looks for the best encodings of `candidate` as it is partitioned.
  LogicalResult chooseEncodings(StepCandidate &candidate);
  /// The step partitioned such that the values for which `choices` say so are
  /// kept, the others encoded as they say.
  FailureOr<StepCandidate> keep(const StepCandidate &candidate,
                                ArrayRef<unsigned> choices);
  /// Notes what `candidate` with `choices` amounts to.
  FailureOr<StepPlan> makePlan(StepCandidate &candidate,
                               ArrayRef<unsigned> choices, double cost,
                               double bound);
  void note(StepPlan plan);

  FunctionOpInterface step;
  const PlanContext &context;
  int64_t budget;
  std::optional<StepPlan> best, least;
};
} // namespace

FailureOr<StepPlan> StepPlanner::makePlan(StepCandidate &candidate,
                                          ArrayRef<unsigned> choices,
                                          double cost, double bound) {
  if (failed(candidate.apply(choices)))
    return failure();
  StepPlan plan;
  plan.options = candidate.getOptions();
  for (const PlannedValue &value : candidate.getValues())
    plan.encodings[value.key] =
        CompressedSaveOp(value.save).getResult().getType().getEncoding();
  plan.peak = candidate.getLiveness().getPackedBytes();
  plan.lowerBound = candidate.getLiveness().getLowerBound();
  plan.cost = cost;
  plan.bound = bound;
  plan.error = candidate.getError();
  return plan;
}

void StepPlanner::note(StepPlan plan) {
  if (!least || plan.peak < least->peak)
    least = plan;
  if (plan.peak <= budget && (!best || plan.cost < best->cost))
    best = std::move(plan);
}

/// The budget of live bytes that packing lets `candidate` fill.
static double getLiveBudget(const StepCandidate &candidate, double budget) {
  const MemoryLiveness &liveness = candidate.getLiveness();
  double packed = liveness.getPackedBytes();
  return packed > 0 ? budget * liveness.getPeak() / packed : budget;
}

/// The cheapest plan for `problem` whose peak rows stay below `limit`, as far
/// as a fraction of a second goes: many are solved for one step.
static planner::Solution solveWithin(planner::Problem &problem, double limit) {
  planner::SolverOptions options;
  options.targetGap = 5e-3;
  options.workLimit = 100'000'000;
  problem.setPeakLimit(limit);
  return planner::solve(problem, options);
}

LogicalResult StepPlanner::chooseEncodings(StepCandidate &candidate) {
  // The fewest bits for all: less than that is only to be had by luck.
  SmallVector<unsigned> fewest = {0};
  for (const PlannedValue &value : candidate.getValues())
    fewest.push_back(value.encodings.size() - 1);
  double fewestCost =
      planner::sumCosts(candidate.getProblem(/*canPartition=*/false), fewest);
  FailureOr<StepPlan> fewestPlan =
      makePlan(candidate, fewest, fewestCost, /*bound=*/0);
  if (failed(fewestPlan))
    return failure();
  if (context.errorBudget <= 0 || fewestPlan->error <= context.errorBudget)
    note(std::move(*fewestPlan));
  // Packing differs with the encodings: what it adds is looked at again.
  double limit = getLiveBudget(candidate, budget);
  for (unsigned attempt = 0; attempt < 3; ++attempt) {
    planner::Problem problem = candidate.getProblem(/*canPartition=*/false);
    planner::Solution solution = solveWithin(problem, limit);
    SmallVector<unsigned> choices = solution.choices;
    double cost = solution.cost, bound = solution.bound;
    if (!solution.hasPlan()) {
      choices = planner::findLeastLimit(problem).choices;
      if (choices.empty())
        return success(); // the error budget excludes every plan
      cost = planner::sumCosts(problem, choices);
      bound = 0; // of the plans with this peak, which nobody asked for
    }
    FailureOr<StepPlan> plan = makePlan(candidate, choices, cost, bound);
    if (failed(plan))
      return failure();
    double excess = double(plan->peak) / budget;
    note(std::move(*plan));
    if (excess <= 1)
      return success();
    // Without a plan the least one is looked for again, now that what is alive
    // is known for its encodings.
    if (solution.hasPlan())
      limit *= 0.995 / excess;
  }
  return success();
}

FailureOr<StepCandidate> StepPlanner::keep(const StepCandidate &candidate,
                                           ArrayRef<unsigned> choices) {
  PartitionOptions options = candidate.getOptions();
  llvm::StringMap<unsigned> wanted;
  for (auto [value, choice] :
       llvm::zip_equal(candidate.getValues(), choices.drop_front())) {
    switch (value.getAction(choice)) {
    case PlanAction::Encode:
      wanted[value.key] = choice;
      break;
    case PlanAction::Keep:
      options.kept.insert_range(value.followers);
      break;
    case PlanAction::Recompute:
      options.recomputed.insert_range(value.contractions);
      options.recompute = RecomputedContractions::Planned;
      break;
    }
  }
  FailureOr<StepCandidate> kept = StepCandidate::build(step, options, context);
  if (failed(kept))
    return failure();
  SmallVector<unsigned> encodings = {0};
  for (const PlannedValue &value : kept->getValues()) {
    // What is kept in a loop is a save like others, in full.
    unsigned choice = value.encodings.size() - 1;
    if (options.kept.contains(value.key))
      choice = 0;
    else if (auto it = wanted.find(value.key); it != wanted.end())
      choice = std::min(it->second, choice);
    encodings.push_back(choice);
  }
  if (failed(kept->apply(encodings)))
    return failure();
  return kept;
}

LogicalResult StepPlanner::consider(const PartitionOptions &options) {
  FailureOr<StepCandidate> candidate =
      StepCandidate::build(step, options, context);
  if (failed(candidate))
    return failure();
  // What kept values take is known roughly until they are kept: look at the
  // step that results, and ask again with a limit corrected by what is seen.
  planner::Problem problem = candidate->getProblem(/*canPartition=*/true);
  double limit = getLiveBudget(*candidate, budget);
  if (failed(chooseEncodings(*candidate)))
    return failure();
  constexpr unsigned kMaxAttempts = 16;
  constexpr double kTolerance = 0.02;
  double low = 0, high = std::numeric_limits<double>::infinity();
  std::map<std::vector<unsigned>, double> rooms; // by choices
  double stride = 1; // doubled until something else is kept
  for (unsigned attempt = 0; attempt < kMaxAttempts && limit > 0; ++attempt) {
    planner::Solution solution = solveWithin(problem, limit);
    if (!solution.hasPlan())
      return success();
    auto [it, isNew] = rooms.try_emplace(
        std::vector<unsigned>(solution.choices.begin(), solution.choices.end()),
        0);
    stride = isNew ? 1 : 2 * stride;
    if (isNew) {
      FailureOr<StepCandidate> kept = keep(*candidate, solution.choices);
      if (failed(kept))
        return failure();
      it->second = budget - double(kept->getLiveness().getPackedBytes());
      LDBG() << "limit " << limit << ": " << kept->getOptions().kept.size()
             << " values kept, room for " << it->second << " bytes";
      bool differs = !kept->getOptions().kept.empty() ||
                     !kept->getOptions().recomputed.empty();
      if (differs && failed(chooseEncodings(*kept)))
        return failure();
    }
    if (solution.cost == 0 && it->second >= 0)
      return success(); // nothing is gained by more
    double room = it->second;
    if (room >= 0 && room < kTolerance * budget)
      return success();
    (room > 0 ? low : high) = limit;
    limit += stride * room;
    if (limit <= low || limit >= high)
      limit = (low + std::min(high, 4 * low)) / 2;
  }
  return success();
}

namespace {
struct ActPlanPass : mlir::act::impl::ActPlanPassBase<ActPlanPass> {
  using Base::Base;
  void runOnOperation() override;
  void getDependentDialects(DialectRegistry &registry) const override {
    registerMemoryLivenessModels(registry);
  }

private:
  LogicalResult checkOptions();
  LogicalResult planStep(FunctionOpInterface step, PlanContext &context);
  SmallVector<PartitionOptions> getPartitions() const;
};
} // namespace

LogicalResult ActPlanPass::checkOptions() {
  ModuleOp module = getOperation();
  if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8)
    return module.emitError("act-plan expects bits to be 0, 1, 2, 4 or 8, got ")
           << bits.getValue();
  if (memoryBudget <= 0)
    return module.emitError(
               "act-plan expects memory-budget to be at least 1 byte, got ")
           << memoryBudget.getValue();
  if (errorBudget < 0)
    return module.emitError(
        "act-plan expects an error-budget that is not negative");
  return success();
}

SmallVector<PartitionOptions> ActPlanPass::getPartitions() const {
  SmallVector<unsigned> windows = {window};
  if (window == 0)
    windows = {1, 3};
  SmallVector<RecomputedContractions> recomputes = {recompute};
  if (recompute == RecomputedContractions::Auto)
    recomputes = {RecomputedContractions::None, RecomputedContractions::Batch,
                  RecomputedContractions::Growing};
  SmallVector<PartitionOptions> partitions;
  for (RecomputedContractions choice : recomputes)
    for (unsigned width : windows)
      partitions.push_back(
          {bits, width, cut, choice, unremat, rederive, {}, {}});
  return partitions;
}

/// Partitions `step` and encodes its saves as `plan` says.
static LogicalResult carryOut(FunctionOpInterface step, const StepPlan &plan,
                              unsigned numPrimalResults, int64_t budget,
                              int64_t least) {
  if (failed(Partitioner(step, plan.options).run(numPrimalResults)))
    return failure();
  step.walk([&](CompressedSaveOp save) {
    if (EncodingAttrInterface encoding =
            plan.encodings.lookup(save.getKey().value_or("")))
      setEncoding(save, encoding);
  });
  Builder builder(step.getContext());
  auto integer = [&](int64_t value) {
    return builder.getI64IntegerAttr(value);
  };
  step->setDiscardableAttr(
      kPlanAttr,
      builder.getDictionaryAttr({
          builder.getNamedAttr("budget", integer(budget)),
          builder.getNamedAttr("peak", integer(plan.peak)),
          builder.getNamedAttr("lower_bound", integer(plan.lowerBound)),
          builder.getNamedAttr("least", integer(least)),
          builder.getNamedAttr("cost", builder.getF64FloatAttr(plan.cost)),
          builder.getNamedAttr("bound", builder.getF64FloatAttr(plan.bound)),
          builder.getNamedAttr("error", builder.getF64FloatAttr(plan.error)),
          builder.getNamedAttr("window", integer(plan.options.window)),
          builder.getNamedAttr("recompute",
                               builder.getStringAttr(
                                   stringifyRecompute(plan.options.recompute))),
          builder.getNamedAttr("kept", integer(plan.options.kept.size())),
          builder.getNamedAttr("recomputed",
                               integer(plan.options.recomputed.size())),
      }));
  return success();
}

LogicalResult ActPlanPass::planStep(FunctionOpInterface step,
                                    PlanContext &context) {
  context.numPrimalResults = getNumPrimalResults(step, primalResults);
  StepPlanner planner(step, context, memoryBudget);
  for (const PartitionOptions &options : getPartitions())
    if (failed(planner.consider(options)))
      return failure();
  const std::optional<StepPlan> &bottom = planner.getLeast();
  if (!bottom)
    return step.emitError(
               "act-plan expects an error-budget above the predicted "
               "error of every plan, got ")
           << errorBudget.getValue();
  if (!planner.getBest() && !least)
    return step.emitError("act-plan expects memory-budget to be at least ")
           << bottom->peak
           << " bytes, the least peak that the model of this step reaches with "
           << bits.getValue() << " bits, got " << memoryBudget.getValue();
  const StepPlan &plan = planner.getBest() ? *planner.getBest() : *bottom;
  remark::passed(step.getLoc(),
                 remark::RemarkOpts::name("Plan").category("act"))
      << "peak " << std::to_string(plan.peak) << " bytes of "
      << std::to_string(memoryBudget) << ", "
      << std::to_string(plan.options.kept.size()) << " values kept";
  return carryOut(step, plan, context.numPrimalResults, memoryBudget,
                  bottom->peak);
}

void ActPlanPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  PlanContext context;
  context.leastBits = bits;
  context.errorBudget = errorBudget;
  FailureOr<SensitivityProfile> measured =
      SensitivityProfile::read(profile, getOperation());
  FailureOr<SmallVector<EncodingRule>> fileRules =
      readEncodingRules(rules, getOperation());
  if (failed(measured) || failed(fileRules))
    return signalPassFailure();
  context.profile = std::move(*measured);
  context.rules = *fileRules;
  auto steps = llvm::to_vector(llvm::make_filter_range(
      getOperation().getOps<FunctionOpInterface>(),
      [](FunctionOpInterface function) {
        return !function.isExternal() && !function.isPrivate();
      }));
  for (FunctionOpInterface step : steps)
    if (failed(planStep(step, context)))
      return signalPassFailure();
}
