//===- EncodingModels.h - Encodings in StableHLO -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ENCODINGMODELS_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ENCODINGMODELS_H

#include "mlir/IR/MLIRContext.h"

namespace mlir::act {

/// Each attaches implementations of StablehloEncodingInterface to attributes.
void attachAxisQuantModel(MLIRContext *context);
void attachFloatModel(MLIRContext *context);
void attachGroupQuantModel(MLIRContext *context);
void attachLosslessModels(MLIRContext *context);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ENCODINGMODELS_H
