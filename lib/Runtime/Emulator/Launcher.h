//===- Launcher.h - Launches kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_LAUNCHER_H
#define ACT_LIB_RUNTIME_EMULATOR_LAUNCHER_H

#include "Program.h"

namespace act::emulator {

struct LaunchShape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamicSharedBytes;
  /// What cuFuncSetAttribute allowed.
  uint32_t maxDynamicSharedBytes;
};

/// Limits of the device, those of compute capability 8.0.
constexpr uint32_t maxThreadsPerBlock = 1024;
constexpr uint32_t maxBlockSize[3] = {1024, 1024, 64};
constexpr uint32_t maxGridSize[3] = {0x7fffffff, 65535, 65535};
constexpr uint32_t maxStaticSharedBytes = 48 << 10;
constexpr uint32_t maxSharedBytes = 163 << 10;

/// Runs a kernel to its end. `parameters` holds them as the kernel lays them
/// out.
Fault launch(Kernel &kernel, const LaunchShape &shape,
             llvm::ArrayRef<char> parameters);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_LAUNCHER_H
