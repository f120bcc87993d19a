//===- FloatEncoding.cpp - Shorter floating-point types in StableHLO
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodePacking.h"
#include "EncodingModels.h"
#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "llvm/ADT/APFloat.h"
#include <algorithm>
#include <limits>

using namespace mlir;
using namespace mlir::act;

static double getLargest(Type type) {
  return llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics())
      .convertToDouble();
}

/// Clamps `values` to the finite numbers of `type`; a NaN stays one.
static Value saturate(StablehloBuilder &b, Value values, Type type) {
  double largest = getLargest(type);
  Value low = b.maximum(values, b.splatLike(values, -largest));
  return b.minimum(low, b.splatLike(values, largest));
}

/// Rounds `values`, element by element. What is not finite becomes NaN.
static Value encodeUnscaled(StablehloBuilder &b, Value values, Type type) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  Value finite = b.select(b.isFinite(values), saturate(b, values, type),
                          b.splatLike(values, nan));
  return b.convert(finite, type);
}

/// Codes and scales of `values`, f32 groups `[outer, groups, size]`, the codes
/// padded to `group` elements.
static std::pair<Value, Value> encodeGroups(StablehloBuilder &b, Value values,
                                            Type type, int64_t group) {
  SmallVector<int64_t> shape = getShape(values);
  int64_t axis = shape.size() - 1;
  Value largest =
      b.reduce(b.abs(values), axis, StablehloBuilder::Combiner::Maximum);
  // The inverse of the largest bf16 is denormal, hence perhaps zero.
  double target = std::min(getLargest(type), 0x1p64);
  Value scale = b.multiply(largest, b.splatLike(largest, 1 / target));
  scale = b.maximum(scale, b.splatLike(scale, 0x1p-126));
  Value isZero = b.compare(StablehloBuilder::Comparison::EQ, largest,
                           b.splatLike(largest, 0.0));
  scale = b.select(isZero, b.splatLike(scale, 1.0), scale);

  SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, axis));
  // Not x / scale, which XLA rewrites like this or not, depending on the shape.
  Value inverse = b.divide(b.splatLike(scale, 1.0), scale);
  Value scaled = b.multiply(values, b.broadcastInDim(inverse, shape, kept));
  Value codes =
      b.convert(padAxis(b, saturate(b, scaled, type), axis, group), type);
  shape[axis] = 1;
  return {codes, b.reshape(scale, shape)};
}

/// Codes and scales of `tensor`.
static SmallVector<Value> encodeScaled(StablehloBuilder &b, Value tensor,
                                       Type type, const GroupLayout &layout) {
  int64_t axis = layout.outer.size();
  int64_t numFull = layout.extent / layout.group;
  int64_t end = numFull * layout.group;
  auto encodePart = [&](int64_t begin, int64_t end, int64_t numGroups) {
    SmallVector<int64_t> shape = layout.outer;
    shape.append({numGroups, (end - begin) / numGroups});
    Value part = b.reshape(sliceAxis(b, tensor, axis, begin, end), shape);
    return encodeGroups(b, part, type, layout.group);
  };
  auto [codes, scale] = encodePart(0, end, numFull);
  if (end == layout.extent)
    return {codes, scale};
  auto [restCodes, restScale] = encodePart(end, layout.extent, 1);
  return {b.concatenate({codes, restCodes}, axis),
          b.concatenate({scale, restScale}, axis)};
}

namespace {
struct FloatCodeModel
    : StablehloEncodingInterface::ExternalModel<FloatCodeModel, FloatCodeAttr> {
  std::string getStablehloName(Attribute attr) const {
    std::string name;
    llvm::raw_string_ostream(name) << cast<FloatCodeAttr>(attr).getType();
    return name;
  }

  SmallVector<Value> buildEncode(Attribute attr, StablehloBuilder &b,
                                 Value tensor, Value, Value) const {
    auto encoding = cast<FloatCodeAttr>(attr);
    if (encoding.getGroup() == 0)
      return {encodeUnscaled(b, tensor, encoding.getType())};
    GroupLayout layout = getGroupLayout(getShape(tensor), encoding.getGroup(),
                                        /*axis=*/-1, /*merge=*/1);
    Value values = b.convert(tensor, b.getBuilder().getF32Type());
    return encodeScaled(b, values, encoding.getType(), layout);
  }

  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    auto encoding = cast<FloatCodeAttr>(attr);
    if (encoding.getGroup() == 0)
      return b.convert(storage[0], type.getElementType());
    Value codes = b.convert(storage[0], b.getBuilder().getF32Type());
    SmallVector<int64_t> shape = getShape(codes);
    int64_t axis = shape.size() - 1;
    SmallVector<int64_t> kept = llvm::to_vector(llvm::seq<int64_t>(0, axis));
    Value scale = b.reshape(storage[1], ArrayRef<int64_t>(shape).drop_back());
    Value values = b.multiply(codes, b.broadcastInDim(scale, shape, kept));
    int64_t padded = shape[axis - 1] * shape[axis];
    shape.pop_back();
    shape.back() = padded;
    values = sliceAxis(b, b.reshape(values, shape), axis - 1, 0,
                       type.getShape().back());
    return b.convert(values, type.getElementType());
  }
};
} // namespace

void mlir::act::attachFloatModel(MLIRContext *context) {
  FloatCodeAttr::attachInterface<FloatCodeModel>(*context);
}
