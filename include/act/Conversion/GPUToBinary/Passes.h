//===- Passes.h - Machine code of GPU kernels -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_GPUTOBINARY_PASSES_H
#define ACT_CONVERSION_GPUTOBINARY_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::act {

/// What act-gpu-to-binary makes of kernels.
enum class KernelFormat { PTX, Cubin, Fatbin };

#define GEN_PASS_DECL
#include "act/Conversion/GPUToBinary/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "act/Conversion/GPUToBinary/Passes.h.inc"

} // namespace mlir::act

#endif // ACT_CONVERSION_GPUTOBINARY_PASSES_H
