//===- TestOpModel.cpp - Print what act knows about operations ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::act;

/// Prints one line for `op`: name, kind, then what else holds.
static void printModel(Operation *op, raw_ostream &os) {
  os << op->getName() << ": " << stringifyOpKind(getOpKind(op));
  if (isCheapToRecompute(op))
    os << " cheap";
  if (isDiscontinuous(op))
    os << " discontinuous";
  if (squashesRange(op))
    os << " squashes";
  if (!getSelectedValues(op).empty())
    os << " selects";
  if (!isMemoryEffectFree(op))
    os << " effects";
  os << " flops=" << llvm::format("%.0f", getFlops(op));
  if (op->getNumRegions() != 0)
    os << " operands=" << getAllOperands(op).size();
  for (Value result : op->getResults())
    if (std::optional<uint64_t> bound = getUpperBound(result))
      os << " bound=" << *bound;
  os << "\n";
}

namespace {
struct TestOpModelPass : PassWrapper<TestOpModelPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOpModelPass)

  StringRef getArgument() const final { return "test-op-model"; }
  StringRef getDescription() const final {
    return "Print what act knows about the operations of functions";
  }
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOpInterface>())
      for (Block &block : function.getFunctionBody())
        for (Operation &op : block.without_terminator())
          printModel(&op, llvm::outs());
  }
};
} // namespace

void mlir::act::registerTestOpModelPass() {
  PassRegistration<TestOpModelPass>();
}
