//===- StepPartitions.h - Dividing a module into parts to compile -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_EXECUTION_COMPILER_STEPPARTITIONS_H
#define LIB_ACT_EXECUTION_COMPILER_STEPPARTITIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace llvm {
class LLVMContext;
class MemoryBufferRef;
class Module;
} // namespace llvm

namespace mlir::act::execution {

/// The names of the functions and variables that one part defines.
struct StepPartition {
  llvm::StringSet<> definitions;
  /// Instructions in its functions.
  int64_t instructions = 0;
};

/// Divides what `module` defines into parts of about equal size. Functions that
/// are only called, and small constants, are copied to every part that uses
/// them; what else is local becomes hidden, so that parts can refer to it.
/// Depends on nothing but the module.
SmallVector<StepPartition> partitionStep(llvm::Module &module);

/// Reads what `partition` defines from the bitcode of the module, with
/// declarations of all else.
llvm::Expected<std::unique_ptr<llvm::Module>>
readPartition(llvm::MemoryBufferRef bitcode, const StepPartition &partition,
              llvm::LLVMContext &context);

} // namespace mlir::act::execution

#endif // LIB_ACT_EXECUTION_COMPILER_STEPPARTITIONS_H
