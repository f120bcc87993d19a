//===- FloatCodes.cpp - Codes that are shorter floats ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/FloatCodes.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::act;

Value Float8::encode(CodecVectors &v, Value numbers) const {
  int64_t shift = getShift();
  Value bits = v.toBits(numbers);
  Value size = v.bitAnd(bits, 0x7FFFFFFF);
  Value isOdd = v.bitAnd(v.shiftRight(size, shift), 1);
  Value rounded = v.add(v.add(size, (int64_t{1} << (shift - 1)) - 1), isOdd);
  Value normal = v.subtract(v.shiftRight(rounded, shift),
                            v.intLike(bits, (f32Bias - bias) << mantissa));
  // Below the smallest normal number codes count multiples of a power of two,
  // the last place of the sum with 2^23 times that.
  int64_t magic = getPower(f32Mantissa + 1 - bias - mantissa);
  Value sum = v.add(v.fromBits(size), v.fromBits(v.intLike(bits, magic)));
  Value small = v.subtract(v.toBits(sum), v.intLike(bits, magic));
  Value isSmall = v.compare(arith::CmpIPredicate::ult, size,
                            v.intLike(bits, getPower(1 - bias)));
  Value code = v.select(isSmall, small, normal);
  Value isNaN =
      v.compare(arith::CmpIPredicate::ugt, size, v.intLike(bits, f32Infinity));
  code = v.select(isNaN, v.intLike(bits, firstSpecial | 1 << (mantissa - 1)),
                  code);
  Value sign = v.bitAnd(v.shiftRight(bits, 24), 0x80);
  return v.toWidth(v.bitOr(code, sign), 8);
}

Value Float8::decode(CodecVectors &v, Value codes) const {
  Value code = v.toWidth(codes, 32);
  Value size = v.bitAnd(code, 0x7F);
  Value shifted = v.shiftLeft(size, getShift());
  Value normal = v.add(shifted, (f32Bias - bias) << f32Mantissa);
  Value unit = v.fromBits(v.intLike(code, getPower(1 - bias - mantissa)));
  Value small = v.toBits(v.multiply(v.intToFloat(size), unit));
  Value isSmall = v.compare(arith::CmpIPredicate::ult, size,
                            v.intLike(code, int64_t{1} << mantissa));
  Value bits = v.select(isSmall, small, normal);
  Value isSpecial =
      v.compare(arith::CmpIPredicate::uge, size, v.intLike(code, firstSpecial));
  bits =
      v.select(isSpecial, v.bitOr(shifted, v.intLike(code, f32Infinity)), bits);
  Value sign = v.shiftLeft(v.bitAnd(code, 0x80), 24);
  return v.fromBits(v.bitOr(bits, sign));
}

double mlir::act::getLargestNumber(Type type) {
  return llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
      .convertToDouble();
}

Value mlir::act::buildFinite(CodecVectors &v, Value numbers) {
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  if (!getElementTypeOrSelf(numbers.getType()).isF64()) {
    Value size = v.bitAnd(v.toBits(numbers), 0x7FFFFFFF);
    Value isFinite =
        v.compare(arith::CmpIPredicate::ult, size, v.intLike(size, 0x7F800000));
    return v.select(isFinite, numbers, v.floatLike(numbers, nan));
  }
  // Rounded to odd, an f32 keeps on which side of a tie the number is.
  Value nearest = v.convertFloat(numbers, v.getF32());
  Value back = v.convertFloat(nearest, v.getBuilder().getF64Type());
  Value bits = v.toBits(nearest);
  Value size = v.absolute(numbers);
  Value isAbove = v.compare(arith::CmpFPredicate::OGT, v.absolute(back), size);
  Value towardsZero = v.select(isAbove, v.add(bits, -1), bits);
  Value isExact = v.compare(arith::CmpFPredicate::OEQ, back, numbers);
  Value odd = v.fromBits(
      v.select(isExact, bits, v.bitOr(towardsZero, v.intLike(bits, 1))));
  Value isFinite =
      v.compare(arith::CmpFPredicate::OLT, size, v.floatLike(size, infinity));
  return v.select(isFinite, odd, v.floatLike(odd, nan));
}

Value mlir::act::buildFloatScale(CodecVectors &v, Value largest, Type code) {
  // The inverse of the largest bf16 is denormal, hence perhaps zero.
  double target = std::min(getLargestNumber(code), 0x1p64);
  Value scale = v.multiply(largest, v.floatLike(largest, 1 / target));
  scale = v.maximum(v.floatLike(scale, 0x1p-126), scale);
  Value isZero =
      v.compare(arith::CmpFPredicate::OEQ, largest, v.floatLike(largest, 0.0));
  return v.select(isZero, v.floatLike(scale, 1.0), scale);
}
