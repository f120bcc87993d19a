//===- Passes.td - Conversions from and to the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_PASSES_TD
#define ACT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertActToStablehloPass : Pass<"convert-act-to-stablehlo", "ModuleOp"> {
  let summary = "Lower saves, loads and barriers to StableHLO";
  let options = [
    Option<"seed", "seed", "uint64_t", "0",
           "Mixed into the noise of stochastic rounding">
  ];
}

#endif // ACT_CONVERSION_PASSES_TD
