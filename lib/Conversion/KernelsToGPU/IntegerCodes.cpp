//===- IntegerCodes.cpp - Integer codes of numbers on GPUs ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of docs/Encodings.md, rounding for rounding, in the fewest
// instructions of a GPU. Where it is written differently here the difference is
// by powers of two, which are exact.
//
//===----------------------------------------------------------------------===//

#include "IntegerCodes.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

ExtremePair ExtremePair::none(CodecThreads &t) {
  double infinity = std::numeric_limits<double>::infinity();
  return {{t.f32(infinity), t.f32(-infinity)}};
}

ExtremePair ExtremePair::with(CodecThreads &t, Value number) const {
  return {{t.minimum(values[0], number), t.maximum(values[1], number)}};
}

Extremes mlir::act::reduceGroup(CodecThreads &t, const ExtremePair &extremes) {
  SmallVector<Value> found = t.getGroup().reduce(
      extremes.values, [&](unsigned number, Value left, Value right) {
        return number == 0 ? t.minimum(left, right) : t.maximum(left, right);
      });
  return {found[0], found[1]};
}

Extremes mlir::act::reduceLanes(CodecThreads &t, const ExtremePair &extremes,
                                int64_t lanes) {
  return {t.reduceLanes(extremes.values[0], lanes,
                        [&](Value x, Value y) { return t.minimum(x, y); }),
          t.reduceLanes(extremes.values[1], lanes,
                        [&](Value x, Value y) { return t.maximum(x, y); })};
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

CodeScale::CodeScale(CodecThreads &t, const CodeRange &range,
                     const CodeOptions &options)
    : t(t), options(options) {
  CodecVectors &v = t.getVectors();
  // 4 / step, which is a normal number: the reciprocal of a quarter, exactly.
  Value reciprocal = v.divide(t.f32(1.0), v.multiply(range.step, t.f32(0.25)));
  double unit = 1.0 / static_cast<double>(int64_t{1} << options.bits);
  Value isLarge = v.compare(arith::CmpFPredicate::OGT, range.step, t.f32(1.0));
  quarter = v.select(isLarge, t.f32(0.25 * unit), t.f32(0.25));
  inverse = v.multiply(reciprocal, v.select(isLarge, t.f32(1.0), t.f32(unit)));
  // -minimum * quarter
  Value negated = v.multiply(range.minimum, t.f32(-1.0));
  offset = v.multiply(negated, quarter);
}

Value CodeScale::getPlace(CodecThreads &t, Value salt, Value offset) {
  CodecVectors &v = t.getVectors();
  return v.add(salt, v.multiply(t.toI32(offset), noisePlaceFactor));
}

/// `x` shifted right, by the upper half of a product: integer operations are
/// what bounds the rate, and products run beside them.
static Value shiftByProduct(CodecThreads &t, Value x, int64_t amount) {
  ImplicitLocOpBuilder &b = t.getBuilder();
  return LLVM::CallIntrinsicOp::create(
             b, x.getType(), b.getStringAttr("llvm.nvvm.mulhi.ui"),
             ValueRange{x, t.i32(int64_t{1} << (32 - amount))})
      .getResult(0);
}

Value CodeScale::getScaled(Value number, Value place) const {
  CodecVectors &v = t.getVectors();
  Value distance = t.fma(number, quarter, offset);
  if (!options.hasNoise)
    return t.saturatedFma(distance, inverse, t.f32(0.0));
  Value hash = v.bitXor(v.toBits(number), place);
  hash =
      v.multiply(v.bitXor(hash, shiftByProduct(t, hash, 16)), noiseFirstFactor);
  hash = v.multiply(v.bitXor(hash, shiftByProduct(t, hash, 15)),
                    noiseSecondFactor);
  // 23 bits of the hash as mantissa of a number in [1, 2) times the scale: the
  // shift brings in the exponent.
  Value exponent = t.i32(127 - static_cast<int64_t>(options.bits));
  Value noise = v.fromBits(t.funnelRight(exponent, hash, 9));
  double unit = 1.0 / static_cast<double>(int64_t{1} << options.bits);
  noise = v.add(noise, t.f32(-1.5 * unit));
  return t.saturatedFma(distance, inverse, noise);
}

Value CodeScale::toCode(Value scaled) const {
  // The sum with 2^23 is rounded to the nearest integer, which is in the low
  // bits.
  double levels = static_cast<double>(int64_t{1} << options.bits);
  return t.getVectors().toBits(t.fma(scaled, t.f32(levels), t.f32(0x1p23)));
}

Value CodeScale::getCode(Value number, Value place) const {
  return toCode(getScaled(number, place));
}

Value CodeScale::getLimitedCode(Value number, Value place) const {
  double levels = static_cast<double>(int64_t{1} << options.bits);
  Value limit = t.f32(static_cast<double>(options.getLargest()) / levels);
  Value code = toCode(t.minimum(getScaled(number, place), limit));
  return t.getVectors().bitAnd(code, options.getLargest());
}

Value mlir::act::getCodeValue(CodecThreads &t, Value code,
                              const CodeRange &range) {
  return t.fma(t.toFloat(code), range.step, range.minimum);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

void mlir::act::storeRange(CodecThreads &t, const CodeRange &range,
                           ArrayRef<Value> storage, Type params, Value offset) {
  CodecVectors &v = t.getVectors();
  auto storeParam = [&](Value param, Value base) {
    // What is lost is zero.
    if (params.isBF16())
      param = v.toWidth(v.shiftRight(v.toBits(param), 16), 16);
    t.store(param, base, params, offset);
  };
  storeParam(range.minimum, storage[1]);
  storeParam(range.step, storage[2]);
}

CodeRange mlir::act::loadRange(CodecThreads &t, ArrayRef<Value> storage,
                               Type params, Value offset) {
  return {t.loadNumber(storage[1], params, offset),
          t.loadNumber(storage[2], params, offset)};
}
