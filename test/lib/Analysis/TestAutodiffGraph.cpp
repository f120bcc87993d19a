//===- TestAutodiffGraph.cpp - Print what AutodiffGraph finds ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "act/Analysis/AutodiffGraph.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::act;

namespace {
struct TestAutodiffGraphPass
    : PassWrapper<TestAutodiffGraphPass, InterfacePass<FunctionOpInterface>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAutodiffGraphPass)

  TestAutodiffGraphPass() = default;
  TestAutodiffGraphPass(const TestAutodiffGraphPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-autodiff-graph"; }
  StringRef getDescription() const final {
    return "Print forward, backward and what crosses between them";
  }

  void runOnOperation() override {
    unsigned numPrimal = getNumPrimalResults(getOperation(), primalResults);
    unsigned numMoved = AutodiffGraph::hoistForward(getOperation(), numPrimal);
    FailureOr<AutodiffGraph> graph =
        AutodiffGraph::build(getOperation(), numPrimal);
    if (failed(graph))
      return signalPassFailure();
    llvm::outs() << "function: " << getOperation().getName() << '\n'
                 << "moved: " << numMoved << " operations\n";
    graph->print(llvm::outs());
  }

  Option<unsigned> primalResults{*this, "primal-results",
                                 llvm::cl::desc("Number of primal results"),
                                 llvm::cl::init(1)};
};
} // namespace

void mlir::act::registerTestAutodiffGraphPass() {
  PassRegistration<TestAutodiffGraphPass>();
}
