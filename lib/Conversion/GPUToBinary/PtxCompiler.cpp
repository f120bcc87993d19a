//===- PtxCompiler.cpp - PTX of a GPU module ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxCompiler.h"
#include "PtxChunks.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

using namespace mlir;
using namespace mlir::act;

static constexpr llvm::StringLiteral triple = "nvptx64-nvidia-cuda";
/// What act's kernels need: asynchronous copies and products of bf16 and tf32.
static constexpr unsigned oldestArchitecture = 80;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

static llvm::Expected<const llvm::Target *> getTarget() {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string message;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(llvm::Triple(triple), message);
  if (!target)
    return llvm::createStringError("LLVM has no target for PTX: " + message);
  return target;
}

StringRef act::getPtxFeatures(unsigned architecture) {
  // Newer chips need a newer version, which LLVM chooses by itself.
  return architecture <= 90 ? "+ptx80" : "";
}

static std::unique_ptr<llvm::TargetMachine>
createTargetMachine(const llvm::Target &target, StringRef chip) {
  unsigned architecture = llvm::cantFail(getArchitecture(chip));
  return std::unique_ptr<llvm::TargetMachine>(target.createTargetMachine(
      llvm::Triple(triple), chip, getPtxFeatures(architecture),
      llvm::TargetOptions(), std::nullopt, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
}

/// 80 of "sm_80" and 90 of "sm_90a", 0 if `chip` is called otherwise.
static unsigned parseArchitecture(StringRef chip) {
  unsigned number = 0;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, number))
    return 0;
  return chip.empty() || chip == "a" || chip == "f" ? number : 0;
}

llvm::Expected<unsigned> act::getArchitecture(StringRef chip) {
  llvm::Expected<const llvm::Target *> target = getTarget();
  if (!target)
    return target.takeError();
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      (*target)->createMCSubtargetInfo(llvm::Triple(triple), "", ""));
  SmallVector<std::pair<unsigned, StringRef>> known;
  for (const llvm::SubtargetSubTypeKV &entry :
       subtarget->getAllProcessorDescriptions())
    if (unsigned number = parseArchitecture(entry.Key);
        number >= oldestArchitecture)
      known.emplace_back(number, entry.Key);
  llvm::sort(known);
  for (auto [number, name] : known)
    if (name == chip)
      return number;
  return llvm::createStringError(
      "expects a chip that act has kernels for, got '" + chip +
      "'; known are " + llvm::join(llvm::make_second_range(known), ", "));
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {
/// Keeps what LLVM reports as errors.
struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string &errors) : errors(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error)
      return true;
    llvm::raw_string_ostream stream(errors);
    if (!errors.empty())
      stream << "; ";
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    return true;
  }

  std::string &errors;
};
} // namespace

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::PassBuilder builder(&machine);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3)
      .run(module, modules);
}

/// The text of one chunk.
static llvm::Expected<std::string> compileChunk(llvm::MemoryBufferRef bitcode,
                                                const PtxChunk &chunk,
                                                const llvm::Target &target,
                                                StringRef chip) {
  llvm::LLVMContext context;
  std::string errors;
  context.setDiagnosticHandler(std::make_unique<ErrorCollector>(errors));
  auto module = readChunk(bitcode, chunk, context);
  if (!module)
    return module.takeError();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(target, chip);
  optimize(**module, *machine);
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return llvm::createStringError("LLVM cannot write PTX");
  passes.run(**module);
  if (!errors.empty())
    return llvm::createStringError(errors);
  return text.str().str();
}

/// Compiles all chunks, `threads` at a time (0 for one per core).
static llvm::Expected<std::vector<std::string>>
compileChunks(llvm::MemoryBufferRef bitcode, ArrayRef<PtxChunk> chunks,
              const llvm::Target &target, StringRef chip, unsigned threads) {
  std::vector<std::string> texts(chunks.size());
  std::vector<std::string> errors(chunks.size());
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  for (size_t i = 0; i < chunks.size(); ++i)
    pool.async([&, i] {
      llvm::Expected<std::string> text =
          compileChunk(bitcode, chunks[i], target, chip);
      if (text)
        texts[i] = std::move(*text);
      else
        errors[i] = llvm::toString(text.takeError());
    });
  pool.wait();
  for (StringRef error : errors)
    if (!error.empty())
      return llvm::createStringError(error);
  return texts;
}

FailureOr<std::string> act::compileToPtx(gpu::GPUModuleOp module,
                                         StringRef chip) {
  auto fail = [&](llvm::Error error) -> LogicalResult {
    return module.emitOpError() << llvm::toString(std::move(error));
  };
  llvm::Expected<const llvm::Target *> target = getTarget();
  if (!target)
    return fail(target.takeError());
  if (llvm::Expected<unsigned> known = getArchitecture(chip); !known)
    return fail(known.takeError());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, module.getName());
  if (!translated)
    return module.emitOpError("cannot be translated to LLVM IR");
  translated->setDataLayout(
      createTargetMachine(**target, chip)->createDataLayout());
  translated->setTargetTriple(llvm::Triple(triple));
  SmallVector<PtxChunk> chunks = divideIntoChunks(*translated);
  SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(*translated, stream);
  translated.reset();
  auto texts = compileChunks(
      llvm::MemoryBufferRef({bitcode.data(), bitcode.size()}, module.getName()),
      chunks, **target, chip,
      module.getContext()->isMultithreadingEnabled() ? 0 : 1);
  if (!texts)
    return fail(texts.takeError());
  return joinTexts(*texts);
}
