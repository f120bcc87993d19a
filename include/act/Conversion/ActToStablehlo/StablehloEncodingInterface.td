//===- StablehloEncodingInterface.td - Encodings in StableHLO -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOENCODINGINTERFACE_TD
#define ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOENCODINGINTERFACE_TD

include "mlir/IR/OpBase.td"

def StablehloEncodingInterface : AttrInterface<"StablehloEncodingInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How an encoding is computed in StableHLO. Attributes that implement
    `EncodingAttrInterface` implement this one through external models
    (`registerStablehloEncodingModels`), so that the dialect does not depend on
    StableHLO. What `buildEncode` returns has the types of `getStorageTypes`.
  }];
  let methods = [
    InterfaceMethod<
      "A short name for the private functions that encode and decode.",
      "::std::string", "getStablehloName">,
    InterfaceMethod<
      "True if the storage is the tensor itself; nothing is built then.",
      "bool", "storesTensorItself", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "Computes the storage of `tensor`. `salt` is a rank-0 `ui32` that differs "
      "from save to save, `range` what `act.update_range` says to encode with; "
      "each is null if the encoding has no use for it.",
      "::llvm::SmallVector<::mlir::Value>", "buildEncode",
      (ins "::mlir::act::StablehloBuilder &":$builder, "::mlir::Value":$tensor,
           "::mlir::Value":$salt, "::mlir::Value":$range)>,
    InterfaceMethod<
      "Computes the value of type `type` that `storage` holds.",
      "::mlir::Value", "buildDecode",
      (ins "::mlir::act::StablehloBuilder &":$builder,
           "::mlir::ValueRange":$storage, "::mlir::RankedTensorType":$type)>,
    InterfaceMethod<
      "What encoding and decoding make of `tensor` if codes are the numbers from 0 "
      "to `levels`, a rank-0 f32. Encodings that are no integer codes round as "
      "always.",
      "::mlir::Value", "buildRoundTrip",
      (ins "::mlir::act::StablehloBuilder &":$builder, "::mlir::Value":$tensor,
           "::mlir::Value":$levels, "::mlir::Value":$salt),
      [{}], [{
        auto encoding = ::llvm::cast<::mlir::act::StablehloEncodingInterface>(
            ::mlir::Attribute($_attr));
        return encoding.buildDecode(
            builder, encoding.buildEncode(builder, tensor, salt, /*range=*/{}),
            ::llvm::cast<::mlir::RankedTensorType>(tensor.getType()));
      }]>
  ];
}

#endif // ACT_CONVERSION_ACTTOSTABLEHLO_STABLEHLOENCODINGINTERFACE_TD
