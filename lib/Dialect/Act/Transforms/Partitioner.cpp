//===- Partitioner.cpp - Partitions the boundaries of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partitioner.h"
#include "BackwardRewriter.h"
#include "Boundaries.h"
#include "JointLoop.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/SaveAndRestore.h"

#define DEBUG_TYPE "act-partition"

using namespace mlir;
using namespace mlir::act;

StringRef mlir::act::stringifyRecompute(RecomputedContractions value) {
  switch (value) {
  case RecomputedContractions::None:
    return "none";
  case RecomputedContractions::Batch:
    return "batch";
  case RecomputedContractions::Growing:
    return "growing";
  case RecomputedContractions::All:
    return "all";
  case RecomputedContractions::Auto:
    return "auto";
  case RecomputedContractions::Planned:
    return "planned";
  }
  llvm_unreachable("unknown choice");
}

/// True if some value that crosses is large enough to be worth a save.
static bool hasLargeCrossing(const AutodiffGraph &graph) {
  return llvm::any_of(graph.getCrossing(), [&](Value value) {
    return !graph.isConstantLike(value) &&
           isWorthEncoding(getNumElements(value.getType()).value_or(0),
                           /*copies=*/1);
  });
}

static remark::RemarkOpts getRemark() {
  return remark::RemarkOpts::name("Partition").category("act");
}

FailureOr<bool> Partitioner::partitionLoop(LoopModelInterface loop) {
  if (!AutodiffGraph::hoistAndBuild(loop))
    return false;
  bool isStep = true;
  auto build = [&]() -> FailureOr<AutodiffGraph> {
    if (std::optional<AutodiffGraph> graph = AutodiffGraph::build(loop))
      return std::move(*graph);
    // Equal values were all that backward seemed to read of forward.
    isStep = false;
    return failure();
  };
  if (failed(partitionBlock(build)) && isStep)
    return failure();
  return isStep;
}

LogicalResult Partitioner::partitionPair(const AutodiffGraph &graph,
                                         LoopPair pair,
                                         llvm::DenseSet<Operation *> &done) {
  Location loc = pair.backward.getLoop().getLoc();
  int64_t tripCount = pair.forward.getTripCount();
  StructuralKeys keys(graph.getBlock(), seed);
  uint64_t loopKey = keys.getHash(pair.forward.getLoop()->getResult(0));
  SurvivorSelection selection(graph, policy, options);
  JointLoop joint(std::move(pair), [&](Value value) {
    return selection.isArgument(value) || graph.isReturned(value);
  });
  auto build = [&]() -> FailureOr<AutodiffGraph> {
    return AutodiffGraph::build(joint.getOp(), joint.getKept());
  };
  llvm::SaveAndRestore inside(seed, loopKey);
  if (failed(partitionBlock(build)))
    return failure();
  if (failed(joint.split()))
    return failure();
  BackwardRewriter::delaySplats(joint.getNewForward());
  done.insert(joint.getNewBackward());
  remark::passed(loc, getRemark())
      << "paired two loops of " << std::to_string(tripCount) << " iterations";
  return success();
}

LogicalResult Partitioner::partitionBlock(GraphBuilder build) {
  if (options.unremat && failed(undoRemat(build)))
    return failure();
  llvm::DenseSet<Operation *> done;
  while (true) {
    FailureOr<AutodiffGraph> graph = build();
    if (failed(graph))
      return failure();
    SmallVector<std::string> reasons;
    std::optional<LoopPair> pair = findLoopPair(*graph, done, reasons);
    if (!pair) {
      for (const std::string &reason : reasons)
        remark::missed(graph->getBlock().getParentOp()->getLoc(), getRemark())
            << reason;
      return partitionLine(build);
    }
    if (failed(partitionPair(*graph, std::move(*pair), done)))
      return failure();
  }
}

PartitionOptions
Partitioner::chooseRecompute(const AutodiffGraph &graph) const {
  PartitionOptions best = options;
  if (options.recompute != RecomputedContractions::Auto)
    return best;
  best.recompute = RecomputedContractions::None;
  double bestFlops = 0, bestBytes = 0;
  for (auto recompute :
       {RecomputedContractions::None, RecomputedContractions::Batch,
        RecomputedContractions::Growing, RecomputedContractions::All}) {
    PartitionOptions next = options;
    next.recompute = recompute;
    SurvivorSelection selection(graph, policy, next);
    SmallVector<Value> survivors = selection.select();
    double flops = selection.getRecomputedFlops(survivors);
    double bytes = selection.getStorage(survivors);
    bool isFirst = recompute == RecomputedContractions::None;
    if (!isFirst && (bytes >= bestBytes ||
                     flops - bestFlops > kFlopsPerByte * (bestBytes - bytes)))
      continue;
    best = next;
    bestFlops = flops;
    bestBytes = bytes;
  }
  return best;
}

SmallVector<Value> Partitioner::findKept(const AutodiffGraph &graph,
                                         const StructuralKeys &keys) const {
  if (options.kept.empty())
    return {};
  return llvm::filter_to_vector(graph.getCrossing(), [&](Value value) {
    return options.kept.contains(keys.getKey(value));
  });
}

/// Erases the barriers of backward that keep what it computes again apart from
/// forward.
static bool eraseBarriers(const AutodiffGraph &graph) {
  bool erased = false;
  for (Operation *op : graph.getBackward()) {
    if (getOpKind(op) != OpKind::Barrier || isa<BarrierOp>(op) ||
        op->getOperandTypes() != op->getResultTypes())
      continue;
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    erased = true;
  }
  return erased;
}

/// What `build` makes of the step once equal values are merged.
static FailureOr<AutodiffGraph>
buildMerged(function_ref<FailureOr<AutodiffGraph>()> build) {
  FailureOr<AutodiffGraph> graph = build();
  if (failed(graph))
    return failure();
  graph->mergeEqualValues();
  return build();
}

LogicalResult Partitioner::undoRemat(GraphBuilder build) {
  FailureOr<AutodiffGraph> graph = build();
  if (failed(graph) || !eraseBarriers(*graph))
    return graph;
  graph = buildMerged(build);
  if (failed(graph))
    return failure();
  graph->moveToForward();
  return success();
}

LogicalResult Partitioner::partitionLine(GraphBuilder build) {
  FailureOr<AutodiffGraph> graph = buildMerged(build);
  if (failed(graph))
    return failure();
  Location loc = graph->getBlock().getParentOp()->getLoc();
  if (graph->getKind() == BoundaryKind::StraightLine &&
      !hasLargeCrossing(*graph) &&
      llvm::none_of(graph->getForward(), savesInStacks)) {
    remark::missed(loc, getRemark())
        << "left alone: no value of " << std::to_string(kMinEncodedElements)
        << " elements or more crosses into backward";
    return success();
  }
  StructuralKeys keys(graph->getBlock(), seed);
  bool isLoop = graph->getKind() == BoundaryKind::Loop;
  SmallVector<Value> kept = findKept(*graph, keys);
  if (!kept.empty() && !isLoop) {
    for (Value value : kept)
      value.getDefiningOp()->setDiscardableAttr(
          kKeptAttr, UnitAttr::get(value.getContext()));
    graph = build();
    if (failed(graph))
      return failure();
  }
  PartitionOptions chosen = chooseRecompute(*graph);
  SurvivorSelection selection(*graph, policy, chosen, &keys);
  if (isLoop)
    selection.require(kept);
  SmallVector<Value> survivors = selection.select();
  if (observe)
    observe({*graph, selection, keys, survivors});
  BackwardRewriter rewriter(*graph, selection, keys, chosen);
  rewriter.rewrite(survivors, nextId);
  LDBG() << survivors.size() << " survivors, " << rewriter.getNumClones()
         << " clones";
  remark::passed(loc, getRemark())
      << "saved " << std::to_string(survivors.size()) << " values, cloned "
      << std::to_string(rewriter.getNumClones())
      << " operations into backward; contractions computed again: "
      << stringifyRecompute(chosen.recompute);
  return success();
}

LogicalResult Partitioner::run(unsigned numPrimalResults) {
  FailureOr<bool> inLoops = false;
  if (function.getFunctionBody().hasOneBlock())
    inLoops = visitStepLoops(
        function.getFunctionBody().front(),
        [&](LoopModelInterface loop) { return partitionLoop(loop); });
  if (failed(inLoops) || *inLoops)
    return failure(failed(inLoops));
  AutodiffGraph::hoistForward(function, numPrimalResults);
  return partitionBlock(
      [&] { return AutodiffGraph::build(function, numPrimalResults); });
}
