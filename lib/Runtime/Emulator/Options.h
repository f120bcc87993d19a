//===- Options.h - Options of the emulator -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_OPTIONS_H
#define ACT_LIB_RUNTIME_EMULATOR_OPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>

namespace act::emulator {

/// In which order blocks, warps and lanes run.
enum class Schedule { Forward, Reverse, Random };

/// How kernels run. ACT_GPU_EMULATOR gives the initial values.
struct Options {
  /// Check every access to memory, and fill fresh memory with 0xff.
  bool check = false;
  /// With `check`, whether reading shared memory that no thread of the block
  /// wrote is an error.
  bool uninitialized = true;
  Schedule schedule = Schedule::Forward;
  uint64_t seed = 1;
  /// How many threads of the host run blocks.
  unsigned workers = 1;
  /// Count what kernels do; slow.
  bool statistics = false;
  /// Where the statistics go when the process ends; empty for nowhere.
  std::string statisticsFile;
  /// The compute capability that the device reports, 80 for 8.0.
  unsigned computeCapability = 80;
  /// Seconds after which a launch is given up; 0 for never.
  double watchdogSeconds = 300;
  /// Stack of each simulated thread.
  uint64_t stackBytes = 64 << 10;
  /// Memory of the device.
  uint64_t memoryBytes = uint64_t(16) << 30;
  /// Print errors to stderr, too.
  bool verbose = true;
};

/// Changes what `text` names, like "check=1,schedule=random:7". An error names
/// the item that is wrong, and then nothing has changed.
llvm::Error parseOptions(llvm::StringRef text, Options &options);

/// The options of the process.
Options &getOptions();

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_OPTIONS_H
