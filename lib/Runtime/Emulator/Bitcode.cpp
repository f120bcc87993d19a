//===- Bitcode.cpp - From LLVM bitcode to PTX ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include <cstdlib>

using namespace llvm;

extern "C" void LLVMInitializeNVPTXTargetInfo();
extern "C" void LLVMInitializeNVPTXTarget();
extern "C" void LLVMInitializeNVPTXTargetMC();
extern "C" void LLVMInitializeNVPTXAsmPrinter();

namespace act::emulator {

static constexpr StringRef checkName = "act_gpu_emulator_check_conversion";

/// Conversions of floating-point numbers to integers saturate on a GPU, but
/// give poison in LLVM IR where the integer cannot hold the number.
static void checkConversions(llvm::Module &module) {
  SmallVector<CastInst *> conversions;
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : instructions(function))
      if (isa<FPToSIInst, FPToUIInst>(instruction) &&
          !instruction.getType()->isVectorTy())
        conversions.push_back(cast<CastInst>(&instruction));
  for (CastInst *conversion : conversions) {
    IRBuilder<> builder(conversion);
    Value *number =
        builder.CreateFPExt(conversion->getOperand(0), builder.getDoubleTy());
    FunctionCallee check = module.getOrInsertFunction(
        checkName, builder.getVoidTy(), builder.getDoubleTy(),
        builder.getInt32Ty(), builder.getInt32Ty());
    builder.CreateCall(
        check,
        {number, builder.getInt32(conversion->getType()->getIntegerBitWidth()),
         builder.getInt32(isa<FPToSIInst>(conversion))});
  }
}

/// The file of libdevice in the toolkit that the environment names.
static std::string findLibdevice() {
  for (const char *variable : {"CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"}) {
    const char *root = std::getenv(variable);
    if (!root)
      continue;
    SmallString<128> path(root);
    sys::path::append(path, "nvvm", "libdevice", "libdevice.10.bc");
    if (sys::fs::exists(path))
      return std::string(path);
  }
  return "";
}

static Error linkLibdevice(llvm::Module &module) {
  bool isNeeded = any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
  if (!isNeeded)
    return Error::success();
  std::string path = findLibdevice();
  if (path.empty())
    return createStringError("the bitcode needs libdevice: expects a CUDA "
                             "toolkit in CUDA_HOME, CUDA_ROOT or CUDA_PATH");
  SMDiagnostic diagnostic;
  auto library = parseIRFile(path, diagnostic, module.getContext());
  if (!library)
    return createStringError(diagnostic.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  auto internalize = [](llvm::Module &linked, const StringSet<> &names) {
    internalizeModule(linked, [&](const GlobalValue &value) {
      return !value.hasName() || !names.count(value.getName());
    });
  };
  if (Linker::linkModules(module, std::move(library),
                          Linker::Flags::LinkOnlyNeeded, internalize))
    return createStringError("linking libdevice failed");
  return Error::success();
}

static void optimize(llvm::Module &module, TargetMachine &machine) {
  PassBuilder builder(&machine);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O1)
      .run(module, modules);
}

Expected<std::string> compileBitcode(StringRef bitcode, bool check) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  LLVMContext context;
  Expected<std::unique_ptr<llvm::Module>> parsed =
      parseBitcodeFile(MemoryBufferRef(bitcode, "image"), context);
  if (!parsed)
    return parsed.takeError();
  llvm::Module &module = **parsed;
  std::string message;
  Triple triple("nvptx64-nvidia-cuda");
  const Target *target = TargetRegistry::lookupTarget(triple, message);
  if (!target)
    return createStringError(message);
  std::unique_ptr<TargetMachine> machine(target->createTargetMachine(
      triple, "sm_80", "+ptx80", TargetOptions(), std::nullopt));
  module.setTargetTriple(triple);
  module.setDataLayout(machine->createDataLayout());
  if (Error error = linkLibdevice(module))
    return std::move(error);
  if (check)
    checkConversions(module);
  optimize(module, *machine);
  SmallVector<char, 0> text;
  raw_svector_ostream os(text);
  legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, os, nullptr,
                                   CodeGenFileType::AssemblyFile))
    return createStringError("LLVM cannot print PTX");
  passes.run(module);
  return std::string(text.begin(), text.end());
}

} // namespace act::emulator
