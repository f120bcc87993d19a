//===- CodeRanges.cpp - Ranges that integer codes divide ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/CodeRanges.h"
#include "act/Dialect/Act/IR/DecodedRange.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

namespace {
/// Rounding f32 numbers to the type that parameters are stored in.
struct ParamRounding {
  ParamRounding(CodecVectors &v, Type params) : v(v), isExact(params.isF32()) {}

  /// Towards zero.
  Value truncate(Value x) const { return isExact ? x : dropLow(v.toBits(x)); }
  /// Up; `x` is not negative.
  Value roundUp(Value x) const {
    return isExact ? x : dropLow(v.add(v.toBits(x), lowBits));
  }
  /// Down.
  Value roundDown(Value x) const {
    if (isExact)
      return x;
    Value bits = v.toBits(x);
    Value isNegative =
        v.compare(arith::CmpFPredicate::OLT, x, v.floatLike(x, 0.0));
    Value carry =
        v.select(isNegative, v.intLike(bits, lowBits), v.intLike(bits, 0));
    return dropLow(v.add(bits, carry));
  }

private:
  static constexpr int64_t lowBits = 0xFFFF; // of f32, absent from bf16

  Value dropLow(Value bits) const {
    return v.fromBits(v.bitAnd(bits, 0xFFFF0000));
  }

  CodecVectors &v;
  bool isExact;
};
} // namespace

/// `value` rounded to `params` towards zero.
static float truncateTo(Type params, float value) {
  return params.isF32() ? value
                        : llvm::bit_cast<float>(
                              llvm::bit_cast<uint32_t>(value) & 0xFFFF0000u);
}

CodeRange mlir::act::buildRange(CodecVectors &v, const Extremes &extremes,
                                const CodeOptions &options) {
  // A zero becomes positive: which of two zeros is the smallest depends on the
  // width of vectors.
  Value smallest =
      v.add(extremes.smallest, v.floatLike(extremes.smallest, 0.0));
  Value largest = extremes.largest;
  ParamRounding rounding(v, options.params);
  float top = getLargestDecoded(options.original);
  float limit = truncateTo(options.params, top);
  auto constant = [&](double value) { return v.floatLike(smallest, value); };
  Value perStep = constant(1.0 / options.getLargest());

  CodeRange range;
  range.minimum = v.maximum(rounding.roundDown(smallest), constant(-limit));
  Value step = v.multiply(v.subtract(largest, range.minimum), perStep);
  step = rounding.roundUp(v.maximum(step, constant(1e-30)));
  // The largest code must not decode to an infinity, nor may the product of
  // code and step overflow on the way.
  Value room = v.minimum(v.subtract(constant(top), range.minimum),
                         constant(getLargestDecoded(v.getF32())));
  step = v.minimum(step, rounding.truncate(v.multiply(room, perStep)));

  Value width = v.toBits(v.subtract(largest, smallest));
  Value isFinite =
      v.compare(arith::CmpIPredicate::ult, v.bitAnd(width, 0x7FFFFFFF),
                v.intLike(width, 0x7F800000));
  range.step = v.select(isFinite, step,
                        constant(std::numeric_limits<double>::quiet_NaN()));
  return range;
}
