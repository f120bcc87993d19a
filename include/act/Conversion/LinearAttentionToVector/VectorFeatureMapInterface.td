//===- VectorFeatureMapInterface.td - Feature maps of vectors -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINEARATTENTIONTOVECTOR_VECTORFEATUREMAPINTERFACE_TD
#define ACT_CONVERSION_LINEARATTENTIONTOVECTOR_VECTORFEATUREMAPINTERFACE_TD

include "mlir/IR/OpBase.td"

def VectorFeatureMapInterface : AttrInterface<"VectorFeatureMapInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How a feature map that works element by element is computed on vectors of
    floats, with the arith and math dialects. Attributes that implement
    `FeatureMapAttrInterface` implement this one through external models
    (`registerVectorFeatureMapModels`).
  }];
  let methods = [
    InterfaceMethod<
      "f(x), element by element; NaN where x is NaN.",
      "::mlir::Value", "buildMap",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$x)>,
    InterfaceMethod<
      "`gradient` times the derivative of f at x.",
      "::mlir::Value", "buildGradient",
      (ins "::mlir::ImplicitLocOpBuilder &":$builder, "::mlir::Value":$x,
           "::mlir::Value":$gradient)>
  ];
}

#endif // ACT_CONVERSION_LINEARATTENTIONTOVECTOR_VECTORFEATUREMAPINTERFACE_TD
