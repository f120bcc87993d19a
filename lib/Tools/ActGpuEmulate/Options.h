//===- Options.h - Options of act-gpu-emulate -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_TOOLS_ACTGPUEMULATE_OPTIONS_H
#define ACT_LIB_TOOLS_ACTGPUEMULATE_OPTIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::act::emulate {

/// The command line of act-gpu-emulate.
struct Options {
  std::string input;
  /// The kernel to execute; empty to list all.
  std::string kernel;
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned sharedBytes = 0;
  std::vector<std::string> arguments;
  /// What the emulator is configured with.
  std::string configuration;
  /// Where the statistics go; "-" for stdout, empty for nowhere.
  std::string statistics;
  /// Execute under several schedules and compare the results.
  bool allSchedules = false;
};

llvm::Expected<Options> parseCommandLine(int argc, char **argv);

} // namespace mlir::act::emulate

#endif // ACT_LIB_TOOLS_ACTGPUEMULATE_OPTIONS_H
