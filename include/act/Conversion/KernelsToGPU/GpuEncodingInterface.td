//===- GpuEncodingInterface.td - Encodings on GPUs -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOGPU_GPUENCODINGINTERFACE_TD
#define ACT_CONVERSION_KERNELSTOGPU_GPUENCODINGINTERFACE_TD

include "mlir/IR/OpBase.td"

def GpuEncodingInterface : AttrInterface<"GpuEncodingInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How threads of a GPU compute an encoding. Attributes that implement
    `EncodingAttrInterface` implement this one through external models
    (`registerGpuEncodingModels`). `type` is that of the tensor encoded, to which
    the encoding applies. Work is handed out in *pieces*: equal parts of the units
    of the encoding's `getUnits`, in their order.
  }];
  let methods = [
    InterfaceMethod<
      "How the pieces of a tensor of type `type` are spread over threads.",
      "::mlir::act::GpuCodecSplit", "getSplit",
      (ins "::mlir::RankedTensorType":$type)>,
    InterfaceMethod<
      "Emits code of the threads of a group that writes the storage of `pieces`.",
      "void", "buildGpuEncode",
      (ins "::mlir::act::CodecThreads &":$threads,
           "::mlir::RankedTensorType":$type,
           "const ::mlir::act::GpuCodecBuffers &":$buffers,
           "const ::mlir::act::GpuCodecPieces &":$pieces)>,
    InterfaceMethod<
      "Emits code of the threads of a group that writes the elements of `pieces`.",
      "void", "buildGpuDecode",
      (ins "::mlir::act::CodecThreads &":$threads,
           "::mlir::RankedTensorType":$type,
           "const ::mlir::act::GpuCodecBuffers &":$buffers,
           "const ::mlir::act::GpuCodecPieces &":$pieces)>
  ];
}

#endif // ACT_CONVERSION_KERNELSTOGPU_GPUENCODINGINTERFACE_TD
