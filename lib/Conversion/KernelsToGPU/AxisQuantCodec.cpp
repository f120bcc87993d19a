//===- AxisQuantCodec.cpp - Codes with a range per index on GPUs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "IntegerCodes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

namespace {
/// A tensor as if it had the shape `[outer, size, inner]` with ranges for the
/// middle axis. Codes are packed in rows of `last` elements along the last axis
/// of the tensor.
struct AxisShape {
  AxisShape(AxisQuantAttr encoding, RankedTensorType type)
      : element(type.getElementType()), last(type.getShape().back()),
        numBytes(getPackedBytes(last, encoding.getBits())),
        options{encoding.getBits(), Float32Type::get(type.getContext()),
                element, encoding.usesSalt()} {
    ArrayRef<int64_t> shape = type.getShape();
    int64_t axis = encoding.getAxis();
    outer = getProduct(shape.take_front(axis));
    size = shape[axis];
    inner = getProduct(shape.drop_front(axis + 1));
    isLast = axis == type.getRank() - 1;
  }

  int64_t getPlanes() const { return 8 / options.bits; }
  bool isFilled() const { return last == numBytes * getPlanes(); }
  /// Bytes of rows that threads next to each other work on where the axis is
  /// the last one: as many as fill a sector of memory with elements.
  int64_t getTileBytes() const { return 256 / element.getIntOrFloatBitWidth(); }
  GpuCodecSplit getSplit() const {
    if (isLast)
      return {int64_t(llvm::divideCeil(numBytes, getTileBytes())), codecThreads,
              1};
    bool isShort = outer * inner <= 1024;
    return {size, isShort ? warpThreads : codecThreads, 1};
  }

  Type element;
  int64_t last, numBytes;
  CodeOptions options;
  int64_t outer, size, inner;
  bool isLast;
};

class AxisQuantThreads {
public:
  AxisQuantThreads(CodecThreads &t, const AxisShape &shape,
                   const GpuCodecBuffers &buffers)
      : t(t), v(t.getVectors()), shape(shape), buffers(buffers) {}

  void encode(const GpuCodecPieces &pieces);
  void decode(const GpuCodecPieces &pieces);

private:
  // Ranges of whole rows: the axis is not the last one.
  void encodeIndex(Value number);
  void decodeIndex(Value number);
  /// Calls `body` with the first element of the row and the byte in the row, of
  /// every byte of an index.
  void forBytes(Value number, function_ref<void(Value row, Value byte)> body);

  // Ranges of columns: the axis is the last one.
  struct Tile {
    /// The byte of rows, limited to those there are, and whether it is one.
    Value byte, isIn;
    /// The first row and the distance of rows.
    Value row;
    int64_t rowStep;
  };
  Tile getTile(Value number);
  Value getColumn(const Tile &tile, int64_t plane);
  /// Null if all planes have a column there.
  Value isColumn(const Tile &tile, int64_t plane);
  void encodeTile(Value number);
  void decodeTile(Value number);
  SmallVector<ExtremePair> findExtremes(const Tile &tile);

  Value loadNumber(Value element) {
    return t.loadNumber(buffers.plain, shape.element, element);
  }
  /// The code of an element, shifted to its place in a byte; 0 unless `isIn`.
  Value getCode(const CodeScale &scale, Value element, int64_t plane,
                Value isIn);
  void storeByte(Value packed, Value row, Value byte);
  Value loadByte(Value row, Value byte);
  void storeCodeValue(Value packed, int64_t plane, const CodeRange &range,
                      Value element);

  CodecThreads &t;
  CodecVectors &v;
  const AxisShape &shape;
  const GpuCodecBuffers &buffers;
};
} // namespace

//===----------------------------------------------------------------------===//
// Elements and bytes
//===----------------------------------------------------------------------===//

Value AxisQuantThreads::getCode(const CodeScale &scale, Value element,
                                int64_t plane, Value isIn) {
  Value place;
  if (shape.options.hasNoise)
    place = CodeScale::getPlace(t, buffers.salt, element);
  Value code = scale.getLimitedCode(loadNumber(element), place);
  if (isIn)
    code = v.select(isIn, code, t.i32(0));
  return v.shiftLeft(code, plane * shape.options.bits);
}

void AxisQuantThreads::storeByte(Value packed, Value row, Value byte) {
  t.storeInteger(packed, buffers.storage[0], t.getBuilder().getI8Type(),
                 v.add(v.multiply(row, shape.numBytes), byte));
}

Value AxisQuantThreads::loadByte(Value row, Value byte) {
  return t.loadInteger(buffers.storage[0], t.getBuilder().getI8Type(),
                       v.add(v.multiply(row, shape.numBytes), byte));
}

void AxisQuantThreads::storeCodeValue(Value packed, int64_t plane,
                                      const CodeRange &range, Value element) {
  Value code = v.bitAnd(v.shiftRight(packed, plane * shape.options.bits),
                        shape.options.getLargest());
  t.storeNumber(getCodeValue(t, code, range), buffers.plain, shape.element,
                element);
}

//===----------------------------------------------------------------------===//
// Ranges of whole rows
//===----------------------------------------------------------------------===//

void AxisQuantThreads::forBytes(Value number,
                                function_ref<void(Value, Value)> body) {
  int64_t perSlab = shape.inner / shape.last;
  int64_t bytes = shape.outer * perSlab * shape.numBytes;
  t.loop(t.toOffset(t.getGroup().getRank()), t.offset(bytes),
         t.getGroup().getSize(), [&](Value i) {
           Value inIndex = t.divide(i, shape.numBytes);
           Value slab = t.divide(inIndex, perSlab);
           Value row = v.add(
               v.multiply(v.add(v.multiply(slab, shape.size), number), perSlab),
               t.remainder(inIndex, perSlab));
           body(row, t.remainder(i, shape.numBytes));
         });
}

void AxisQuantThreads::encodeIndex(Value number) {
  ExtremePair found = {llvm::to_vector<2>(t.loop(
      t.toOffset(t.getGroup().getRank()), t.offset(shape.outer * shape.inner),
      t.getGroup().getSize(), ExtremePair::none(t).values,
      [&](Value i, ValueRange carried) -> SmallVector<Value> {
        Value slab = t.divide(i, shape.inner);
        Value element =
            v.add(v.multiply(v.add(v.multiply(slab, shape.size), number),
                             shape.inner),
                  t.remainder(i, shape.inner));
        ExtremePair before = {llvm::to_vector<2>(carried)};
        return SmallVector<Value>(before.with(t, loadNumber(element)).values);
      }))};
  CodeRange range = buildRange(v, reduceGroup(t, found), shape.options);
  Value isFirst =
      v.compare(arith::CmpIPredicate::eq, t.getGroup().getRank(), t.i32(0));
  t.when(isFirst, [&] {
    storeRange(t, range, buffers.storage, shape.options.params, number);
  });
  CodeScale scale(t, range, shape.options);
  forBytes(number, [&](Value row, Value byte) {
    Value packed = t.i32(0);
    for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
      Value i = v.add(byte, plane * shape.numBytes), isIn;
      if (!shape.isFilled()) {
        isIn = t.isLess(i, t.offset(shape.last));
        i = t.smaller(i, t.offset(shape.last - 1));
      }
      Value element = v.add(v.multiply(row, shape.last), i);
      packed = v.bitOr(packed, getCode(scale, element, plane, isIn));
    }
    storeByte(packed, row, byte);
  });
}

void AxisQuantThreads::decodeIndex(Value number) {
  CodeRange range = loadRange(t, buffers.storage, shape.options.params, number);
  forBytes(number, [&](Value row, Value byte) {
    Value packed = loadByte(row, byte);
    for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
      Value i = v.add(byte, plane * shape.numBytes), isIn;
      if (!shape.isFilled())
        isIn = t.isLess(i, t.offset(shape.last));
      t.when(isIn, [&] {
        storeCodeValue(packed, plane, range,
                       v.add(v.multiply(row, shape.last), i));
      });
    }
  });
}

//===----------------------------------------------------------------------===//
// Ranges of columns
//===----------------------------------------------------------------------===//

AxisQuantThreads::Tile AxisQuantThreads::getTile(Value number) {
  int64_t width = shape.getTileBytes();
  Value rank = t.toOffset(t.getGroup().getRank());
  Value byte = v.add(v.multiply(number, width), t.remainder(rank, width));
  Tile tile{byte, {}, t.divide(rank, width), t.getGroup().getSize() / width};
  if (shape.numBytes % width != 0) {
    tile.isIn = t.isLess(byte, t.offset(shape.numBytes));
    tile.byte = t.smaller(byte, t.offset(shape.numBytes - 1));
  }
  return tile;
}

Value AxisQuantThreads::isColumn(const Tile &tile, int64_t plane) {
  if (shape.isFilled())
    return {};
  return t.isLess(v.add(tile.byte, plane * shape.numBytes),
                  t.offset(shape.last));
}

Value AxisQuantThreads::getColumn(const Tile &tile, int64_t plane) {
  Value column = v.add(tile.byte, plane * shape.numBytes);
  return shape.isFilled() ? column
                          : t.smaller(column, t.offset(shape.last - 1));
}

SmallVector<ExtremePair> AxisQuantThreads::findExtremes(const Tile &tile) {
  int64_t planes = shape.getPlanes();
  SmallVector<Value> none;
  for (int64_t plane = 0; plane < planes; ++plane)
    llvm::append_range(none, ExtremePair::none(t).values);
  SmallVector<Value> found = t.loop(
      tile.row, t.offset(shape.outer), tile.rowStep, none,
      [&](Value row, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t plane = 0; plane < planes; ++plane) {
          ExtremePair before = {{carried[2 * plane], carried[2 * plane + 1]}};
          Value element =
              v.add(v.multiply(row, shape.last), getColumn(tile, plane));
          llvm::append_range(next, before.with(t, loadNumber(element)).values);
        }
        return next;
      });
  SmallVector<ExtremePair> columns;
  for (int64_t plane = 0; plane < planes; ++plane)
    columns.push_back({{found[2 * plane], found[2 * plane + 1]}});
  return columns;
}

void AxisQuantThreads::encodeTile(Value number) {
  Tile tile = getTile(number);
  int64_t width = shape.getTileBytes(), rows = tile.rowStep;
  SmallVector<ExtremePair> columns = findExtremes(tile);
  // What the threads of a column found, [groups][planes][rows][width][2], f32.
  GpuKernelBuilder &kernel = t.getKernel();
  int64_t places = shape.getPlanes() * rows * width * 2;
  Value shared = kernel.allocateShared(t.getGroup().getCount() * places * 4);
  Value rank = t.getGroup().getRank();
  if (!t.getGroup().isBlock())
    shared = kernel.getAddress(shared, v.getF32(),
                               v.multiply(t.getGroup().getNumber(), places));
  t.getGroup().barrier();
  for (auto [plane, pair] : llvm::enumerate(columns))
    for (auto [i, value] : llvm::enumerate(pair.values))
      t.store(value, shared, v.getF32(),
              v.add(v.multiply(rank, 2), plane * rows * width * 2 + i));
  t.getGroup().barrier();
  SmallVector<CodeScale> scales;
  Value inTile = t.remainder(rank, width);
  for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
    ExtremePair column = {llvm::to_vector<2>(t.loop(
        t.i32(0), t.i32(rows), 1, ExtremePair::none(t).values,
        [&](Value row, ValueRange carried) -> SmallVector<Value> {
          Value at = v.add(v.multiply(v.add(v.multiply(row, width), inTile), 2),
                           plane * rows * width * 2);
          auto get = [&](int64_t i) {
            return t.load(v.getF32(), shared, v.getF32(), v.add(at, i));
          };
          return {t.minimum(carried[0], get(0)), t.maximum(carried[1], get(1))};
        }))};
    CodeRange range = buildRange(v, column.get(), shape.options);
    Value isFirst = v.compare(arith::CmpIPredicate::eq, tile.row, t.offset(0));
    for (Value condition : {tile.isIn, isColumn(tile, plane)})
      if (condition)
        isFirst = arith::AndIOp::create(t.getBuilder(), isFirst, condition);
    t.when(isFirst, [&] {
      storeRange(t, range, buffers.storage, shape.options.params,
                 getColumn(tile, plane));
    });
    scales.emplace_back(t, range, shape.options);
  }
  t.when(tile.isIn, [&] {
    t.loop(tile.row, t.offset(shape.outer), rows, [&](Value row) {
      Value packed = t.i32(0);
      for (auto [plane, scale] : llvm::enumerate(scales)) {
        Value element =
            v.add(v.multiply(row, shape.last), getColumn(tile, plane));
        packed = v.bitOr(packed,
                         getCode(scale, element, plane, isColumn(tile, plane)));
      }
      storeByte(packed, row, tile.byte);
    });
  });
}

void AxisQuantThreads::decodeTile(Value number) {
  Tile tile = getTile(number);
  SmallVector<CodeRange> ranges;
  for (int64_t plane = 0; plane < shape.getPlanes(); ++plane)
    ranges.push_back(loadRange(t, buffers.storage, shape.options.params,
                               getColumn(tile, plane)));
  t.when(tile.isIn, [&] {
    t.loop(tile.row, t.offset(shape.outer), tile.rowStep, [&](Value row) {
      Value packed = loadByte(row, tile.byte);
      for (int64_t plane = 0; plane < shape.getPlanes(); ++plane)
        t.when(isColumn(tile, plane), [&] {
          storeCodeValue(
              packed, plane, ranges[plane],
              v.add(v.multiply(row, shape.last), getColumn(tile, plane)));
        });
    });
  });
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

void AxisQuantThreads::encode(const GpuCodecPieces &pieces) {
  t.forPieces(pieces, [&](Value number) {
    shape.isLast ? encodeTile(number) : encodeIndex(number);
  });
}

void AxisQuantThreads::decode(const GpuCodecPieces &pieces) {
  t.forPieces(pieces, [&](Value number) {
    shape.isLast ? decodeTile(number) : decodeIndex(number);
  });
}

namespace {
struct AxisQuantModel
    : GpuEncodingInterface::ExternalModel<AxisQuantModel, AxisQuantAttr> {
  GpuCodecSplit getSplit(Attribute attr, RankedTensorType type) const {
    return AxisShape(cast<AxisQuantAttr>(attr), type).getSplit();
  }
  void buildGpuEncode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    AxisShape shape(cast<AxisQuantAttr>(attr), type);
    AxisQuantThreads(t, shape, buffers).encode(pieces);
  }
  void buildGpuDecode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    AxisShape shape(cast<AxisQuantAttr>(attr), type);
    AxisQuantThreads(t, shape, buffers).decode(pieces);
  }
};
} // namespace

void mlir::act::attachAxisQuantGpuModel(MLIRContext *context) {
  AxisQuantAttr::attachInterface<AxisQuantModel>(*context);
}
