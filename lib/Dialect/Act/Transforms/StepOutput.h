//===- StepOutput.h - Files about the step of a module -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPOUTPUT_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPOUTPUT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/JSON.h"

namespace mlir::act {

/// The first public function of `module` with a body; emits an error in the
/// name of `pass` and returns null if there is none.
FunctionOpInterface findStep(ModuleOp module, StringRef pass);

/// Writes what `write` makes to the file `path`, - for the standard output.
/// Emits an error in the name of `pass` and fails if it cannot be written.
LogicalResult writeJson(ModuleOp module, StringRef pass, StringRef path,
                        function_ref<void(llvm::json::OStream &)> write);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPOUTPUT_H
