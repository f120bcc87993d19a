//===- AutodiffGraph.cpp - Forward and backward of a training step
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

bool mlir::act::isBackwardLocation(Location loc) {
  WalkResult found = loc->walk([](Location part) {
    auto name = dyn_cast<NameLoc>(part);
    return name && name.getName().getValue().contains("transpose(")
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return found.wasInterrupted();
}

StringRef mlir::act::getLocationName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().getValue();
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    StringRef caller = getLocationName(call.getCaller());
    return caller.empty() ? getLocationName(call.getCallee()) : caller;
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringRef name = getLocationName(part); !name.empty())
        return name;
  return "";
}

static constexpr StringLiteral kRecompute = "act.recompute";

Location mlir::act::getRecomputeLocation(Location loc) {
  StringRef name = getLocationName(loc);
  std::string copyName = kRecompute.str();
  if (!name.empty())
    copyName += ("/" + name).str();
  return NameLoc::get(StringAttr::get(loc.getContext(), copyName), loc);
}

bool mlir::act::isRecomputeLocation(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  return name && name.getName().getValue().starts_with(kRecompute);
}

unsigned mlir::act::getNumPrimalResults(FunctionOpInterface function,
                                        unsigned fallback) {
  auto attr = function->getAttrOfType<IntegerAttr>("act.primal_results");
  return attr ? attr.getValue().getZExtValue() : fallback;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Operations of `block` that `values` depend on.
static llvm::DenseSet<Operation *> getAncestors(Block &block,
                                                ValueRange values) {
  llvm::DenseSet<Operation *> ancestors;
  SmallVector<Operation *> stack;
  auto visit = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && def->getBlock() == &block && ancestors.insert(def).second)
      stack.push_back(def);
  };
  llvm::for_each(values, visit);
  while (!stack.empty())
    llvm::for_each(getAllOperands(stack.pop_back_val()), visit);
  return ancestors;
}

/// True if `function` has a single block with at least `numPrimalResults`
/// results.
static bool hasStepShape(FunctionOpInterface function,
                         unsigned numPrimalResults) {
  Region &body = function.getFunctionBody();
  return body.hasOneBlock() && numPrimalResults <= function.getNumResults() &&
         body.front().mightHaveTerminator();
}

unsigned AutodiffGraph::hoistForward(FunctionOpInterface function,
                                     unsigned numPrimalResults) {
  if (!hasStepShape(function, numPrimalResults))
    return 0;
  Block &block = function.getFunctionBody().front();
  auto primal =
      block.getTerminator()->getOperands().take_front(numPrimalResults);
  llvm::DenseSet<Operation *> ancestors = getAncestors(block, primal);
  Operation *boundary = nullptr;
  unsigned numMoved = 0;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    bool isForward = ancestors.contains(&op);
    if (!boundary && !isForward && isBackwardLocation(op.getLoc()))
      boundary = &op;
    if (boundary && isForward) {
      op.moveBefore(boundary);
      ++numMoved;
    }
  }
  return numMoved;
}

//===----------------------------------------------------------------------===//
// AutodiffGraph
//===----------------------------------------------------------------------===//

FailureOr<AutodiffGraph> AutodiffGraph::build(FunctionOpInterface function,
                                              unsigned numPrimalResults) {
  if (!function.getFunctionBody().hasOneBlock())
    return function.emitOpError("expects a training step of one block, got ")
           << function.getFunctionBody().getBlocks().size();
  if (numPrimalResults == 0)
    return function.emitOpError("expects at least one primal result");
  if (numPrimalResults > function.getNumResults())
    return function.emitOpError("expects at most ")
           << function.getNumResults() << " primal results, as many as it has "
           << "results, got " << numPrimalResults;

  AutodiffGraph graph;
  graph.block = &function.getFunctionBody().front();
  graph.terminator = graph.block->getTerminator();
  graph.numbering = std::make_shared<ValueNumbering>(*graph.block);
  for (Operation &op : graph.block->without_terminator()) {
    graph.positions[&op] = graph.operations.size();
    graph.operations.push_back(&op);
  }
  graph.positions[graph.terminator] = graph.operations.size();
  graph.returned.insert_range(graph.terminator->getOperands());
  for (Value value :
       graph.terminator->getOperands().take_front(numPrimalResults)) {
    if (Operation *def = value.getDefiningOp())
      graph.numForward =
          std::max(graph.numForward, graph.positions.lookup(def) + 1);
  }
  graph.headBegin = graph.numForward == 0 ? 0 : graph.numForward - 1;
  for (auto [i, op] : llvm::enumerate(graph.getForward()))
    if (getOpKind(op) == OpKind::Contraction)
      graph.headBegin = i;
  if (failed(graph.checkResults(function, numPrimalResults)))
    return failure();
  graph.findConstantLike();
  graph.findCrossing();
  return graph;
}

LogicalResult AutodiffGraph::checkResults(FunctionOpInterface function,
                                          unsigned numPrimalResults) const {
  for (auto [i, value] : llvm::enumerate(
           terminator->getOperands().take_front(numPrimalResults))) {
    Operation *def = value.getDefiningOp();
    if (!def || !isBackwardLocation(def->getLoc()))
      continue;
    InFlightDiagnostic diag =
        function.emitOpError("expects its first ")
        << numPrimalResults << " results to be primal, got result " << i
        << " from backward; the number of primal results is too large";
    diag.attachNote(def->getLoc()) << "computed here";
    return diag;
  }
  // Backward is what other results need and is computed behind the turning
  // point.
  for (Value value : terminator->getOperands().drop_front(numPrimalResults)) {
    Operation *def = value.getDefiningOp();
    if (def && positions.lookup(def) >= numForward)
      return success();
  }
  return function.emitOpError("expects a training step with a backward part, "
                              "got no result that is computed after the first ")
         << numPrimalResults << " results";
}

void AutodiffGraph::mergeEqualValues() const {
  SmallVector<Operation *> dead;
  for (Operation *op : getBackward()) {
    op->walk([&](Operation *nested) {
      for (OpOperand &operand : nested->getOpOperands())
        operand.set(getLeader(operand.get()));
    });
    if (op->getNumResults() > 0 &&
        getLeader(op->getResult(0)) != op->getResult(0))
      dead.push_back(op);
  }
  // Results of the step keep their own names unless their operation goes.
  for (Operation *op : llvm::reverse(dead)) {
    for (Value result : op->getResults())
      result.replaceAllUsesWith(getLeader(result));
    op->erase();
  }
}

SmallVector<Value> AutodiffGraph::getOperandLeaders(Operation *op) const {
  SmallVector<Value> operands = getAllOperands(op);
  for (Value &operand : operands)
    operand = getLeader(operand);
  return operands;
}

std::optional<unsigned> AutodiffGraph::getPosition(Operation *op) const {
  Operation *top = block->findAncestorOpInBlock(*op);
  auto it = top ? positions.find(top) : positions.end();
  if (it == positions.end())
    return std::nullopt;
  return it->second;
}

Operation *AutodiffGraph::getForwardDef(Value value) const {
  Operation *def = value.getDefiningOp();
  if (!def || def->getBlock() != block)
    return nullptr;
  auto it = positions.find(def);
  return it != positions.end() && it->second < numForward ? def : nullptr;
}

bool AutodiffGraph::isHead(Operation *op) const {
  return positions.lookup(op) >= headBegin;
}

void AutodiffGraph::findConstantLike() {
  for (Operation *op : operations) {
    // Saves and loads are none: what they hold was computed.
    if (!isCheapToRecompute(op) && getOpKind(op) != OpKind::Constant)
      continue;
    if (llvm::all_of(getAllOperands(op), [&](Value operand) {
          return constantLike.contains(operand);
        }))
      constantLike.insert_range(op->getResults());
  }
}

void AutodiffGraph::findCrossing() {
  for (Operation *op : getBackward())
    for (Value operand : getAllOperands(op))
      if (Operation *def = getForwardDef(operand); def && !isHead(def))
        crossing.insert(operand);
}

void AutodiffGraph::print(raw_ostream &os) const {
  auto printValue = [&](Value value) {
    auto result = cast<OpResult>(value);
    Operation *def = result.getOwner();
    os << "  " << positions.lookup(def) << ": " << def->getName();
    if (def->getNumResults() > 1)
      os << '#' << result.getResultNumber();
    os << " : " << value.getType();
    if (StringRef name = getLocationName(def->getLoc()); !name.empty())
      os << " \"" << name << '"';
    if (constantLike.contains(value))
      os << " constant";
    if (isReturned(value))
      os << " returned";
    os << '\n';
  };
  os << "forward: " << getForward().size() << " operations\n"
     << "backward: " << getBackward().size() << " operations\n"
     << "head: from operation " << headBegin << '\n'
     << "crossing: " << crossing.size() << " values\n";
  llvm::for_each(crossing, printValue);
}
