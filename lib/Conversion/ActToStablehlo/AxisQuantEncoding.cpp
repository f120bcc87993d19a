//===- AxisQuantEncoding.cpp - Codes with a range per index in StableHLO
//----------===//
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

static CodeOptions getOptions(AxisQuantAttr encoding, RankedTensorType type,
                              Value levels = {}) {
  return {encoding.getBits(), Float32Type::get(type.getContext()),
          type.getElementType(), levels};
}

static SmallVector<int64_t> getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

/// Codes and ranges of `tensor`.
static std::pair<Value, CodeRange> buildAxisCodes(StablehloBuilder &b,
                                                  Value tensor, Value salt,
                                                  Value running, int64_t axis,
                                                  const CodeOptions &options) {
  RankedTensorType type = getTensorType(tensor);
  Value values = b.convert(tensor, b.getBuilder().getF32Type());
  CodeRange range =
      running ? buildGivenCodeRange(b, running, axis, options)
              : buildCodeRange(b, values, getOtherAxes(type, axis), options);
  Value noise;
  if (salt)
    noise = buildNoise(b, values, salt, getRowMajorStrides(type.getShape()),
                       /*offset=*/0);
  return {buildCodes(b, values, range, noise, options), range};
}

namespace {
struct AxisQuantModel
    : StablehloEncodingInterface::ExternalModel<AxisQuantModel, AxisQuantAttr> {
  std::string getStablehloName(Attribute attr) const {
    auto encoding = cast<AxisQuantAttr>(attr);
    StringRef name =
        encoding.getRunningAxis() ? "axis_quant_running" : "axis_quant";
    return (name + Twine(encoding.getBits())).str();
  }

  SmallVector<Value> buildEncode(Attribute attr, StablehloBuilder &b,
                                 Value tensor, Value salt,
                                 Value running) const {
    auto encoding = cast<AxisQuantAttr>(attr);
    RankedTensorType type = getTensorType(tensor);
    SmallVector<RankedTensorType> storage = encoding.getStorageTypes(type);
    auto [codes, range] =
        buildAxisCodes(b, tensor, salt, running, encoding.getAxis(),
                       getOptions(encoding, type));
    return {packCodes(b, codes, type.getRank() - 1, encoding.getBits(),
                      storage[0].getShape().back()),
            b.reshape(range.minimum, storage[1].getShape()),
            b.reshape(range.step, storage[2].getShape())};
  }

  Value buildDecode(Attribute attr, StablehloBuilder &b, ValueRange storage,
                    RankedTensorType type) const {
    auto encoding = cast<AxisQuantAttr>(attr);
    int64_t axis = encoding.getAxis();
    int64_t last = type.getRank() - 1;
    Value codes =
        joinPlanes(b, unpackPlanes(b, storage[0], last, encoding.getBits()),
                   last, type.getShape().back());
    int64_t size = type.getDimSize(axis);
    CodeRange range{
        b.reshape(storage[1], size), b.reshape(storage[2], size), {axis}};
    Value values = buildCodeValues(b, codes, range);
    return b.convert(values, type.getElementType());
  }

  Value buildRoundTrip(Attribute attr, StablehloBuilder &b, Value tensor,
                       Value levels, Value salt) const {
    auto encoding = cast<AxisQuantAttr>(attr);
    RankedTensorType type = getTensorType(tensor);
    auto [codes, range] =
        buildAxisCodes(b, tensor, salt, /*running=*/{}, encoding.getAxis(),
                       getOptions(encoding, type, levels));
    return b.convert(buildCodeValues(b, codes, range), type.getElementType());
  }
};
} // namespace

void mlir::act::attachAxisQuantModel(MLIRContext *context) {
  AxisQuantAttr::attachInterface<AxisQuantModel>(*context);
}
