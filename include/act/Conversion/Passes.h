//===- Passes.h - Conversions from and to the act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_PASSES_H
#define ACT_CONVERSION_PASSES_H

#include "act/Conversion/ActToStablehlo/CodecForm.h"
#include "act/Conversion/ActToStablehlo/LinearAttentionForm.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::act {

#define GEN_PASS_DECL
#include "act/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "act/Conversion/Passes.h.inc"

} // namespace mlir::act

#endif // ACT_CONVERSION_PASSES_H
