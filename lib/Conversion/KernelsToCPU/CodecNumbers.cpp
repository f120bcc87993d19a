//===- CodecNumbers.cpp - Codes of floating-point numbers -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arithmetic of docs/Encodings.md, rounding for rounding. Where it is
// written differently here the difference is by powers of two, which are exact.
//
//===----------------------------------------------------------------------===//

#include "CodecNumbers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Lanes mlir::act::loadNumbers(CodecVectors &v, const NumberBuffer &buffer,
                             Value first, int64_t width, bool paired) {
  ImplicitLocOpBuilder &b = v.getBuilder();
  Type element = buffer.element;
  auto loadVector = [&](int64_t count, Type type) {
    return v.load(v.getVector(count, type), buffer.base, element, first);
  };
  if (!element.isBF16()) {
    Value numbers = loadVector(width, element);
    Type f32 = v.getVector(width, v.getF32());
    if (element.isF64())
      numbers = arith::TruncFOp::create(b, f32, numbers);
    else if (element.isF16())
      numbers = arith::ExtFOp::create(b, f32, numbers);
    return {{numbers}};
  }
  // The bits of a bf16 are the upper half of those of an f32.
  if (paired && width > 1) {
    Value bits = loadVector(width / 2, v.getI32());
    return {{v.fromBits(v.shiftLeft(bits, 16)),
             v.fromBits(v.bitAnd(bits, 0xFFFF0000))}};
  }
  Value bits = v.toWidth(loadVector(width, v.getStored(element)), 32);
  return {{v.fromBits(v.shiftLeft(bits, 16))}};
}

/// The bits of f32 `numbers` with those in the upper half rounded to what a
/// bf16 is, to the nearest, ties to even. A quiet NaN stays one.
static Value roundToUpperHalf(CodecVectors &v, Value numbers) {
  Value bits = v.toBits(numbers);
  Value isOdd = v.bitAnd(v.shiftRight(bits, 16), 1);
  return v.add(v.add(bits, 0x7FFF), isOdd);
}

void mlir::act::storeNumbers(CodecVectors &v, const NumberBuffer &buffer,
                             Value first, const Lanes &numbers) {
  ImplicitLocOpBuilder &b = v.getBuilder();
  Type element = buffer.element;
  auto storeVector = [&](Value values) {
    if (buffer.streams)
      v.stream(values, buffer.base, element, first);
    else
      v.store(values, buffer.base, element, first);
  };
  if (numbers.parts.size() == 2) {
    Value even = v.shiftRight(roundToUpperHalf(v, numbers.parts[0]), 16);
    Value odd = v.bitAnd(roundToUpperHalf(v, numbers.parts[1]), 0xFFFF0000);
    storeVector(v.bitOr(even, odd));
    return;
  }
  Value values = numbers.parts.front();
  auto type = cast<VectorType>(values.getType());
  if (element.isBF16())
    values = v.toWidth(v.shiftRight(roundToUpperHalf(v, values), 16), 16);
  else if (element.isF16())
    values = arith::TruncFOp::create(b, type.clone(element), values);
  else if (element.isF64())
    values = arith::ExtFOp::create(b, type.clone(element), values);
  storeVector(values);
}

Value mlir::act::loadParam(CodecVectors &v, Value base, Type params,
                           Value offset, int64_t width) {
  Type stored = v.getStored(params);
  Type type = width == 0 ? stored : v.getVector(width, stored);
  Value param = v.load(type, base, params, offset);
  if (params.isBF16())
    param = v.fromBits(v.shiftLeft(v.toWidth(param, 32), 16));
  return param;
}

void mlir::act::storeParam(CodecVectors &v, Value param, Value base,
                           Type params, Value offset) {
  if (params.isBF16())
    param = v.toWidth(v.shiftRight(v.toBits(param), 16), 16);
  v.store(param, base, params, offset);
}

//===----------------------------------------------------------------------===//
// Extremes
//===----------------------------------------------------------------------===//

ExtremeSearch ExtremeSearch::none(CodecVectors &v, int64_t width) {
  Type type = v.getVector(width, v.getF32());
  double infinity = std::numeric_limits<double>::infinity();
  return {{v.floatConstant(type, infinity), v.floatConstant(type, -infinity),
           v.floatConstant(type, 0.0)}};
}

ExtremeSearch ExtremeSearch::with(CodecVectors &v, Value numbers) const {
  // Minimum and maximum skip a NaN. The third stays 0 as long as numbers are
  // finite.
  return {{v.minimum(numbers, values[0]), v.maximum(numbers, values[1]),
           v.fma(numbers, v.floatLike(numbers, 0.0), values[2])}};
}

Extremes ExtremeSearch::finish(CodecVectors &v) const {
  Value isFinite = v.compare(arith::CmpFPredicate::ORD, values[2], values[2]);
  double infinity = std::numeric_limits<double>::infinity();
  return {values[0],
          v.select(isFinite, values[1], v.floatLike(values[1], infinity))};
}

Extremes ExtremeSearch::reduce(CodecVectors &v) const {
  Extremes lanes = finish(v);
  return {v.reduce(lanes.smallest,
                   [&](Value x, Value y) { return v.minimum(x, y); }),
          v.reduce(lanes.largest,
                   [&](Value x, Value y) { return v.maximum(x, y); })};
}

ExtremeSearch mlir::act::searchExtremes(CodecVectors &v,
                                        const NumberBuffer &buffer, Value first,
                                        int64_t count,
                                        const ExtremeSearch &before) {
  int64_t width = v.getWidth(count);
  return {v.forPieces(
      0, count, width, before.values, [&](Value offset, ValueRange carried) {
        Lanes numbers = loadNumbers(v, buffer, v.add(first, offset), width,
                                    /*paired=*/false);
        ExtremeSearch sofar = {llvm::to_vector(carried)};
        return sofar.with(v, numbers.parts.front()).values;
      })};
}

/// Changes the bits of 16-bit floats so that as signed integers they are in the
/// order of the numbers, NaNs first and last; and back.
static Value toOrderedBits(CodecVectors &v, Value bits) {
  return v.bitXor(bits, v.bitAnd(v.shiftRightSigned(bits, 15), 0x7FFF));
}

/// The extremes of bf16 numbers, on their bits: twice as many of them fit in a
/// vector.
static Extremes buildExtremes16(CodecVectors &v, const NumberBuffer &buffer,
                                Value first, int64_t count) {
  int64_t width = v.getWidth(count, /*bits=*/16);
  VectorType type = v.getVector(width, v.getStored(buffer.element));
  SmallVector<Value> found = v.forPieces(
      0, count, width,
      {v.intConstant(type, 0x7FFF), v.intConstant(type, 0x8000)},
      [&](Value offset, ValueRange carried) {
        Value bits = toOrderedBits(
            v, v.load(type, buffer.base, buffer.element, v.add(first, offset)));
        return SmallVector<Value>{v.smallerSigned(carried[0], bits),
                                  v.largerSigned(carried[1], bits)};
      });
  Value smallest = v.reduce(
      found[0], [&](Value x, Value y) { return v.smallerSigned(x, y); });
  Value largest = v.reduce(
      found[1], [&](Value x, Value y) { return v.largerSigned(x, y); });
  auto toNumber = [&](Value bits) {
    return v.fromBits(v.shiftLeft(v.toWidth(toOrderedBits(v, bits), 32), 16));
  };
  return {toNumber(smallest), toNumber(largest)};
}

Extremes mlir::act::buildExtremes(CodecVectors &v, const NumberBuffer &buffer,
                                  Value first, int64_t count) {
  if (buffer.element.isBF16())
    return buildExtremes16(v, buffer, first, count);
  ExtremeSearch none = ExtremeSearch::none(v, v.getWidth(count));
  return searchExtremes(v, buffer, first, count, none).reduce(v);
}

CodeScale mlir::act::buildScale(CodecVectors &v, const CodeRange &range,
                                const CodeOptions &options) {
  // A quarter of everything: 1 / step would be denormal, hence perhaps zero,
  // for the largest steps.
  Value inverse = v.divide(v.floatLike(range.step, 4.0), range.step);
  if (options.hasNoise)
    inverse = v.multiply(inverse, v.floatLike(inverse, 0x1p23));
  return {v.multiply(range.minimum, v.floatLike(range.minimum, -0.25)),
          inverse};
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

/// What is hashed for the noise of the elements next to each other from
/// `firstElement` on, an index: one vector for each of `parts`, which take
/// turns.
static SmallVector<Value, 2> buildPlaces(CodecVectors &v, Value salt,
                                         Value firstElement, int64_t width,
                                         int64_t parts) {
  Value start =
      v.add(salt, v.multiply(v.toI32(firstElement), noisePlaceFactor));
  Value steps = v.multiply(v.iota(width), parts * noisePlaceFactor);
  Value first = v.add(v.splat(start, width), steps);
  SmallVector<Value, 2> places{first};
  for (int64_t part = 1; part < parts; ++part)
    places.push_back(v.add(first, part * noisePlaceFactor));
  return places;
}

/// (u - 1/2) * 2^23, where u is the noise of `numbers` at `places`.
static Value buildNoise(CodecVectors &v, Value numbers, Value places) {
  // lowbias32 without its last step.
  Value hash = v.bitXor(v.toBits(numbers), places);
  hash = v.multiply(v.bitXor(hash, v.shiftRight(hash, 16)), noiseFirstFactor);
  // The highest bit is changed, which as the factor is odd changes that bit of
  // the product: as a signed number it then is less by 2^31.
  Value mixed = v.bitXor(hash, v.shiftRight(hash, 15));
  mixed = v.bitXor(mixed, v.intLike(mixed, 0x80000000));
  hash = v.multiply(mixed, noiseSecondFactor);
  return v.intToFloat(v.shiftRightSigned(hash, 9));
}

/// The codes of `numbers` as i32, with bits beyond the 22nd besides.
static Value buildCodes(CodecVectors &v, Value numbers, const CodeScale &scale,
                        Value places, const CodeOptions &options) {
  Value distance = v.fma(numbers, v.floatLike(numbers, 0.25), scale.offset);
  double unit = options.hasNoise ? 0x1p23 : 1.0;
  Value scaled = options.hasNoise ? v.fma(distance, scale.inverse,
                                          buildNoise(v, numbers, places))
                                  : v.multiply(distance, scale.inverse);
  // A NaN becomes 0.
  Value clamped = v.maximum(scaled, v.floatLike(scaled, 0.0));
  clamped =
      v.minimum(clamped, v.floatLike(scaled, unit * options.getLargest()));
  // Adding 2^23 rounds to the nearest integer and leaves it in the low bits.
  Value magic = v.floatLike(scaled, 0x1p23);
  Value shifted = options.hasNoise
                      ? v.fma(clamped, v.floatLike(scaled, 0x1p-23), magic)
                      : v.add(clamped, magic);
  return v.toBits(shifted);
}

Lanes mlir::act::loadCodes(CodecVectors &v, const NumberBuffer &buffer,
                           Value first, int64_t width, const CodeScale &scale,
                           bool paired, const CodeOptions &options) {
  Lanes numbers = loadNumbers(v, buffer, first, width, paired);
  int64_t numParts = numbers.parts.size(), lanes = width / numParts;
  SmallVector<Value, 2> places(numParts);
  if (options.hasNoise)
    places = buildPlaces(v, buffer.salt, first, lanes, numParts);
  CodeScale wide = {v.toVector(scale.offset, lanes),
                    v.toVector(scale.inverse, lanes)};
  for (auto [part, place] : llvm::zip_equal(numbers.parts, places))
    part = buildCodes(v, part, wide, place, options);
  return numbers;
}

void mlir::act::storeCodeValues(CodecVectors &v, const NumberBuffer &buffer,
                                Value first, const Lanes &codes,
                                const CodeRange &range) {
  Lanes numbers;
  for (Value part : codes.parts) {
    int64_t lanes = cast<VectorType>(part.getType()).getDimSize(0);
    numbers.parts.push_back(v.fma(v.intToFloat(part),
                                  v.toVector(range.step, lanes),
                                  v.toVector(range.minimum, lanes)));
  }
  storeNumbers(v, buffer, first, numbers);
}
