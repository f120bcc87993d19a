//===- WhileModel.cpp - Loops and stacks in StableHLO ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StandInOp.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::shell;

//===----------------------------------------------------------------------===//
// Integers and rows
//===----------------------------------------------------------------------===//

std::optional<LinearForm> StandInOpModel::getLinearForm(
    Operation *op, ArrayRef<std::optional<LinearForm>> operandForms) const {
  if (llvm::is_contained(operandForms, std::nullopt))
    return std::nullopt;
  StringRef name = op->getName().stripDialect();
  if (operandForms.size() == 1) {
    bool isKept = name == "convert" || name == "reshape";
    return isKept && isa<IntegerType>(
                         getElementTypeOrSelf(op->getResult(0).getType()))
               ? operandForms.front()
               : std::nullopt;
  }
  if (operandForms.size() != 2)
    return std::nullopt;
  LinearForm a = *operandForms[0], b = *operandForms[1];
  if (name == "add")
    return a + b;
  if (name == "subtract")
    return a - b;
  return name == "multiply" ? a.times(b) : std::nullopt;
}

bool StandInOpModel::isReshape(Operation *op) const {
  StringRef name = op->getName().stripDialect();
  if (name == "reshape")
    return true;
  if (name != "broadcast_in_dim" ||
      getNumElements(op->getOperand(0).getType()) !=
          getNumElements(op->getResult(0).getType()))
    return false;
  auto dimensions =
      op->getAttrOfType<DenseI64ArrayAttr>("broadcast_dimensions");
  return dimensions && llvm::is_sorted(dimensions.asArrayRef());
}

/// True if all of `indices` are zero.
static bool areZero(ValueRange indices) {
  return llvm::all_of(indices, [](Value index) {
    return act::getLinearForm(index, {}) == LinearForm{0, 0};
  });
}

/// True if a slice of type `slice` is one whole row of `stack`.
static bool isWholeRow(Type slice, Type stack) {
  auto from = dyn_cast<RankedTensorType>(stack);
  auto to = dyn_cast<RankedTensorType>(slice);
  return from && to && from.getRank() >= 1 && to.getRank() == from.getRank() &&
         to.getDimSize(0) == 1 &&
         to.getShape().drop_front() == from.getShape().drop_front();
}

std::optional<RowAccess> StandInOpModel::getRowRead(Operation *op) const {
  if (op->getName().stripDialect() != "dynamic_slice" ||
      op->getNumOperands() < 2)
    return std::nullopt;
  Value stack = op->getOperand(0), row = op->getResult(0);
  if (!isWholeRow(row.getType(), stack.getType()) ||
      !areZero(op->getOperands().drop_front(2)))
    return std::nullopt;
  return RowAccess{stack, op->getOperand(1), row};
}

std::optional<RowAccess> StandInOpModel::getRowWrite(Operation *op) const {
  if (op->getName().stripDialect() != "dynamic_update_slice" ||
      op->getNumOperands() < 3)
    return std::nullopt;
  Value stack = op->getOperand(0), row = op->getOperand(1);
  if (!isWholeRow(row.getType(), stack.getType()) ||
      !areZero(op->getOperands().drop_front(3)))
    return std::nullopt;
  return RowAccess{stack, op->getOperand(2), row};
}

//===----------------------------------------------------------------------===//
// While
//===----------------------------------------------------------------------===//

namespace {
/// The carried value that counts iterations.
struct Counter {
  unsigned number;
  int64_t tripCount;
};
} // namespace

/// True if `op` looks like a while: regions of one block whose arguments, like
/// the operands of the body's terminator, are as many as its operands.
static bool isWellFormed(Operation *op) {
  if (op->getNumRegions() != 2)
    return false;
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() || !region.front().mightHaveTerminator() ||
        region.getNumArguments() != op->getNumOperands())
      return false;
  return op->getRegion(1).front().getTerminator()->getNumOperands() ==
             op->getNumOperands() &&
         op->getNumResults() == op->getNumOperands();
}

static bool isLessThan(Operation *compare) {
  if (!compare || compare->getName().getStringRef() != "stablehlo.compare" ||
      compare->getNumOperands() != 2)
    return false;
  std::string text;
  if (Attribute direction = compare->getAttr("comparison_direction"))
    llvm::raw_string_ostream(text) << direction;
  return StringRef(text).contains("LT>");
}

/// Matches `i = 0; while (i < n) { ...; i = i + 1; }` with constant n.
static std::optional<Counter> findCounter(Operation *op) {
  if (!isWellFormed(op))
    return std::nullopt;
  Block &condition = op->getRegion(0).front(), &body = op->getRegion(1).front();
  Operation *test = condition.getTerminator();
  if (test->getNumOperands() != 1)
    return std::nullopt;
  Operation *compare = test->getOperand(0).getDefiningOp();
  if (!isLessThan(compare))
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(compare->getOperand(0));
  std::optional<LinearForm> limit =
      act::getLinearForm(compare->getOperand(1), {});
  if (!argument || argument.getOwner() != &condition || !limit ||
      limit->offset <= 0)
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  Value next = body.getTerminator()->getOperand(number);
  if (act::getLinearForm(op->getOperand(number), {}) != LinearForm{0, 0} ||
      act::getLinearForm(next, body.getArgument(number)) != LinearForm{1, 1})
    return std::nullopt;
  return Counter{number, limit->offset};
}

Block *WhileModel::getLoopBody(Operation *op) const {
  // Nothing has verified the operation. A loop under construction has its body.
  return op->getNumRegions() == 2 && op->getRegion(1).hasOneBlock()
             ? &op->getRegion(1).front()
             : nullptr;
}

Value WhileModel::getCounter(Operation *op) const {
  std::optional<Counter> counter = findCounter(op);
  return counter ? getLoopBody(op)->getArgument(counter->number) : Value();
}

int64_t WhileModel::getTripCount(Operation *op) const {
  std::optional<Counter> counter = findCounter(op);
  return counter ? counter->tripCount : 0;
}

SmallVector<Value> WhileModel::getInitialValues(Operation *op) const {
  return llvm::to_vector(op->getOperands());
}

SmallVector<Value> WhileModel::getCarriedArguments(Operation *op) const {
  Block *body = getLoopBody(op);
  return body ? llvm::to_vector_of<Value>(body->getArguments())
              : SmallVector<Value>();
}

SmallVector<Value> WhileModel::getNextValues(Operation *op) const {
  return isWellFormed(op)
             ? llvm::to_vector(getLoopBody(op)->getTerminator()->getOperands())
             : SmallVector<Value>();
}

Operation *WhileModel::createLike(Operation *op, OpBuilder &builder,
                                  ValueRange initialValues,
                                  ArrayRef<int64_t> origins) const {
  TypeRange types = initialValues.getTypes();
  SmallVector<Location> locations = llvm::map_to_vector(
      initialValues, [](Value value) { return value.getLoc(); });
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(initialValues);
  state.addTypes(types);
  // Shardings are one per carried value.
  for (NamedAttribute attr : op->getDiscardableAttrDictionary())
    if (!attr.getName().getValue().ends_with("sharding"))
      state.addAttribute(attr.getName(), attr.getValue());
  state.addRegion();
  state.addRegion();
  Operation *loop = builder.create(state);

  OpBuilder::InsertionGuard guard(builder);
  Block *condition =
      builder.createBlock(&loop->getRegion(0), {}, types, locations);
  IRMapping mapping;
  for (auto [argument, origin] :
       llvm::zip_equal(condition->getArguments(), origins))
    if (origin >= 0)
      mapping.map(op->getRegion(0).getArgument(origin), argument);
  for (Operation &inner : op->getRegion(0).front())
    builder.clone(inner, mapping);
  builder.createBlock(&loop->getRegion(1), {}, types, locations);
  return loop;
}

void WhileModel::finishBody(Operation *op, ValueRange nextValues) const {
  OpBuilder builder = OpBuilder::atBlockEnd(getLoopBody(op));
  StablehloBuilder(builder, op->getLoc()).create("return", {}, nextValues);
}

Value WhileModel::buildReversedCounter(Operation *op, OpBuilder &builder,
                                       Location loc, Value counter) const {
  StablehloBuilder b(builder, loc);
  return b.subtract(
      b.scalar(getElementTypeOrSelf(counter.getType()), getTripCount(op) - 1),
      counter);
}
