//===- ActRun.cpp - Executing training steps from the command line
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/ActRun.h"
#include "BuildStep.h"
#include "ExecuteStep.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace mlir::act;

LogicalResult act::runActRun(int argc, char **argv, DialectRegistry &registry) {
  FailureOr<run::Options> options = run::parseOptions(argc, argv);
  if (failed(options))
    return failure();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  FailureOr<run::StepSource> source =
      run::StepSource::open(options->input, context);
  if (failed(source))
    return failure();
  if (options->emit != run::Emit::Nothing)
    return run::emitStep(*source, *options);
  FailureOr<run::BuiltStep> step = run::buildStep(*source, *options);
  if (failed(step))
    return failure();
  return run::executeStep(*source, *step, *options);
}
