//===- Quantization.h - Integer codes for floating-point values -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_QUANTIZATION_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_QUANTIZATION_H

#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include <utility>

namespace mlir::act {

/// Minimum and step, f32, of ranges that codes cover. The tensors have no
/// dimensions but `kept`, those of the values that were not reduced.
struct CodeRange {
  Value minimum;
  Value step;
  SmallVector<int64_t> kept;
};

struct CodeOptions {
  unsigned bits;
  Type params;   ///< type that minimum and step are stored in
  Type original; ///< type of the values that are saved
  /// The largest code, a rank-0 f32 below 2^23, if only the running step knows
  /// it; `bits` do not count then.
  Value levels = {};

  /// The largest code that is known from `bits`.
  int64_t getLargest() const { return (int64_t{1} << bits) - 1; }
};

/// Minimum and maximum of `values` over `dimensions`. If one of these is no
/// number, the maximum is none or infinite.
std::pair<Value, Value> buildMinMax(StablehloBuilder &b, Value values,
                                    ArrayRef<int64_t> dimensions);

/// All axes of `type` but `axis`.
SmallVector<int64_t> getOtherAxes(RankedTensorType type, int64_t axis);

/// The ranges of the f32 `values` over `reduced` dimensions. Minimum and step
/// are numbers of the type `options.params`; the step of a range that holds a
/// NaN or an infinity is NaN.
CodeRange buildCodeRange(StablehloBuilder &b, Value values,
                         ArrayRef<int64_t> reduced, const CodeOptions &options);

/// Ranges for the indices of `axis` with the widths and minima in the rows of
/// `running`, f32[2, N]. Where the width is no number, so is the step.
CodeRange buildGivenCodeRange(StablehloBuilder &b, Value running, int64_t axis,
                              const CodeOptions &options);

/// The codes of `values`, as `ui8`, or `ui32` with `levels`. `noise` holds 32
/// random bits an element and is null for rounding to the nearest.
Value buildCodes(StablehloBuilder &b, Value values, const CodeRange &range,
                 Value noise, const CodeOptions &options);

/// The values of `codes` as f32: the inverse of `buildCodes`.
Value buildCodeValues(StablehloBuilder &b, Value codes, const CodeRange &range);

/// 32 random bits for each of the f32 `values`, hashed from `salt`, the bits of
/// the value and its index `offset + sum(i_d * strides[d])`.
Value buildNoise(StablehloBuilder &b, Value values, Value salt,
                 ArrayRef<int64_t> strides, int64_t offset);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_QUANTIZATION_H
