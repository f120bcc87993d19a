//===- LosslessCodecs.cpp - Raw, mask and narrow on vectors ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "CodecPlanes.h"
#include "CodecRows.h"
#include "act/Dialect/Act/IR/ActDialect.h"

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
        rows(getGroupLayout(type.getShape(), group ? group : INT64_MAX,
                            /*axis=*/-1, merge)),
        numBytes(getPackedBytes(group ? group : rows.getGroup(), bits)) {}

  void encode(CodecVectors &v, const CodecBuffers &buffers, Value begin,
              Value end) const;
  void decode(CodecVectors &v, const CodecBuffers &buffers, Value begin,
              Value end) const;

  /// Bits of the lanes that elements are loaded into.
  unsigned getCodeWidth(CodecVectors &v) const {
    return v.getStored(element).getIntOrFloatBitWidth();
  }

  Type element;
  unsigned bits;
  GroupRows rows;
  int64_t numBytes;
};
} // namespace

void PackedIntegers::encode(CodecVectors &v, const CodecBuffers &buffers,
                            Value begin, Value end) const {
  Type stored = v.getStored(element);
  rows.forGroups(v, begin, end, [&](const GroupRows::Group &group) {
    packPlanes(v, {group.size, bits, numBytes}, buffers.storage.front(),
               v.multiply(group.number, numBytes), getCodeWidth(v),
               [&](Value offset, int64_t width) -> Lanes {
                 Value values =
                     v.load(v.getVector(width, stored), buffers.plain, element,
                            v.add(group.firstElement, offset));
                 return {{v.toWidth(values, 8)}};
               });
  });
}

void PackedIntegers::decode(CodecVectors &v, const CodecBuffers &buffers,
                            Value begin, Value end) const {
  unsigned width = getCodeWidth(v);
  rows.forGroups(v, begin, end, [&](const GroupRows::Group &group) {
    unpackPlanes(v, {group.size, bits, numBytes}, buffers.storage.front(),
                 v.multiply(group.number, numBytes), /*codeWidth=*/8,
                 /*paired=*/false, [&](Value offset, const Lanes &codes) {
                   v.store(v.toWidth(codes.parts.front(), width), buffers.plain,
                           element, v.add(group.firstElement, offset));
                 });
  });
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
template <typename Model, typename Attr>
using ModelBase = VectorEncodingInterface::ExternalModel<Model, Attr>;

struct RawModel : ModelBase<RawModel, RawAttr> {
  void buildVectorEncode(Attribute, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    copy(v, type, buffers.storage.front(), buffers.plain, begin, end);
  }
  void buildVectorDecode(Attribute, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    copy(v, type, buffers.plain, buffers.storage.front(), begin, end);
  }

private:
  static void copy(CodecVectors &v, RankedTensorType type, Value destination,
                   Value source, Value begin, Value end) {
    Type element = type.getElementType();
    int64_t bytes = v.getStored(element).getIntOrFloatBitWidth() / 8;
    v.copy(v.address(destination, element, begin),
           v.address(source, element, begin),
           v.multiply(v.subtract(end, begin), bytes));
  }
};

struct MaskModel : ModelBase<MaskModel, MaskAttr> {
  void buildVectorEncode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    get(attr, type).encode(v, buffers, begin, end);
  }
  void buildVectorDecode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    get(attr, type).decode(v, buffers, begin, end);
  }

private:
  static PackedIntegers get(Attribute attr, RankedTensorType type) {
    auto encoding = cast<MaskAttr>(attr);
    return {type, /*bits=*/1, encoding.getMerge(), encoding.getGroup()};
  }
};

struct NarrowModel : ModelBase<NarrowModel, NarrowAttr> {
  void buildVectorEncode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    if (cast<NarrowAttr>(attr).getBits() >= 8)
      convert(v, type.getElementType(), buffers.plain, getWide(v, attr),
              buffers.storage.front(), begin, end);
    else
      get(attr, type).encode(v, buffers, begin, end);
  }
  void buildVectorDecode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    if (cast<NarrowAttr>(attr).getBits() >= 8)
      convert(v, getWide(v, attr), buffers.storage.front(),
              type.getElementType(), buffers.plain, begin, end);
    else
      get(attr, type).decode(v, buffers, begin, end);
  }

private:
  static PackedIntegers get(Attribute attr, RankedTensorType type) {
    auto encoding = cast<NarrowAttr>(attr);
    return {type, encoding.getBits(), encoding.getMerge(), encoding.getGroup()};
  }
  /// The type of codes that fill whole bytes.
  static Type getWide(CodecVectors &v, Attribute attr) {
    return v.getBuilder().getIntegerType(cast<NarrowAttr>(attr).getBits());
  }
  static void convert(CodecVectors &v, Type from, Value source, Type to,
                      Value destination, Value begin, Value end) {
    v.forElements(begin, end, [&](Value offset, int64_t width) {
      Value values =
          v.load(v.getVector(width, v.getStored(from)), source, from, offset);
      v.store(v.toWidth(values, v.getStored(to).getIntOrFloatBitWidth()),
              destination, to, offset);
    });
  }
};
} // namespace

void mlir::act::attachLosslessCodecModels(MLIRContext *context) {
  RawAttr::attachInterface<RawModel>(*context);
  MaskAttr::attachInterface<MaskModel>(*context);
  NarrowAttr::attachInterface<NarrowModel>(*context);
}
