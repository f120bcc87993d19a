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
  /// Visits the steps inside loops of `block`; true if there is one.
  FailureOr<bool> walkLoopsIn(Block &block);

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

FailureOr<bool> BoundaryWalker::walkLoopsIn(Block &block) {
  bool found = false;
  SmallVector<LoopModelInterface> loops(block.getOps<LoopModelInterface>());
  for (LoopModelInterface loop : loops) {
    Block *body = loop.getLoopBody();
    if (!body)
      continue;
    FailureOr<bool> inner = walkLoopsIn(*body);
    if (failed(inner))
      return failure();
    std::optional<AutodiffGraph> graph;
    if (!*inner)
      graph = AutodiffGraph::build(loop);
    if (graph && failed(walk(*graph)))
      return failure();
    found |= *inner || graph;
  }
  return found;
}

LogicalResult mlir::act::forEachBoundary(
    FunctionOpInterface function, unsigned numPrimalResults,
    function_ref<LogicalResult(const AutodiffGraph &)> visit,
    SmallVectorImpl<std::string> &reasons) {
  BoundaryWalker walker(visit, reasons);
  FailureOr<bool> inLoops = false;
  if (function.getFunctionBody().hasOneBlock())
    inLoops = walker.walkLoopsIn(function.getFunctionBody().front());
  if (failed(inLoops) || *inLoops)
    return failure(failed(inLoops));
  FailureOr<AutodiffGraph> graph =
      AutodiffGraph::build(function, numPrimalResults);
  return failure(failed(graph) || failed(walker.walk(*graph)));
}
