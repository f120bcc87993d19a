//===- UpperBounds.cpp - Bounds of integers that StableHLO computes -------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StandInOp.h"
#include "act/Analysis/OpModel/Bounds.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::shell;
using namespace mlir::act::bounds;

/// StableHLO reads signless integers as signed, i1 as unsigned.
static bool isUnsigned(Type elementType) {
  return elementType.isUnsignedInteger() || elementType.isInteger(1);
}

/// The greatest value of an integer type.
static uint64_t getMax(IntegerType type) {
  return bounds::getMax(isUnsigned(type) ? type.getWidth()
                                         : type.getWidth() - 1);
}

/// The elements of the constant that `value` repeats.
static DenseIntElementsAttr getConstantSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    OpKind kind = act::getOpKind(op);
    if (kind == OpKind::Constant)
      return dyn_cast_or_null<DenseIntElementsAttr>(
          act::getConstantElements(op));
    if ((kind != OpKind::Broadcast && kind != OpKind::View) ||
        op->getNumOperands() != 1)
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// The least element if `value` repeats a constant without negative elements.
static Bound getLeastConstant(Value value) {
  DenseIntElementsAttr elements = getConstantSource(value);
  if (!elements || elements.empty())
    return std::nullopt;
  bool isSigned = !isUnsigned(elements.getElementType());
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const APInt &element : elements.getValues<APInt>()) {
    if (element.getActiveBits() > 64 || (isSigned && element.isNegative()))
      return std::nullopt;
    least = std::min(least, element.getZExtValue());
  }
  return least;
}

static Bound getConstantBound(Operation *op, Type type) {
  if (op->getName().stripDialect() == "iota") {
    auto dimension = op->getAttrOfType<IntegerAttr>("iota_dimension");
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!dimension || !tensor || dimension.getInt() >= tensor.getRank())
      return std::nullopt;
    int64_t size = tensor.getDimSize(dimension.getInt());
    return size > 0 ? Bound(size - 1) : std::nullopt;
  }
  return getGreatestElement(
      act::getConstantElements(op),
      /*isSigned=*/!isUnsigned(getElementTypeOrSelf(type)));
}

/// Quotients, remainders and shifts by a constant. Division by zero gives all
/// ones.
static Bound getBoundByConstant(StringRef name, Operation *op, Bound lhs) {
  Bound least = getLeastConstant(op->getOperand(1));
  if (name == "shift_right_logical")
    return shiftedRight(lhs, least);
  if (name == "divide")
    return quotient(lhs, least);
  return remainder(lhs, least,
                   getGreatestElement(getConstantSource(op->getOperand(1)),
                                      /*isSigned=*/false));
}

/// Reductions whose body is one `maximum`, `minimum`, `and` or `or` of the two
/// arguments.
static Bound getReductionBound(Operation *op, ArrayRef<Bound> operands) {
  if (op->getNumRegions() != 1 || operands.size() != 2 ||
      !op->getRegion(0).hasOneBlock())
    return std::nullopt;
  Operation &combiner = op->getRegion(0).front().front();
  StringRef name = combiner.getName().stripDialect();
  Operation *terminator = op->getRegion(0).front().getTerminator();
  if (combiner.getNextNode() != terminator)
    return std::nullopt;
  if (name == "maximum" || name == "minimum")
    return greater(operands[0], operands[1]);
  if (name == "or" || name == "and")
    return unionOfBits(operands[0], operands[1]);
  return std::nullopt;
}

static Bound getElementwiseBound(StringRef name, Operation *op,
                                 ArrayRef<Bound> operands, IntegerType type) {
  auto lhs = [&] { return operands.empty() ? Bound() : operands[0]; };
  auto rhs = [&] { return operands.size() < 2 ? Bound() : operands[1]; };
  if (name == "and") // with one known operand the sign bit is clear
    return lesser(lhs(), rhs());
  if (name == "or" || name == "xor")
    return unionOfBits(lhs(), rhs());
  if (name == "add")
    return fits(sum(lhs(), rhs()), getMax(type));
  if (name == "multiply")
    return fits(product(lhs(), rhs()), getMax(type));
  if (name == "maximum")
    return greater(lhs(), rhs());
  if (name == "minimum") // a signed unknown operand may be negative
    return isUnsigned(type) || (lhs() && rhs()) ? lesser(lhs(), rhs())
                                                : std::nullopt;
  if (name == "clamp" && operands.size() == 3) // the upper limit wins
    return operands[0] || isUnsigned(type) ? operands[2] : std::nullopt;
  if (name == "select" && operands.size() == 3)
    return greater(operands[1], operands[2]);
  if (name == "convert") // floats have no bound; other integers wrap around
    return fits(lhs(), getMax(type));
  if (name == "abs")
    return lhs();
  if (name == "sign")
    return lhs() ? Bound(std::min<uint64_t>(*lhs(), 1)) : std::nullopt;
  if (name == "popcnt" || name == "count_leading_zeros")
    return type.getWidth();
  if (name == "divide" || name == "remainder" || name == "shift_right_logical")
    return getBoundByConstant(name, op, lhs());
  if (name == "shift_right_arithmetic")
    return isUnsigned(type) ? std::nullopt : lhs();
  return std::nullopt;
}

std::optional<uint64_t>
mlir::act::shell::computeUpperBound(const OpRow &row, Operation *op,
                                    ArrayRef<Bound> operands) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  Type type = op->getResult(0).getType();
  auto elementType = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!elementType)
    return std::nullopt;
  switch (row.kind) {
  case OpKind::Constant:
    return getConstantBound(op, type);
  case OpKind::Elementwise:
    return getElementwiseBound(row.name, op, operands, elementType);
  case OpKind::Reduction:
    return getReductionBound(op, operands);
  case OpKind::View:
  case OpKind::Broadcast:
  case OpKind::Barrier:
    return operands.size() == 1 ? operands[0] : std::nullopt;
  case OpKind::Indexing:
    // Elements of the first operand, and of a second that is not an index.
    if (row.name == "concatenate")
      return greatest(operands);
    if (row.name == "pad" || row.name == "dynamic_update_slice")
      return greater(operands[0], operands[1]);
    if (row.name == "slice" || row.name == "dynamic_slice" ||
        row.name == "reverse" || row.name == "gather")
      return operands[0];
    return std::nullopt;
  default:
    return std::nullopt;
  }
}
