//===- CodecPlanes.h - Several codes in a byte -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_CODECPLANES_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_CODECPLANES_H

#include "act/Conversion/KernelUtils/CodecVectors.h"

namespace mlir::act {

/// How `count` codes of `bits` bits lie in `numBytes` bytes: code i is in byte
/// `i mod numBytes` at bit `bits * (i div numBytes)`. There is room for more
/// codes than there are where a group is shorter than others.
struct PlaneLayout {
  int64_t count;
  unsigned bits;
  int64_t numBytes;
};

/// Bytes `[begin, end)`, each of which holds codes of the first `planes`
/// planes.
struct PlaneSegment {
  int64_t begin, end, planes;
};

/// The bytes of a layout: one or two segments.
SmallVector<PlaneSegment, 2> getPlaneSegments(const PlaneLayout &layout);

/// The bytes of `planes` planes, codes of plane p from `codesAt(p)`: integers
/// of any width. Where they have more bits set than those of a code, these are
/// beyond the eighth, or in the way of no other plane.
Value combinePlanes(CodecVectors &v, const PlaneLayout &layout, int64_t planes,
                    function_ref<Lanes(int64_t plane)> codesAt);

/// The codes of plane `plane` in `bytes`, which have been widened to integers
/// of which the low 8 bits count, or two bytes to one integer (`inPairs`).
Lanes extractPlane(CodecVectors &v, const PlaneLayout &layout, int64_t plane,
                   Value bytes, bool inPairs);

/// How many codes packPlanes and unpackPlanes take together, if these start at
/// multiples of that number, else 0.
int64_t getAlignedCodes(CodecVectors &v, const PlaneLayout &layout,
                        unsigned codeWidth);

/// Packs codes into bytes from place `firstByte` of `base` on. `codesAt`
/// returns `width` codes that start at an offset, which are computed in
/// `codeWidth` bits.
void packPlanes(CodecVectors &v, const PlaneLayout &layout, Value base,
                Value firstByte, unsigned codeWidth,
                function_ref<Lanes(Value offset, int64_t width)> codesAt);

/// The inverse: calls `codesTo` with codes and the offset of the first of them.
/// They are `codeWidth` bits wide each; `paired` asks for two vectors that take
/// turns where there are at least two codes, which need 32 bits.
void unpackPlanes(CodecVectors &v, const PlaneLayout &layout, Value base,
                  Value firstByte, unsigned codeWidth, bool paired,
                  function_ref<void(Value offset, const Lanes &codes)> codesTo);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_CODECPLANES_H
