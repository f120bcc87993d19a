//===- Codec.h - Encoding and decoding by kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_CODEC_H
#define ACT_RUNTIME_CPU_CODEC_H

#include "act-c/Codec.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "act/Runtime/CPU/KernelCompiler.h"
#include "act/Runtime/CPU/Workers.h"

namespace mlir::act::runtime {

/// A kernel that encodes or decodes ranges of units.
struct CodecKernel {
  std::unique_ptr<CompiledKernel> function;
  CodecUnits units;
  size_t numParts = 0;
  bool hasSalt = false;
};

/// The kernel for a tensor, compiled if that has not been done before.
llvm::Expected<const CodecKernel *>
getCodecKernel(CodecDirection direction, const ActCodecSignature &signature);

/// See act-c/Codec.h.
llvm::Error runCodec(CodecDirection direction,
                     const ActCodecSignature &signature, void *tensor,
                     uint32_t salt, void *const *storage, Workers &workers);

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_CODEC_H
