//===- LoopModels.h - Models of the loops of scf -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_ANALYSIS_OPMODEL_LOOPMODELS_H
#define ACT_LIB_ANALYSIS_OPMODEL_LOOPMODELS_H

#include "mlir/IR/MLIRContext.h"

namespace mlir::act {

/// Attaches `LoopModelInterface` to `scf.for` and `scf.while`.
void attachLoopModels(MLIRContext *context);

} // namespace mlir::act

#endif // ACT_LIB_ANALYSIS_OPMODEL_LOOPMODELS_H
