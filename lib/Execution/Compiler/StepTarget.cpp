//===- StepTarget.cpp - The processor that steps are compiled for
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/StepCompiler.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include <mutex>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

static const llvm::Target *lookupHostTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  return llvm::TargetRegistry::lookupTarget(
      llvm::Triple(llvm::sys::getProcessTriple()), error);
}

llvm::Expected<StepTarget> StepTarget::create(StringRef cpu) {
  std::string error;
  const llvm::Target *target = lookupHostTarget(error);
  if (!target)
    return llvm::createStringError(error);
  StepTarget result;
  if (cpu.empty()) {
    result.cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures features;
    llvm::StringMap<bool> found = llvm::sys::getHostCPUFeatures();
    for (const auto &feature : found)
      features.AddFeature(feature.first(), feature.second);
    // The order in a map depends on its hash, the code must not.
    std::vector<std::string> sorted = features.getFeatures();
    llvm::sort(sorted);
    result.features = llvm::join(sorted, ",");
    return result;
  }
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(
      llvm::Triple(llvm::sys::getProcessTriple()), "", ""));
  if (!info || !info->isCPUStringValid(cpu))
    return llvm::createStringError("expects the name of a processor, such as "
                                   "x86-64-v3 or znver4, got '" +
                                   cpu + "'");
  result.cpu = cpu.str();
  return result;
}

std::unique_ptr<llvm::TargetMachine> StepTarget::createTargetMachine() const {
  std::string error;
  const llvm::Target *target = lookupHostTarget(error);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      llvm::Triple(llvm::sys::getProcessTriple()), cpu, features,
      llvm::TargetOptions(), llvm::Reloc::PIC_));
}

VectorTarget StepTarget::getVectorTarget() const {
  std::string error;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      lookupHostTarget(error)->createMCSubtargetInfo(
          llvm::Triple(llvm::sys::getProcessTriple()), cpu, features));
  if (info->checkFeatures("+avx512f,+avx512vl"))
    return {512, 32};
  if (info->checkFeatures("+avx2,+fma"))
    return {256, 16};
  return {128, 16};
}
