//===- AutodiffGraph.cpp - Forward and backward of a training step
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/LoopPair.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

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
static constexpr StringLiteral kRecomputeEarly = "act.recompute_early";

Location mlir::act::getRecomputeLocation(Location loc, bool isHeldBack) {
  StringRef name = getLocationName(loc);
  std::string copyName = (isHeldBack ? kRecompute : kRecomputeEarly).str();
  if (!name.empty())
    copyName += ("/" + name).str();
  return NameLoc::get(StringAttr::get(loc.getContext(), copyName), loc);
}

bool mlir::act::isRecomputeLocation(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  return name && name.getName().getValue().starts_with(kRecompute);
}

bool mlir::act::isHeldBackLocation(Location loc) {
  return isRecomputeLocation(loc) &&
         !cast<NameLoc>(loc).getName().getValue().starts_with(kRecomputeEarly);
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

/// Moves the operations of `block` that `primal` depends on in front of the
/// first that is known to be of backward.
static unsigned hoistAncestors(Block &block, ValueRange primal) {
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

unsigned AutodiffGraph::hoistForward(FunctionOpInterface function,
                                     unsigned numPrimalResults) {
  Region &body = function.getFunctionBody();
  if (!body.hasOneBlock() || numPrimalResults > function.getNumResults() ||
      !body.front().mightHaveTerminator())
    return 0;
  return hoistAncestors(
      body.front(),
      body.front().getTerminator()->getOperands().take_front(numPrimalResults));
}

/// One more than the position in `block` of the last operation that defines one
/// of `values`.
static unsigned countUpTo(Block &block, ValueRange values) {
  llvm::SmallPtrSet<Operation *, 4> defs;
  for (Value value : values)
    defs.insert(value.getDefiningOp());
  unsigned count = 0;
  for (auto [i, op] : llvm::enumerate(block))
    if (defs.contains(&op))
      count = i + 1;
  return count;
}

//===----------------------------------------------------------------------===//
// Steps in loops
//===----------------------------------------------------------------------===//

static bool isFloatScalar(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank() == 0 && isa<FloatType>(tensor.getElementType());
  return isa<FloatType>(type);
}

/// What `value` is a copy of.
static Value stripCopies(Value value) {
  while (Operation *def = value.getDefiningOp()) {
    Value copied = def->getNumOperands() == 1
                       ? getCopiedValue(def, def->getOperand(0))
                       : Value();
    if (!copied)
      break;
    value = copied;
  }
  return value;
}

/// The scalar that carried value `number` of a loop collects in each iteration,
/// as a sum or as the row of a stack; null if it collects none.
static Value getCollectedScalar(const LoopCarries &carries, unsigned number) {
  if (carries.getKind(number) == CarryKind::Stack) {
    Value row = carries.getWrite(number).row;
    return isFloatScalar(row.getType()) ? row : Value();
  }
  Value next = stripCopies(carries.getNextValue(number));
  Operation *def = next.getDefiningOp();
  if (carries.getKind(number) != CarryKind::State || !def ||
      !isFloatScalar(carries.getNextValue(number).getType()) ||
      getOpKind(def) != OpKind::Elementwise || def->getNumOperands() != 2)
    return {};
  Value argument = carries.getArgument(number);
  if (stripCopies(def->getOperand(0)) == argument)
    return def->getOperand(1);
  return stripCopies(def->getOperand(1)) == argument ? def->getOperand(0)
                                                     : Value();
}

/// The primal values of one iteration of a loop.
static SmallVector<Value> findPrimalValues(const LoopCarries &carries) {
  SmallVector<Value> primal;
  for (unsigned number = 0; number < carries.size(); ++number) {
    Value value = getCollectedScalar(carries, number);
    if (!value || value.getParentBlock() != &carries.getBody() ||
        !value.getDefiningOp())
      continue;
    bool isBackward =
        llvm::any_of(getAncestors(carries.getBody(), value), [](Operation *op) {
          return isBackwardLocation(op->getLoc());
        });
    if (!isBackward)
      primal.push_back(value);
  }
  return primal;
}

std::optional<AutodiffGraph>
AutodiffGraph::hoistAndBuild(LoopModelInterface loop) {
  if (std::optional<LoopCarries> carries = LoopCarries::get(loop))
    hoistAncestors(carries->getBody(), findPrimalValues(*carries));
  return build(loop);
}

std::optional<AutodiffGraph> AutodiffGraph::build(LoopModelInterface loop) {
  std::optional<LoopCarries> carries = LoopCarries::get(loop);
  // Loops with saves in stacks are halves of a step.
  if (!carries || savesInStacks(loop))
    return std::nullopt;
  Block &body = carries->getBody();
  auto isBackward = [](Operation &op) {
    return isBackwardLocation(op.getLoc()) || isRecomputeLocation(op.getLoc());
  };
  unsigned first = 0, last = 0;
  for (auto [i, op] : llvm::enumerate(body.without_terminator()))
    if (isBackward(op)) {
      first = last == 0 ? i : first;
      last = i + 1;
    }
  SmallVector<Value> primal = findPrimalValues(*carries);
  unsigned numForward = primal.empty() ? first : countUpTo(body, primal);
  if (numForward == 0 || last <= numForward)
    return std::nullopt;
  AutodiffGraph graph(body, BoundaryKind::StraightLine);
  graph.setForward(numForward);
  // Without primal values the locations alone speak for a step: they must not
  // mistake the index computations of a backward loop for its forward.
  auto isActivation = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return graph.getForwardDef(value) && !graph.isConstantLike(value) &&
           (isSaved(value.getType()) || (type && type.getRank() > 0));
  };
  auto readsActivation = [&](Operation *op) {
    return llvm::any_of(getAllOperands(op), isActivation);
  };
  if (primal.empty() && llvm::none_of(graph.getBackward(), readsActivation))
    return std::nullopt;
  return graph;
}

AutodiffGraph AutodiffGraph::build(JointLoopOp joint,
                                   const llvm::DenseSet<Value> &kept) {
  AutodiffGraph graph(joint.getBody().front(), BoundaryKind::Loop);
  graph.kept = kept;
  graph.setForward(graph.positions.lookup(joint.getTurningPoint()) + 1);
  return graph;
}

//===----------------------------------------------------------------------===//
// AutodiffGraph
//===----------------------------------------------------------------------===//

AutodiffGraph::AutodiffGraph(Block &block, BoundaryKind kind)
    : kind(kind), terminator(block.getTerminator()), block(&block) {
  for (Operation &op : block.without_terminator()) {
    positions[&op] = operations.size();
    operations.push_back(&op);
  }
  positions[terminator] = operations.size();
  for (Operation *parent = block.getParentOp(); parent;
       parent = parent->getParentOp())
    if (auto joint = dyn_cast<JointLoopOp>(parent))
      numCopies *= joint.getTripCount();
  if (kind == BoundaryKind::StraightLine)
    returned.insert_range(terminator->getOperands());
}

void AutodiffGraph::setForward(unsigned count) {
  numForward = count;
  numbering = std::make_shared<ValueNumbering>(
      *block, count < operations.size() ? operations[count] : terminator);
  findHead();
  findKept();
  findConstantLike();
  findCrossing();
}

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

  Block &block = function.getFunctionBody().front();
  AutodiffGraph graph(block, BoundaryKind::StraightLine);
  graph.setForward(countUpTo(
      block, graph.terminator->getOperands().take_front(numPrimalResults)));
  if (failed(graph.checkResults(function, numPrimalResults)))
    return failure();
  return graph;
}

bool mlir::act::isSaved(Type type) {
  return isa<CompressedType, StackType>(type);
}

bool mlir::act::savesInStacks(Operation *op) {
  return llvm::any_of(op->getResultTypes(), llvm::IsaPred<StackType>);
}

void AutodiffGraph::findHead() {
  headBegin = numForward;
  if (kind == BoundaryKind::Loop)
    return;
  headBegin = numForward == 0 ? 0 : numForward - 1;
  std::optional<unsigned> lastLoop;
  unsigned numBehindLoop = 0;
  for (auto [i, op] : llvm::enumerate(getForward())) {
    if (savesInStacks(op)) {
      lastLoop = i;
      numBehindLoop = 0;
    }
    if (hasContraction(op)) {
      headBegin = i;
      ++numBehindLoop;
    }
  }
  if (lastLoop && numBehindLoop <= 1)
    headBegin = *lastLoop;
}

void AutodiffGraph::findKept() {
  if (kind == BoundaryKind::Loop)
    return; // what forward's iteration made is gone
  for (Operation *op : getForward())
    if (op->hasAttr(kKeptAttr))
      kept.insert_range(op->getResults());
  for (Operation *op : getBackward()) {
    SmallVector<Value> operands = getAllOperands(op);
    if (getOpKind(op) == OpKind::Control &&
        llvm::any_of(operands, [](Value operand) {
          return isa<StackType>(operand.getType());
        }))
      kept.insert_range(operands);
  }
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

/// The name in `loc` without the mark of backward.
static Location getForwardLocation(Location loc) {
  std::string name = getLocationName(loc).str();
  constexpr StringLiteral mark = "transpose(";
  for (size_t at; (at = name.find(mark)) != std::string::npos;)
    name.erase(at, mark.size() - 1);
  return name.empty() ? Location(UnknownLoc::get(loc.getContext()))
                      : NameLoc::get(StringAttr::get(loc.getContext(), name));
}

unsigned AutodiffGraph::moveToForward() const {
  // Of operations in backward: what depends on a cotangent, and what depends on
  // forward but on no cotangent.
  llvm::DenseSet<Operation *> late, factors;
  auto isLate = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!def) // the first argument of a joint loop is forward's counter
      return kind == BoundaryKind::Loop && value.getParentBlock() == block &&
             cast<BlockArgument>(value).getArgNumber() > 0;
    if (getForwardDef(value))
      return isHead(def);
    return late.contains(def);
  };
  auto isOfForward = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return factors.contains(def) ||
           (getForwardDef(value) && !constantLike.contains(value));
  };
  for (Operation *op : getBackward()) {
    SmallVector<Value> operands = getAllOperands(op);
    if (isa<LoopStateOp>(op) || !isMemoryEffectFree(op) ||
        llvm::any_of(operands, isLate))
      late.insert(op);
    else if (llvm::any_of(operands, isOfForward))
      factors.insert(op);
  }
  // And what those are made of.
  for (Operation *op : llvm::reverse(getBackward()))
    if (factors.contains(op))
      for (Value operand : getAllOperands(op))
        if (Operation *def = operand.getDefiningOp();
            def && def->getBlock() == block && !getForwardDef(operand))
          factors.insert(def);
  unsigned place = kind == BoundaryKind::Loop ? numForward - 1 : headBegin;
  for (Operation *op : getBackward())
    if (factors.contains(op)) {
      op->moveBefore(operations[place]);
      op->setLoc(getForwardLocation(op->getLoc()));
    }
  return factors.size();
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
      if (Operation *def = getForwardDef(operand); def && !isHead(def) &&
                                                   !isKept(operand) &&
                                                   !isSaved(operand.getType()))
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
