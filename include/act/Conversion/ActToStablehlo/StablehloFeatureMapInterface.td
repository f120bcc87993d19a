//===- StablehloFeatureMapInterface.td - Feature maps in StableHLO -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOFEATUREMAPINTERFACE_TD
#define ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOFEATUREMAPINTERFACE_TD

include "mlir/IR/OpBase.td"

def StablehloFeatureMapInterface : AttrInterface<"StablehloFeatureMapInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How a feature map is computed in StableHLO. Attributes that implement
    `FeatureMapAttrInterface` implement this one through external models
    (`registerStablehloFeatureMapModels`). Rows are the last axis of tensors of
    rank 4, in the type of the sums.
  }];
  let methods = [
    InterfaceMethod<
      "True if `buildMap` computes logarithms of features, so that exponentials "
      "can be taken relative to a maximum.",
      "bool", "isLogarithmic", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "Maps `rows`, P numbers each, to M features each or to their logarithms. "
      "`parameters` is [M, P], or null without parameters.",
      "::mlir::Value", "buildMap",
      (ins "::mlir::act::StablehloBuilder &":$builder, "::mlir::Value":$rows,
           "::mlir::Value":$parameters)>,
    InterfaceMethod<
      "The gradient of `rows` from that of what `buildMap` returns for them, "
      "`mapped`.",
      "::mlir::Value", "buildGradient",
      (ins "::mlir::act::StablehloBuilder &":$builder, "::mlir::Value":$rows,
           "::mlir::Value":$parameters, "::mlir::Value":$mapped,
           "::mlir::Value":$gradient)>
  ];
}

#endif // ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOFEATUREMAPINTERFACE_TD
