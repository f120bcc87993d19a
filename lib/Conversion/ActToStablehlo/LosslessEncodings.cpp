//===- LosslessEncodings.cpp - Raw, mask and narrow in StableHLO ----------===//
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

using namespace mlir;
using namespace mlir::act;

/// Packs `tensor`, of integers below `2^bits`, along its last `merge` axes, all
/// of them or `group` elements at a time.
static Value pack(StablehloBuilder &b, Value tensor, unsigned bits,
                  int64_t merge, int64_t group) {
  GroupLayout layout = getGroupLayout(getShape(tensor), /*group=*/INT64_MAX,
                                      /*axis=*/-1, merge);
  SmallVector<int64_t> shape = layout.outer;
  shape.push_back(layout.extent);
  Value codes = b.convert(b.reshape(tensor, shape), getUnsigned(b, 8));
  int64_t axis = shape.size() - 1, count = layout.extent;
  if (group != 0) {
    int64_t numGroups = llvm::divideCeil(count, group);
    codes = padAxis(b, codes, axis, numGroups * group);
    shape.back() = numGroups;
    shape.push_back(group);
    codes = b.reshape(codes, shape);
    ++axis;
    count = group;
  }
  return packCodes(b, codes, axis, bits, getPackedBytes(count, bits));
}

/// The inverse of `pack`.
static Value unpack(StablehloBuilder &b, Value bytes, unsigned bits,
                    int64_t merge, int64_t group, RankedTensorType type) {
  GroupLayout layout = getGroupLayout(type.getShape(), /*group=*/INT64_MAX,
                                      /*axis=*/-1, merge);
  int64_t axis = getTensorType(bytes).getRank() - 1;
  Value codes = joinPlanes(b, unpackPlanes(b, bytes, axis, bits), axis,
                           group != 0 ? group : layout.extent);
  if (group != 0) {
    SmallVector<int64_t> shape = layout.outer;
    shape.push_back(llvm::divideCeil(layout.extent, group) * group);
    codes = sliceAxis(b, b.reshape(codes, shape), axis - 1, 0, layout.extent);
  }
  return b.reshape(codes, type.getShape());
}

namespace {
struct RawModel : StablehloEncodingInterface::ExternalModel<RawModel, RawAttr> {
  std::string getStablehloName(Attribute) const { return "raw"; }
  bool storesTensorItself(Attribute) const { return true; }
  SmallVector<Value> buildEncode(Attribute, StablehloBuilder &, Value tensor,
                                 Value, Value) const {
    return {tensor};
  }
  Value buildDecode(Attribute, StablehloBuilder &, ValueRange storage,
                    RankedTensorType) const {
    return storage.front();
  }
};

struct MaskModel
    : StablehloEncodingInterface::ExternalModel<MaskModel, MaskAttr> {
  std::string getStablehloName(Attribute) const { return "mask"; }
  SmallVector<Value> buildEncode(Attribute attr, StablehloBuilder &b,
                                 Value tensor, Value, Value) const {
    auto encoding = cast<MaskAttr>(attr);
    return {
        pack(b, tensor, /*bits=*/1, encoding.getMerge(), encoding.getGroup())};
  }
  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    auto encoding = cast<MaskAttr>(attr);
    Value bit = unpack(b, storage.front(), /*bits=*/1, encoding.getMerge(),
                       encoding.getGroup(), type);
    return b.compare(StablehloBuilder::Comparison::NE, bit,
                     b.splatLike(bit, int64_t{0}));
  }
};

struct NarrowModel
    : StablehloEncodingInterface::ExternalModel<NarrowModel, NarrowAttr> {
  std::string getStablehloName(Attribute attr) const {
    return "narrow" + std::to_string(cast<NarrowAttr>(attr).getBits());
  }
  SmallVector<Value> buildEncode(Attribute attr, StablehloBuilder &b,
                                 Value tensor, Value, Value) const {
    auto encoding = cast<NarrowAttr>(attr);
    RankedTensorType type =
        encoding.getStorageTypes(getTensorType(tensor)).front();
    if (encoding.getBits() >= 8)
      return {b.convert(tensor, type.getElementType())};
    return {pack(b, tensor, encoding.getBits(), encoding.getMerge(),
                 encoding.getGroup())};
  }
  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    auto encoding = cast<NarrowAttr>(attr);
    Value codes = storage.front();
    if (encoding.getBits() < 8)
      codes = unpack(b, codes, encoding.getBits(), encoding.getMerge(),
                     encoding.getGroup(), type);
    return b.convert(codes, type.getElementType());
  }
};
} // namespace

void mlir::act::attachLosslessModels(MLIRContext *context) {
  RawAttr::attachInterface<RawModel>(*context);
  MaskAttr::attachInterface<MaskModel>(*context);
  NarrowAttr::attachInterface<NarrowModel>(*context);
}
