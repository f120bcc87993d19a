//===- CodeRanges.h - Ranges that integer codes divide -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_CODERANGES_H
#define ACT_CONVERSION_KERNELUTILS_CODERANGES_H

#include "act/Conversion/KernelUtils/CodecVectors.h"

namespace mlir::act {

/// How integer codes represent floats.
struct CodeOptions {
  unsigned bits;
  Type params;   ///< type that minimum and step are stored in
  Type original; ///< type of the values that are saved
  bool hasNoise; ///< of stochastic rounding

  /// The largest code.
  int64_t getLargest() const { return (int64_t{1} << bits) - 1; }
};

/// The smallest and the largest of some numbers, as scalars or one of each per
/// lane. Where the numbers are not all finite one of the two is not.
struct Extremes {
  Value smallest, largest;
};

/// Minimum and step of ranges, f32, exactly as stored.
struct CodeRange {
  Value minimum, step;
};

/// The ranges of numbers with `extremes`, which are scalars or vectors.
CodeRange buildRange(CodecVectors &v, const Extremes &extremes,
                     const CodeOptions &options);

/// Factors of the hash that noise is made with: see docs/Encodings.md.
constexpr int64_t noisePlaceFactor = 0x9E3779B1;
constexpr int64_t noiseFirstFactor = 0x7FEB352D;
constexpr int64_t noiseSecondFactor = 0x846CA68B;

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_CODERANGES_H
