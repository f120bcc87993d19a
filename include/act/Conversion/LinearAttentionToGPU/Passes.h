//===- Passes.h - Linear attention on GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_H
#define ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::act {

#define GEN_PASS_DECL
#include "act/Conversion/LinearAttentionToGPU/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "act/Conversion/LinearAttentionToGPU/Passes.h.inc"

} // namespace mlir::act

#endif // ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_H
