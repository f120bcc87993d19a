//===- VectorEncodingInterface.td - Encodings of vectors -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOCPU_VECTORENCODINGINTERFACE_TD
#define ACT_CONVERSION_KERNELSTOCPU_VECTORENCODINGINTERFACE_TD

include "mlir/IR/OpBase.td"

def VectorEncodingInterface : AttrInterface<"VectorEncodingInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How an encoding is computed on vectors, for processors. Attributes that
    implement `EncodingAttrInterface` implement this one through external models
    (`registerVectorEncodingModels`). `type` is that of the tensor encoded, to which
    the encoding applies; units `[begin, end)` are those of the encoding's `getUnits`.
  }];
  let methods = [
    InterfaceMethod<
      "Emits code that writes the storage of units `[begin, end)`.",
      "void", "buildVectorEncode",
      (ins "::mlir::act::CodecVectors &":$builder,
           "::mlir::RankedTensorType":$type,
           "const ::mlir::act::CodecBuffers &":$buffers,
           "::mlir::Value":$begin, "::mlir::Value":$end)>,
    InterfaceMethod<
      "Emits code that writes the elements of units `[begin, end)`.",
      "void", "buildVectorDecode",
      (ins "::mlir::act::CodecVectors &":$builder,
           "::mlir::RankedTensorType":$type,
           "const ::mlir::act::CodecBuffers &":$buffers,
           "::mlir::Value":$begin, "::mlir::Value":$end)>
  ];
}

#endif // ACT_CONVERSION_KERNELSTOCPU_VECTORENCODINGINTERFACE_TD
