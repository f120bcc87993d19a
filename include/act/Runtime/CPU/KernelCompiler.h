//===- KernelCompiler.h - Machine code of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_KERNELCOMPILER_H
#define ACT_RUNTIME_CPU_KERNELCOMPILER_H

#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::act::runtime {

/// The vector unit of the processor this runs on.
VectorTarget getHostVectorTarget();

/// A function that is ready to be called.
class CompiledKernel {
public:
  CompiledKernel(std::unique_ptr<ExecutionEngine> engine,
                 void (*entry)(void **))
      : engine(std::move(engine)), entry(entry) {}

  /// Calls the function: `arguments` point to its arguments, which for a memref
  /// are pointers to its descriptor.
  void call(void **arguments) const { entry(arguments); }

  /// What buildLinearAttentionKernel returned.
  int64_t workspaceBytes = 0;
  int64_t chunk = 1;

private:
  std::unique_ptr<ExecutionEngine> engine;
  void (*entry)(void **);
};

/// A context with what kernels consist of.
std::unique_ptr<MLIRContext> createKernelContext();

/// Lowers `module`, which consists of func, scf, memref, vector, arith and
/// math, to the LLVM dialect.
LogicalResult lowerToLLVM(ModuleOp module);

/// Compiles the function `name` of `module` for the processor this runs on.
llvm::Expected<std::unique_ptr<CompiledKernel>> compileKernel(ModuleOp module,
                                                              StringRef name);

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_KERNELCOMPILER_H
