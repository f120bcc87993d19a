//===- CodePacking.h - Several codes in a byte -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODEPACKING_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODEPACKING_H

#include "act/Dialect/StablehloShell/StablehloBuilder.h"

namespace mlir::act {

inline RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

inline SmallVector<int64_t> getShape(Value value) {
  return llvm::to_vector(getTensorType(value).getShape());
}

inline IntegerType getUnsigned(StablehloBuilder &b, unsigned width) {
  return b.getBuilder().getIntegerType(width, /*isSigned=*/false);
}

/// `[begin, end)` of `value` along `axis`; nothing is built for all of it.
Value sliceAxis(StablehloBuilder &b, Value value, int64_t axis, int64_t begin,
                int64_t end);

/// `value` followed by zeros along `axis`, `size` elements in all.
Value padAxis(StablehloBuilder &b, Value value, int64_t axis, int64_t size);

/// Packs `ui8` `codes` below `2^bits` along `axis` into `numBytes` bytes: code
/// `i` goes to byte `i mod numBytes`, bit `bits * (i div numBytes)`.
Value packCodes(StablehloBuilder &b, Value codes, int64_t axis, unsigned bits,
                int64_t numBytes);

/// The codes in `bytes` as `ui8`, with an axis of planes before `axis`: code
/// `i` is at `[i div numBytes, i mod numBytes]`.
Value unpackPlanes(StablehloBuilder &b, Value bytes, int64_t axis,
                   unsigned bits);

/// The inverse of splitting into planes: the axes `axis` and `axis + 1` become
/// one of `count` elements.
Value joinPlanes(StablehloBuilder &b, Value planes, int64_t axis,
                 int64_t count);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODEPACKING_H
