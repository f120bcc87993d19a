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

  /// The largest code.
  int64_t getLargest() const { return (int64_t{1} << bits) - 1; }
};

/// The ranges of the f32 `values` over `reduced` dimensions. Minimum and step
/// are numbers of the type `options.params`; the step of a range that holds a
/// NaN or an infinity is NaN.
CodeRange buildCodeRange(StablehloBuilder &b, Value values,
                         ArrayRef<int64_t> reduced, const CodeOptions &options);

/// The codes of `values`, as `ui8`. `noise` holds 32 random bits an element
/// and is null for rounding to the nearest.
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
