//===- GroupQuantEncoding.cpp - Codes of groups in StableHLO ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodePacking.h"
#include "EncodingModels.h"
#include "Quantization.h"
#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActDialect.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// Encodes and decodes one tensor type.
class GroupCodec {
public:
  GroupCodec(StablehloBuilder &b, GroupQuantAttr encoding,
             RankedTensorType type, Value levels = {})
      : b(b), rounding(encoding.getRounding()), type(type),
        layout(getGroupLayout(type.getShape(), encoding.getGroup(),
                              encoding.getAxis(), encoding.getMerge())),
        options{encoding.getBits(), encoding.getParams(), type.getElementType(),
                levels} {}

  SmallVector<Value> encode(Value tensor, Value salt) const;
  Value decode(ValueRange storage) const;
  Value roundTrip(Value tensor, Value salt) const;

private:
  int64_t getGroupAxis() const { return layout.outer.size(); }
  /// `[outer, numGroups, size, inner]`.
  SmallVector<int64_t> getGroupedShape(int64_t numGroups, int64_t size) const;
  /// What `perGroups(groups, firstElement)` returns for whole groups and for a
  /// short last one, joined.
  SmallVector<Value>
  forGroups(Value tensor,
            function_ref<SmallVector<Value>(Value, int64_t)> perGroups) const;
  /// Codes and ranges of groups.
  std::pair<Value, CodeRange> buildGroupCodes(Value values, Value salt,
                                              int64_t firstElement) const;
  SmallVector<Value> encodeGroups(Value values, Value salt,
                                  int64_t firstElement) const;
  Value buildGroupNoise(Value values, Value salt, int64_t firstElement) const;

  StablehloBuilder &b;
  Rounding rounding;
  RankedTensorType type;
  GroupLayout layout;
  CodeOptions options;
};
} // namespace

SmallVector<int64_t> GroupCodec::getGroupedShape(int64_t numGroups,
                                                 int64_t size) const {
  SmallVector<int64_t> shape = layout.outer;
  shape.append({numGroups, size});
  llvm::append_range(shape, layout.inner);
  return shape;
}

/// `firstElement` is where `values`, `[outer, groups, size, inner]`, start
/// along the axis that is grouped.
Value GroupCodec::buildGroupNoise(Value values, Value salt,
                                  int64_t firstElement) const {
  SmallVector<int64_t> shape = getShape(values);
  SmallVector<int64_t> strides(shape.size());
  int64_t axis = getGroupAxis(), stride = 1;
  for (int64_t i = shape.size() - 1; i > axis; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  strides[axis] = stride;
  int64_t axisStride = strides[axis + 1];
  stride = axisStride * layout.extent;
  for (int64_t i = axis - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return buildNoise(b, values, salt, strides, firstElement * axisStride);
}

std::pair<Value, CodeRange>
GroupCodec::buildGroupCodes(Value values, Value salt,
                            int64_t firstElement) const {
  CodeRange range = buildCodeRange(b, values, getGroupAxis() + 1, options);
  Value noise;
  if (rounding == Rounding::Stochastic)
    noise = buildGroupNoise(values, salt, firstElement);
  return {buildCodes(b, values, range, noise, options), range};
}

SmallVector<Value> GroupCodec::encodeGroups(Value values, Value salt,
                                            int64_t firstElement) const {
  int64_t axis = getGroupAxis();
  auto [codes, range] = buildGroupCodes(values, salt, firstElement);
  Value packed = packCodes(b, codes, axis + 1, options.bits,
                           getPackedBytes(layout.group, options.bits));

  SmallVector<int64_t> shape = getShape(values);
  shape[axis + 1] = 1;
  auto store = [&](Value param) {
    return b.convert(b.reshape(param, shape), options.params);
  };
  return {packed, store(range.minimum), store(range.step)};
}

SmallVector<Value> GroupCodec::forGroups(
    Value tensor,
    function_ref<SmallVector<Value>(Value, int64_t)> perGroups) const {
  int64_t axis = getGroupAxis();
  SmallVector<int64_t> flat = layout.outer;
  flat.push_back(layout.extent);
  llvm::append_range(flat, layout.inner);
  Value values =
      b.reshape(b.convert(tensor, b.getBuilder().getF32Type()), flat);

  // A short last group is encoded by itself: padding it to a full one would
  // copy the whole tensor.
  int64_t numFull = layout.extent / layout.group;
  int64_t end = numFull * layout.group;
  Value full = b.reshape(sliceAxis(b, values, axis, 0, end),
                         getGroupedShape(numFull, layout.group));
  SmallVector<Value> results = perGroups(full, 0);
  if (end == layout.extent)
    return results;
  Value rest = b.reshape(sliceAxis(b, values, axis, end, layout.extent),
                         getGroupedShape(1, layout.extent - end));
  for (auto [all, last] : llvm::zip_equal(results, perGroups(rest, end)))
    all = b.concatenate({all, last}, axis);
  return results;
}

SmallVector<Value> GroupCodec::encode(Value tensor, Value salt) const {
  return forGroups(tensor, [&](Value values, int64_t firstElement) {
    return encodeGroups(values, salt, firstElement);
  });
}

Value GroupCodec::roundTrip(Value tensor, Value salt) const {
  int64_t axis = getGroupAxis();
  SmallVector<Value> rounded =
      forGroups(tensor, [&](Value values, int64_t firstElement) {
        auto [codes, range] = buildGroupCodes(values, salt, firstElement);
        Value numbers = buildCodeValues(b, codes, range);
        // Groups of any size are joined along the axis that they divide.
        SmallVector<int64_t> shape = getShape(numbers);
        shape[axis] *= shape[axis + 1];
        shape.erase(shape.begin() + axis + 1);
        return SmallVector<Value>{b.reshape(numbers, shape)};
      });
  return b.convert(b.reshape(rounded.front(), type.getShape()),
                   type.getElementType());
}

Value GroupCodec::decode(ValueRange storage) const {
  int64_t axis = getGroupAxis();
  SmallVector<int64_t> rangeShape = getShape(storage[1]);
  rangeShape.erase(rangeShape.begin() + axis + 1);
  auto load = [&](Value param) {
    return b.convert(b.reshape(param, rangeShape), b.getBuilder().getF32Type());
  };
  CodeRange range{load(storage[1]), load(storage[2]), {}};
  // Planes and bytes take the place of the axis of the group. The reshape that
  // joins them comes last: the loop before it vectorises.
  for (int64_t i = 0, e = rangeShape.size(); i < e; ++i)
    range.kept.push_back(i <= axis ? i : i + 2);
  Value planes = unpackPlanes(b, storage[0], axis + 1, options.bits);
  Value values =
      joinPlanes(b, buildCodeValues(b, planes, range), axis + 1, layout.group);

  SmallVector<int64_t> flat = layout.outer;
  flat.push_back(layout.numGroups * layout.group);
  llvm::append_range(flat, layout.inner);
  values = sliceAxis(b, b.reshape(values, flat), axis, 0, layout.extent);
  values = b.reshape(values, type.getShape());
  return b.convert(values, type.getElementType());
}

namespace {
struct GroupQuantModel
    : StablehloEncodingInterface::ExternalModel<GroupQuantModel,
                                                GroupQuantAttr> {
  std::string getStablehloName(Attribute attr) const {
    return "group_quant" + std::to_string(cast<GroupQuantAttr>(attr).getBits());
  }
  SmallVector<Value> buildEncode(Attribute attr, StablehloBuilder &b,
                                 Value tensor, Value salt, Value) const {
    return GroupCodec(b, cast<GroupQuantAttr>(attr), getTensorType(tensor))
        .encode(tensor, salt);
  }
  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    return GroupCodec(b, cast<GroupQuantAttr>(attr), type).decode(storage);
  }
  Value buildRoundTrip(Attribute attr, StablehloBuilder &b, Value tensor,
                       Value levels, Value salt) const {
    return GroupCodec(b, cast<GroupQuantAttr>(attr), getTensorType(tensor),
                      levels)
        .roundTrip(tensor, salt);
  }
};
} // namespace

void mlir::act::attachGroupQuantModel(MLIRContext *context) {
  GroupQuantAttr::attachInterface<GroupQuantModel>(*context);
}
