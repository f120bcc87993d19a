//===- LosslessCodecs.cpp - Raw, mask and narrow on GPUs ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "ElementThreads.h"
#include "GroupThreads.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Packed integers
//===----------------------------------------------------------------------===//

namespace {
/// Integers below `2^bits` along the last `merge` axes, all of them or `group`
/// elements at a time: the form that `mask` and `narrow` have in common.
struct PackedIntegers {
  PackedIntegers(RankedTensorType type, unsigned bits, int64_t merge,
                 int64_t group)
      : element(type.getElementType()), bits(bits),
        groups(getGroupLayout(type.getShape(), group ? group : INT64_MAX,
                              /*axis=*/-1, merge)),
        numBytes(getPackedBytes(group ? group : groups.getGroup(), bits)),
        width(getWidth()),
        lanes(groups.getLanes(/*perLane=*/getPlanes() * width)) {}

  GpuCodecSplit getSplit() const { return groups.getSplit(lanes); }
  int64_t getPlanes() const { return 8 / bits; }
  bool isFilled() const {
    return groups.isEven() && groups.getGroup() == numBytes * getPlanes();
  }
  /// Bytes of codes that a thread takes together where memory is aligned.
  int64_t getWidth() const {
    bool isByte = element.getIntOrFloatBitWidth() <= 8;
    for (int64_t bytes : {16, 8, 4})
      if (isByte && isFilled() && numBytes % bytes == 0)
        return bytes;
    return 1;
  }
  bool isAligned(const GpuCodecBuffers &buffers) const {
    int64_t plain = buffers.plainAlignment
                        ? buffers.plainAlignment
                        : CodecThreads::getAlignment(buffers.plain);
    return plain % width == 0 &&
           CodecThreads::getAlignment(buffers.storage[0]) % width == 0;
  }

  void encode(CodecThreads &t, const GpuCodecBuffers &buffers,
              const GpuCodecPieces &pieces) const;
  void decode(CodecThreads &t, const GpuCodecBuffers &buffers,
              const GpuCodecPieces &pieces) const;

  Type element;
  unsigned bits;
  GroupThreads groups;
  int64_t numBytes, width, lanes;

private:
  using Group = GroupThreads::Group;

  void encodeWords(CodecThreads &t, const GpuCodecBuffers &buffers,
                   const Group &group) const;
  void decodeWords(CodecThreads &t, const GpuCodecBuffers &buffers,
                   const Group &group) const;
  void encodeBytes(CodecThreads &t, const GpuCodecBuffers &buffers,
                   const Group &group) const;
  void decodeBytes(CodecThreads &t, const GpuCodecBuffers &buffers,
                   const Group &group) const;
  /// Integers of 32 bits, `width` bytes of them.
  Type getWords(CodecThreads &t) const {
    Type i32 = t.getBuilder().getI32Type();
    return width == 4 ? i32 : VectorType::get({width / 4}, i32);
  }
};
} // namespace

void PackedIntegers::encodeWords(CodecThreads &t,
                                 const GpuCodecBuffers &buffers,
                                 const Group &group) const {
  CodecVectors &v = t.getVectors();
  Type byteType = t.getBuilder().getI8Type();
  t.loop(v.multiply(group.lane, width), t.i32(numBytes), width * lanes,
         [&](Value byte) {
           Value packed;
           for (int64_t plane = 0; plane < getPlanes(); ++plane) {
             Value at =
                 groups.getElement(t, group, v.add(byte, plane * numBytes));
             Value codes = v.shiftLeft(
                 t.load(getWords(t), buffers.plain, byteType, at, width),
                 plane * bits);
             packed = packed ? v.bitOr(packed, codes) : codes;
           }
           t.store(packed, buffers.storage[0], byteType,
                   groups.getPlace(t, group, numBytes, byte), width);
         });
}

void PackedIntegers::decodeWords(CodecThreads &t,
                                 const GpuCodecBuffers &buffers,
                                 const Group &group) const {
  CodecVectors &v = t.getVectors();
  Type byteType = t.getBuilder().getI8Type();
  int64_t mask = ((int64_t{1} << bits) - 1) * 0x01010101;
  t.loop(v.multiply(group.lane, width), t.i32(numBytes), width * lanes,
         [&](Value byte) {
           Value packed =
               t.load(getWords(t), buffers.storage[0], byteType,
                      groups.getPlace(t, group, numBytes, byte), width);
           for (int64_t plane = 0; plane < getPlanes(); ++plane) {
             Value at =
                 groups.getElement(t, group, v.add(byte, plane * numBytes));
             t.store(v.bitAnd(v.shiftRight(packed, plane * bits), mask),
                     buffers.plain, byteType, at, width);
           }
         });
}

void PackedIntegers::encodeBytes(CodecThreads &t,
                                 const GpuCodecBuffers &buffers,
                                 const Group &group) const {
  CodecVectors &v = t.getVectors();
  Value size = groups.getSize(t, group);
  t.loop(group.lane, t.i32(numBytes), lanes, [&](Value byte) {
    Value packed = t.i32(0);
    for (int64_t plane = 0; plane < getPlanes(); ++plane) {
      Value i = v.add(byte, plane * numBytes), isIn;
      if (!isFilled()) {
        isIn = t.isLess(i, size);
        i = t.smaller(i, v.add(size, -1));
      }
      // What of an element is beyond its code is in the way of no other plane:
      // elements are below 2^bits.
      Value code =
          t.loadInteger(buffers.plain, element, groups.getElement(t, group, i));
      if (isIn)
        code = v.select(isIn, code, t.i32(0));
      packed = v.bitOr(packed, v.shiftLeft(code, plane * bits));
    }
    t.storeInteger(packed, buffers.storage[0], t.getBuilder().getI8Type(),
                   groups.getPlace(t, group, numBytes, byte));
  });
}

void PackedIntegers::decodeBytes(CodecThreads &t,
                                 const GpuCodecBuffers &buffers,
                                 const Group &group) const {
  CodecVectors &v = t.getVectors();
  Value size = groups.getSize(t, group);
  t.loop(group.lane, t.i32(numBytes), lanes, [&](Value byte) {
    Value packed = t.loadInteger(buffers.storage[0], t.getBuilder().getI8Type(),
                                 groups.getPlace(t, group, numBytes, byte));
    for (int64_t plane = 0; plane < getPlanes(); ++plane) {
      Value i = v.add(byte, plane * numBytes), isIn;
      if (!isFilled())
        isIn = t.isLess(i, size);
      t.when(isIn, [&] {
        Value code = v.bitAnd(v.shiftRight(packed, plane * bits),
                              (int64_t{1} << bits) - 1);
        t.storeInteger(code, buffers.plain, element,
                       groups.getElement(t, group, i));
      });
    }
  });
}

void PackedIntegers::encode(CodecThreads &t, const GpuCodecBuffers &buffers,
                            const GpuCodecPieces &pieces) const {
  bool isWide = width > 1 && isAligned(buffers);
  groups.forGroups(t, pieces, lanes, [&](const Group &group) {
    t.when(group.isOwn, [&] {
      isWide ? encodeWords(t, buffers, group) : encodeBytes(t, buffers, group);
    });
  });
}

void PackedIntegers::decode(CodecThreads &t, const GpuCodecBuffers &buffers,
                            const GpuCodecPieces &pieces) const {
  bool isWide = width > 1 && isAligned(buffers);
  groups.forGroups(t, pieces, lanes, [&](const Group &group) {
    t.when(group.isOwn, [&] {
      isWide ? decodeWords(t, buffers, group) : decodeBytes(t, buffers, group);
    });
  });
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
template <typename Model, typename Attr>
using ModelBase = GpuEncodingInterface::ExternalModel<Model, Attr>;

struct RawModel : ModelBase<RawModel, RawAttr> {
  GpuCodecSplit getSplit(Attribute, RankedTensorType type) const {
    return getElementSplit(type.getNumElements());
  }
  void buildGpuEncode(Attribute, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    copy(t, pieces, getPlain(type, buffers), getStored(type, buffers));
  }
  void buildGpuDecode(Attribute, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    copy(t, pieces, getStored(type, buffers), getPlain(type, buffers));
  }

private:
  static ElementRange getPlain(RankedTensorType type,
                               const GpuCodecBuffers &buffers) {
    return {buffers.plain, type.getElementType(), buffers.plainAlignment};
  }
  static ElementRange getStored(RankedTensorType type,
                                const GpuCodecBuffers &buffers) {
    return {buffers.storage[0], type.getElementType(), /*alignment=*/0};
  }
  static void copy(CodecThreads &t, const GpuCodecPieces &pieces,
                   const ElementRange &from, const ElementRange &to) {
    forElements(t, pieces, from, to, [](Value element) { return element; });
  }
};

struct MaskModel : ModelBase<MaskModel, MaskAttr> {
  GpuCodecSplit getSplit(Attribute attr, RankedTensorType type) const {
    return get(attr, type).getSplit();
  }
  void buildGpuEncode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    get(attr, type).encode(t, buffers, pieces);
  }
  void buildGpuDecode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    get(attr, type).decode(t, buffers, pieces);
  }

private:
  static PackedIntegers get(Attribute attr, RankedTensorType type) {
    auto encoding = cast<MaskAttr>(attr);
    return {type, /*bits=*/1, encoding.getMerge(), encoding.getGroup()};
  }
};

struct NarrowModel : ModelBase<NarrowModel, NarrowAttr> {
  GpuCodecSplit getSplit(Attribute attr, RankedTensorType type) const {
    return isWide(attr) ? getElementSplit(type.getNumElements())
                        : get(attr, type).getSplit();
  }
  void buildGpuEncode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    if (isWide(attr))
      convert(t, pieces, getPlain(type, buffers), getCodes(t, attr, buffers));
    else
      get(attr, type).encode(t, buffers, pieces);
  }
  void buildGpuDecode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    if (isWide(attr))
      convert(t, pieces, getCodes(t, attr, buffers), getPlain(type, buffers));
    else
      get(attr, type).decode(t, buffers, pieces);
  }

private:
  static bool isWide(Attribute attr) {
    return cast<NarrowAttr>(attr).getBits() >= 8;
  }
  static PackedIntegers get(Attribute attr, RankedTensorType type) {
    auto encoding = cast<NarrowAttr>(attr);
    return {type, encoding.getBits(), encoding.getMerge(), encoding.getGroup()};
  }
  static ElementRange getPlain(RankedTensorType type,
                               const GpuCodecBuffers &buffers) {
    return {buffers.plain, type.getElementType(), buffers.plainAlignment};
  }
  /// Codes that fill whole bytes.
  static ElementRange getCodes(CodecThreads &t, Attribute attr,
                               const GpuCodecBuffers &buffers) {
    return {buffers.storage[0],
            t.getBuilder().getIntegerType(cast<NarrowAttr>(attr).getBits()),
            /*alignment=*/0};
  }
  static void convert(CodecThreads &t, const GpuCodecPieces &pieces,
                      const ElementRange &from, const ElementRange &to) {
    CodecVectors &v = t.getVectors();
    unsigned width = v.getStored(to.element).getIntOrFloatBitWidth();
    forElements(t, pieces, from, to,
                [&](Value element) { return v.toWidth(element, width); });
  }
};
} // namespace

void mlir::act::attachLosslessGpuModels(MLIRContext *context) {
  RawAttr::attachInterface<RawModel>(*context);
  MaskAttr::attachInterface<MaskModel>(*context);
  NarrowAttr::attachInterface<NarrowModel>(*context);
}
