//===- Quantization.cpp - Integer codes for floating-point values
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Quantization.h"
#include "CodePacking.h"
#include "act/Dialect/Act/IR/DecodedRange.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

namespace {
using Comparison = StablehloBuilder::Comparison;

/// Rounding f32 numbers to a type they are stored in, on their bits: a pair of
/// conversions would be at the mercy of a compiler that may keep the excess
/// precision.
struct ParamRounding {
  ParamRounding(StablehloBuilder &b, Type params)
      : b(b), isExact(params.isF32()) {}

  /// Towards zero.
  Value truncate(Value x) const {
    return isExact ? x : fromBits(dropLow(toBits(x)), x);
  }
  /// Up; `x` is not negative.
  Value roundUp(Value x) const {
    if (isExact)
      return x;
    Value bits = toBits(x);
    return fromBits(dropLow(b.add(bits, b.splatLike(bits, lowBits))), x);
  }
  /// Down.
  Value roundDown(Value x) const {
    if (isExact)
      return x;
    Value bits = toBits(x);
    Value isNegative = b.compare(Comparison::LT, x, b.splatLike(x, 0.0));
    Value carry = b.select(isNegative, b.splatLike(bits, lowBits),
                           b.splatLike(bits, int64_t{0}));
    return fromBits(dropLow(b.add(bits, carry)), x);
  }

private:
  static constexpr int64_t lowBits = 0xFFFF; // of f32, absent from bf16

  Value toBits(Value x) const {
    return b.bitcastConvert(
        x, RankedTensorType::get(getShape(x), getUnsigned(b, 32)));
  }
  Value fromBits(Value bits, Value like) const {
    return b.bitcastConvert(bits, getTensorType(like));
  }
  Value dropLow(Value bits) const {
    return b.bitAnd(bits, b.splatLike(bits, int64_t{0xFFFF0000}));
  }

  StablehloBuilder &b;
  bool isExact;
};
} // namespace

/// Minimum and maximum over `dimensions` by one reduction of two results.
static std::pair<Value, Value> buildJointMinMax(StablehloBuilder &b,
                                                Value values,
                                                ArrayRef<int64_t> dimensions) {
  RankedTensorType type = getTensorType(values);
  Type element = type.getElementType();
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(i)))
      shape.push_back(size);
  auto resultType = RankedTensorType::get(shape, element);
  double infinity = std::numeric_limits<double>::infinity();

  OpBuilder &builder = b.getBuilder();
  Operation *reduce =
      b.create("reduce", {resultType, resultType},
               {values, values, b.scalar(element, infinity),
                b.scalar(element, -infinity)},
               builder.getNamedAttr("dimensions",
                                    builder.getDenseI64ArrayAttr(dimensions)),
               /*numRegions=*/1);
  OpBuilder::InsertionGuard guard(builder);
  auto scalar = RankedTensorType::get({}, element);
  Block *body = builder.createBlock(&reduce->getRegion(0), {},
                                    {scalar, scalar, scalar, scalar},
                                    SmallVector<Location>(4, b.getLoc()));
  Value minimum = b.minimum(body->getArgument(0), body->getArgument(2));
  Value maximum = b.maximum(body->getArgument(1), body->getArgument(3));
  b.create("return", {}, {minimum, maximum});
  return {reduce->getResult(0), reduce->getResult(1)};
}

std::pair<Value, Value> mlir::act::buildMinMax(StablehloBuilder &b,
                                               Value values,
                                               ArrayRef<int64_t> dimensions) {
  // XLA's CPU back end fuses a joint reduction with what computes the values,
  // where it would store them for two, and runs it faster; but over outer
  // dimensions, element by element, it is 10 to 50 times slower.
  int64_t last = getTensorType(values).getRank() - 1;
  if (llvm::is_contained(dimensions, last))
    return buildJointMinMax(b, values, dimensions);
  using Combiner = StablehloBuilder::Combiner;
  // There its minima and maxima pass over NaN; sums do not. Of the values as
  // they are, since it vectorizes nothing but that. Only a NaN differs from
  // itself; sums of numbers are none if both signs overflow.
  Value minimum = b.reduce(values, dimensions, Combiner::Minimum);
  Value maximum = b.reduce(values, dimensions, Combiner::Maximum);
  Value sum = b.reduce(values, dimensions, Combiner::Add);
  Value isNaN = b.compare(StablehloBuilder::Comparison::NE, sum, sum);
  return {minimum, b.select(isNaN, sum, maximum)};
}

SmallVector<int64_t> mlir::act::getOtherAxes(RankedTensorType type,
                                             int64_t axis) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != axis)
      others.push_back(i);
  return others;
}

/// The step that lets codes cover `width` from `minimum` up, or as much of it
/// as numbers of the original type cover.
static Value buildStep(StablehloBuilder &b, Value width, Value minimum,
                       const CodeOptions &options) {
  ParamRounding rounding(b, options.params);
  // Not a division by the constant, which XLA turns into this anyway.
  Value perStep =
      options.levels
          ? b.broadcastInDim(
                b.divide(b.splatLike(options.levels, 1.0), options.levels),
                getShape(minimum), {})
          : b.splatLike(minimum, 1.0 / options.getLargest());
  Value step = b.multiply(width, perStep);
  step = b.maximum(step, b.splatLike(step, 1e-30));
  step = rounding.roundUp(step);

  // The largest code must not decode to an infinity, nor may the product of
  // code and step overflow on the way.
  double largest = getLargestDecoded(options.original);
  double largestF32 = getLargestDecoded(b.getBuilder().getF32Type());
  Value room = b.minimum(b.subtract(b.splatLike(minimum, largest), minimum),
                         b.splatLike(minimum, largestF32));
  return b.minimum(step, rounding.truncate(b.multiply(room, perStep)));
}

/// The least minimum that is stored, an f32 like `minimum`.
static Value buildLowest(StablehloBuilder &b, Value minimum,
                         const CodeOptions &options) {
  ParamRounding rounding(b, options.params);
  double largest = getLargestDecoded(options.original);
  return b.negate(rounding.truncate(b.splatLike(minimum, largest)));
}

CodeRange mlir::act::buildCodeRange(StablehloBuilder &b, Value values,
                                    ArrayRef<int64_t> reduced,
                                    const CodeOptions &options) {
  auto [minimum, maximum] = buildMinMax(b, values, reduced);
  ParamRounding rounding(b, options.params);
  CodeRange range;
  range.minimum =
      b.maximum(rounding.roundDown(minimum), buildLowest(b, minimum, options));
  Value step =
      buildStep(b, b.subtract(maximum, range.minimum), range.minimum, options);

  // An infinity is caught by the width, a NaN as well.
  Value isFinite = b.isFinite(b.subtract(maximum, minimum));
  double nan = std::numeric_limits<double>::quiet_NaN();
  range.step = b.select(isFinite, step, b.splatLike(step, nan));

  for (int64_t i = 0, e = getTensorType(values).getRank(); i < e; ++i)
    if (!llvm::is_contained(reduced, i))
      range.kept.push_back(i);
  return range;
}

CodeRange mlir::act::buildGivenCodeRange(StablehloBuilder &b, Value running,
                                         int64_t axis,
                                         const CodeOptions &options) {
  int64_t size = getShape(running).back();
  auto getRow = [&](int64_t row) {
    return b.reshape(b.slice(running, {row, 0}, {row + 1, size}), {size});
  };
  Value width = getRow(0), minimum = getRow(1);
  CodeRange range;
  range.minimum = b.maximum(minimum, buildLowest(b, minimum, options));
  Value step = buildStep(b, width, range.minimum, options);
  double nan = std::numeric_limits<double>::quiet_NaN();
  range.step = b.select(b.isFinite(width), step, b.splatLike(step, nan));
  range.kept = {axis};
  return range;
}

Value mlir::act::buildCodes(StablehloBuilder &b, Value values,
                            const CodeRange &range, Value noise,
                            const CodeOptions &options) {
  SmallVector<int64_t> shape = getShape(values);
  // A quarter of everything: 1 / step would be denormal, hence perhaps zero,
  // for the largest steps.
  Value minimum = b.multiply(range.minimum, b.splatLike(range.minimum, 0.25));
  Value inverse = b.divide(b.splatLike(range.step, 4.0), range.step);
  Value distance = b.subtract(b.multiply(values, b.splatLike(values, 0.25)),
                              b.broadcastInDim(minimum, shape, range.kept));
  Value scaled =
      b.multiply(distance, b.broadcastInDim(inverse, shape, range.kept));
  auto bitsType = RankedTensorType::get(shape, getUnsigned(b, 32));
  if (noise) {
    // 23 bits as the mantissa of a number in [1, 2), less 3/2: u - 1/2.
    Value mantissa = b.shiftRightLogical(noise, b.splatLike(noise, int64_t{9}));
    Value one = b.bitOr(mantissa, b.splatLike(noise, int64_t{0x3F800000}));
    Value random = b.bitcastConvert(one, getTensorType(values));
    scaled = b.add(scaled, b.subtract(random, b.splatLike(random, 1.5)));
  }
  Value clamped = b.maximum(scaled, b.splatLike(scaled, 0.0));
  Value largest =
      options.levels
          ? b.broadcastInDim(options.levels, shape, {})
          : b.splatLike(scaled, static_cast<double>(options.getLargest()));
  clamped = b.minimum(clamped, largest);
  // Adding 2^23 rounds to the nearest integer and leaves it in the low bits: a
  // conversion to integers would have to define what a NaN becomes, at a cost.
  Value shifted = b.add(clamped, b.splatLike(clamped, 0x1p23));
  Value codes = b.bitcastConvert(shifted, bitsType);
  int64_t mask = options.levels ? 0x7FFFFF : options.getLargest();
  codes = b.bitAnd(codes, b.splatLike(codes, mask));
  return options.levels ? codes : b.convert(codes, getUnsigned(b, 8));
}

Value mlir::act::buildCodeValues(StablehloBuilder &b, Value codes,
                                 const CodeRange &range) {
  SmallVector<int64_t> shape = getShape(codes);
  Value minimum = b.broadcastInDim(range.minimum, shape, range.kept);
  Value step = b.broadcastInDim(range.step, shape, range.kept);
  Value numbers = b.convert(codes, b.getBuilder().getF32Type());
  return b.add(b.multiply(numbers, step), minimum);
}

Value mlir::act::buildNoise(StablehloBuilder &b, Value values, Value salt,
                            ArrayRef<int64_t> strides, int64_t offset) {
  constexpr uint32_t golden = 0x9E3779B1;
  auto type = RankedTensorType::get(getShape(values), getUnsigned(b, 32));
  Value start =
      b.add(salt, b.splatLike(salt, static_cast<int64_t>(static_cast<uint32_t>(
                                        offset * golden))));
  Value hash = b.broadcastInDim(start, type.getShape(), {});
  // A sum of iotas, one per dimension: a flat iota that is reshaped does not
  // split over devices.
  for (auto [dimension, stride] : llvm::enumerate(strides)) {
    uint32_t factor = static_cast<uint32_t>(stride) * golden;
    hash = b.add(hash, b.multiply(b.iota(type, dimension),
                                  b.splat(type, static_cast<int64_t>(factor))));
  }
  auto shiftXor = [&](Value x, int64_t amount) {
    return b.bitXor(x, b.shiftRightLogical(x, b.splat(type, amount)));
  };
  auto times = [&](Value x, int64_t factor) {
    return b.multiply(x, b.splat(type, factor));
  };
  // lowbias32 without its last step, which changes only low bits that the
  // rounding does not look at.
  hash = b.bitXor(hash, b.bitcastConvert(values, type));
  hash = times(shiftXor(hash, 16), 0x7FEB352D);
  return times(shiftXor(hash, 15), 0x846CA68B);
}
