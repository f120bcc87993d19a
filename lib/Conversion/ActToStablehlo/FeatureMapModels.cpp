//===- FeatureMapModels.cpp - Feature maps in StableHLO -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include <cmath>

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/ActToStablehlo/StablehloFeatureMapInterface.cpp.inc"

namespace {
template <typename Derived, typename AttrTy>
using Model = StablehloFeatureMapInterface::ExternalModel<Derived, AttrTy>;

struct IdentityModel : Model<IdentityModel, IdentityAttr> {
  Value buildMap(Attribute, StablehloBuilder &, Value rows, Value) const {
    return rows;
  }
  Value buildGradient(Attribute, StablehloBuilder &, Value, Value, Value,
                      Value gradient) const {
    return gradient;
  }
};

struct ReluModel : Model<ReluModel, ReluAttr> {
  Value buildMap(Attribute, StablehloBuilder &b, Value rows, Value) const {
    return b.maximum(rows, b.splatLike(rows, 0));
  }
  Value buildGradient(Attribute, StablehloBuilder &b, Value rows, Value, Value,
                      Value gradient) const {
    Value zero = b.splatLike(rows, 0);
    Value positive = b.compare(StablehloBuilder::Comparison::GT, rows, zero);
    return b.select(positive, gradient, zero);
  }
};

struct EluPlusOneModel : Model<EluPlusOneModel, EluPlusOneAttr> {
  Value buildMap(Attribute, StablehloBuilder &b, Value rows, Value) const {
    // The exponential of the positive ones could overflow.
    Value zero = b.splatLike(rows, 0), one = b.splatLike(rows, 1);
    Value positive = b.compare(StablehloBuilder::Comparison::GT, rows, zero);
    return b.select(positive, b.add(rows, one),
                    b.exponential(b.minimum(rows, zero)));
  }
  Value buildGradient(Attribute, StablehloBuilder &b, Value, Value,
                      Value mapped, Value gradient) const {
    // 1 where the feature is above 1, else the feature: exp' = exp.
    return b.multiply(gradient, b.minimum(mapped, b.splatLike(mapped, 1)));
  }
};

struct SquareModel : Model<SquareModel, SquareAttr> {
  Value buildMap(Attribute, StablehloBuilder &b, Value rows, Value) const {
    return b.multiply(rows, rows);
  }
  Value buildGradient(Attribute, StablehloBuilder &b, Value rows, Value, Value,
                      Value gradient) const {
    return b.multiply(gradient, b.add(rows, rows));
  }
};

struct ExpModel : Model<ExpModel, ExpAttr> {
  Value buildMap(Attribute, StablehloBuilder &b, Value rows, Value) const {
    return b.exponential(rows);
  }
  Value buildGradient(Attribute, StablehloBuilder &b, Value, Value,
                      Value mapped, Value gradient) const {
    return b.multiply(gradient, mapped);
  }
};

struct FavorPlusModel : Model<FavorPlusModel, FavorPlusAttr> {
  bool isLogarithmic(Attribute) const { return true; }

  /// w_m . x - |x|^2 / 2 - log(M) / 2
  Value buildMap(Attribute, StablehloBuilder &b, Value rows,
                 Value parameters) const {
    Value products = b.dotGeneral(rows, parameters, {}, {}, {3}, {1});
    auto type = cast<RankedTensorType>(products.getType());
    Value squares =
        b.reduce(b.multiply(rows, rows), {3}, StablehloBuilder::Combiner::Add);
    Value norm = b.multiply(squares, b.splatLike(squares, 0.5));
    double offset = std::log(static_cast<double>(type.getDimSize(3))) / 2;
    norm = b.add(norm, b.splatLike(norm, offset));
    return b.subtract(products,
                      b.broadcastInDim(norm, type.getShape(), {0, 1, 2}));
  }
  Value buildGradient(Attribute, StablehloBuilder &b, Value rows,
                      Value parameters, Value, Value gradient) const {
    Value products = b.dotGeneral(gradient, parameters, {}, {}, {3}, {0});
    Value sum = b.reduce(gradient, {3}, StablehloBuilder::Combiner::Add);
    Value spread = b.broadcastInDim(
        sum, cast<RankedTensorType>(rows.getType()).getShape(), {0, 1, 2});
    return b.subtract(products, b.multiply(spread, rows));
  }
};
} // namespace

void mlir::act::registerStablehloFeatureMapModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    IdentityAttr::attachInterface<IdentityModel>(*context);
    ReluAttr::attachInterface<ReluModel>(*context);
    EluPlusOneAttr::attachInterface<EluPlusOneModel>(*context);
    SquareAttr::attachInterface<SquareModel>(*context);
    ExpAttr::attachInterface<ExpModel>(*context);
    FavorPlusAttr::attachInterface<FavorPlusModel>(*context);
  });
}
