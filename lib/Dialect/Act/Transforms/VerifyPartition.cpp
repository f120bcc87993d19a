//===- VerifyPartition.cpp - Check that backward reads forward only through
// saves ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boundaries.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTVERIFYPARTITIONPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// Checks one partitioned function.
class PartitionVerifier {
public:
  explicit PartitionVerifier(const AutodiffGraph &graph) : graph(graph) {}

  LogicalResult verify() {
    bool ok = true;
    for (Operation *op : graph.getBackward()) {
      op->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          ok &= succeeded(verifyRead(nested, operand));
      });
      ok &= succeeded(verifyHeldBack(op));
    }
    return success(ok);
  }

private:
  /// Backward's `op` may read `value`.
  LogicalResult verifyRead(Operation *op, Value value) {
    Operation *def = graph.getForwardDef(value);
    if (!def)
      return success();
    if (isa<StackType>(value.getType())) {
      return success(); // nothing but saves comes of it
    } else if (isa<CompressedType>(value.getType())) {
      if (isa<BarrierOp, DequantizeLoadOp>(op))
        return success();
    } else if (graph.isHead(def) || graph.isReturned(value) ||
               graph.isKept(value) || getAllOperands(def).empty()) {
      return success();
    }
    InFlightDiagnostic diag =
        op->emitOpError("of backward reads a forward value of type ")
        << value.getType() << " that does not come from a save";
    diag.attachNote(def->getLoc())
        << "defined here by '" << def->getName() << "'";
    return diag;
  }

  /// A clone of a forward operation depends on a barrier, so that it is not
  /// found equal to the original.
  LogicalResult verifyHeldBack(Operation *op) {
    if (!isHeldBackLocation(op->getLoc()))
      return success();
    bool hasTensor = false; // scalars cannot pass a barrier
    for (Value operand : getAllOperands(op)) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == &graph.getBlock() &&
          !graph.getForwardDef(operand) && !getAllOperands(def).empty())
        return success();
      hasTensor |= isa<RankedTensorType>(operand.getType());
    }
    if (!hasTensor)
      return success();
    return op->emitOpError(
        "was cloned into backward but no barrier holds it back");
  }

  const AutodiffGraph &graph;
};
} // namespace

/// Checks the block that `graph` describes.
static LogicalResult verifyBlock(const AutodiffGraph &graph) {
  // One that was left alone may read what it likes.
  if (graph.getBlock().getOps<CompressedSaveOp>().empty())
    return success();
  return PartitionVerifier(graph).verify();
}

namespace {
struct ActVerifyPartitionPass
    : mlir::act::impl::ActVerifyPartitionPassBase<ActVerifyPartitionPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    markAllAnalysesPreserved();
    bool hasSaves =
        function->walk([](CompressedSaveOp) { return WalkResult::interrupt(); })
            .wasInterrupted();
    if (!hasSaves)
      return;
    SmallVector<std::string> reasons;
    if (failed(forEachBoundary(function,
                               getNumPrimalResults(function, primalResults),
                               verifyBlock, reasons)))
      signalPassFailure();
  }
};
} // namespace
