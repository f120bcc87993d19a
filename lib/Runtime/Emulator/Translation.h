//===- Translation.h - From PTX to LLVM IR -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_TRANSLATION_H
#define ACT_LIB_RUNTIME_EMULATOR_TRANSLATION_H

#include "Ptx.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <deque>

namespace act::emulator {

/// A kernel and the functions that it calls on their way to LLVM IR for the
/// host. In the IR, kernels are functions
/// (ThreadContext *, const char *parameters) and others
/// (ThreadContext *, char *parameter or result...), the results first.
///
/// Addresses: those of .shared are offsets in the shared memory of the block,
/// as on a GPU; all others are addresses of the host.
struct Translation {
  Translation(const ptx::Module &source, bool check, bool statistics);

  /// Translates `kernel`; the entry is called "kernel". Errors name all
  /// instructions that are not supported.
  llvm::Error run(const ptx::Function &kernel);

  const ptx::Module &source;
  bool check;
  bool statistics;
  /// The address of a variable in .global or .const; null if there is none.
  llvm::function_ref<char *(llvm::StringRef)> getVariable;

  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  std::deque<Site> sites;
  std::vector<std::string> errors;
  /// Whether threads wait for each other.
  bool needsFibers = false;
  uint32_t staticSharedBytes = 0;

  // While translating.
  struct Body {
    const ptx::Function *function;
    std::vector<ptx::Statement> statements;
    llvm::Function *target;
  };
  /// Bodies of the kernel and of what it calls.
  std::deque<Body> bodies;
  /// Offsets of variables in .shared; those of functions as "function.name".
  llvm::StringMap<uint32_t> sharedOffsets;

  const Body *findBody(llvm::StringRef name) const;

private:
  llvm::Error collectBodies(const ptx::Function &kernel);
  llvm::Error layOutShared();
  void declare(Body &body);
};

/// The names that ptx kernels may call without a definition.
bool isRuntimeFunction(llvm::StringRef name);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_TRANSLATION_H
