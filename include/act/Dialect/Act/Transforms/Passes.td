//===- Passes.td - Passes on the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD
#define ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD
