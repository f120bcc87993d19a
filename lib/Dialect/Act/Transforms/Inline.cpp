//===- Inline.cpp - Replace calls by the bodies of functions --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTINLINEPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// Allows everything, operations of unregistered dialects included.
class UnconditionalInliner : public InlinerInterface {
public:
  using InlinerInterface::InlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const final {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  bool shouldAnalyzeRecursively(Operation *) const final { return false; }
  bool
  allowSingleBlockOptimization(iterator_range<Region::iterator>) const final {
    return true;
  }
  void processInlinedCallBlocks(Operation *,
                                iterator_range<Region::iterator>) const final {}
  void handleTerminator(Operation *terminator, ValueRange results) const final {
    for (auto [result, value] :
         llvm::zip_equal(results, terminator->getOperands()))
      result.replaceAllUsesWith(value);
  }
};

/// Inlines in one module.
class ModuleInliner {
public:
  explicit ModuleInliner(ModuleOp module)
      : module(module), interface(module.getContext()) {}

  LogicalResult run();

private:
  using Functions = llvm::SmallSetVector<func::FuncOp, 16>;

  func::FuncOp lookUp(SymbolRefAttr name) {
    return symbols.lookupNearestSymbolFrom<func::FuncOp>(module, name);
  }
  /// Functions that public ones and other operations of the module refer to.
  Functions collectReachable();
  void collectReferences(Operation *root, Functions &functions);
  FailureOr<func::FuncOp> getCallee(func::CallOp call);
  /// Functions called before their callers; fails on recursion.
  FailureOr<SmallVector<func::FuncOp>> sort(ArrayRef<func::FuncOp> functions);
  LogicalResult inlineCallsIn(func::FuncOp function);

  ModuleOp module;
  UnconditionalInliner interface;
  SymbolTableCollection symbols;
};
} // namespace

static SmallVector<func::CallOp> getCalls(func::FuncOp function) {
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) { calls.push_back(call); });
  return calls;
}

void ModuleInliner::collectReferences(Operation *root, Functions &functions) {
  root->walk([&](Operation *op) {
    AttrTypeWalker walker;
    walker.addWalk([&](SymbolRefAttr name) {
      if (func::FuncOp function = lookUp(name))
        functions.insert(function);
    });
    // Names inside the text of an attribute of an unregistered dialect.
    walker.addWalk([&](OpaqueAttr attribute) {
      for (auto function : module.getOps<func::FuncOp>())
        if (attribute.getAttrData().contains("@" + function.getSymName().str()))
          functions.insert(function);
    });
    walker.walk(op->getAttrDictionary());
  });
}

ModuleInliner::Functions ModuleInliner::collectReachable() {
  Functions reachable;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      collectReferences(&op, reachable);
    else if (!function.isPrivate())
      reachable.insert(function);
  }
  for (size_t i = 0; i < reachable.size(); ++i) // grows meanwhile
    collectReferences(reachable[i], reachable);
  return reachable;
}

FailureOr<func::FuncOp> ModuleInliner::getCallee(func::CallOp call) {
  func::FuncOp callee = lookUp(call.getCalleeAttr());
  if (!callee)
    return call.emitOpError("expects a function of the module, got ")
           << call.getCalleeAttr();
  if (!callee.getBody().hasOneBlock()) {
    InFlightDiagnostic diagnostic =
        call.emitOpError("expects a callee with one block, got ")
        << callee.getBody().getBlocks().size();
    diagnostic.attachNote(callee.getLoc()) << "callee is here";
    return diagnostic;
  }
  return callee;
}

FailureOr<SmallVector<func::FuncOp>>
ModuleInliner::sort(ArrayRef<func::FuncOp> functions) {
  struct Visit {
    func::FuncOp function;
    SmallVector<func::CallOp> calls;
  };
  SmallVector<func::FuncOp> sorted;
  DenseSet<Operation *> done, open;
  SmallVector<Visit> stack;
  auto enter = [&](func::FuncOp function) {
    if (!done.insert(function).second)
      return;
    open.insert(function);
    stack.push_back({function, getCalls(function)});
  };
  for (func::FuncOp function : functions) {
    enter(function);
    while (!stack.empty()) {
      Visit &top = stack.back();
      if (top.calls.empty()) {
        sorted.push_back(top.function);
        open.erase(top.function);
        stack.pop_back();
        continue;
      }
      func::CallOp call = top.calls.pop_back_val();
      FailureOr<func::FuncOp> callee = getCallee(call);
      if (failed(callee))
        return failure();
      if (open.contains(*callee))
        return call.emitOpError("expects no recursion, but ")
               << call.getCalleeAttr() << " calls itself";
      enter(*callee);
    }
  }
  return sorted;
}

LogicalResult ModuleInliner::inlineCallsIn(func::FuncOp function) {
  InlinerConfig config;
  for (func::CallOp call : getCalls(function)) {
    func::FuncOp callee = *getCallee(call);
    if (failed(inlineCall(interface, config.getCloneCallback(), call, callee,
                          &callee.getBody(),
                          /*shouldCloneInlinedRegion=*/true)))
      return call.emitOpError("expects operands and results of the types of ")
             << call.getCalleeAttr();
    call.erase();
  }
  return success();
}

LogicalResult ModuleInliner::run() {
  FailureOr<SmallVector<func::FuncOp>> sorted =
      sort(collectReachable().getArrayRef());
  if (failed(sorted))
    return failure();
  for (func::FuncOp function : *sorted)
    if (failed(inlineCallsIn(function)))
      return failure();

  Functions needed = collectReachable();
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!needed.contains(function))
      function.erase();
  return success();
}

namespace {
struct InlinePass : act::impl::ActInlinePassBase<InlinePass> {
  void runOnOperation() override {
    if (failed(ModuleInliner(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
