//===- ActRun.h - Executing training steps from the command line -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTRUN_ACTRUN_H
#define ACT_TOOLS_ACTRUN_ACTRUN_H

#include "mlir/Support/LogicalResult.h"

namespace mlir {
class DialectRegistry;
namespace act {

/// Implements the tool act-run: compiles a training step for the CPU and
/// executes it, or writes what it compiles to. `registry` holds the dialects of
/// steps. Messages go to stderr, figures to stdout.
LogicalResult runActRun(int argc, char **argv, DialectRegistry &registry);

} // namespace act
} // namespace mlir

#endif // ACT_TOOLS_ACTRUN_ACTRUN_H
