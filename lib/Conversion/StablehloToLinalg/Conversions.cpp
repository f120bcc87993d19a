//===- Conversions.cpp - Conversions between element types ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Towards zero; numbers out of range become the nearest one, NaN 0.
static Value emitFloatToInteger(ImplicitLocOpBuilder &b, Value x,
                                IntegerType to) {
  auto from = cast<FloatType>(x.getType());
  unsigned width = to.getWidth();
  bool isSigned = lowering::isSigned(to);
  Type type = b.getIntegerType(width);
  APInt least =
      isSigned ? APInt::getSignedMinValue(width) : APInt::getMinValue(width);
  APInt greatest =
      isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  // The first power of two out of range; infinity if the format has less.
  APFloat limit(from.getFloatSemantics());
  APInt power = APInt::getOneBitSet(width + 2, isSigned ? width - 1 : width);
  limit.convertFromAPInt(power, /*IsSigned=*/false,
                         APFloat::rmNearestTiesToEven);
  auto constant = [&](const APFloat &value) -> Value {
    return arith::ConstantOp::create(b, FloatAttr::get(from, value));
  };
  Value isHigh = emitCompare(b, CmpFPredicate::OGE, x, constant(limit));
  APFloat lower = isSigned ? -limit : APFloat::getZero(limit.getSemantics());
  Value isLow = emitCompare(b, CmpFPredicate::OLE, x, constant(lower));
  Value number = isSigned ? emit<arith::FPToSIOp>(b, type, x)
                          : emit<arith::FPToUIOp>(b, type, x);
  number = emitSelect(b, isHigh, emitConstant(b, type, greatest), number);
  number = emitSelect(b, isLow, emitConstant(b, type, least), number);
  return emitSelect(b, emitIsNaN(b, x), emitConstant(b, type, 0), number);
}

static Value emitToInteger(ImplicitLocOpBuilder &b, Value x, Type from,
                           IntegerType to) {
  bool isFloat = isa<FloatType>(from);
  if (to.getWidth() == 1 && to.isSignless()) {
    Value zero = emitConstant(b, x.getType(), 0);
    return isFloat ? emitCompare(b, CmpFPredicate::UNE, x, zero)
                   : emitCompare(b, CmpIPredicate::ne, x, zero);
  }
  if (isFloat)
    return emitFloatToInteger(b, x, to);
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  Type type = b.getIntegerType(to.getWidth());
  if (fromWidth > to.getWidth())
    return emit<arith::TruncIOp>(b, type, x);
  if (fromWidth == to.getWidth())
    return x;
  return lowering::isSigned(from) ? emit<arith::ExtSIOp>(b, type, x)
                                  : emit<arith::ExtUIOp>(b, type, x);
}

static Value emitConvert(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  Type from = getElementTypeOrSelf(op->getOperand(0).getType());
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  if (auto integer = dyn_cast<IntegerType>(to))
    return emitToInteger(b, x[0], from, integer);
  if (isa<FloatType>(from))
    return emitFloatCast(b, x[0], cast<FloatType>(to));
  return lowering::isSigned(from) ? emit<arith::SIToFPOp>(b, to, x[0])
                                  : emit<arith::UIToFPOp>(b, to, x[0]);
}

//===----------------------------------------------------------------------===//
// Bitcast
//===----------------------------------------------------------------------===//

static unsigned getWidth(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

/// The bits of `x` as `type`, of the same width.
static Value emitFromBits(ImplicitLocOpBuilder &b, Value x, Type type) {
  return x.getType() == type ? x : emit<arith::BitcastOp>(b, type, x);
}

/// To narrower elements: the last dimension of the result counts the parts of
/// an element, lowest bits first.
static Value createSplit(Lowering &lowering, Value operand,
                         RankedTensorType type) {
  unsigned width = type.getElementTypeBitWidth();
  Type part = IntegerType::get(type.getContext(), width);
  int64_t rank = type.getRank();
  OpBuilder &builder = lowering.getBuilder();
  AffineMap map = builder.getMultiDimIdentityMap(rank).dropResult(rank - 1);
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    Value bits = emitBits(b, x[0]);
    Value number = linalg::IndexOp::create(b, rank - 1);
    Value shift = emit<arith::MulIOp>(
        b, emit<arith::IndexCastOp>(b, bits.getType(), number),
        emitConstant(b, bits.getType(), static_cast<int>(width)));
    Value low =
        emit<arith::TruncIOp>(b, part, emit<arith::ShRUIOp>(b, bits, shift));
    return SmallVector<Value>{emitFromBits(b, low, type.getElementType())};
  };
  return lowering.createParallel(type, operand, map, emitBody);
}

/// To wider elements: the reverse.
static Value createJoin(Lowering &lowering, Value operand,
                        RankedTensorType type) {
  RankedTensorType from = getTensorType(operand);
  int64_t count = from.getShape().back(), width = from.getElementTypeBitWidth();
  SmallVector<int64_t> offsets(from.getRank(), 0), sizes(from.getShape()),
      strides(from.getRank(), 1);
  sizes.back() = 1;
  SmallVector<Value> parts;
  for (offsets.back() = 0; offsets.back() < count; ++offsets.back())
    parts.push_back(lowering.createReshape(
        lowering.createSlice(operand, offsets, sizes, strides),
        type.getShape()));
  SmallVector<AffineMap> maps(
      count, lowering.getBuilder().getMultiDimIdentityMap(type.getRank()));
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange x) {
    Type wide = b.getIntegerType(type.getElementTypeBitWidth());
    Value bits;
    for (auto [i, element] : llvm::enumerate(x.take_front(count))) {
      Value part = emit<arith::ExtUIOp>(b, wide, emitBits(b, element));
      part = emit<arith::ShLIOp>(
          b, part, emitConstant(b, wide, static_cast<int>(i * width)));
      bits = bits ? emit<arith::OrIOp>(b, bits, part) : part;
    }
    return SmallVector<Value>{emitFromBits(b, bits, type.getElementType())};
  };
  return lowering.createParallel(type, parts, maps, emitBody);
}

static Value emitBitcast(ImplicitLocOpBuilder &b, Operation *op, ValueRange x) {
  Type to = getElementTypeOrSelf(op->getResult(0).getType());
  return emitFromBits(b, x[0], convertType(to));
}

static LogicalResult lowerBitcast(Operation *op, Lowering &lowering) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  unsigned from = getWidth(operand), to = getWidth(result);
  auto shape =
      llvm::to_vector(getTensorType(from < to ? result : operand).getShape());
  Value narrow = from < to ? operand : result;
  if (from != to)
    shape.push_back(std::max(from, to) / std::min(from, to));
  if (std::max(from, to) % std::min(from, to) != 0 || std::min(from, to) == 1)
    if (from != to)
      return op->emitOpError("expects element types of whole bytes, got ")
             << operand.getType() << " and " << result.getType();
  if (failed(verifyShape(op, "the tensor of narrower elements", narrow, shape)))
    return failure();
  RankedTensorType type = convertType(getTensorType(result));
  Value value = lowering.get(operand);
  if (from > to) {
    value = createSplit(lowering, value, type);
  } else if (from < to) {
    value = createJoin(lowering, value, type);
  } else if (value.getType() != type) {
    auto map = lowering.getBuilder().getMultiDimIdentityMap(type.getRank());
    value = lowering.createParallel(
        type, value, map, [&](ImplicitLocOpBuilder &b, ValueRange x) {
          return SmallVector<Value>{emitBitcast(b, op, x)};
        });
  }
  lowering.mapResult(op, value);
  return success();
}

//===----------------------------------------------------------------------===//
// Reduced precision
//===----------------------------------------------------------------------===//

namespace {
/// The layout of a binary floating-point format.
struct Format {
  unsigned exponentBits, mantissaBits;
};
} // namespace

static Format getFormat(FloatType type) {
  unsigned mantissaBits = type.getFPMantissaWidth() - 1;
  return {type.getWidth() - 1 - mantissaBits, mantissaBits};
}

static LogicalResult verifyReducePrecision(Operation *op) {
  if (failed(getInteger(op, "exponent_bits", 64)) ||
      failed(getInteger(op, "mantissa_bits", 64)))
    return failure();
  if (op->getAttrOfType<IntegerAttr>("exponent_bits").getInt() == 0)
    return op->emitOpError("expects at least one bit as 'exponent_bits'");
  return success();
}

/// Rounds the mantissa in `bits` to nearest even.
static Value emitRoundedMantissa(ImplicitLocOpBuilder &b, Value bits,
                                 unsigned droppedBits) {
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Value last = emit<arith::AndIOp>(
      b,
      emit<arith::ShRUIOp>(
          b, bits, emitConstant(b, type, static_cast<int>(droppedBits))),
      emitConstant(b, type, 1));
  APInt half = APInt::getLowBitsSet(width, droppedBits - 1);
  Value bias = emit<arith::AddIOp>(b, last, emitConstant(b, type, half));
  APInt kept = ~APInt::getLowBitsSet(width, droppedBits);
  return emit<arith::AndIOp>(b, emit<arith::AddIOp>(b, bits, bias),
                             emitConstant(b, type, kept));
}

/// Makes exponents in `bits` out of the range of `to` infinities or zeros;
/// there are no subnormal numbers.
static Value emitClampedExponent(ImplicitLocOpBuilder &b, Value bits,
                                 Format from, Format to) {
  Type type = bits.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  APInt mask = APInt::getBitsSet(width, from.mantissaBits, width - 1);
  uint64_t bias = (uint64_t{1} << (from.exponentBits - 1)) - 1;
  uint64_t reducedBias = (uint64_t{1} << (to.exponentBits - 1)) - 1;
  auto shifted = [&](uint64_t exponent) {
    return emitConstant(b, type, APInt(width, exponent).shl(from.mantissaBits));
  };
  Value exponent = emit<arith::AndIOp>(b, bits, emitConstant(b, type, mask));
  Value overflows =
      emitCompare(b, CmpIPredicate::ugt, exponent, shifted(bias + reducedBias));
  Value underflows =
      emitCompare(b, CmpIPredicate::ule, exponent, shifted(bias - reducedBias));
  Value zero = emit<arith::AndIOp>(
      b, bits, emitConstant(b, type, APInt::getSignMask(width)));
  Value infinity = emit<arith::OrIOp>(b, zero, emitConstant(b, type, mask));
  return emitSelect(b, underflows, zero,
                    emitSelect(b, overflows, infinity, bits));
}

static Value emitReducePrecision(ImplicitLocOpBuilder &b, Operation *op,
                                 ValueRange x) {
  auto type = cast<FloatType>(x[0].getType());
  auto get = [&](StringRef name) {
    return static_cast<unsigned>(op->getAttrOfType<IntegerAttr>(name).getInt());
  };
  Format from = getFormat(type);
  Format to{get("exponent_bits"), get("mantissa_bits")};
  Value bits = emitBits(b, x[0]);
  if (to.mantissaBits < from.mantissaBits)
    bits = emitRoundedMantissa(b, bits, from.mantissaBits - to.mantissaBits);
  if (to.exponentBits < from.exponentBits)
    bits = emitClampedExponent(b, bits, from, to);
  return emitSelect(b, emitIsNaN(b, x[0]), x[0], emitFromBits(b, bits, type));
}

void mlir::act::lowering::populateConversionPatterns(
    LoweringPatterns &patterns) {
  patterns.addElementwise("stablehlo.convert", 1, Elements::Converted,
                          emitConvert);
  patterns.addElementwise("stablehlo.reduce_precision", 1, Elements::Floats,
                          emitReducePrecision, verifyReducePrecision);
  patterns.add("stablehlo.bitcast_convert", 1, lowerBitcast);
}
