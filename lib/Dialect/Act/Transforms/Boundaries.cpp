//===- Boundaries.cpp - All boundaries of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boundaries.h"
#include "JointLoop.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// Walks over the boundaries of one function.
class BoundaryWalker {
public:
  BoundaryWalker(function_ref<LogicalResult(const AutodiffGraph &)> visit,
                 SmallVectorImpl<std::string> &reasons)
      : visit(visit), reasons(reasons) {}

  /// Visits the block that `graph` describes and pairs of loops in it.
  LogicalResult walk(const AutodiffGraph &graph);

private:
  function_ref<LogicalResult(const AutodiffGraph &)> visit;
  SmallVectorImpl<std::string> &reasons;
};
} // namespace

LogicalResult BoundaryWalker::walk(const AutodiffGraph &graph) {
  llvm::DenseSet<Operation *> done;
  SmallVector<std::string> unpaired;
  while (std::optional<LoopPair> pair = findLoopPair(graph, done, unpaired)) {
    done.insert(pair->backward.getLoop());
    JointLoop joint(std::move(*pair), [](Value) { return true; });
    LogicalResult result =
        walk(AutodiffGraph::build(joint.getOp(), joint.getKept()));
    joint.erase();
    if (failed(result))
      return failure();
  }
  for (const std::string &reason : unpaired)
    if (!llvm::is_contained(reasons, reason))
      reasons.push_back(reason);
  return visit(graph);
}

FailureOr<bool> mlir::act::visitStepLoops(
    Block &block, function_ref<FailureOr<bool>(LoopModelInterface)> visit) {
  bool found = false;
  SmallVector<LoopModelInterface> loops(block.getOps<LoopModelInterface>());
  for (LoopModelInterface loop : loops) {
    Block *body = loop.getLoopBody();
    // A sliced head has both directions too, but the step goes on around it.
    bool isWholeStep = loop->hasAttr(kSlicedStepAttr);
    if (!body || (loop->hasAttr(kSlicedAttr) && !isWholeStep))
      continue;
    FailureOr<bool> holdsStep = visitStepLoops(*body, visit);
    if (succeeded(holdsStep) && !*holdsStep)
      holdsStep = visit(loop);
    if (failed(holdsStep))
      return failure();
    found |= *holdsStep || isWholeStep;
  }
  return found;
}

LogicalResult mlir::act::forEachBoundary(
    FunctionOpInterface function, unsigned numPrimalResults,
    function_ref<LogicalResult(const AutodiffGraph &)> visit,
    SmallVectorImpl<std::string> &reasons) {
  BoundaryWalker walker(visit, reasons);
  auto walkLoop = [&](LoopModelInterface loop) -> FailureOr<bool> {
    std::optional<AutodiffGraph> graph = AutodiffGraph::build(loop);
    if (graph && failed(walker.walk(*graph)))
      return failure();
    return graph.has_value();
  };
  FailureOr<bool> inLoops = false;
  if (function.getFunctionBody().hasOneBlock())
    inLoops = visitStepLoops(function.getFunctionBody().front(), walkLoop);
  if (failed(inLoops) || *inLoops)
    return failure(failed(inLoops));
  FailureOr<AutodiffGraph> graph =
      AutodiffGraph::build(function, numPrimalResults);
  return failure(failed(graph) || failed(walker.walk(*graph)));
}
