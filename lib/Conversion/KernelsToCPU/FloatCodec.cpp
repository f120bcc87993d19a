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
#include "act/Conversion/KernelUtils/FloatCodes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

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
  double getLargest() const { return getLargestNumber(codeType); }
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
  Type f64 = v.getBuilder().getF64Type();
  if (numbers.element == f64)
    return buildFinite(
        v, v.load(v.getVector(width, f64), numbers.base, f64, first));
  return buildFinite(
      v, loadNumbers(v, numbers, first, width, /*paired=*/false).parts.front());
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
  return buildFloatScale(v, largest, codeType);
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
