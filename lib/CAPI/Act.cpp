//===- Act.cpp - C API of act ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/Act.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "act/InitAll.h"
#include "act/Version.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <mutex>

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Act, act, mlir::act::ActDialect)

MlirStringRef actGetVersion(void) {
  return wrap(StringRef(ACT_VERSION_STRING));
}

void actRegisterAllDialects(MlirDialectRegistry registry) {
  DialectRegistry &all = *unwrap(registry);
  registerAllDialects(all);
  registerAllExtensions(all);
  act::registerActDialects(all);
  act::shell::registerStandInDialects(all);
}

void actRegisterAllPasses(void) {
  static std::once_flag once;
  std::call_once(once, [] {
    registerAllPasses();
    act::registerAllActPasses();
  });
}

MlirContext actContextCreate(void) {
  actRegisterAllPasses();
  DialectRegistry registry;
  actRegisterAllDialects(wrap(&registry));
  auto *context = new MLIRContext(registry);
  context->allowUnregisteredDialects();
  return wrap(context);
}

MlirModule actModuleParseFile(MlirContext context, MlirStringRef path) {
  ParserConfig config(unwrap(context));
  return wrap(parseSourceFile<ModuleOp>(unwrap(path), config).release());
}

MlirLogicalResult actModuleRunPipeline(MlirModule module,
                                       MlirStringRef pipeline) {
  ModuleOp op = unwrap(module);
  std::string message;
  llvm::raw_string_ostream errors(message);
  FailureOr<OpPassManager> passes = parsePassPipeline(unwrap(pipeline), errors);
  if (failed(passes)) {
    emitError(UnknownLoc::get(op.getContext()))
        << "expects a pass pipeline: " << StringRef(message).trim();
    return wrap(failure());
  }
  if (passes->getOpAnchorName() != ModuleOp::getOperationName()) {
    emitError(UnknownLoc::get(op.getContext()))
        << "expects a pipeline for builtin.module, got "
        << passes->getOpAnchorName();
    return wrap(failure());
  }
  PassManager manager(op.getContext(), ModuleOp::getOperationName());
  static_cast<OpPassManager &>(manager) = std::move(*passes);
  return wrap(manager.run(op));
}

void actModulePrint(MlirModule module, ActPrintForm form,
                    MlirStringCallback callback, void *userData) {
  OpPrintingFlags flags;
  if (form == ActPrintFormGeneric)
    flags.printGenericOpForm();
  mlir::detail::CallbackOstream stream(callback, userData);
  unwrap(module)->print(stream, flags);
}
