//===- StablehloToLinalg.h - Lower StableHLO to linalg -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_STABLEHLOTOLINALG_STABLEHLOTOLINALG_H
#define ACT_CONVERSION_STABLEHLOTOLINALG_STABLEHLOTOLINALG_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::act {

/// The attribute of an argument or result of a function that keeps its element
/// type if that was not signless, e.g. `ui32`.
constexpr StringLiteral kElementTypeAttrName = "act.element_type";

/// Replaces the StableHLO, CHLO and Shardy operations in the functions of
/// `module` by linalg, tensor, scf, arith, math and act operations on tensors
/// of signless types. Calls are kept; what they call is converted too. Fails
/// with an error at every first operation of a function that has no lowering.
LogicalResult convertStablehloToLinalg(ModuleOp module);

} // namespace mlir::act

#endif // ACT_CONVERSION_STABLEHLOTOLINALG_STABLEHLOTOLINALG_H
