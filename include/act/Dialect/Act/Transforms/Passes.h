//===- Passes.h - Passes on the act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_PASSES_H
#define ACT_DIALECT_ACT_TRANSFORMS_PASSES_H

#include "act/Dialect/Act/Transforms/PartitionOptions.h"
#include "act/Dialect/Act/Transforms/SliceOptions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"

namespace mlir::act {

#define GEN_PASS_DECL
#include "act/Dialect/Act/Transforms/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "act/Dialect/Act/Transforms/Passes.h.inc"

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_TRANSFORMS_PASSES_H
