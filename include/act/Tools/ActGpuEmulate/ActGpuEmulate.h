//===- ActGpuEmulate.h - Executes kernels on the emulator -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTGPUEMULATE_ACTGPUEMULATE_H
#define ACT_TOOLS_ACTGPUEMULATE_ACTGPUEMULATE_H

#include "mlir/Support/LogicalResult.h"

namespace mlir::act {

/// Implements the tool act-gpu-emulate: executes a kernel of a file of PTX or
/// LLVM bitcode on the emulator, or lists what the file contains. Messages go
/// to stderr, results to stdout.
LogicalResult runActGpuEmulate(int argc, char **argv);

} // namespace mlir::act

#endif // ACT_TOOLS_ACTGPUEMULATE_ACTGPUEMULATE_H
