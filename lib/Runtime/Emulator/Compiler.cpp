//===- Compiler.cpp - From PTX to code of the host ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compiler.h"
#include "HostFunctions.h"
#include "Translation.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <mutex>

using namespace llvm;

namespace act::emulator {

namespace {
/// The compiler of the process.
class Jit {
public:
  static Expected<Jit *> get();

  Expected<orc::JITDylib *> add(std::unique_ptr<LLVMContext> context,
                                std::unique_ptr<llvm::Module> module);
  void remove(orc::JITDylib &library);
  Expected<KernelEntry> find(orc::JITDylib &library);

private:
  Error start();
  Error defineFunctions();
  void optimize(llvm::Module &module);

  std::mutex mutex;
  std::unique_ptr<orc::LLJIT> jit;
  std::unique_ptr<TargetMachine> machine;
  uint64_t numLibraries = 0;
};
} // namespace

Expected<Jit *> Jit::get() {
  // Never destroyed: the library may be used by destructors at exit.
  static Jit *instance = nullptr;
  static std::mutex creation;
  std::lock_guard<std::mutex> lock(creation);
  if (!instance) {
    auto created = std::make_unique<Jit>();
    if (Error error = created->start())
      return std::move(error);
    instance = created.release();
  }
  return instance;
}

Error Jit::start() {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Expected<orc::JITTargetMachineBuilder> builder =
      orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(CodeGenOptLevel::Less);
  builder->getOptions().AllowFPOpFusion = FPOpFusion::Strict;
  Expected<std::unique_ptr<TargetMachine>> created =
      builder->createTargetMachine();
  if (!created)
    return created.takeError();
  machine = std::move(*created);
  Expected<std::unique_ptr<orc::LLJIT>> jitOrError =
      orc::LLJITBuilder().setJITTargetMachineBuilder(*builder).create();
  if (!jitOrError)
    return jitOrError.takeError();
  jit = std::move(*jitOrError);
  return defineFunctions();
}

Error Jit::defineFunctions() {
  std::vector<HostFunction> functions;
  addNumericFunctions(functions);
  addDeviceFunctions(functions);
  orc::SymbolMap symbols;
  for (auto [name, address] : functions)
    symbols[jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                           JITSymbolFlags::Exported};
  orc::JITDylib &library = jit->getMainJITDylib();
  if (Error error = library.define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  // What the code generator calls for itself, like memcpy and fmod.
  auto generator = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(
      jit->getDataLayout().getGlobalPrefix());
  if (!generator)
    return generator.takeError();
  library.addGenerator(std::move(*generator));
  return Error::success();
}

/// Little, as kernels are many and most run once: registers become values, and
/// what the translation computes twice goes.
void Jit::optimize(llvm::Module &module) {
  PassBuilder builder(machine.get());
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  FunctionPassManager passes;
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass());
  passes.addPass(InstCombinePass());
  passes.addPass(SimplifyCFGPass());
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      passes.run(function, functions);
}

Expected<orc::JITDylib *> Jit::add(std::unique_ptr<LLVMContext> context,
                                   std::unique_ptr<llvm::Module> module) {
  std::lock_guard<std::mutex> lock(mutex);
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  optimize(*module);
  Expected<orc::JITDylib &> library =
      jit->createJITDylib("kernel" + std::to_string(numLibraries++));
  if (!library)
    return library.takeError();
  library->addToLinkOrder(jit->getMainJITDylib());
  if (Error error =
          jit->addIRModule(*library, orc::ThreadSafeModule(std::move(module),
                                                           std::move(context))))
    return std::move(error);
  return &*library;
}

Expected<KernelEntry> Jit::find(orc::JITDylib &library) {
  std::lock_guard<std::mutex> lock(mutex);
  Expected<orc::ExecutorAddr> address = jit->lookup(library, "kernel");
  if (!address)
    return address.takeError();
  return address->toPtr<KernelEntry>();
}

void Jit::remove(orc::JITDylib &library) {
  std::lock_guard<std::mutex> lock(mutex);
  consumeError(jit->getExecutionSession().removeJITDylib(library));
}

CompiledKernel::~CompiledKernel() {
  if (!library)
    return;
  Expected<Jit *> jit = Jit::get();
  if (jit)
    (*jit)->remove(*library);
  else
    consumeError(jit.takeError());
}

Expected<std::unique_ptr<CompiledKernel>>
compileKernel(const ptx::Module &source, const ptx::Function &kernel,
              bool check, bool statistics,
              function_ref<char *(StringRef)> getVariable) {
  Expected<Jit *> jit = Jit::get();
  if (!jit)
    return jit.takeError();
  Translation translation(source, check, statistics);
  translation.getVariable = getVariable;
  if (Error error = translation.run(kernel))
    return std::move(error);
  auto compiled = std::make_unique<CompiledKernel>();
  compiled->needsFibers = translation.needsFibers;
  compiled->staticSharedBytes = translation.staticSharedBytes;
  compiled->sites = std::move(translation.sites);
  Expected<orc::JITDylib *> library = (*jit)->add(
      std::move(translation.context), std::move(translation.module));
  if (!library)
    return library.takeError();
  compiled->library = *library;
  Expected<KernelEntry> entry = (*jit)->find(**library);
  if (!entry)
    return entry.takeError();
  compiled->entry = *entry;
  return std::move(compiled);
}

} // namespace act::emulator
