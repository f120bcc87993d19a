//===- GPUToBinary.cpp - The pass act-gpu-to-binary ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "PtxCompiler.h"
#include "act/Conversion/GPUToBinary/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Threading.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTGPUTOBINARYPASS
#include "act/Conversion/GPUToBinary/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
struct ActGPUToBinary : act::impl::ActGPUToBinaryPassBase<ActGPUToBinary> {
  using ActGPUToBinaryPassBase::ActGPUToBinaryPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ActGPUToBinaryPassBase::getDependentDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerGPUDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }
  void runOnOperation() override;

private:
  LogicalResult
  convert(gpu::GPUModuleOp module,
          const llvm::MapVector<SymbolRefAttr, LaunchSizes> &launches);
  LogicalResult readChips(SmallVectorImpl<std::string> &names);
  FailureOr<SmallVector<Cubin>>
  assemble(gpu::GPUModuleOp module, const CudaToolkit &toolkit, StringRef ptx);
};
} // namespace

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Functions that PTX has without a definition.
static bool isBuiltin(StringRef name) {
  static const llvm::StringSet<> names = {"__assertfail", "free", "malloc",
                                          "vprintf"};
  return names.contains(name) || name.starts_with("llvm.");
}

static LogicalResult verifyCall(LLVM::CallOp call) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee)
    return success();
  auto function = SymbolTable::lookupNearestSymbolFrom<LLVM::LLVMFuncOp>(
      call, call.getCalleeAttr());
  if ((function && !function.isExternal()) || isBuiltin(*callee))
    return success();
  InFlightDiagnostic diagnostic =
      call.emitOpError("expects a function that the module defines, got '")
      << *callee << "'";
  if (callee->starts_with("__nv_"))
    diagnostic << ", a function of libdevice, which is not linked";
  if (auto kernel = call->getParentOfType<LLVM::LLVMFuncOp>())
    diagnostic.attachNote(kernel.getLoc())
        << "it is called in '" << kernel.getName() << "'";
  return failure();
}

/// What the translation to LLVM IR would not say, or not clearly.
static LogicalResult verifyModule(gpu::GPUModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    if (isa<UnrealizedConversionCastOp>(op)) {
      op->emitOpError("is left over from a conversion of ")
          << op->getOperandTypes() << " to " << op->getResultTypes()
          << "; expects operations of the LLVM and NVVM dialects only";
      return WalkResult::interrupt();
    }
    if (!isa<gpu::GPUModuleOp>(op) &&
        !isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(
            op->getDialect())) {
      op->emitOpError("expects to be lowered to the LLVM and NVVM dialects "
                      "before act-gpu-to-binary");
      return WalkResult::interrupt();
    }
    auto call = dyn_cast<LLVM::CallOp>(op);
    return call && failed(verifyCall(call)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult ActGPUToBinary::readChips(SmallVectorImpl<std::string> &names) {
  names.assign(chips.begin(), chips.end());
  if (names.empty())
    names.assign({"sm_80", "sm_90", "sm_100", "sm_120"});
  llvm::Expected<unsigned> oldest = getArchitecture(chip);
  if (!oldest)
    return getOperation().emitError() << llvm::toString(oldest.takeError());
  for (const std::string &name : names) {
    llvm::Expected<unsigned> architecture = getArchitecture(name);
    if (!architecture)
      return getOperation().emitError()
             << llvm::toString(architecture.takeError());
    if (*architecture < *oldest)
      return getOperation().emitError()
             << "expects chips that are not older than the text for " << chip
             << ", got " << name;
  }
  return success();
}

FailureOr<SmallVector<Cubin>>
ActGPUToBinary::assemble(gpu::GPUModuleOp module, const CudaToolkit &toolkit,
                         StringRef ptx) {
  SmallVector<std::string> names;
  if (failed(readChips(names)))
    return failure();
  SmallVector<std::optional<llvm::Expected<Cubin>>> results(names.size());
  parallelFor(&getContext(), 0, names.size(), [&](size_t i) {
    results[i].emplace(toolkit.assemble(ptx, names[i]));
  });
  SmallVector<Cubin> cubins;
  std::string errors;
  for (auto &result : results) {
    if (*result)
      cubins.push_back(std::move(**result));
    else
      errors +=
          (errors.empty() ? "" : "; ") + llvm::toString(result->takeError());
  }
  if (!errors.empty())
    return module.emitOpError("cannot be assembled: ") << errors;
  return cubins;
}

LogicalResult ActGPUToBinary::convert(
    gpu::GPUModuleOp module,
    const llvm::MapVector<SymbolRefAttr, LaunchSizes> &launches) {
  if (failed(verifyModule(module)))
    return failure();
  FailureOr<std::string> ptx = compileToPtx(module, chip);
  if (failed(ptx))
    return failure();
  OpBuilder builder(module);
  auto getTarget = [&](StringRef name) {
    return NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", name,
        getPtxFeatures(llvm::cantFail(getArchitecture(name))));
  };
  SmallVector<Cubin> cubins;
  std::string fatbin;
  if (format != KernelFormat::PTX) {
    llvm::Expected<CudaToolkit> found = CudaToolkit::find(toolkit);
    if (!found)
      return module.emitOpError() << llvm::toString(found.takeError());
    FailureOr<SmallVector<Cubin>> assembled = assemble(module, *found, *ptx);
    if (failed(assembled))
      return failure();
    cubins = std::move(*assembled);
    if (format == KernelFormat::Fatbin) {
      llvm::Expected<std::string> created =
          found->createFatbin(*ptx, chip, cubins);
      if (!created)
        return module.emitOpError() << llvm::toString(created.takeError());
      fatbin = std::move(*created);
    }
  }
  SmallVector<Attribute> objects = {
      gpu::ObjectAttr::get(getTarget(chip), gpu::CompilationTarget::Assembly,
                           builder.getStringAttr(*ptx), nullptr,
                           createKernelTable(module, launches, cubins))};
  if (format == KernelFormat::Cubin)
    for (const Cubin &cubin : cubins)
      objects.push_back(gpu::ObjectAttr::get(
          getTarget(cubin.chip), gpu::CompilationTarget::Binary,
          builder.getStringAttr(cubin.code)));
  if (format == KernelFormat::Fatbin)
    objects.push_back(gpu::ObjectAttr::get(getTarget(chip),
                                           gpu::CompilationTarget::Fatbin,
                                           builder.getStringAttr(fatbin)));
  gpu::BinaryOp::create(builder, module.getLoc(), module.getName(), nullptr,
                        builder.getArrayAttr(objects));
  module.erase();
  return success();
}

void ActGPUToBinary::runOnOperation() {
  auto launches = collectLaunchSizes(getOperation());
  if (failed(launches))
    return signalPassFailure();
  for (auto module :
       llvm::make_early_inc_range(getOperation().getOps<gpu::GPUModuleOp>()))
    if (failed(convert(module, *launches)))
      return signalPassFailure();
}
