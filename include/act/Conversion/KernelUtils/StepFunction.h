//===- StepFunction.h - Steps as functions over pointers -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_STEPFUNCTION_H
#define ACT_CONVERSION_KERNELUTILS_STEPFUNCTION_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::act {

/// The step of `module` with planned memory, or failure with an error.
FailureOr<func::FuncOp> findPlannedStep(ModuleOp module);

/// Replaces `step` by a function of the same name,
/// `i32 (ptr arguments, ptr results, ptr arena, ptr context)`, with the same
/// body, whose buffers lie where the pointers lead. The body has no terminator;
/// `builder` is left at its end.
LLVM::LLVMFuncOp convertStepFunction(ImplicitLocOpBuilder &builder,
                                     ModuleOp module, func::FuncOp step);

/// The function `name` of the runtime, declared in `module`.
LLVM::LLVMFuncOp getRuntimeFunction(ImplicitLocOpBuilder &builder,
                                    ModuleOp module, StringRef name,
                                    Type result, ArrayRef<Type> arguments);

/// Address of the first element of a buffer, `offset` elements further: an
/// integer of 64 bits.
Value getBufferAddress(ImplicitLocOpBuilder &builder, Value buffer,
                       int64_t offset = 0);

/// Names kernels by what they are and over which elements, no two the same.
class KernelNames {
public:
  std::string getName(KernelOp kernel);

private:
  llvm::StringMap<int64_t> counts;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_STEPFUNCTION_H
