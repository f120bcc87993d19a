//===- ActToStablehlo.h - Saves, loads and barriers in StableHLO -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_ACTTOSTABLEHLO_ACTTOSTABLEHLO_H
#define ACT_CONVERSION_ACTTOSTABLEHLO_ACTTOSTABLEHLO_H

#include "act/Conversion/ActToStablehlo/CodecForm.h"
#include "act/Conversion/ActToStablehlo/LinearAttentionForm.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include <cstdint>
#include <string>

#include "act/Conversion/ActToStablehlo/StablehloEncodingInterface.h.inc"

#include "act/Conversion/ActToStablehlo/StablehloFeatureMapInterface.h.inc"

namespace mlir::act {

/// Makes the encodings of the act dialect implement StablehloEncodingInterface.
void registerStablehloEncodingModels(DialectRegistry &registry);

/// Makes the feature maps of linear attention implement
/// StablehloFeatureMapInterface.
void registerStablehloFeatureMapModels(DialectRegistry &registry);

/// Lowers every act operation in `module`: see ConvertActToStablehloPass.
LogicalResult convertActToStablehlo(ModuleOp module, uint64_t seed,
                                    LinearAttentionForm linearAttention,
                                    CodecForm codecs);

/// Lowers the operations on linear attention in `module`.
LogicalResult convertLinearAttentionToStablehlo(ModuleOp module,
                                                LinearAttentionForm form);

/// What the noise of the save `id` starts from: 32 well mixed bits.
uint32_t getSaveSalt(uint64_t seed, uint64_t id);

} // namespace mlir::act

#endif // ACT_CONVERSION_ACTTOSTABLEHLO_ACTTOSTABLEHLO_H
