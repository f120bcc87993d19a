//===- EmitObject.cpp - The pass act-emit-object ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/ObjectFiles.h"
#include "act/Execution/Passes.h"
#include "act/Execution/StepCompiler.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTEMITOBJECTPASS
#include "act/Execution/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

namespace {
struct ActEmitObject : act::impl::ActEmitObjectPassBase<ActEmitObject> {
  using ActEmitObjectPassBase::ActEmitObjectPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }
  void runOnOperation() override;
};
} // namespace

void ActEmitObject::runOnOperation() {
  markAllAnalysesPreserved();
  ModuleOp module = getOperation();
  auto fail = [&](const Twine &message) {
    module.emitError() << message;
    signalPassFailure();
  };
  if (output.empty())
    return fail("expects a file to write: act-emit-object{output=FILE}");
  FailureOr<StepInfo> info = readStepInfo(module);
  if (failed(info))
    return signalPassFailure();
  CompileOptions options;
  options.cpu = cpu;
  options.symbol = name.empty() ? getSymbolForFile(output) : name;
  auto archive = compileStep(module, options);
  if (failed(archive))
    return signalPassFailure();
  if (llvm::Error error =
          writeObjectFile((*archive)->getMemBufferRef(), output))
    return fail(llvm::toString(std::move(error)));
  if (header.empty())
    return;
  if (llvm::Error error = writeStepHeader(*info, options.symbol, header))
    fail(llvm::toString(std::move(error)));
}
