//===- Program.h - Loaded images -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_PROGRAM_H
#define ACT_LIB_RUNTIME_EMULATOR_PROGRAM_H

#include "Compiler.h"
#include <memory>
#include <mutex>

namespace act::emulator {

class Program;

/// A kernel of a loaded program, compiled when it is first needed.
class Kernel {
public:
  Kernel(Program &program, const ptx::Function &function);

  llvm::StringRef getName() const { return function.name; }
  const ptx::Function &getFunction() const { return function; }
  llvm::ArrayRef<uint32_t> getOffsets() const { return offsets; }
  uint32_t getParameterBytes() const { return parameterBytes; }
  /// As the options say now: with or without checks and statistics.
  llvm::Expected<const CompiledKernel *> compile();

private:
  Program &program;
  const ptx::Function &function;
  // Set by what computes the offsets, so it comes first.
  uint32_t parameterBytes = 0;
  std::vector<uint32_t> offsets;
  std::mutex mutex;
  std::unique_ptr<CompiledKernel> variants[4];
};

/// A loaded image: PTX text, or LLVM bitcode for NVPTX, which becomes PTX
/// first.
class Program {
public:
  ~Program();

  /// Programs without variables are shared by all that load the same image.
  static llvm::Expected<std::shared_ptr<Program>> load(llvm::StringRef image);

  Kernel *findKernel(llvm::StringRef name);
  llvm::ArrayRef<std::unique_ptr<Kernel>> getKernels() const { return kernels; }
  const ptx::Module &getModule() const { return *module; }
  /// The address of a variable in .global or .const; null if there is none.
  char *findVariable(llvm::StringRef name);

private:
  llvm::Error allocateVariables();
  llvm::Error initialize(const ptx::Variable &variable, char *memory);

  std::unique_ptr<ptx::Module> module;
  llvm::StringMap<char *> variables;
  std::vector<std::unique_ptr<Kernel>> kernels;
};

/// What an image is by its first bytes.
enum class ImageKind { Ptx, Bitcode, Elf, FatBinary, Unknown };
ImageKind getImageKind(llvm::StringRef image);

/// Where text or a binary that starts at `image` ends: `bytes`, if not 0, or
/// what the format says.
llvm::StringRef delimitImage(const char *image, size_t bytes);

/// Compiles bitcode for NVPTX to PTX, with libdevice if it needs that. Puts
/// checks before conversions to integers if `check`.
llvm::Expected<std::string> compileBitcode(llvm::StringRef bitcode, bool check);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_PROGRAM_H
