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

/// Packs `tensor`, of integers below `2^bits`, along the last axis of `type`.
static Value pack(StablehloBuilder &b, Value tensor, unsigned bits,
                  RankedTensorType type) {
  GroupLayout layout = getGroupLayout(
      getShape(tensor), /*group=*/INT64_MAX, /*axis=*/-1,
      /*merge=*/getTensorType(tensor).getRank() - type.getRank() + 1);
  SmallVector<int64_t> shape = layout.outer;
  shape.push_back(layout.extent);
  Value codes = b.convert(b.reshape(tensor, shape), getUnsigned(b, 8));
  return packCodes(b, codes, shape.size() - 1, bits, type.getShape().back());
}

/// The inverse of `pack`.
static Value unpack(StablehloBuilder &b, Value bytes, unsigned bits,
                    RankedTensorType type) {
  int64_t rank = getTensorType(bytes).getRank();
  GroupLayout layout =
      getGroupLayout(type.getShape(), /*group=*/INT64_MAX, /*axis=*/-1,
                     /*merge=*/type.getRank() - rank + 1);
  Value codes = joinPlanes(b, unpackPlanes(b, bytes, rank - 1, bits), rank - 1,
                           layout.extent);
  return b.reshape(codes, type.getShape());
}

namespace {
struct RawModel : StablehloEncodingInterface::ExternalModel<RawModel, RawAttr> {
  std::string getStablehloName(Attribute) const { return "raw"; }
  bool storesTensorItself(Attribute) const { return true; }
  SmallVector<Value> buildEncode(Attribute, StablehloBuilder &, Value tensor,
                                 Value) const {
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
                                 Value tensor, Value) const {
    RankedTensorType type =
        cast<MaskAttr>(attr).getStorageTypes(getTensorType(tensor)).front();
    return {pack(b, tensor, /*bits=*/1, type)};
  }
  Value buildDecode(Attribute, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    Value bit = unpack(b, storage.front(), /*bits=*/1, type);
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
                                 Value tensor, Value) const {
    auto encoding = cast<NarrowAttr>(attr);
    RankedTensorType type =
        encoding.getStorageTypes(getTensorType(tensor)).front();
    if (encoding.getBits() >= 8)
      return {b.convert(tensor, type.getElementType())};
    return {pack(b, tensor, encoding.getBits(), type)};
  }
  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    auto encoding = cast<NarrowAttr>(attr);
    Value codes = storage.front();
    if (encoding.getBits() < 8)
      codes = unpack(b, codes, encoding.getBits(), type);
    return b.convert(codes, type.getElementType());
  }
};
} // namespace

void mlir::act::attachLosslessModels(MLIRContext *context) {
  RawAttr::attachInterface<RawModel>(*context);
  MaskAttr::attachInterface<MaskModel>(*context);
  NarrowAttr::attachInterface<NarrowModel>(*context);
}
