//===- VectorFeatureMaps.cpp - Feature maps of vectors ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/LinearAttentionToVector/VectorFeatureMapInterface.cpp.inc"

static Value createConstant(ImplicitLocOpBuilder &b, Value like, double value) {
  Type type = like.getType();
  TypedAttr element = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto vectorType = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vectorType, element);
  return arith::ConstantOp::create(b, element);
}

/// `positive` where x > 0, else `other`; `other` where x is NaN.
static Value selectPositive(ImplicitLocOpBuilder &b, Value x, Value positive,
                            Value other) {
  Value zero = createConstant(b, x, 0.0);
  Value isPositive =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero);
  return arith::SelectOp::create(b, isPositive, positive, other);
}

namespace {
template <typename Model, typename Attr>
using ModelBase = VectorFeatureMapInterface::ExternalModel<Model, Attr>;

struct IdentityModel : ModelBase<IdentityModel, IdentityAttr> {
  Value buildMap(Attribute, ImplicitLocOpBuilder &, Value x) const { return x; }
  Value buildGradient(Attribute, ImplicitLocOpBuilder &, Value,
                      Value gradient) const {
    return gradient;
  }
};

struct ReluModel : ModelBase<ReluModel, ReluAttr> {
  Value buildMap(Attribute, ImplicitLocOpBuilder &b, Value x) const {
    Value zero = createConstant(b, x, 0.0);
    Value isNegative =
        arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, zero);
    return arith::SelectOp::create(b, isNegative, zero, x);
  }
  Value buildGradient(Attribute, ImplicitLocOpBuilder &b, Value x,
                      Value gradient) const {
    return selectPositive(b, x, gradient, createConstant(b, x, 0.0));
  }
};

struct EluPlusOneModel : ModelBase<EluPlusOneModel, EluPlusOneAttr> {
  Value buildMap(Attribute, ImplicitLocOpBuilder &b, Value x) const {
    Value linear = arith::AddFOp::create(b, x, createConstant(b, x, 1.0));
    return selectPositive(b, x, linear, math::ExpOp::create(b, x));
  }
  Value buildGradient(Attribute, ImplicitLocOpBuilder &b, Value x,
                      Value gradient) const {
    Value slope = math::ExpOp::create(b, x);
    return selectPositive(b, x, gradient,
                          arith::MulFOp::create(b, gradient, slope));
  }
};

struct SquareModel : ModelBase<SquareModel, SquareAttr> {
  Value buildMap(Attribute, ImplicitLocOpBuilder &b, Value x) const {
    return arith::MulFOp::create(b, x, x);
  }
  Value buildGradient(Attribute, ImplicitLocOpBuilder &b, Value x,
                      Value gradient) const {
    return arith::MulFOp::create(b, arith::AddFOp::create(b, x, x), gradient);
  }
};

struct ExpModel : ModelBase<ExpModel, ExpAttr> {
  Value buildMap(Attribute, ImplicitLocOpBuilder &b, Value x) const {
    return math::ExpOp::create(b, x);
  }
  Value buildGradient(Attribute, ImplicitLocOpBuilder &b, Value x,
                      Value gradient) const {
    return arith::MulFOp::create(b, gradient, math::ExpOp::create(b, x));
  }
};
} // namespace

void mlir::act::registerVectorFeatureMapModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    IdentityAttr::attachInterface<IdentityModel>(*context);
    ReluAttr::attachInterface<ReluModel>(*context);
    EluPlusOneAttr::attachInterface<EluPlusOneModel>(*context);
    SquareAttr::attachInterface<SquareModel>(*context);
    ExpAttr::attachInterface<ExpModel>(*context);
  });
}
