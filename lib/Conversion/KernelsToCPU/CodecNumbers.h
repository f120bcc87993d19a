//===- CodecNumbers.h - Codes of floating-point numbers -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_CODECNUMBERS_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_CODECNUMBERS_H

#include "act/Conversion/KernelUtils/CodeRanges.h"

namespace mlir::act {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// A tensor of floats that is encoded or decoded.
struct NumberBuffer {
  Value base;
  Type element;
  /// Of the noise of codes, i32; may be null without.
  Value salt;
  /// Elements are stored around the caches; their places are aligned for it.
  bool streams = false;
};

/// `width` elements from `first` on as f32. `paired` allows vectors that take
/// turns, where that is faster.
Lanes loadNumbers(CodecVectors &v, const NumberBuffer &buffer, Value first,
                  int64_t width, bool paired);

/// Parameters of ranges, stored as elements of type `params`, as f32: `width`
/// of them, or a scalar for 0.
Value loadParam(CodecVectors &v, Value base, Type params, Value offset,
                int64_t width);
/// The inverse; what is lost is zero.
void storeParam(CodecVectors &v, Value param, Value base, Type params,
                Value offset);

/// Rounds f32 numbers to elements from `first` on.
void storeNumbers(CodecVectors &v, const NumberBuffer &buffer, Value first,
                  const Lanes &numbers);

/// True if storeNumbers and loadNumbers are fastest in pairs.
inline bool isFastInPairs(Type element) { return element.isBF16(); }

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

/// What extremes are found with: vectors of the smallest and the largest of
/// some numbers, and of 0, or NaN if one of them is not finite.
struct ExtremeSearch {
  SmallVector<Value> values;

  /// Of no numbers: `width` lanes.
  static ExtremeSearch none(CodecVectors &v, int64_t width);
  /// Together with `numbers`.
  ExtremeSearch with(CodecVectors &v, Value numbers) const;
  /// One of each per lane.
  Extremes finish(CodecVectors &v) const;
  /// Of all lanes, as scalars.
  Extremes reduce(CodecVectors &v) const;
};

/// Looks at `count` elements from `first` on, in as many lanes as
/// `getWidth(count)`.
ExtremeSearch searchExtremes(CodecVectors &v, const NumberBuffer &buffer,
                             Value first, int64_t count,
                             const ExtremeSearch &before);

/// The extremes of `count` elements from `first` on, as scalars.
Extremes buildExtremes(CodecVectors &v, const NumberBuffer &buffer, Value first,
                       int64_t count);

/// What codes are computed from: a quarter of the minimum with its sign
/// changed, and 4 / step, for stochastic rounding times 2^23.
struct CodeScale {
  Value offset, inverse;
};
CodeScale buildScale(CodecVectors &v, const CodeRange &range,
                     const CodeOptions &options);

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// The codes of `width` elements from `first` on, i32 with bits beyond the 22nd
/// besides. `scale` is of vectors, or of
/// scalars for one that all have in common. `paired` is as for loadNumbers.
Lanes loadCodes(CodecVectors &v, const NumberBuffer &buffer, Value first,
                int64_t width, const CodeScale &scale, bool paired,
                const CodeOptions &options);

/// Stores the numbers that `codes` stand for as elements from `first` on.
/// `range` is of vectors, or of scalars.
void storeCodeValues(CodecVectors &v, const NumberBuffer &buffer, Value first,
                     const Lanes &codes, const CodeRange &range);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_CODECNUMBERS_H
