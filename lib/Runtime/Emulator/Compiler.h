//===- Compiler.h - From PTX to code of the host -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_COMPILER_H
#define ACT_LIB_RUNTIME_EMULATOR_COMPILER_H

#include "BlockExecutor.h"
#include "Ptx.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <deque>

namespace llvm::orc {
class JITDylib;
} // namespace llvm::orc

namespace act::emulator {

/// A kernel as code of the host. Its code lives as long as the object.
struct CompiledKernel {
  CompiledKernel() = default;
  CompiledKernel(const CompiledKernel &) = delete;
  CompiledKernel &operator=(const CompiledKernel &) = delete;
  ~CompiledKernel();

  KernelEntry entry = nullptr;
  bool needsFibers = false;
  uint32_t staticSharedBytes = 0;
  /// The code refers to them.
  std::deque<Site> sites;
  llvm::orc::JITDylib *library = nullptr;
};

/// Compiles a kernel of `source`. `getVariable` gives addresses of variables in
/// .global and .const.
llvm::Expected<std::unique_ptr<CompiledKernel>>
compileKernel(const ptx::Module &source, const ptx::Function &kernel,
              bool check, bool statistics,
              llvm::function_ref<char *(llvm::StringRef)> getVariable);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_COMPILER_H
