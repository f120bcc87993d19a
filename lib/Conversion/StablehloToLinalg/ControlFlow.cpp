//===- ControlFlow.cpp - Loops and branches -------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "act/Analysis/OpModel/LoopModel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

/// Loops of at most this many iterations are unrolled completely if the body is
/// cheap: those of random number generators, whose rotations then are constant.
static constexpr int64_t kMaxUnrolledTrips = 8;
/// The number of operations of a body that counts as cheap.
static constexpr size_t kMaxUnrolledOps = 200;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static LogicalResult verifyWhile(Operation *op) {
  if (op->getNumRegions() != 2 || op->getResultTypes() != op->getOperandTypes())
    return op->emitOpError("expects two regions and results of the types of "
                           "the operands");
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() || region.front().empty() ||
        region.getArgumentTypes() != op->getOperandTypes())
      return op->emitOpError("expects regions of one block with arguments of "
                             "the types of the operands");
  Operation &condition = op->getRegion(0).front().back();
  if (condition.getNumOperands() != 1 ||
      condition.getOperand(0).getType() !=
          RankedTensorType::get({}, IntegerType::get(op->getContext(), 1)))
    return op->emitOpError("expects a condition of tensor<i1>");
  Operation &end = op->getRegion(1).front().back();
  if (end.getOperandTypes() != op->getOperandTypes())
    return op->emitOpError("expects a body that returns values of the types of "
                           "the operands");
  return success();
}

namespace {
/// A loop that runs a constant number of times.
class CountedLoop {
public:
  CountedLoop(Operation *op, Lowering &lowering, int64_t tripCount,
              Value counter)
      : op(op), lowering(lowering), tripCount(tripCount), counter(counter),
        body(op->getRegion(1).front()), end(body.back()) {}

  LogicalResult lower();

private:
  bool isUnrolled();
  LogicalResult unroll();
  LogicalResult lowerToFor();
  /// The iteration's number as an element of the counter's type.
  Value createNumber(Value index);
  /// True for values that no iteration changes.
  bool isInvariant(unsigned i) {
    return end.getOperand(i) == body.getArgument(i);
  }
  bool isCounter(unsigned i) { return body.getArgument(i) == counter; }

  Operation *op;
  Lowering &lowering;
  int64_t tripCount;
  Value counter;
  Block &body;
  Operation &end;
};
} // namespace

bool CountedLoop::isUnrolled() {
  if (tripCount > kMaxUnrolledTrips ||
      body.getOperations().size() > kMaxUnrolledOps)
    return false;
  return llvm::none_of(body, [](Operation &inner) {
    StringRef name = inner.getName().stripDialect();
    return name == "while" || name == "dot_general" || name == "dot" ||
           name == "convolution" || name == "scatter" || name == "case" ||
           name == "if" || isa<func::CallOp>(inner);
  });
}

/// Remembers what `from` is replaced by as what replaces `to`.
static void forward(Lowering &lowering, Value from, Value to) {
  if (Value element = lowering.findScalar(from))
    lowering.mapScalar(to, element);
  else
    lowering.map(to, lowering.get(from));
}

LogicalResult CountedLoop::unroll() {
  for (auto [argument, init] :
       llvm::zip_equal(body.getArguments(), op->getOperands()))
    forward(lowering, init, argument);
  for (int64_t i = 0; i < tripCount; ++i) {
    if (failed(lowering.lowerOps(body)))
      return failure();
    // Values may swap places.
    SmallVector<std::pair<Value, Value>> next;
    for (Value value : end.getOperands()) {
      Value element = lowering.findScalar(value);
      next.emplace_back(element, element ? Value() : lowering.get(value));
    }
    for (auto [argument, pair] : llvm::zip_equal(body.getArguments(), next)) {
      if (pair.first)
        lowering.mapScalar(argument, pair.first);
      else
        lowering.map(argument, pair.second);
    }
  }
  for (auto [argument, result] :
       llvm::zip_equal(body.getArguments(), op->getResults()))
    forward(lowering, argument, result);
  return success();
}

Value CountedLoop::createNumber(Value index) {
  return emit<arith::IndexCastOp>(
      lowering.getBuilder(),
      convertType(getElementTypeOrSelf(counter.getType())), index);
}

LogicalResult CountedLoop::lowerToFor() {
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  SmallVector<unsigned> carried;
  SmallVector<Value> inits;
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    if (isInvariant(i)) {
      forward(lowering, op->getOperand(i), body.getArgument(i));
    } else if (!isCounter(i)) {
      carried.push_back(i);
      inits.push_back(lowering.getPassedWritable(op->getOperand(i)));
    }
  }
  auto loop = scf::ForOp::create(builder, lowering.getIndexConstant(0),
                                 lowering.getIndexConstant(tripCount),
                                 lowering.getIndexConstant(1), inits);
  {
    OpBuilder::InsertionGuard guard(builder);
    // Without carried values the body has a terminator already.
    if (!loop.getBody()->empty())
      loop.getBody()->back().erase();
    builder.setInsertionPointToEnd(loop.getBody());
    lowering.mapScalar(counter, createNumber(loop.getInductionVar()));
    for (auto [i, argument] :
         llvm::zip_equal(carried, loop.getRegionIterArgs()))
      lowering.mapPassed(body.getArgument(i), argument);
    if (failed(lowering.lowerOps(body)))
      return failure();
    builder.setLoc(end.getLoc());
    SmallVector<Value> next;
    for (unsigned i : carried)
      next.push_back(lowering.getPassed(end.getOperand(i)));
    scf::YieldOp::create(builder, next);
  }
  builder.setLoc(op->getLoc());
  for (unsigned i = 0, e = op->getNumOperands(); i < e; ++i) {
    if (isInvariant(i))
      forward(lowering, op->getOperand(i), op->getResult(i));
    else if (isCounter(i))
      lowering.mapScalar(op->getResult(i),
                         createNumber(lowering.getIndexConstant(tripCount)));
  }
  for (auto [i, result] : llvm::zip_equal(carried, loop.getResults()))
    lowering.mapPassed(op->getResult(i), result);
  return success();
}

LogicalResult CountedLoop::lower() {
  return isUnrolled() ? unroll() : lowerToFor();
}

/// A loop that tests a condition.
static LogicalResult lowerToWhile(Operation *op, Lowering &lowering) {
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  SmallVector<Value> inits;
  SmallVector<Type> types;
  for (Value operand : op->getOperands()) {
    inits.push_back(lowering.getPassedWritable(operand));
    types.push_back(inits.back().getType());
  }
  auto loop = scf::WhileOp::create(builder, types, inits);
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), loop->getRegions())) {
    SmallVector<Location> locations(types.size(), op->getLoc());
    Block *block = builder.createBlock(&to, {}, types, locations);
    Block &old = from.front();
    for (auto [argument, replacement] :
         llvm::zip_equal(old.getArguments(), block->getArguments()))
      lowering.mapPassed(argument, replacement);
    if (failed(lowering.lowerOps(old)))
      return failure();
    builder.setLoc(old.back().getLoc());
    SmallVector<Value> values =
        llvm::map_to_vector(old.back().getOperands(), [&](Value value) {
          return lowering.getPassed(value);
        });
    if (&from == &op->getRegion(0))
      scf::ConditionOp::create(builder, values.front(), block->getArguments());
    else
      scf::YieldOp::create(builder, values);
  }
  for (auto [from, to] : llvm::zip_equal(op->getResults(), loop->getResults()))
    lowering.mapPassed(from, to);
  return success();
}

static LogicalResult lowerWhile(Operation *op, Lowering &lowering) {
  if (failed(verifyWhile(op)))
    return failure();
  if (auto loop = dyn_cast<LoopModelInterface>(op))
    if (Value counter = loop.getCounter())
      return CountedLoop(op, lowering, loop.getTripCount(), counter).lower();
  return lowerToWhile(op, lowering);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

static LogicalResult verifyBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (!region.hasOneBlock() || region.front().empty() ||
        region.getNumArguments() != 0)
      return op->emitOpError("expects regions of one block without arguments");
    if (region.front().back().getOperandTypes() != op->getResultTypes())
      return op->emitOpError("expects regions that return values of the types "
                             "of the results");
  }
  return success();
}

static SmallVector<Type> getPassedTypes(Operation *op) {
  return llvm::map_to_vector(op->getResults(), [](Value result) {
    return Lowering::getPassedType(result);
  });
}

/// Lowers `from` into `to`, which gets a block if it has none.
static LogicalResult lowerBranch(Lowering &lowering, Region &from, Region &to) {
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&to);
  Block &old = from.front();
  if (failed(lowering.lowerOps(old)))
    return failure();
  builder.setLoc(old.back().getLoc());
  scf::YieldOp::create(
      builder, llvm::map_to_vector(old.back().getOperands(), [&](Value value) {
        return lowering.getPassed(value);
      }));
  return success();
}

static LogicalResult lowerToIf(Operation *op, Lowering &lowering,
                               Value condition) {
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  auto branches = scf::IfOp::create(builder, getPassedTypes(op), condition,
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), branches->getRegions()))
    if (failed(lowerBranch(lowering, from, to)))
      return failure();
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), branches->getResults()))
    lowering.mapPassed(from, to);
  return success();
}

static LogicalResult verifyScalarOperand(Operation *op, unsigned width) {
  RankedTensorType type = getTensorType(op->getOperand(0));
  if (type.getRank() != 0 || !type.getElementType().isInteger(width))
    return op->emitOpError("expects a rank-0 tensor of i")
           << width << ", got " << type;
  return success();
}

static LogicalResult lowerIf(Operation *op, Lowering &lowering) {
  if (op->getNumRegions() != 2)
    return op->emitOpError("expects two regions, got ") << op->getNumRegions();
  if (failed(verifyBranches(op)) || failed(verifyScalarOperand(op, 1)))
    return failure();
  return lowerToIf(op, lowering, lowering.getScalar(op->getOperand(0)));
}

/// Numbers that no branch has mean the last one.
static LogicalResult lowerCase(Operation *op, Lowering &lowering) {
  unsigned count = op->getNumRegions();
  if (count == 0)
    return op->emitOpError("expects a region");
  if (failed(verifyBranches(op)) || failed(verifyScalarOperand(op, 32)))
    return failure();
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  Value number = lowering.getScalar(op->getOperand(0));
  if (count == 1) {
    if (failed(lowering.lowerOps(op->getRegion(0).front())))
      return failure();
    for (auto [result, value] : llvm::zip_equal(
             op->getResults(), op->getRegion(0).front().back().getOperands()))
      forward(lowering, value, result);
    return success();
  }
  if (count == 2) {
    Value zero = lowering.getConstant(builder.getZeroAttr(number.getType()));
    return lowerToIf(
        op, lowering,
        emitCompare(builder, arith::CmpIPredicate::eq, number, zero));
  }
  auto cases = llvm::to_vector(llvm::seq<int64_t>(count - 1));
  Value index =
      emit<arith::IndexCastOp>(builder, builder.getIndexType(), number);
  auto branches = scf::IndexSwitchOp::create(builder, getPassedTypes(op), index,
                                             cases, cases.size());
  for (unsigned i = 0; i < count; ++i) {
    Region &to = i + 1 == count ? branches.getDefaultRegion()
                                : branches.getCaseRegions()[i];
    if (failed(lowerBranch(lowering, op->getRegion(i), to)))
      return failure();
  }
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), branches->getResults()))
    lowering.mapPassed(from, to);
  return success();
}

void mlir::act::lowering::populateControlFlowPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.case", 1, lowerCase);
  patterns.add("stablehlo.if", 1, lowerIf);
  patterns.add("stablehlo.while", -1, lowerWhile);
}
