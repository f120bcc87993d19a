//===- StepOutput.cpp - Files about the step of a module ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepOutput.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

FunctionOpInterface mlir::act::findStep(ModuleOp module, StringRef pass) {
  FunctionOpInterface step;
  module.walk([&](FunctionOpInterface function) {
    if (!step && !function.isExternal() && !function.isPrivate())
      step = function;
  });
  if (!step)
    module.emitError(pass) << " expects a public function";
  return step;
}

LogicalResult
mlir::act::writeJson(ModuleOp module, StringRef pass, StringRef path,
                     function_ref<void(llvm::json::OStream &)> write) {
  std::string message;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &message);
  if (!file)
    return module.emitError(pass)
           << " cannot write '" << path << "': " << message;
  llvm::json::OStream json(file->os(), /*IndentSize=*/2);
  write(json);
  file->os() << '\n';
  file->keep();
  return success();
}
