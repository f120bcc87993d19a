//===- Arithmetic.cpp - Arithmetic, comparisons, bits and choices ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "act/Dialect/StablehloShell/AttributeText.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

/// The element type of the first operand in the original program.
static Type getElement(Operation *op) {
  return getElementTypeOrSelf(op->getOperand(0).getType());
}

static bool isFloat(Operation *op) { return isa<FloatType>(getElement(op)); }
static bool isBoolean(Operation *op) { return getElement(op).isInteger(1); }
static bool isSigned(Operation *op) {
  return lowering::isSigned(getElement(op));
}

//===----------------------------------------------------------------------===//
// Sums, products, extrema
//===----------------------------------------------------------------------===//

/// Booleans add by `or` and multiply by `and`.
template <typename FloatOp, typename IntegerOp, typename BooleanOp>
static Value emitBinary(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  if (isFloat(op))
    return emit<FloatOp>(b, x[0], x[1]);
  if (isBoolean(op))
    return emit<BooleanOp>(b, x[0], x[1]);
  return emit<IntegerOp>(b, x[0], x[1]);
}

/// NaN, if an operand is one. Booleans are ordered like numbers.
template <typename FloatOp, typename SignedOp, typename UnsignedOp>
static Value emitExtremum(ImplicitLocOpBuilder &b, Operation *op,
                          ValueRange x) {
  if (isFloat(op))
    return emit<FloatOp>(b, x[0], x[1]);
  if (isSigned(op))
    return emit<SignedOp>(b, x[0], x[1]);
  return emit<UnsignedOp>(b, x[0], x[1]);
}

static Value emitMaximum(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  return emitExtremum<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(b, op,
                                                                         x);
}

static Value emitMinimum(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  return emitExtremum<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(b, op,
                                                                         x);
}

/// minimum(maximum(operand, least), greatest).
static Value emitClamp(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  Value raised = emitMaximum(b, op, {x[1], x[0]});
  return emitMinimum(b, op, {raised, x[2]});
}

//===----------------------------------------------------------------------===//
// Quotients
//===----------------------------------------------------------------------===//

/// A divisor for which no division traps: 1 in place of 0, and of -1 for the
/// least dividend. The flags tell where.
static Value emitSafeDivisor(ImplicitLocOpBuilder &b, Operation *op,
                             ValueRange x, Value &isZero, Value &overflows) {
  Type type = x[1].getType();
  Value one = emitConstant(b, type, 1);
  isZero = emitCompare(b, CmpIPredicate::eq, x[1], emitConstant(b, type, 0));
  Value isUnsafe = isZero;
  if (isSigned(op)) {
    Value least = emitConstant(
        b, type, APInt::getSignedMinValue(type.getIntOrFloatBitWidth()));
    overflows = emit<arith::AndIOp>(
        b, emitCompare(b, CmpIPredicate::eq, x[0], least),
        emitCompare(b, CmpIPredicate::eq, x[1], emitConstant(b, type, -1)));
    isUnsafe = emit<arith::OrIOp>(b, isZero, overflows);
  }
  return emitSelect(b, isUnsafe, one, x[1]);
}

/// True if division by `divisor` never needs care.
static bool isPlainDivisor(Value divisor) {
  APInt value;
  return matchPattern(divisor, m_ConstantInt(&value)) && !value.isZero() &&
         !value.isAllOnes();
}

/// x / 0 has all bits set; the least number divided by -1 is itself.
static Value emitDivide(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  if (isFloat(op))
    return emit<arith::DivFOp>(b, x[0], x[1]);
  Value divisor = x[1], isZero, overflows;
  bool isPlain = isPlainDivisor(divisor);
  if (!isPlain)
    divisor = emitSafeDivisor(b, op, x, isZero, overflows);
  Value quotient = isSigned(op) ? emit<arith::DivSIOp>(b, x[0], divisor)
                                : emit<arith::DivUIOp>(b, x[0], divisor);
  return isPlain ? quotient
                 : emitSelect(b, isZero, emitConstant(b, x[0].getType(), -1),
                              quotient);
}

/// With the sign of the dividend; x % 0 is x.
static Value emitRemainder(ImplicitLocOpBuilder &b, Operation *op,
                           ValueRange x) {
  if (isFloat(op))
    return emit<arith::RemFOp>(b, x[0], x[1]);
  Value divisor = x[1], isZero, overflows;
  bool isPlain = isPlainDivisor(divisor);
  if (!isPlain)
    divisor = emitSafeDivisor(b, op, x, isZero, overflows);
  Value remainder = isSigned(op) ? emit<arith::RemSIOp>(b, x[0], divisor)
                                 : emit<arith::RemUIOp>(b, x[0], divisor);
  return isPlain ? remainder : emitSelect(b, isZero, x[0], remainder);
}

/// Integers by squaring; a negative exponent leaves 0 but for 1 and -1.
static Value emitIntegerPower(ImplicitLocOpBuilder &b, Operation *op,
                              ValueRange x) {
  Type type = x[0].getType();
  Value zero = emitConstant(b, type, 0), one = emitConstant(b, type, 1);
  Value first = emitConstant(b, b.getIndexType(), 0);
  Value step = emitConstant(b, b.getIndexType(), 1);
  Value bits = emitConstant(b, b.getIndexType(),
                            static_cast<int>(type.getIntOrFloatBitWidth()));
  auto loop = scf::ForOp::create(
      b, first, bits, step, ValueRange{one, x[0], x[1]},
      [&](OpBuilder &nested, Location loc, Value, ValueRange carried) {
        ImplicitLocOpBuilder body(loc, nested);
        Value isOdd =
            emitCompare(body, CmpIPredicate::ne,
                        emit<arith::AndIOp>(body, carried[2], one), zero);
        Value product = emitSelect(
            body, isOdd, emit<arith::MulIOp>(body, carried[0], carried[1]),
            carried[0]);
        Value square = emit<arith::MulIOp>(body, carried[1], carried[1]);
        Value rest = emit<arith::ShRUIOp>(body, carried[2], one);
        scf::YieldOp::create(body, ValueRange{product, square, rest});
      });
  Value power = loop.getResult(0);
  if (!isSigned(op))
    return power;
  // All powers of 1 and -1 of as large exponents are as the loop says, since
  // the exponent's lowest bit decides.
  Value minusOne = emitConstant(b, type, -1);
  Value isUnit =
      emit<arith::OrIOp>(b, emitCompare(b, CmpIPredicate::eq, x[0], one),
                         emitCompare(b, CmpIPredicate::eq, x[0], minusOne));
  Value isNegative = emitCompare(b, CmpIPredicate::slt, x[1], zero);
  Value vanishes = emit<arith::AndIOp>(
      b, isNegative,
      emit<arith::XOrIOp>(b, isUnit, emitConstant(b, isUnit.getType(), 1)));
  return emitSelect(b, vanishes, zero, power);
}

static Value emitPower(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  if (!isFloat(op))
    return emitIntegerPower(b, op, x);
  // Squares are most powers and exact so.
  FloatAttr exponent;
  if (matchPattern(x[1], m_Constant(&exponent)) &&
      exponent.getValue().isExactlyValue(2.0))
    return emit<arith::MulFOp>(b, x[0], x[0]);
  return emit<math::PowFOp>(b, x[0], x[1]);
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

static Value emitNegate(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  if (isFloat(op))
    return emit<arith::NegFOp>(b, x[0]);
  return emit<arith::SubIOp>(b, emitConstant(b, x[0].getType(), 0), x[0]);
}

static Value emitAbs(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  if (isFloat(op))
    return emit<math::AbsFOp>(b, x[0]);
  return isSigned(op) ? emit<math::AbsIOp>(b, x[0]) : x[0];
}

/// Zeros and NaN stay as they are.
static Value emitSign(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  Type type = x[0].getType();
  Value zero = emitConstant(b, type, 0), one = emitConstant(b, type, 1);
  if (isFloat(op)) {
    Value hasSign = emitCompare(b, CmpFPredicate::ONE, x[0], zero);
    return emitSelect(b, hasSign, emit<math::CopySignOp>(b, one, x[0]), x[0]);
  }
  Value isZero = emitCompare(b, CmpIPredicate::eq, x[0], zero);
  Value sign = one;
  if (isSigned(op))
    sign = emitSelect(b, emitCompare(b, CmpIPredicate::slt, x[0], zero),
                      emitConstant(b, type, -1), one);
  return emitSelect(b, isZero, zero, sign);
}

//===----------------------------------------------------------------------===//
// Comparisons and choices
//===----------------------------------------------------------------------===//

namespace {
struct Direction {
  StringRef name;
  CmpFPredicate ofFloats;
  CmpIPredicate ofSigned, ofUnsigned;
};
} // namespace

static const Direction *getDirection(Operation *op) {
  static const Direction directions[] = {
      {"EQ", CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq},
      {"NE", CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne},
      {"GE", CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge},
      {"GT", CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt},
      {"LE", CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule},
      {"LT", CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult}};
  std::string text = shell::getText(op, "comparison_direction");
  for (const Direction &direction : directions)
    if (StringRef(text).ends_with((" " + direction.name + ">").str()))
      return &direction;
  return nullptr;
}

static LogicalResult verifyComparison(Operation *op) {
  if (getDirection(op))
    return success();
  return op->emitOpError("expects EQ, NE, GE, GT, LE or LT as "
                         "'comparison_direction', got ")
         << op->getAttr("comparison_direction");
}

static Value emitComparison(ImplicitLocOpBuilder &b, Operation *op,
                            ValueRange x) {
  const Direction *direction = getDirection(op);
  if (!isFloat(op))
    return emitCompare(
        b, isSigned(op) ? direction->ofSigned : direction->ofUnsigned, x[0],
        x[1]);
  bool isTotal =
      StringRef(shell::getText(op, "compare_type")).ends_with(" TOTALORDER>");
  return isTotal ? emitCompare(b, direction->ofSigned, emitOrdinal(b, x[0]),
                               emitOrdinal(b, x[1]))
                 : emitCompare(b, direction->ofFloats, x[0], x[1]);
}

static Value emitChoice(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emitSelect(b, x[0], x[1], x[2]);
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Value emitBitwise(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<OpTy>(b, x[0], x[1]);
}

static Value emitNot(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<arith::XOrIOp>(b, x[0], emitConstant(b, x[0].getType(), -1));
}

/// Shifts by the width or more, or by negative numbers, move all bits out.
template <typename OpTy>
static Value emitShift(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  Type type = x[0].getType();
  unsigned width = type.getIntOrFloatBitWidth();
  APInt constant;
  if (matchPattern(x[1], m_ConstantInt(&constant)) && constant.ult(width))
    return emit<OpTy>(b, x[0], x[1]);
  Value last = emitConstant(b, type, static_cast<int>(width - 1));
  Value amount = emit<arith::MinUIOp>(b, x[1], last);
  Value shifted = emit<OpTy>(b, x[0], amount);
  if (std::is_same_v<OpTy, arith::ShRSIOp>)
    return shifted;
  Value isIn = emitCompare(b, CmpIPredicate::ule, x[1], last);
  return emitSelect(b, isIn, shifted, emitConstant(b, type, 0));
}

template <typename OpTy>
static Value emitCount(ImplicitLocOpBuilder &b, Operation *, ValueRange x) {
  return emit<OpTy>(b, x[0]);
}

/// The upper half of the product in twice the width.
static Value emitHighProduct(ImplicitLocOpBuilder &b, Operation *op,
                             ValueRange x) {
  if (isSigned(op))
    return arith::MulSIExtendedOp::create(b, x[0], x[1]).getHigh();
  return arith::MulUIExtendedOp::create(b, x[0], x[1]).getHigh();
}

void mlir::act::lowering::populateArithmeticPatterns(
    LoweringPatterns &patterns) {
  auto add = [&](StringRef name, int numOperands, Elements elements,
                 EmitScalar emitScalar) {
    patterns.addElementwise(("stablehlo." + name).str(), numOperands, elements,
                            emitScalar);
  };
  using E = Elements;
  add("add", 2, E::Any, emitBinary<arith::AddFOp, arith::AddIOp, arith::OrIOp>);
  add("subtract", 2, E::Any,
      emitBinary<arith::SubFOp, arith::SubIOp, arith::XOrIOp>);
  add("multiply", 2, E::Any,
      emitBinary<arith::MulFOp, arith::MulIOp, arith::AndIOp>);
  add("divide", 2, E::Any, emitDivide);
  add("remainder", 2, E::Any, emitRemainder);
  add("maximum", 2, E::Any, emitMaximum);
  add("minimum", 2, E::Any, emitMinimum);
  add("clamp", 3, E::Any, emitClamp);
  add("power", 2, E::Any, emitPower);
  add("negate", 1, E::Any, emitNegate);
  add("abs", 1, E::Any, emitAbs);
  add("sign", 1, E::Any, emitSign);
  patterns.addElementwise("stablehlo.compare", 2, E::ToBoolean, emitComparison,
                          verifyComparison);
  add("select", 3, E::Selected, emitChoice);
  add("and", 2, E::Integers, emitBitwise<arith::AndIOp>);
  add("or", 2, E::Integers, emitBitwise<arith::OrIOp>);
  add("xor", 2, E::Integers, emitBitwise<arith::XOrIOp>);
  add("not", 1, E::Integers, emitNot);
  add("shift_left", 2, E::Integers, emitShift<arith::ShLIOp>);
  add("shift_right_logical", 2, E::Integers, emitShift<arith::ShRUIOp>);
  add("shift_right_arithmetic", 2, E::Integers, emitShift<arith::ShRSIOp>);
  add("popcnt", 1, E::Integers, emitCount<math::CtPopOp>);
  add("count_leading_zeros", 1, E::Integers,
      emitCount<math::CountLeadingZerosOp>);
  patterns.addElementwise("chlo.mulhi", 2, E::Integers, emitHighProduct);
}
