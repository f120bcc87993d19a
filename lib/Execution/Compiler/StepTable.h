//===- StepTable.h - The table in the object file of a step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_EXECUTION_COMPILER_STEPTABLE_H
#define LIB_ACT_EXECUTION_COMPILER_STEPTABLE_H

#include "act/Execution/StepInfo.h"

namespace llvm {
class Function;
} // namespace llvm

namespace mlir::act::execution {

/// Adds the constant act_step_info called `name` to the module of `function`.
void addStepTable(llvm::Function &function, const StepInfo &info,
                  StringRef name);

} // namespace mlir::act::execution

#endif // LIB_ACT_EXECUTION_COMPILER_STEPTABLE_H
