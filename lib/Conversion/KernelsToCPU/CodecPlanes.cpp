//===- CodecPlanes.cpp - Several codes in a byte --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecPlanes.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

SmallVector<PlaneSegment, 2>
mlir::act::getPlaneSegments(const PlaneLayout &layout) {
  int64_t whole = layout.count / layout.numBytes;
  int64_t rest = layout.count % layout.numBytes;
  SmallVector<PlaneSegment, 2> segments;
  if (rest > 0)
    segments.push_back({0, rest, whole + 1});
  segments.push_back({rest, layout.numBytes, whole});
  return segments;
}

/// The bytes, in one vector, that are in lanes of `packed`.
static Value joinBytes(CodecVectors &v, const Lanes &packed) {
  if (packed.parts.size() == 1)
    return v.toWidth(packed.parts.front(), 8);
  return v.toWidth(v.bitOr(packed.parts[0], v.shiftLeft(packed.parts[1], 8)),
                   16);
}

Value mlir::act::combinePlanes(CodecVectors &v, const PlaneLayout &layout,
                               int64_t planes,
                               function_ref<Lanes(int64_t)> codesAt) {
  Lanes packed = codesAt(0);
  for (int64_t plane = 1; plane < planes; ++plane)
    for (auto [sum, part] : llvm::zip_equal(packed.parts, codesAt(plane).parts))
      sum = v.bitOr(sum, v.shiftLeft(part, plane * layout.bits));
  return joinBytes(v, packed);
}

Lanes mlir::act::extractPlane(CodecVectors &v, const PlaneLayout &layout,
                              int64_t plane, Value bytes, bool inPairs) {
  int64_t bitsInNumber = inPairs ? 16 : 8;
  Lanes codes;
  for (int64_t part = 0; part < (inPairs ? 2 : 1); ++part) {
    int64_t shift = plane * layout.bits + 8 * part;
    Value code = v.shiftRight(bytes, shift);
    if (shift + layout.bits < bitsInNumber)
      code = v.bitAnd(code, (int64_t{1} << layout.bits) - 1);
    codes.parts.push_back(code);
  }
  return codes;
}

//===----------------------------------------------------------------------===//
// Planes that are shorter than vectors
//===----------------------------------------------------------------------===//

/// How many whole planes one vector holds, next to each other as they are in
/// the tensor; 1 if they do not fit as a whole.
static int64_t getPlanesPerVector(CodecVectors &v, const PlaneLayout &layout,
                                  unsigned codeWidth) {
  int64_t planes = 8 / layout.bits;
  int64_t most = v.getWidth(INT64_MAX, codeWidth) / layout.numBytes;
  bool isWhole = layout.count == planes * layout.numBytes &&
                 llvm::isPowerOf2_64(layout.numBytes);
  return isWhole ? std::clamp<int64_t>(most, 1, planes) : 1;
}

/// What codes of planes from `plane` on, `lanes` of them in each of `parts`
/// vectors that take turns, are shifted by.
static SmallVector<int64_t> getShifts(const PlaneLayout &layout, int64_t plane,
                                      int64_t lanes, int64_t parts) {
  return llvm::map_to_vector(llvm::seq(lanes), [&](int64_t lane) {
    int64_t shift = plane + lane * parts / layout.numBytes;
    return shift * layout.bits;
  });
}

static void packShortPlanes(CodecVectors &v, const PlaneLayout &layout,
                            int64_t together, Value base, Value firstByte,
                            function_ref<Lanes(Value, int64_t)> codesAt) {
  Lanes packed;
  for (int64_t plane = 0; plane < 8 / layout.bits; plane += together) {
    Lanes codes =
        codesAt(v.index(plane * layout.numBytes), together * layout.numBytes);
    int64_t parts = codes.parts.size();
    for (Value &part : codes.parts)
      part = v.shiftLeft(
          part,
          getShifts(layout, plane, together * layout.numBytes / parts, parts));
    if (plane == 0)
      packed = codes;
    else
      for (auto [sum, part] : llvm::zip_equal(packed.parts, codes.parts))
        sum = v.bitOr(sum, part);
  }
  for (Value &part : packed.parts)
    part = v.fold(part, layout.numBytes / packed.parts.size(),
                  [&](Value x, Value y) { return v.bitOr(x, y); });
  v.store(joinBytes(v, packed), base, v.getBuilder().getI8Type(), firstByte);
}

static void
unpackShortPlanes(CodecVectors &v, const PlaneLayout &layout, int64_t together,
                  Value base, Value firstByte, unsigned codeWidth, bool inPairs,
                  function_ref<void(Value, const Lanes &)> codesTo) {
  Type byteType = v.getBuilder().getI8Type();
  int64_t parts = inPairs ? 2 : 1;
  int64_t numbers = layout.numBytes / parts, lanes = numbers * together;
  Type number = v.getBuilder().getIntegerType(8 * parts);
  Value bytes = v.load(v.getVector(numbers, number), base, byteType, firstByte);
  SmallVector<int64_t> repeated = llvm::map_to_vector(
      llvm::seq(lanes), [&](int64_t lane) { return lane % numbers; });
  bytes = v.toWidth(v.shuffle(bytes, bytes, repeated), codeWidth);
  for (int64_t plane = 0; plane < 8 / layout.bits; plane += together) {
    Lanes codes;
    for (int64_t part = 0; part < parts; ++part) {
      SmallVector<int64_t> shifts = getShifts(layout, plane, lanes, parts);
      for (int64_t &shift : shifts)
        shift += 8 * part;
      codes.parts.push_back(v.bitAnd(v.shiftRight(bytes, shifts),
                                     (int64_t{1} << layout.bits) - 1));
    }
    codesTo(v.index(plane * layout.numBytes), codes);
  }
}

//===----------------------------------------------------------------------===//
// All planes
//===----------------------------------------------------------------------===//

int64_t mlir::act::getAlignedCodes(CodecVectors &v, const PlaneLayout &layout,
                                   unsigned codeWidth) {
  int64_t together = getPlanesPerVector(v, layout, codeWidth);
  int64_t width = v.getWidth(together * layout.numBytes, codeWidth);
  bool isWhole = layout.count * layout.bits == 8 * layout.numBytes;
  return isWhole && together * layout.numBytes % width == 0 ? width : 0;
}

void mlir::act::packPlanes(CodecVectors &v, const PlaneLayout &layout,
                           Value base, Value firstByte, unsigned codeWidth,
                           function_ref<Lanes(Value, int64_t)> codesAt) {
  int64_t together = getPlanesPerVector(v, layout, codeWidth);
  if (together > 1)
    return packShortPlanes(v, layout, together, base, firstByte, codesAt);
  Type byteType = v.getBuilder().getI8Type();
  for (const PlaneSegment &segment : getPlaneSegments(layout)) {
    int64_t width = v.getWidth(segment.end - segment.begin, codeWidth);
    v.forPieces(segment.begin, segment.end, width, [&](Value byte) {
      Value bytes;
      if (segment.planes == 0)
        bytes = v.intConstant(v.getVector(width, byteType), 0);
      else
        bytes = combinePlanes(v, layout, segment.planes, [&](int64_t plane) {
          return codesAt(v.add(byte, plane * layout.numBytes), width);
        });
      v.store(bytes, base, byteType, v.add(firstByte, byte));
    });
  }
}

void mlir::act::unpackPlanes(CodecVectors &v, const PlaneLayout &layout,
                             Value base, Value firstByte, unsigned codeWidth,
                             bool paired,
                             function_ref<void(Value, const Lanes &)> codesTo) {
  int64_t together = getPlanesPerVector(v, layout, codeWidth);
  if (together > 1)
    return unpackShortPlanes(v, layout, together, base, firstByte, codeWidth,
                             paired && layout.numBytes > 1, codesTo);
  Type byteType = v.getBuilder().getI8Type();
  Type pairType = v.getBuilder().getIntegerType(16);
  for (const PlaneSegment &segment : getPlaneSegments(layout)) {
    if (segment.planes == 0)
      continue;
    int64_t width = v.getWidth(segment.end - segment.begin, codeWidth);
    bool inPairs = paired && width > 1;
    VectorType type = inPairs ? v.getVector(width / 2, pairType)
                              : v.getVector(width, byteType);
    v.forPieces(segment.begin, segment.end, width, [&](Value byte) {
      Value bytes = v.load(type, base, byteType, v.add(firstByte, byte));
      bytes = v.toWidth(bytes, codeWidth);
      for (int64_t plane = 0; plane < segment.planes; ++plane)
        codesTo(v.add(byte, plane * layout.numBytes),
                extractPlane(v, layout, plane, bytes, inPairs));
    });
  }
}
