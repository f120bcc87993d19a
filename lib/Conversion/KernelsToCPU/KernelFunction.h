//===- KernelFunction.h - Functions of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_KERNELFUNCTION_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_KERNELFUNCTION_H

#include "act/Conversion/KernelUtils/Memory.h"
#include "act/Conversion/VectorTarget.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::act {

/// The function of a kernel and how it is launched.
struct KernelFunction {
  LLVM::LLVMFuncOp function;
  /// Number of independent pieces, and how many a thread takes at least.
  int64_t units;
  int64_t grain;
};

/// Adds the function `name` to `module`: `(ptr buffers, i64 begin, i64 end)`,
/// where `buffers` points to one pointer per operand of `kernel`, to the first
/// element or to the scalar. Fails with an error at an operation that has no
/// such form.
FailureOr<KernelFunction> emitKernelFunction(ModuleOp module, KernelOp kernel,
                                             StringRef name,
                                             const VectorTarget &target);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_KERNELFUNCTION_H
