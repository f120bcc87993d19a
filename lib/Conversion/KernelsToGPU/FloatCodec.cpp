//===- FloatCodec.cpp - Shorter floating-point types on GPUs --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "ElementThreads.h"
#include "GroupThreads.h"
#include "act/Conversion/KernelUtils/FloatCodes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

namespace {
struct FloatShape {
  FloatShape(FloatCodeAttr encoding, RankedTensorType type)
      : element(type.getElementType()), code(encoding.getType()),
        hasScales(encoding.getGroup() != 0),
        groups(getGroupLayout(type.getShape(),
                              hasScales ? encoding.getGroup() : 1,
                              /*axis=*/-1, /*merge=*/1)),
        lanes(groups.getLanes(/*perLane=*/4)) {}

  GpuCodecSplit getSplit(RankedTensorType type) const {
    return hasScales ? groups.getSplit(lanes)
                     : getElementSplit(type.getNumElements());
  }

  Type element, code;
  bool hasScales;
  GroupThreads groups;
  int64_t lanes;
};

class FloatThreads {
public:
  FloatThreads(CodecThreads &t, const FloatShape &shape,
               const GpuCodecBuffers &buffers)
      : t(t), v(t.getVectors()), shape(shape), buffers(buffers) {}

  void encode(const GpuCodecPieces &pieces);
  void decode(const GpuCodecPieces &pieces);

private:
  using Group = GroupThreads::Group;

  void encodeElements(const GpuCodecPieces &pieces);
  void decodeElements(const GpuCodecPieces &pieces);
  void encodeGroup(const Group &group);
  void decodeGroup(const Group &group);
  Value buildScale(const Group &group);

  /// A number saturated and rounded, a NaN staying one, as bits of a code.
  Value toCode(Value number);
  /// The inverse.
  Value fromCode(Value bits);
  /// The type that codes are loaded and stored as.
  IntegerType getBits() {
    return t.getBuilder().getIntegerType(shape.code.getIntOrFloatBitWidth());
  }

  CodecThreads &t;
  CodecVectors &v;
  const FloatShape &shape;
  const GpuCodecBuffers &buffers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

Value FloatThreads::toCode(Value number) {
  double largest = getLargestNumber(shape.code);
  number = t.minimum(t.maximum(number, t.f32(-largest)), t.f32(largest));
  if (getBits().getWidth() == 8)
    return Float8(shape.code).encode(v, number);
  // One NaN for all targets.
  Value isNumber = v.compare(arith::CmpFPredicate::ORD, number, number);
  Value bits = arith::BitcastOp::create(t.getBuilder(), getBits(),
                                        v.convertFloat(number, shape.code));
  int64_t nan = shape.code.isBF16() ? 0x7FC0 : 0x7E00;
  return v.select(isNumber, bits, v.intLike(bits, nan));
}

Value FloatThreads::fromCode(Value bits) {
  if (getBits().getWidth() == 8)
    return Float8(shape.code).decode(v, bits);
  if (shape.code.isBF16())
    return v.fromBits(v.shiftLeft(v.toWidth(bits, 32), 16));
  return v.convertFloat(
      arith::BitcastOp::create(t.getBuilder(), shape.code, bits), v.getF32());
}

//===----------------------------------------------------------------------===//
// Without scales
//===----------------------------------------------------------------------===//

void FloatThreads::encodeElements(const GpuCodecPieces &pieces) {
  ElementRange from{buffers.plain, shape.element, buffers.plainAlignment};
  ElementRange to{buffers.storage[0], getBits(), /*alignment=*/0};
  forElements(t, pieces, from, to, [&](Value element) {
    return toCode(buildFinite(v, toFloat(t, element, shape.element)));
  });
}

void FloatThreads::decodeElements(const GpuCodecPieces &pieces) {
  ElementRange from{buffers.storage[0], getBits(), /*alignment=*/0};
  ElementRange to{buffers.plain, shape.element, buffers.plainAlignment};
  forElements(t, pieces, from, to, [&](Value bits) {
    return toStored(t, fromCode(bits), shape.element);
  });
}

//===----------------------------------------------------------------------===//
// With scales
//===----------------------------------------------------------------------===//

Value FloatThreads::buildScale(const Group &group) {
  // The largest size as an integer: that of a NaN is above all numbers'.
  Value found =
      t.loop(
           group.lane, shape.groups.getSize(t, group), shape.lanes, {t.i32(0)},
           [&](Value i, ValueRange carried) {
             Value number = t.loadNumber(buffers.plain, shape.element,
                                         shape.groups.getElement(t, group, i));
             Value size = v.bitAnd(v.toBits(number), 0x7FFFFFFF);
             return SmallVector<Value>{v.largerUnsigned(carried.front(), size)};
           })
          .front();
  found = t.reduceLanes(found, shape.lanes, [&](Value x, Value y) {
    return v.largerUnsigned(x, y);
  });
  return buildFloatScale(v, v.fromBits(found), shape.code);
}

void FloatThreads::encodeGroup(const Group &group) {
  Value scale = buildScale(group), size = shape.groups.getSize(t, group);
  t.when(group.isOwn, [&] {
    Value isFirst = v.compare(arith::CmpIPredicate::eq, group.lane, t.i32(0));
    t.when(isFirst, [&] {
      t.store(scale, buffers.storage[1], v.getF32(), group.param);
    });
    Value inverse = v.divide(t.f32(1.0), scale);
    int64_t perGroup = shape.groups.getGroup();
    t.loop(group.lane, t.i32(perGroup), shape.lanes, [&](Value i) {
      Value isIn, place = i;
      if (group.size) {
        isIn = t.isLess(i, size);
        place = t.smaller(i, v.add(size, -1));
      }
      Value number = t.loadNumber(buffers.plain, shape.element,
                                  shape.groups.getElement(t, group, place));
      Value bits = toCode(v.multiply(number, inverse));
      if (isIn)
        bits = v.select(isIn, bits, v.intLike(bits, 0));
      t.store(bits, buffers.storage[0], getBits(),
              shape.groups.getPlace(t, group, perGroup, i));
    });
  });
}

void FloatThreads::decodeGroup(const Group &group) {
  Value scale = t.load(v.getF32(), buffers.storage[1], v.getF32(), group.param);
  t.when(group.isOwn, [&] {
    t.loop(group.lane, shape.groups.getSize(t, group), shape.lanes,
           [&](Value i) {
             Value bits = t.load(
                 getBits(), buffers.storage[0], getBits(),
                 shape.groups.getPlace(t, group, shape.groups.getGroup(), i));
             t.storeNumber(v.multiply(fromCode(bits), scale), buffers.plain,
                           shape.element, shape.groups.getElement(t, group, i));
           });
  });
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

void FloatThreads::encode(const GpuCodecPieces &pieces) {
  if (!shape.hasScales)
    return encodeElements(pieces);
  shape.groups.forGroups(t, pieces, shape.lanes,
                         [&](const Group &group) { encodeGroup(group); });
}

void FloatThreads::decode(const GpuCodecPieces &pieces) {
  if (!shape.hasScales)
    return decodeElements(pieces);
  shape.groups.forGroups(t, pieces, shape.lanes,
                         [&](const Group &group) { decodeGroup(group); });
}

namespace {
struct FloatCodeModel
    : GpuEncodingInterface::ExternalModel<FloatCodeModel, FloatCodeAttr> {
  GpuCodecSplit getSplit(Attribute attr, RankedTensorType type) const {
    return FloatShape(cast<FloatCodeAttr>(attr), type).getSplit(type);
  }
  void buildGpuEncode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    FloatShape shape(cast<FloatCodeAttr>(attr), type);
    FloatThreads(t, shape, buffers).encode(pieces);
  }
  void buildGpuDecode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    FloatShape shape(cast<FloatCodeAttr>(attr), type);
    FloatThreads(t, shape, buffers).decode(pieces);
  }
};
} // namespace

void mlir::act::attachFloatGpuModel(MLIRContext *context) {
  FloatCodeAttr::attachInterface<FloatCodeModel>(*context);
}
