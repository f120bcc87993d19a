//===- LinearAttention.h - Linear attention by kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_LINEARATTENTION_H
#define ACT_RUNTIME_CPU_LINEARATTENTION_H

#include "act-c/LinearAttention.h"
#include "act/Runtime/CPU/KernelCompiler.h"
#include "act/Runtime/CPU/Workers.h"
#include <string>

namespace mlir::act::runtime {

/// Success if `signature` is valid and there are kernels for `operation`.
llvm::Error verifySupported(ActLinearAttentionOperation operation,
                            const ActLinearAttentionSignature &signature);

/// The same, remembering what was found out before.
llvm::Error verifySupportedOnce(ActLinearAttentionOperation operation,
                                const ActLinearAttentionSignature &signature);

/// The part of verifySupported that does not depend on which kernels there are;
/// getKernel does the rest.
llvm::Error verifySignature(ActLinearAttentionOperation operation,
                            const ActLinearAttentionSignature &signature);

/// The kernel for one head, compiled if that has not been done before.
llvm::Expected<const CompiledKernel *>
getKernel(LinearAttentionKernelKind kind,
          const ActLinearAttentionSignature &signature);

/// See act-c/LinearAttention.h.
llvm::Error runForward(const ActLinearAttentionSignature &signature,
                       const ActLinearAttentionBuffers &buffers,
                       Workers &workers);
llvm::Error runState(const ActLinearAttentionSignature &signature,
                     const ActLinearAttentionBuffers &buffers,
                     Workers &workers);
llvm::Error runGrad(const ActLinearAttentionSignature &signature,
                    const ActLinearAttentionGradBuffers &buffers,
                    Workers &workers);

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_LINEARATTENTION_H
