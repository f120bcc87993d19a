//===- CodePacking.cpp - Several codes in a byte ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodePacking.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

Value mlir::act::sliceAxis(StablehloBuilder &b, Value value, int64_t axis,
                           int64_t begin, int64_t end) {
  SmallVector<int64_t> limits = getShape(value);
  if (begin == 0 && end == limits[axis])
    return value;
  SmallVector<int64_t> starts(limits.size(), 0);
  starts[axis] = begin;
  limits[axis] = end;
  return b.slice(value, starts, limits);
}

Value mlir::act::padAxis(StablehloBuilder &b, Value value, int64_t axis,
                         int64_t size) {
  RankedTensorType type = getTensorType(value);
  if (type.getDimSize(axis) == size)
    return value;
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
  high[axis] = size - type.getDimSize(axis);
  return b.pad(value, b.scalar(type.getElementType(), 0), low, high);
}

Value mlir::act::packCodes(StablehloBuilder &b, Value codes, int64_t axis,
                           unsigned bits, int64_t numBytes) {
  int64_t count = getTensorType(codes).getDimSize(axis);
  // The planes are slices, not an axis of their own: XLA turns this into one
  // loop that reads every code once, without a buffer of codes.
  Value packed;
  for (int64_t plane = 0; plane * numBytes < count; ++plane) {
    int64_t begin = plane * numBytes;
    int64_t end = std::min(begin + numBytes, count);
    Value part =
        padAxis(b, sliceAxis(b, codes, axis, begin, end), axis, numBytes);
    if (plane > 0)
      part = b.shiftLeft(part,
                         b.splatLike(part, static_cast<int64_t>(plane * bits)));
    packed = packed ? b.bitOr(packed, part) : part;
  }
  return packed;
}

Value mlir::act::unpackPlanes(StablehloBuilder &b, Value bytes, int64_t axis,
                              unsigned bits) {
  SmallVector<int64_t> shape = getShape(bytes);
  int64_t planes = 8 / bits;
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0, e = shape.size(); i < e; ++i)
    dimensions.push_back(i < axis ? i : i + 1);
  shape.insert(shape.begin() + axis, planes);
  if (planes == 1)
    return b.reshape(bytes, shape);

  // In ui8: wider codes would be a full-size buffer where XLA hands what
  // follows to a library.
  Value spread = b.broadcastInDim(bytes, shape, dimensions);
  Value shift = b.iota(getTensorType(spread), axis);
  shift = b.multiply(shift, b.splatLike(shift, static_cast<int64_t>(bits)));
  Value codes = b.shiftRightLogical(spread, shift);
  return b.bitAnd(codes, b.splatLike(codes, (int64_t{1} << bits) - 1));
}

Value mlir::act::joinPlanes(StablehloBuilder &b, Value planes, int64_t axis,
                            int64_t count) {
  SmallVector<int64_t> shape = getShape(planes);
  shape[axis] *= shape[axis + 1];
  shape.erase(shape.begin() + axis + 1);
  return sliceAxis(b, b.reshape(planes, shape), axis, 0, count);
}
