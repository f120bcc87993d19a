//===- GroupQuantCodec.cpp - Codes of groups on vectors -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "CodecNumbers.h"
#include "CodecPlanes.h"
#include "CodecRows.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

namespace {
/// Encodes and decodes one tensor type.
class GroupQuantCodec {
public:
  GroupQuantCodec(CodecVectors &v, GroupQuantAttr encoding,
                  RankedTensorType type, const CodecBuffers &buffers)
      : v(v), buffers(buffers),
        numbers{buffers.plain, type.getElementType(), buffers.salt},
        params(encoding.getParams()), rows(getRows(encoding, type)),
        numBytes(getPackedBytes(rows.getGroup(), encoding.getBits())),
        options{encoding.getBits(), params, numbers.element,
                encoding.usesSalt()} {}

  static GroupRows getRows(GroupQuantAttr encoding, RankedTensorType type) {
    return GroupRows(getGroupLayout(type.getShape(), encoding.getGroup(),
                                    encoding.getAxis(), encoding.getMerge()));
  }

  void encode(Value begin, Value end);
  void decode(Value begin, Value end);

private:
  using Group = GroupRows::Group;

  PlaneLayout getPlanes(int64_t size) const {
    return {size, options.bits, numBytes};
  }
  // Groups of elements next to each other.
  void encodeRange(const GroupRows::GroupRange &range);
  Extremes buildBlockExtremes(const Group &first, Value count, int64_t block);
  /// Encodes one group of a block of `block`.
  void encodeGroup(const Group &group, const CodeScale &scale, int64_t block);
  void decodeGroup(const Group &group);
  bool canStream() const;

  // Groups of elements that others lie between, `width` groups at a time from
  // `column` on.
  void encodeColumns(const Group &group, Value column, int64_t width);
  void decodeColumns(const Group &group, Value column, int64_t width);
  /// Calls `body` for each group and piece of columns.
  void forColumns(Value begin, Value end,
                  function_ref<void(const Group &, Value, int64_t)> body);

  CodecVectors &v;
  const CodecBuffers &buffers;
  NumberBuffer numbers;
  Type params;
  GroupRows rows;
  int64_t numBytes;
  CodeOptions options;
};
} // namespace

//===----------------------------------------------------------------------===//
// Groups of elements next to each other
//===----------------------------------------------------------------------===//

/// How many groups of `size` elements are gone over twice together: the first
/// level of cache holds them, and their parameters are computed in one vector.
static int64_t getBlock(int64_t size) {
  return llvm::bit_floor<uint64_t>(std::clamp<int64_t>(4096 / size, 1, 16));
}

/// The extremes of the groups of a block, one per lane.
Extremes GroupQuantCodec::buildBlockExtremes(const Group &first, Value count,
                                             int64_t block) {
  Value lanes = v.iota(block);
  Value none = v.floatConstant(v.getVector(block, v.getF32()), 0.0);
  SmallVector<Value> found = v.loop(
      v.index(0), count, 1, {none, none}, [&](Value i, ValueRange carried) {
        Value first0 = v.add(first.firstElement, v.multiply(i, first.size));
        Extremes group = buildExtremes(v, numbers, first0, first.size);
        Value isLane = v.compare(arith::CmpIPredicate::eq, lanes,
                                 v.splat(v.toI32(i), block));
        auto insert = [&](Value value, Value into) {
          return v.select(isLane, v.splat(value, block), into);
        };
        return SmallVector<Value>{insert(group.smallest, carried[0]),
                                  insert(group.largest, carried[1])};
      });
  return {found[0], found[1]};
}

void GroupQuantCodec::encodeGroup(const Group &group, const CodeScale &scale,
                                  int64_t block) {
  constexpr int64_t cacheLine = 64;
  int64_t perLine = cacheLine * 8 / numbers.element.getIntOrFloatBitWidth();
  packPlanes(v, getPlanes(group.size), buffers.storage[0],
             v.multiply(group.number, numBytes), /*codeWidth=*/32,
             [&](Value offset, int64_t width) {
               Value first = v.add(group.firstElement, offset);
               // The first pass over the next block shall not wait for memory,
               // which would be idle during this one.
               for (int64_t i = 0; i < width; i += perLine)
                 v.prefetch(numbers.base, numbers.element,
                            v.add(first, block * group.size + i));
               return loadCodes(v, numbers, first, width, scale,
                                /*paired=*/true, options);
             });
}

void GroupQuantCodec::encodeRange(const GroupRows::GroupRange &range) {
  int64_t block = getBlock(range.first.size);
  // What the second pass reads of the first.
  Value minimums = v.allocate(v.getStored(params), block);
  Value steps = v.allocate(v.getStored(params), block);
  Value offsets = v.allocate(v.getF32(), block);
  Value inverses = v.allocate(v.getF32(), block);
  Value zero = v.index(0);
  v.loop(zero, range.count, block, [&](Value start) {
    Group first = {
        v.add(range.first.number, start),
        v.add(range.first.firstElement, v.multiply(start, range.first.size)),
        range.first.size};
    Value count = v.smaller(v.subtract(range.count, start), v.index(block));
    CodeRange ranges =
        buildRange(v, buildBlockExtremes(first, count, block), options);
    CodeScale scales = buildScale(v, ranges, options);
    storeParam(v, ranges.minimum, minimums, params, zero);
    storeParam(v, ranges.step, steps, params, zero);
    v.store(scales.offset, offsets, v.getF32(), zero);
    v.store(scales.inverse, inverses, v.getF32(), zero);

    v.loop(zero, count, 1, [&](Value i) {
      Group group = {v.add(first.number, i),
                     v.add(first.firstElement, v.multiply(i, first.size)),
                     first.size};
      for (auto [from, to] : {std::pair(minimums, buffers.storage[1]),
                              std::pair(steps, buffers.storage[2])})
        v.store(v.load(v.getStored(params), from, params, i), to, params,
                group.number);
      encodeGroup(group,
                  {v.load(v.getF32(), offsets, v.getF32(), i),
                   v.load(v.getF32(), inverses, v.getF32(), i)},
                  block);
    });
  });
}

void GroupQuantCodec::decodeGroup(const Group &group) {
  CodeRange range = {
      loadParam(v, buffers.storage[1], params, group.number, /*width=*/0),
      loadParam(v, buffers.storage[2], params, group.number, /*width=*/0)};
  unpackPlanes(v, getPlanes(group.size), buffers.storage[0],
               v.multiply(group.number, numBytes), /*codeWidth=*/32,
               isFastInPairs(numbers.element),
               [&](Value offset, const Lanes &codes) {
                 storeCodeValues(v, numbers, v.add(group.firstElement, offset),
                                 codes, range);
               });
}

//===----------------------------------------------------------------------===//
// Groups of elements that others lie between
//===----------------------------------------------------------------------===//

void GroupQuantCodec::forColumns(
    Value begin, Value end,
    function_ref<void(const Group &, Value, int64_t)> body) {
  int64_t inner = rows.getInner(), width = v.getWidth(inner);
  rows.forGroups(v, begin, end, [&](const Group &group) {
    v.forPieces(0, inner, width,
                [&](Value column) { body(group, column, width); });
  });
}

void GroupQuantCodec::encodeColumns(const Group &group, Value column,
                                    int64_t width) {
  int64_t inner = rows.getInner();
  auto at = [&](Value i) {
    return v.add(v.add(group.firstElement, v.multiply(i, inner)), column);
  };
  ExtremeSearch search = {v.loop(
      v.index(0), v.index(group.size), 1, ExtremeSearch::none(v, width).values,
      [&](Value i, ValueRange carried) {
        Lanes row = loadNumbers(v, numbers, at(i), width,
                                /*paired=*/false);
        ExtremeSearch before = {llvm::to_vector(carried)};
        return before.with(v, row.parts.front()).values;
      })};
  CodeRange range = buildRange(v, search.finish(v), options);
  CodeScale scale = buildScale(v, range, options);
  Value place = v.add(v.multiply(group.number, inner), column);
  storeParam(v, range.minimum, buffers.storage[1], params, place);
  storeParam(v, range.step, buffers.storage[2], params, place);

  Type byteType = v.getBuilder().getI8Type();
  PlaneLayout layout = getPlanes(group.size);
  Value firstByte = v.multiply(group.number, numBytes);
  for (const PlaneSegment &segment : getPlaneSegments(layout))
    v.loop(v.index(segment.begin), v.index(segment.end), 1, [&](Value byte) {
      Value bytes;
      if (segment.planes == 0)
        bytes = v.intConstant(v.getVector(width, byteType), 0);
      else
        bytes = combinePlanes(v, layout, segment.planes, [&](int64_t plane) {
          return loadCodes(v, numbers, at(v.add(byte, plane * numBytes)), width,
                           scale, /*paired=*/false, options);
        });
      v.store(bytes, buffers.storage[0], byteType,
              v.add(v.multiply(v.add(firstByte, byte), inner), column));
    });
}

void GroupQuantCodec::decodeColumns(const Group &group, Value column,
                                    int64_t width) {
  int64_t inner = rows.getInner();
  Value place = v.add(v.multiply(group.number, inner), column);
  CodeRange range = {loadParam(v, buffers.storage[1], params, place, width),
                     loadParam(v, buffers.storage[2], params, place, width)};
  Type byteType = v.getBuilder().getI8Type();
  PlaneLayout layout = getPlanes(group.size);
  Value firstByte = v.multiply(group.number, numBytes);
  for (const PlaneSegment &segment : getPlaneSegments(layout)) {
    if (segment.planes == 0)
      continue;
    v.loop(v.index(segment.begin), v.index(segment.end), 1, [&](Value byte) {
      Value bytes =
          v.load(v.getVector(width, byteType), buffers.storage[0], byteType,
                 v.add(v.multiply(v.add(firstByte, byte), inner), column));
      bytes = v.toWidth(bytes, 32);
      for (int64_t plane = 0; plane < segment.planes; ++plane) {
        Value row = v.add(byte, plane * numBytes);
        storeCodeValues(
            v, numbers,
            v.add(v.add(group.firstElement, v.multiply(row, inner)), column),
            extractPlane(v, layout, plane, bytes, /*inPairs=*/false), range);
      }
    });
  }
}

void GroupQuantCodec::encode(Value begin, Value end) {
  if (rows.getInner() == 1)
    rows.forRanges(v, begin, end, [&](const GroupRows::GroupRange &range) {
      encodeRange(range);
    });
  else
    forColumns(begin, end,
               [&](const Group &group, Value column, int64_t width) {
                 encodeColumns(group, column, width);
               });
}

/// True if decoding had better go around the caches, which do not hold the
/// tensor until it is read.
bool GroupQuantCodec::canStream() const {
  constexpr int64_t leastBytes = int64_t{32} << 20;
  constexpr int64_t alignment = CodecVectors::streamAlignment;
  int64_t bytes = numbers.element.getIntOrFloatBitWidth() / 8;
  int64_t together =
      getAlignedCodes(v, getPlanes(rows.getGroup()), /*codeWidth=*/32);
  return rows.getNumElements() * bytes >= leastBytes && rows.isEven() &&
         together > 0 && together * bytes % alignment == 0 &&
         rows.getGroup() * bytes % alignment == 0;
}

void GroupQuantCodec::decode(Value begin, Value end) {
  auto decodeGroups = [&] {
    rows.forGroups(v, begin, end,
                   [&](const Group &group) { decodeGroup(group); });
  };
  if (rows.getInner() != 1) {
    forColumns(begin, end,
               [&](const Group &group, Value column, int64_t width) {
                 decodeColumns(group, column, width);
               });
    return;
  }
  if (!canStream()) {
    decodeGroups();
    return;
  }
  v.branch(
      v.isAlignedForStreams(numbers.base),
      [&] {
        numbers.streams = true;
        decodeGroups();
        numbers.streams = false;
        v.finishStreams();
      },
      decodeGroups);
}

namespace {
struct GroupQuantModel
    : VectorEncodingInterface::ExternalModel<GroupQuantModel, GroupQuantAttr> {
  void buildVectorEncode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    GroupQuantCodec(v, cast<GroupQuantAttr>(attr), type, buffers)
        .encode(begin, end);
  }
  void buildVectorDecode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    GroupQuantCodec(v, cast<GroupQuantAttr>(attr), type, buffers)
        .decode(begin, end);
  }
};
} // namespace

void mlir::act::attachGroupQuantCodecModel(MLIRContext *context) {
  GroupQuantAttr::attachInterface<GroupQuantModel>(*context);
}
