//===- PlanMemory.cpp - All buffers in one arena -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultBuffers.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "act/Conversion/LinalgToKernels/ArenaPacking.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTPLANMEMORYPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

static int64_t getBytes(MemRefType type) {
  return type.getNumElements() * getElementBytes(type.getElementType());
}

/// Adds the values that are `value` or a part of it because `user` reads it.
static void addNames(OpOperand &use, llvm::SetVector<Value> &names) {
  Operation *user = use.getOwner();
  if (isa<ViewLikeOpInterface, arith::SelectOp>(user)) {
    names.insert(user->getResult(0));
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(user)) {
    if (BlockArgument argument = loop.getTiedLoopRegionIterArg(&use)) {
      names.insert(argument);
      names.insert(loop.getTiedLoopResult(&use));
    }
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(user)) {
    unsigned index = use.getOperandNumber();
    names.insert(loop.getBeforeArguments()[index]);
    return;
  }
  if (auto condition = dyn_cast<scf::ConditionOp>(user)) {
    auto loop = cast<scf::WhileOp>(condition->getParentOp());
    if (use.getOperandNumber() > 0) {
      names.insert(loop.getAfterArguments()[use.getOperandNumber() - 1]);
      names.insert(loop.getResult(use.getOperandNumber() - 1));
    }
    return;
  }
  if (!isa<scf::YieldOp>(user))
    return;
  Operation *parent = user->getParentOp();
  unsigned index = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent))
    names.insert(loop.getRegionIterArgs()[index]);
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    names.insert(loop.getBeforeArguments()[index]);
  else
    names.insert(parent->getResult(index));
}

/// All values that name the memory of `buffer` or a part of it.
static llvm::SetVector<Value> getNames(Value buffer) {
  llvm::SetVector<Value> names;
  names.insert(buffer);
  for (size_t i = 0; i < names.size(); ++i)
    for (OpOperand &use : names[i].getUses())
      addNames(use, names);
  return names;
}

namespace {
/// The memory of one function.
class Planner {
public:
  Planner(func::FuncOp function, int64_t alignment)
      : function(function), alignment(alignment) {}
  LogicalResult run();

private:
  void number();
  ArenaBuffer getLifetime(memref::AllocOp alloc);
  LogicalResult replaceResults();
  void replaceAllocations();
  void describe(const ArenaPlan &plan);

  func::FuncOp function;
  int64_t alignment;
  /// When an operation begins and ends.
  DenseMap<Operation *, std::pair<int64_t, int64_t>> times;
  SmallVector<RankedTensorType> resultTypes;
  SmallVector<DictionaryAttr> resultAttributes;
};
} // namespace

void Planner::number() {
  int64_t time = 0;
  function.walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      times[op].first = ++time;
    if (stage.isAfterAllRegions())
      times[op].second = ++time;
  });
}

ArenaBuffer Planner::getLifetime(memref::AllocOp alloc) {
  int64_t start = std::numeric_limits<int64_t>::max();
  int64_t end = 0;
  auto add = [&](Operation *op) {
    // What repeats, such as the body of a loop, counts as a whole unless the
    // allocation is repeated with it.
    while (!op->getParentOp()->isAncestor(alloc))
      op = op->getParentOp();
    start = std::min(start, times[op].first);
    end = std::max(end, times[op].second);
  };
  for (Value name : getNames(alloc)) {
    for (Operation *user : name.getUsers())
      if (!isa<memref::DeallocOp>(user))
        add(user);
    // Carried from one iteration to the next.
    if (auto argument = dyn_cast<BlockArgument>(name)) {
      Operation *loop = argument.getOwner()->getParentOp();
      start = std::min(start, times[loop].first);
      end = std::max(end, times[loop].second);
    }
  }
  if (end == 0) // not used
    start = end = times[alloc].first;
  return {getBytes(alloc.getType()), start, end};
}

/// Whether kernels read only the shape of `alloc`, as that of a window.
static bool isOnlyShape(memref::AllocOp alloc) {
  return llvm::all_of(alloc->getUses(), [](OpOperand &use) {
    auto kernel = dyn_cast<KernelOp>(use.getOwner());
    if (!kernel)
      return false;
    BlockArgument argument =
        kernel.getBody().front().getArgument(use.getOperandNumber());
    // Without uses it is what a target's code works in.
    return !argument.use_empty() &&
           llvm::all_of(argument.getUses(), [](OpOperand &inner) {
             auto op = dyn_cast<linalg::LinalgOp>(inner.getOwner());
             return op && op.isDpsInput(&inner) &&
                    op.getMatchingBlockArgument(&inner).use_empty();
           });
  });
}

/// Makes every result an argument that is written to.
LogicalResult Planner::replaceResults() {
  auto terminator =
      cast<func::ReturnOp>(function.getBody().back().getTerminator());
  OpBuilder builder(function.getContext());
  Block &body = function.getBody().front();
  for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
    auto type = cast<MemRefType>(value.getType());
    memref::AllocOp alloc = getWholeAllocation(value);
    if (!alloc || alloc->getParentOp() != function)
      return terminator.emitOpError("expects operand ")
             << i << " to be a buffer of its own";
    resultTypes.push_back(
        RankedTensorType::get(type.getShape(), type.getElementType()));
    DictionaryAttr attributes = function.getResultAttrDict(i);
    resultAttributes.push_back(attributes ? attributes
                                          : builder.getDictionaryAttr({}));
    auto bytes = MemRefType::get({getBytes(type)}, builder.getI8Type());
    (void)function.insertArgument(function.getNumArguments(), bytes, {},
                                  value.getLoc());
    builder.setInsertionPointToStart(&body);
    Value zero = arith::ConstantIndexOp::create(builder, value.getLoc(), 0);
    Value view = memref::ViewOp::create(
        builder, value.getLoc(), alloc.getType(),
        body.getArgument(body.getNumArguments() - 1), zero, ValueRange());
    alloc.getResult().replaceAllUsesWith(view);
    alloc.erase();
  }
  terminator->setOperands({});
  function.removeResAttrsAttr();
  function.setFunctionType(builder.getFunctionType(
      function.getFunctionType().getInputs(), TypeRange()));
  return success();
}

void Planner::replaceAllocations() {
  SmallVector<memref::AllocOp> allocs;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<KernelOp>(op))
      return WalkResult::skip();
    if (auto alloc = dyn_cast<memref::AllocOp>(op))
      allocs.push_back(alloc);
    return WalkResult::advance();
  });
  // Nothing is stored in what is only a shape: it is anywhere.
  SmallVector<ArenaBuffer> buffers;
  for (memref::AllocOp alloc : allocs)
    buffers.push_back(isOnlyShape(alloc) ? ArenaBuffer{0, 0, 0}
                                         : getLifetime(alloc));
  ArenaPlan plan = packArena(buffers, alignment);

  OpBuilder builder(function.getContext());
  auto type = MemRefType::get({plan.bytes}, builder.getI8Type());
  (void)function.insertArgument(function.getNumArguments(), type, {},
                                function.getLoc());
  Value arena = function.getBody().front().getArguments().back();
  for (auto [alloc, offset] : llvm::zip_equal(allocs, plan.offsets)) {
    builder.setInsertionPoint(alloc);
    Value place =
        arith::ConstantIndexOp::create(builder, alloc.getLoc(), offset);
    Value view = memref::ViewOp::create(
        builder, alloc.getLoc(), alloc.getType(), arena, place, ValueRange());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  describe(plan);
}

/// The type of `value` of the program, whose integers have signs.
static Type getSignedType(RankedTensorType type, Attribute elementType) {
  if (auto element = dyn_cast_or_null<TypeAttr>(elementType))
    return type.clone(element.getValue());
  return type;
}

void Planner::describe(const ArenaPlan &plan) {
  Builder builder(function.getContext());
  auto describeValue = [&](Type type, Attribute name) -> Attribute {
    NamedAttrList value;
    value.set("type", TypeAttr::get(type));
    if (name)
      value.set("name", name);
    return value.getDictionary(function.getContext());
  };
  SmallVector<Attribute> arguments, results;
  unsigned numArguments = function.getNumArguments() - resultTypes.size() - 1;
  for (unsigned i = 0; i < numArguments; ++i) {
    auto type = cast<MemRefType>(function.getArgument(i).getType());
    arguments.push_back(
        describeValue(getSignedType(RankedTensorType::get(
                                        type.getShape(), type.getElementType()),
                                    function.getArgAttr(i, "act.element_type")),
                      function.getArgAttr(i, "act.name")));
  }
  for (auto [i, type] : llvm::enumerate(resultTypes))
    results.push_back(describeValue(
        getSignedType(type, resultAttributes[i].get("act.element_type")),
        resultAttributes[i].get("jax.result_info")));
  NamedAttrList step;
  step.set("name", builder.getStringAttr(function.getName()));
  step.set("arena_bytes", builder.getI64IntegerAttr(plan.bytes));
  step.set("bound_bytes", builder.getI64IntegerAttr(plan.bound));
  step.set("arguments", builder.getArrayAttr(arguments));
  step.set("results", builder.getArrayAttr(results));
  function->getParentOp()->setAttr("act.step",
                                   step.getDictionary(function.getContext()));
  remark::analysis(function.getLoc(),
                   remark::RemarkOpts::name("arena").category("act").function(
                       function.getName()))
      << llvm::formatv(
             "least possible {0} bytes, packed {1} bytes, "
             "fragmentation {2:F2} %",
             plan.bound, plan.bytes,
             plan.bound ? 100.0 * (plan.bytes - plan.bound) / plan.bound : 0.0)
             .str();
}

LogicalResult Planner::run() {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || !buffer.hasStaticShape())
      return function.emitOpError("expects arguments that are buffers of known "
                                  "shape, got ")
             << type << " as argument " << i;
  }
  if (failed(replaceResults()))
    return failure();
  number();
  replaceAllocations();
  return success();
}

namespace {
struct PlanMemoryPass : act::impl::ActPlanMemoryPassBase<PlanMemoryPass> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp step;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      if (step) {
        function.emitOpError("expects one public function in the module");
        return signalPassFailure();
      }
      step = function;
    }
    if (!step) {
      getOperation()->emitOpError("expects a public function to plan");
      return signalPassFailure();
    }
    if (!step.getBody().hasOneBlock()) {
      step.emitOpError("expects a body of one block");
      return signalPassFailure();
    }
    if (failed(Planner(step, alignment).run()))
      signalPassFailure();
  }
};
} // namespace
