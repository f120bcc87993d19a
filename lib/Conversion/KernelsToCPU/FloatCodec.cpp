//===- FloatCodec.cpp - Shorter floating-point types on vectors -----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "CodecNumbers.h"
#include "CodecRows.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Elements of 8 bits
//===----------------------------------------------------------------------===//

namespace {
/// How the bits of an 8-bit float relate to those of an f32: a sign, an
/// exponent and the upper `mantissa` bits of the mantissa.
struct Float8 {
  explicit Float8(Type type)
      : mantissa(isa<Float8E5M2Type>(type) ? 2 : 3),
        bias(isa<Float8E5M2Type>(type) ? 15 : 7),
        firstSpecial(isa<Float8E5M2Type>(type) ? 0x7C : 0x7F) {}

  /// Rounds f32 `numbers` that are within the range of the type, or NaN, to the
  /// nearest, ties to even.
  Value encode(CodecVectors &v, Value numbers) const;
  /// The inverse.
  Value decode(CodecVectors &v, Value codes) const;

private:
  static constexpr int64_t f32Mantissa = 23, f32Bias = 127;
  static constexpr int64_t f32Infinity = 0x7F800000;

  int64_t getShift() const { return f32Mantissa - mantissa; }
  /// 2^exponent as bits of an f32.
  static int64_t getPower(int64_t exponent) {
    return (f32Bias + exponent) << f32Mantissa;
  }

  int64_t mantissa, bias;
  /// The first code beyond the finite numbers.
  int64_t firstSpecial;
};
} // namespace

Value Float8::encode(CodecVectors &v, Value numbers) const {
  int64_t shift = getShift();
  Value bits = v.toBits(numbers);
  Value size = v.bitAnd(bits, 0x7FFFFFFF);
  Value isOdd = v.bitAnd(v.shiftRight(size, shift), 1);
  Value rounded = v.add(v.add(size, (int64_t{1} << (shift - 1)) - 1), isOdd);
  Value normal = v.subtract(v.shiftRight(rounded, shift),
                            v.intLike(bits, (f32Bias - bias) << mantissa));
  // Below the smallest normal number codes count multiples of a power of two,
  // the last place of the sum with 2^23 times that.
  int64_t magic = getPower(f32Mantissa + 1 - bias - mantissa);
  Value sum = v.add(v.fromBits(size), v.fromBits(v.intLike(bits, magic)));
  Value small = v.subtract(v.toBits(sum), v.intLike(bits, magic));
  Value isSmall = v.compare(arith::CmpIPredicate::ult, size,
                            v.intLike(bits, getPower(1 - bias)));
  Value code = v.select(isSmall, small, normal);
  Value isNaN =
      v.compare(arith::CmpIPredicate::ugt, size, v.intLike(bits, f32Infinity));
  code = v.select(isNaN, v.intLike(bits, firstSpecial | 1 << (mantissa - 1)),
                  code);
  Value sign = v.bitAnd(v.shiftRight(bits, 24), 0x80);
  return v.toWidth(v.bitOr(code, sign), 8);
}

Value Float8::decode(CodecVectors &v, Value codes) const {
  Value code = v.toWidth(codes, 32);
  Value size = v.bitAnd(code, 0x7F);
  Value shifted = v.shiftLeft(size, getShift());
  Value normal = v.add(shifted, (f32Bias - bias) << f32Mantissa);
  Value unit = v.fromBits(v.intLike(code, getPower(1 - bias - mantissa)));
  Value small = v.toBits(v.multiply(v.intToFloat(size), unit));
  Value isSmall = v.compare(arith::CmpIPredicate::ult, size,
                            v.intLike(code, int64_t{1} << mantissa));
  Value bits = v.select(isSmall, small, normal);
  Value isSpecial =
      v.compare(arith::CmpIPredicate::uge, size, v.intLike(code, firstSpecial));
  bits =
      v.select(isSpecial, v.bitOr(shifted, v.intLike(code, f32Infinity)), bits);
  Value sign = v.shiftLeft(v.bitAnd(code, 0x80), 24);
  return v.fromBits(v.bitOr(bits, sign));
}

//===----------------------------------------------------------------------===//
// The codec
//===----------------------------------------------------------------------===//

namespace {
class FloatCodec {
public:
  FloatCodec(CodecVectors &v, FloatCodeAttr encoding, RankedTensorType type,
             const CodecBuffers &buffers)
      : v(v), buffers(buffers),
        numbers{buffers.plain, type.getElementType(), /*salt=*/{}},
        codeType(encoding.getType()), hasScales(encoding.getGroup() != 0),
        rows(getRows(encoding, type)) {}

  static GroupRows getRows(FloatCodeAttr encoding, RankedTensorType type) {
    int64_t group = encoding.getGroup() ? encoding.getGroup() : 1;
    return GroupRows(
        getGroupLayout(type.getShape(), group, /*axis=*/-1, /*merge=*/1));
  }

  void encode(Value begin, Value end);
  void decode(Value begin, Value end);

private:
  double getLargest() const {
    return llvm::APFloat::getLargest(
               cast<FloatType>(codeType).getFloatSemantics())
        .convertToDouble();
  }
  /// `width` elements as f32, NaN where they are not finite; what is rounded
  /// twice is rounded as once.
  Value loadFinite(Value first, int64_t width);
  /// Saturates f32 numbers, a NaN staying one, and stores codes.
  void storeCodes(Value values, Value first);
  Value loadCodeValues(Value first, int64_t width);
  Value buildScale(const GroupRows::Group &group);
  void encodeGroup(const GroupRows::Group &group);
  void decodeGroup(const GroupRows::Group &group);

  CodecVectors &v;
  const CodecBuffers &buffers;
  NumberBuffer numbers;
  Type codeType;
  bool hasScales;
  GroupRows rows;
};
} // namespace

Value FloatCodec::loadFinite(Value first, int64_t width) {
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  Type f64 = v.getBuilder().getF64Type();
  if (numbers.element != f64) {
    Value x =
        loadNumbers(v, numbers, first, width, /*paired=*/false).parts.front();
    Value size = v.bitAnd(v.toBits(x), 0x7FFFFFFF);
    Value isFinite =
        v.compare(arith::CmpIPredicate::ult, size, v.intLike(size, 0x7F800000));
    return v.select(isFinite, x, v.floatLike(x, nan));
  }
  // Rounded to odd, an f32 keeps on which side of a tie the number is.
  Value x = v.load(v.getVector(width, f64), numbers.base, f64, first);
  Value nearest = v.convertFloat(x, v.getF32());
  Value back = v.convertFloat(nearest, f64);
  Value bits = v.toBits(nearest);
  Value size = v.absolute(x);
  Value isAbove = v.compare(arith::CmpFPredicate::OGT, v.absolute(back), size);
  Value towardsZero = v.select(isAbove, v.add(bits, -1), bits);
  Value isExact = v.compare(arith::CmpFPredicate::OEQ, back, x);
  Value odd = v.fromBits(
      v.select(isExact, bits, v.bitOr(towardsZero, v.intLike(bits, 1))));
  Value isFinite =
      v.compare(arith::CmpFPredicate::OLT, size, v.floatLike(size, infinity));
  return v.select(isFinite, odd, v.floatLike(odd, nan));
}

void FloatCodec::storeCodes(Value values, Value first) {
  double largest = getLargest();
  values = v.maximum(v.floatLike(values, -largest), values);
  values = v.minimum(v.floatLike(values, largest), values);
  Value codes = buffers.storage.front();
  if (codeType.getIntOrFloatBitWidth() == 8) {
    v.store(Float8(codeType).encode(v, values), codes, codeType, first);
    return;
  }
  // One NaN for all: rounding could carry out of the bits of another.
  Value isNumber = v.compare(arith::CmpFPredicate::ORD, values, values);
  double nan = std::numeric_limits<double>::quiet_NaN();
  values = v.select(isNumber, values, v.floatLike(values, nan));
  storeNumbers(v, {codes, codeType, /*salt=*/{}}, first, {{values}});
}

Value FloatCodec::loadCodeValues(Value first, int64_t width) {
  Value codes = buffers.storage.front();
  if (codeType.getIntOrFloatBitWidth() == 8)
    return Float8(codeType).decode(
        v, v.load(v.getVector(width, v.getStored(codeType)), codes, codeType,
                  first));
  return loadNumbers(v, {codes, codeType, /*salt=*/{}}, first, width,
                     /*paired=*/false)
      .parts.front();
}

Value FloatCodec::buildScale(const GroupRows::Group &group) {
  int64_t width = v.getWidth(group.size);
  // The largest size as an integer: that of a NaN is above all numbers'.
  Value zero = v.intConstant(v.getVector(width, v.getI32()), 0);
  SmallVector<Value> found = v.forPieces(
      0, group.size, width, zero, [&](Value offset, ValueRange carried) {
        Value x = loadNumbers(v, numbers, v.add(group.firstElement, offset),
                              width, /*paired=*/false)
                      .parts.front();
        Value size = v.bitAnd(v.toBits(x), 0x7FFFFFFF);
        return SmallVector<Value>{v.largerUnsigned(carried.front(), size)};
      });
  Value largest = v.fromBits(v.reduce(
      found.front(), [&](Value x, Value y) { return v.largerUnsigned(x, y); }));
  // The inverse of the largest bf16 is denormal, hence perhaps zero.
  double target = std::min(getLargest(), 0x1p64);
  Value scale = v.multiply(largest, v.floatLike(largest, 1 / target));
  scale = v.maximum(v.floatLike(scale, 0x1p-126), scale);
  Value isZero =
      v.compare(arith::CmpFPredicate::OEQ, largest, v.floatLike(largest, 0.0));
  return v.select(isZero, v.floatLike(scale, 1.0), scale);
}

void FloatCodec::encodeGroup(const GroupRows::Group &group) {
  Value scale = buildScale(group);
  v.store(scale, buffers.storage[1], v.getF32(), group.number);
  Value inverse = v.divide(v.floatLike(scale, 1.0), scale);
  Value firstCode = v.multiply(group.number, rows.getGroup());
  int64_t width = v.getWidth(group.size);
  v.forPieces(0, group.size, width, [&](Value offset) {
    Value x = loadNumbers(v, numbers, v.add(group.firstElement, offset), width,
                          /*paired=*/false)
                  .parts.front();
    storeCodes(v.multiply(x, v.splat(inverse, width)),
               v.add(firstCode, offset));
  });
  if (group.size == rows.getGroup())
    return;
  int64_t padding = v.getWidth(rows.getGroup() - group.size);
  v.forPieces(group.size, rows.getGroup(), padding, [&](Value offset) {
    storeCodes(v.floatConstant(v.getVector(padding, v.getF32()), 0.0),
               v.add(firstCode, offset));
  });
}

void FloatCodec::decodeGroup(const GroupRows::Group &group) {
  Value scale =
      v.load(v.getF32(), buffers.storage[1], v.getF32(), group.number);
  Value firstCode = v.multiply(group.number, rows.getGroup());
  int64_t width = v.getWidth(group.size);
  v.forPieces(0, group.size, width, [&](Value offset) {
    Value values = loadCodeValues(v.add(firstCode, offset), width);
    storeNumbers(v, numbers, v.add(group.firstElement, offset),
                 {{v.multiply(values, v.splat(scale, width))}});
  });
}

void FloatCodec::encode(Value begin, Value end) {
  if (hasScales)
    rows.forGroups(v, begin, end,
                   [&](const GroupRows::Group &group) { encodeGroup(group); });
  else
    v.forElements(begin, end, [&](Value first, int64_t width) {
      storeCodes(loadFinite(first, width), first);
    });
}

void FloatCodec::decode(Value begin, Value end) {
  if (hasScales)
    rows.forGroups(v, begin, end,
                   [&](const GroupRows::Group &group) { decodeGroup(group); });
  else
    v.forElements(begin, end, [&](Value first, int64_t width) {
      storeNumbers(v, numbers, first, {{loadCodeValues(first, width)}});
    });
}

namespace {
struct FloatCodeModel
    : VectorEncodingInterface::ExternalModel<FloatCodeModel, FloatCodeAttr> {
  CodecUnits getUnits(Attribute attr, RankedTensorType type) const {
    return FloatCodec::getRows(cast<FloatCodeAttr>(attr), type).getUnits();
  }
  void buildVectorEncode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    FloatCodec(v, cast<FloatCodeAttr>(attr), type, buffers).encode(begin, end);
  }
  void buildVectorDecode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    FloatCodec(v, cast<FloatCodeAttr>(attr), type, buffers).decode(begin, end);
  }
};
} // namespace

void mlir::act::attachFloatCodecModel(MLIRContext *context) {
  FloatCodeAttr::attachInterface<FloatCodeModel>(*context);
}
