//===- IntegerCodes.h - Integer codes of numbers on GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_INTEGERCODES_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_INTEGERCODES_H

#include "CodecThreads.h"
#include "act/Conversion/KernelUtils/CodeRanges.h"

namespace mlir::act {

/// The smallest and the largest numbers seen; NaN if one was.
struct ExtremePair {
  SmallVector<Value, 2> values;

  static ExtremePair none(CodecThreads &t);
  ExtremePair with(CodecThreads &t, Value number) const;
  Extremes get() const { return {values[0], values[1]}; }
};

/// Of all threads of a group.
Extremes reduceGroup(CodecThreads &t, const ExtremePair &extremes);
/// Of the `lanes` threads of an item.
Extremes reduceLanes(CodecThreads &t, const ExtremePair &extremes,
                     int64_t lanes);

/// What codes of a range are computed from. Codes are scaled to [0, 1) by
/// 2^-bits, so that saturation replaces the lower limit; half of the scale is
/// in `inverse`, unless numbers are so large that it would be denormal.
class CodeScale {
public:
  CodeScale(CodecThreads &t, const CodeRange &range,
            const CodeOptions &options);

  /// The code of `number`, f32, at `place` (see getPlace), as bits of an f32 of
  /// 2^23 and the code. It may be one too large where rounding made it so:
  /// 2^bits.
  Value getCode(Value number, Value place) const;
  /// The same within the limit and without the 2^23.
  Value getLimitedCode(Value number, Value place) const;
  /// What the noise of the element at `offset` starts from, i32.
  static Value getPlace(CodecThreads &t, Value salt, Value offset);

private:
  Value getScaled(Value number, Value place) const;
  Value toCode(Value scaled) const;

  CodecThreads &t;
  CodeOptions options;
  Value quarter, offset, inverse;
};

/// What `code` stands for, an integer below 2^bits; f32.
Value getCodeValue(CodecThreads &t, Value code, const CodeRange &range);

/// Parameters of ranges as they are stored.
void storeRange(CodecThreads &t, const CodeRange &range,
                ArrayRef<Value> storage, Type params, Value offset);
CodeRange loadRange(CodecThreads &t, ArrayRef<Value> storage, Type params,
                    Value offset);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_INTEGERCODES_H
