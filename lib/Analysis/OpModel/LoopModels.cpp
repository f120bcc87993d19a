//===- LoopModels.cpp - Models of the loops of scf ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopModels.h"
#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::act;

/// The constant integer `value`, if it is one.
static std::optional<int64_t> getConstant(Value value) {
  std::optional<LinearForm> form = act::getLinearForm(value, {});
  return form ? std::optional(form->offset) : std::nullopt;
}

static Value buildReversed(OpBuilder &builder, Location loc, Value counter,
                           int64_t tripCount) {
  Value last = arith::ConstantOp::create(
      builder, loc, builder.getIntegerAttr(counter.getType(), tripCount - 1));
  return arith::SubIOp::create(builder, loc, last, counter);
}

namespace {
/// `scf.for` from 0 in steps of 1; the counter is not carried.
struct ForModel : LoopModelInterface::ExternalModel<ForModel, scf::ForOp> {
  Block *getLoopBody(Operation *op) const {
    return cast<scf::ForOp>(op).getBody();
  }
  Value getCounter(Operation *op) const {
    auto loop = cast<scf::ForOp>(op);
    return getConstant(loop.getLowerBound()) == 0 &&
                   getConstant(loop.getStep()) == 1 &&
                   getConstant(loop.getUpperBound()).value_or(0) > 0
               ? loop.getInductionVar()
               : Value();
  }
  int64_t getTripCount(Operation *op) const {
    return getConstant(cast<scf::ForOp>(op).getUpperBound()).value_or(0);
  }
  SmallVector<Value> getInitialValues(Operation *op) const {
    return llvm::to_vector(cast<scf::ForOp>(op).getInitArgs());
  }
  SmallVector<Value> getCarriedArguments(Operation *op) const {
    return llvm::to_vector_of<Value>(cast<scf::ForOp>(op).getRegionIterArgs());
  }
  SmallVector<Value> getNextValues(Operation *op) const {
    return llvm::to_vector(cast<scf::ForOp>(op).getYieldedValues());
  }
  Operation *createLike(Operation *op, OpBuilder &builder,
                        ValueRange initialValues, ArrayRef<int64_t>) const {
    auto loop = cast<scf::ForOp>(op);
    auto made =
        scf::ForOp::create(builder, loop.getLoc(), loop.getLowerBound(),
                           loop.getUpperBound(), loop.getStep(), initialValues);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    if (!made.getBody()->empty()) // an scf.yield, if nothing is carried
      made.getBody()->getTerminator()->erase();
    return made;
  }
  void finishBody(Operation *op, ValueRange nextValues) const {
    OpBuilder builder = OpBuilder::atBlockEnd(cast<scf::ForOp>(op).getBody());
    scf::YieldOp::create(builder, op->getLoc(), nextValues);
  }
  Value buildReversedCounter(Operation *op, OpBuilder &builder, Location loc,
                             Value counter) const {
    return buildReversed(builder, loc, counter, getTripCount(op));
  }
};

/// `scf.while` that counts from 0 to a constant: the first region compares a
/// carried value and passes all of them on.
struct WhileModel
    : LoopModelInterface::ExternalModel<WhileModel, scf::WhileOp> {
  Block *getLoopBody(Operation *op) const {
    return cast<scf::WhileOp>(op).getAfterBody();
  }
  std::optional<unsigned> findCounter(scf::WhileOp loop) const {
    Block *before = loop.getBeforeBody(), *after = loop.getAfterBody();
    scf::ConditionOp condition = loop.getConditionOp();
    if (!llvm::equal(condition.getArgs(), before->getArguments()))
      return std::nullopt;
    auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
    if (!compare || (compare.getPredicate() != arith::CmpIPredicate::slt &&
                     compare.getPredicate() != arith::CmpIPredicate::ult))
      return std::nullopt;
    auto argument = dyn_cast<BlockArgument>(compare.getLhs());
    if (!argument || argument.getOwner() != before ||
        getConstant(compare.getRhs()).value_or(0) <= 0)
      return std::nullopt;
    unsigned number = argument.getArgNumber();
    Value next = loop.getYieldOp().getOperand(number);
    if (getConstant(loop.getInits()[number]) != 0 ||
        act::getLinearForm(next, after->getArgument(number)) !=
            LinearForm{1, 1})
      return std::nullopt;
    return number;
  }
  Value getCounter(Operation *op) const {
    std::optional<unsigned> number = findCounter(cast<scf::WhileOp>(op));
    return number ? getLoopBody(op)->getArgument(*number) : Value();
  }
  int64_t getTripCount(Operation *op) const {
    auto compare = cast<scf::WhileOp>(op)
                       .getConditionOp()
                       .getCondition()
                       .getDefiningOp<arith::CmpIOp>();
    return compare ? getConstant(compare.getRhs()).value_or(0) : 0;
  }
  SmallVector<Value> getInitialValues(Operation *op) const {
    return llvm::to_vector(cast<scf::WhileOp>(op).getInits());
  }
  SmallVector<Value> getCarriedArguments(Operation *op) const {
    return llvm::to_vector_of<Value>(getLoopBody(op)->getArguments());
  }
  SmallVector<Value> getNextValues(Operation *op) const {
    return llvm::to_vector(cast<scf::WhileOp>(op).getYieldOp().getOperands());
  }
  Operation *createLike(Operation *op, OpBuilder &builder,
                        ValueRange initialValues,
                        ArrayRef<int64_t> origins) const {
    auto loop = cast<scf::WhileOp>(op);
    auto made = scf::WhileOp::create(builder, loop.getLoc(),
                                     initialValues.getTypes(), initialValues);
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locations = llvm::map_to_vector(
        initialValues, [](Value value) { return value.getLoc(); });
    Block *before = builder.createBlock(&made.getBefore(), {},
                                        initialValues.getTypes(), locations);
    IRMapping mapping;
    for (auto [argument, origin] :
         llvm::zip_equal(before->getArguments(), origins))
      if (origin >= 0)
        mapping.map(loop.getBeforeArguments()[origin], argument);
    for (Operation &inner : loop.getBeforeBody()->without_terminator())
      builder.clone(inner, mapping);
    scf::ConditionOp::create(
        builder, loop.getLoc(),
        mapping.lookupOrDefault(loop.getConditionOp().getCondition()),
        before->getArguments());
    builder.createBlock(&made.getAfter(), {}, initialValues.getTypes(),
                        locations);
    return made;
  }
  void finishBody(Operation *op, ValueRange nextValues) const {
    OpBuilder builder = OpBuilder::atBlockEnd(getLoopBody(op));
    scf::YieldOp::create(builder, op->getLoc(), nextValues);
  }
  Value buildReversedCounter(Operation *op, OpBuilder &builder, Location loc,
                             Value counter) const {
    return buildReversed(builder, loc, counter, getTripCount(op));
  }
};
} // namespace

void mlir::act::attachLoopModels(MLIRContext *context) {
  scf::ForOp::attachInterface<ForModel>(*context);
  scf::WhileOp::attachInterface<WhileModel>(*context);
}
