//===- Partition.cpp - Let backward read forward only through saves
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardRewriter.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "act-partition"

namespace mlir::act {
#define GEN_PASS_DEF_ACTPARTITIONPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// True if some value that crosses is large enough to be worth a save.
static bool hasLargeCrossing(const AutodiffGraph &graph) {
  return llvm::any_of(graph.getCrossing(), [&](Value value) {
    return !graph.isConstantLike(value) &&
           getNumElements(value.getType()).value_or(0) >= kMinEncodedElements;
  });
}

namespace {
struct ActPartitionPass
    : mlir::act::impl::ActPartitionPassBase<ActPartitionPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8) {
      function.emitError("act-partition expects bits to be 0, 1, 2, 4 or 8, "
                         "got ")
          << bits.getValue();
      return signalPassFailure();
    }
    if (window == 0) {
      function.emitError(
          "act-partition expects window to be at least 1, got 0");
      return signalPassFailure();
    }
    unsigned numPrimal = getNumPrimalResults(function, primalResults);
    AutodiffGraph::hoistForward(function, numPrimal);
    FailureOr<AutodiffGraph> graph = AutodiffGraph::build(function, numPrimal);
    if (failed(graph))
      return signalPassFailure();
    graph->mergeEqualValues();
    graph = AutodiffGraph::build(function, numPrimal);
    if (failed(graph))
      return signalPassFailure();
    auto remarkOptions = remark::RemarkOpts::name("Partition").category("act");
    if (!hasLargeCrossing(*graph)) {
      remark::missed(function.getLoc(), remarkOptions)
          << "left alone: no value of " << std::to_string(kMinEncodedElements)
          << " elements or more crosses into backward";
      return;
    }
    EncodingPolicy policy = EncodingPolicy::get(function);
    PartitionOptions options{bits, window, cut, recompute};
    SurvivorSelection selection(*graph, policy, options);
    SmallVector<Value> survivors = selection.select();
    BackwardRewriter rewriter(*graph, selection, options);
    rewriter.rewrite(survivors);
    LDBG() << survivors.size() << " survivors, " << rewriter.getNumClones()
           << " clones";
    remark::passed(function.getLoc(), remarkOptions)
        << "saved " << std::to_string(survivors.size()) << " values, cloned "
        << std::to_string(rewriter.getNumClones())
        << " operations into backward";
  }
};
} // namespace
