//===- StepCompiler.h - Machine code of training steps -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_STEPCOMPILER_H
#define ACT_EXECUTION_STEPCOMPILER_H

#include "act/Conversion/VectorTarget.h"
#include "act/Execution/StepInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace llvm {
class LLVMContext;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::act::execution {

struct CompileOptions {
  /// As LLVM names processors; empty for the one this runs on.
  std::string cpu;
  /// C name of the compiled function.
  std::string symbol = "step";
  /// Lets AddressSanitizer check what the step reads and writes; the program
  /// that links it must be built with -fsanitize=address.
  bool sanitizeAddress = false;
  /// Of the compiler; 0 for one per core.
  unsigned threads = 0;
};

/// Makes target machines, one for each thread.
class StepTarget {
public:
  /// An error if LLVM knows no processor `cpu`.
  static llvm::Expected<StepTarget> create(StringRef cpu);

  std::unique_ptr<llvm::TargetMachine> createTargetMachine() const;
  /// The name of the processor and the features that differ from it.
  StringRef getCPU() const { return cpu; }
  StringRef getFeatures() const { return features; }
  /// The vector unit that kernels are made for.
  VectorTarget getVectorTarget() const;

private:
  std::string cpu;
  std::string features;
};

/// Compiles a module in the LLVM dialect that has the attribute `act.step`, on
/// several threads, to an archive of object files. Diagnostics say what fails.
///
/// The archive defines the function `symbol` and the table `symbol`_info; all
/// other names in it start with `symbol` too, so that several steps fit into
/// one program. The machine code does not depend on the number of threads.
FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
compileStep(ModuleOp module, const CompileOptions &options);

/// Translates the module to LLVM IR with the names and the table it has in an
/// object file.
FailureOr<std::unique_ptr<llvm::Module>>
translateStep(ModuleOp module, StringRef symbol, llvm::LLVMContext &context);

/// True if `name` is an identifier of C.
bool isIdentifier(StringRef name);

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_STEPCOMPILER_H
