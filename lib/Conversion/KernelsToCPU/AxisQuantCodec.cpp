//===- AxisQuantCodec.cpp - Codes with a range per index on vectors -------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "CodecNumbers.h"
#include "CodecPlanes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

namespace {
/// Encodes and decodes one tensor type, as if it had the shape `[outer, size,
/// inner]` with ranges for the middle axis. Codes are packed in rows along the
/// last axis of the tensor.
class AxisQuantCodec {
public:
  AxisQuantCodec(CodecVectors &v, AxisQuantAttr encoding, RankedTensorType type,
                 const CodecBuffers &buffers)
      : v(v), buffers(buffers),
        numbers{buffers.plain, type.getElementType(), buffers.salt},
        f32(v.getF32()),
        layout{type.getShape().back(), encoding.getBits(),
               getPackedBytes(type.getShape().back(), encoding.getBits())},
        options{encoding.getBits(), f32, numbers.element, encoding.usesSalt()} {
    ArrayRef<int64_t> shape = type.getShape();
    int64_t axis = encoding.getAxis();
    outer = getProduct(shape.take_front(axis));
    size = shape[axis];
    inner = getProduct(shape.drop_front(axis + 1));
    isLast = axis == type.getRank() - 1;
  }

  void encode(Value begin, Value end);
  void decode(Value begin, Value end);

private:
  // Ranges of elements next to each other: the axis is not the last one.
  void encodeIndex(Value number);
  void decodeIndex(Value number);
  /// Calls `body` with the first element and the first byte of each row.
  void forRows(Value number, function_ref<void(Value, Value)> body);

  // Ranges of columns: the axis is the last one.
  void buildColumnRanges();
  void encodeColumns(const PlaneSegment &segment, Value byte, int64_t width);
  void decodeColumns(const PlaneSegment &segment, Value byte, int64_t width);
  /// Calls `body` for pieces of each segment of a row.
  void
  forColumns(function_ref<void(const PlaneSegment &, Value, int64_t)> body);
  /// The ranges of the columns from `column` on.
  CodeRange loadRange(Value column, int64_t width);

  CodecVectors &v;
  const CodecBuffers &buffers;
  NumberBuffer numbers;
  Type f32;
  PlaneLayout layout;
  CodeOptions options;
  int64_t outer, size, inner;
  bool isLast;
};
} // namespace

//===----------------------------------------------------------------------===//
// Ranges of elements next to each other
//===----------------------------------------------------------------------===//

void AxisQuantCodec::forRows(Value number,
                             function_ref<void(Value, Value)> body) {
  int64_t numRows = inner / layout.count;
  v.loop(v.index(0), v.index(outer), 1, [&](Value slab) {
    Value first = v.multiply(v.add(v.multiply(slab, size), number), numRows);
    v.loop(v.index(0), v.index(numRows), 1, [&](Value i) {
      Value row = v.add(first, i);
      body(v.multiply(row, layout.count), v.multiply(row, layout.numBytes));
    });
  });
}

void AxisQuantCodec::encodeIndex(Value number) {
  ExtremeSearch none = ExtremeSearch::none(v, v.getWidth(inner));
  ExtremeSearch search = {v.loop(
      v.index(0), v.index(outer), 1, none.values,
      [&](Value slab, ValueRange carried) {
        Value first = v.multiply(v.add(v.multiply(slab, size), number), inner);
        ExtremeSearch before = {llvm::to_vector(carried)};
        return searchExtremes(v, numbers, first, inner, before).values;
      })};
  CodeRange range = buildRange(v, search.reduce(v), options);
  storeParam(v, range.minimum, buffers.storage[1], f32, number);
  storeParam(v, range.step, buffers.storage[2], f32, number);
  CodeScale scale = buildScale(v, range, options);
  forRows(number, [&](Value firstElement, Value firstByte) {
    packPlanes(v, layout, buffers.storage[0], firstByte, /*codeWidth=*/32,
               [&](Value offset, int64_t width) {
                 return loadCodes(v, numbers, v.add(firstElement, offset),
                                  width, scale, /*paired=*/true, options);
               });
  });
}

void AxisQuantCodec::decodeIndex(Value number) {
  CodeRange range = loadRange(number, /*width=*/0);
  forRows(number, [&](Value firstElement, Value firstByte) {
    unpackPlanes(v, layout, buffers.storage[0], firstByte, /*codeWidth=*/32,
                 isFastInPairs(numbers.element),
                 [&](Value offset, const Lanes &codes) {
                   storeCodeValues(v, numbers, v.add(firstElement, offset),
                                   codes, range);
                 });
  });
}

//===----------------------------------------------------------------------===//
// Ranges of columns
//===----------------------------------------------------------------------===//

CodeRange AxisQuantCodec::loadRange(Value column, int64_t width) {
  return {loadParam(v, buffers.storage[1], f32, column, width),
          loadParam(v, buffers.storage[2], f32, column, width)};
}

void AxisQuantCodec::buildColumnRanges() {
  int64_t width = v.getWidth(size);
  v.forPieces(0, size, width, [&](Value column) {
    ExtremeSearch search = {v.loop(
        v.index(0), v.index(outer), 1, ExtremeSearch::none(v, width).values,
        [&](Value row, ValueRange carried) {
          Lanes loaded =
              loadNumbers(v, numbers, v.add(v.multiply(row, size), column),
                          width, /*paired=*/false);
          ExtremeSearch before = {llvm::to_vector(carried)};
          return before.with(v, loaded.parts.front()).values;
        })};
    CodeRange range = buildRange(v, search.finish(v), options);
    storeParam(v, range.minimum, buffers.storage[1], f32, column);
    storeParam(v, range.step, buffers.storage[2], f32, column);
  });
}

void AxisQuantCodec::forColumns(
    function_ref<void(const PlaneSegment &, Value, int64_t)> body) {
  for (const PlaneSegment &segment : getPlaneSegments(layout)) {
    int64_t width = v.getWidth(segment.end - segment.begin);
    v.forPieces(segment.begin, segment.end, width,
                [&](Value byte) { body(segment, byte, width); });
  }
}

void AxisQuantCodec::encodeColumns(const PlaneSegment &segment, Value byte,
                                   int64_t width) {
  SmallVector<CodeScale> scales;
  for (int64_t plane = 0; plane < segment.planes; ++plane) {
    Value column = v.add(byte, plane * layout.numBytes);
    scales.push_back(buildScale(v, loadRange(column, width), options));
  }
  v.loop(v.index(0), v.index(outer), 1, [&](Value row) {
    Value first = v.add(v.multiply(row, size), byte);
    Value bytes = combinePlanes(v, layout, segment.planes, [&](int64_t plane) {
      return loadCodes(v, numbers, v.add(first, plane * layout.numBytes), width,
                       scales[plane], /*paired=*/false, options);
    });
    v.store(bytes, buffers.storage[0], v.getBuilder().getI8Type(),
            v.add(v.multiply(row, layout.numBytes), byte));
  });
}

void AxisQuantCodec::decodeColumns(const PlaneSegment &segment, Value byte,
                                   int64_t width) {
  SmallVector<CodeRange> ranges;
  for (int64_t plane = 0; plane < segment.planes; ++plane)
    ranges.push_back(loadRange(v.add(byte, plane * layout.numBytes), width));
  Type byteType = v.getBuilder().getI8Type();
  v.loop(v.index(0), v.index(outer), 1, [&](Value row) {
    Value first = v.add(v.multiply(row, size), byte);
    Value bytes =
        v.load(v.getVector(width, byteType), buffers.storage[0], byteType,
               v.add(v.multiply(row, layout.numBytes), byte));
    bytes = v.toWidth(bytes, 32);
    for (int64_t plane = 0; plane < segment.planes; ++plane)
      storeCodeValues(v, numbers, v.add(first, plane * layout.numBytes),
                      extractPlane(v, layout, plane, bytes, /*inPairs=*/false),
                      ranges[plane]);
  });
}

void AxisQuantCodec::encode(Value begin, Value end) {
  if (!isLast) {
    v.loop(begin, end, 1, [&](Value number) { encodeIndex(number); });
    return;
  }
  v.loop(begin, end, 1, [&](Value) {
    buildColumnRanges();
    forColumns([&](const PlaneSegment &segment, Value byte, int64_t width) {
      encodeColumns(segment, byte, width);
    });
  });
}

void AxisQuantCodec::decode(Value begin, Value end) {
  if (!isLast) {
    v.loop(begin, end, 1, [&](Value number) { decodeIndex(number); });
    return;
  }
  v.loop(begin, end, 1, [&](Value) {
    forColumns([&](const PlaneSegment &segment, Value byte, int64_t width) {
      decodeColumns(segment, byte, width);
    });
  });
}

namespace {
struct AxisQuantModel
    : VectorEncodingInterface::ExternalModel<AxisQuantModel, AxisQuantAttr> {
  void buildVectorEncode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    AxisQuantCodec(v, cast<AxisQuantAttr>(attr), type, buffers)
        .encode(begin, end);
  }
  void buildVectorDecode(Attribute attr, CodecVectors &v, RankedTensorType type,
                         const CodecBuffers &buffers, Value begin,
                         Value end) const {
    AxisQuantCodec(v, cast<AxisQuantAttr>(attr), type, buffers)
        .decode(begin, end);
  }
};
} // namespace

void mlir::act::attachAxisQuantCodecModel(MLIRContext *context) {
  AxisQuantAttr::attachInterface<AxisQuantModel>(*context);
}
