//===- StepCompiler.cpp - Machine code of training steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/StepCompiler.h"
#include "StepPartitions.h"
#include "StepTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include <mutex>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

bool execution::isIdentifier(StringRef name) {
  auto isLetter = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  return !name.empty() && isLetter(name.front()) &&
         llvm::all_of(name,
                      [&](char c) { return isLetter(c) || llvm::isDigit(c); });
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

/// The function of the step in the LLVM dialect, with the signature of
/// act_cpu_step.
static FailureOr<LLVM::LLVMFuncOp> findStepFunction(ModuleOp module,
                                                    StringRef name) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function || function.isExternal())
    return module.emitError()
           << "expects a definition of llvm.func @" << name
           << ", the step that '" << stepAttributeName << "' names";
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  auto expected = LLVM::LLVMFunctionType::get(
      IntegerType::get(module.getContext(), 32), SmallVector<Type>(4, pointer));
  if (function.getFunctionType() != expected)
    return function.emitOpError("expects the type ")
           << expected << ", got " << function.getFunctionType();
  return function;
}

/// Gives every definition but those in `kept` a name that starts with `symbol`.
static void renameDefinitions(llvm::Module &module, StringRef symbol,
                              llvm::GlobalValue *kept) {
  for (llvm::GlobalValue &value : module.global_values())
    if (&value != kept && !value.isDeclaration())
      value.setName(symbol + "." + value.getName());
}

FailureOr<std::unique_ptr<llvm::Module>>
execution::translateStep(ModuleOp module, StringRef symbol,
                         llvm::LLVMContext &context) {
  FailureOr<StepInfo> info = readStepInfo(module);
  if (failed(info) || failed(findStepFunction(module, info->name)))
    return failure();
  for (Operation &op : module.getOps())
    if (!isa_and_nonnull<LLVM::LLVMDialect>(op.getDialect()))
      return op.emitOpError("expects the module of a step to consist of "
                            "operations of the LLVM dialect");
  std::unique_ptr<llvm::Module> translated =
      translateModuleToLLVMIR(module, context, symbol);
  if (!translated)
    return module.emitError() << "cannot translate the module to LLVM IR";
  if (!translated->alias_empty() || !translated->ifunc_empty())
    return module.emitError() << "expects no aliases of functions or globals";
  llvm::Function *function = translated->getFunction(info->name);
  // Frees the name in case a kernel has it.
  if (llvm::GlobalValue *taken = translated->getNamedValue(symbol))
    if (taken != function)
      taken->setName("." + symbol);
  function->setName(symbol);
  function->setLinkage(llvm::GlobalValue::ExternalLinkage);
  renameDefinitions(*translated, symbol, function);
  addStepTable(*function, *info, (symbol + "_info").str());
  return translated;
}

/// Lets definitions use all of the processor that `machine` compiles for.
static void setFunctionAttributes(llvm::Module &module,
                                  const llvm::TargetMachine &machine,
                                  const CompileOptions &options) {
  bool hasWideVectors = machine.getTargetTriple().isX86() &&
                        machine.getMCSubtargetInfo()->checkFeatures("+avx512f");
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.setDoesNotThrow();
    // Some processors are tuned for half of the vectors that they have, but
    // kernels say how wide theirs are.
    if (hasWideVectors)
      function.addFnAttr("prefer-vector-width", "512");
    if (options.sanitizeAddress)
      function.addFnAttr(llvm::Attribute::SanitizeAddress);
  }
}

//===----------------------------------------------------------------------===//
// Machine code
//===----------------------------------------------------------------------===//

/// The usual passes, except that loops are not vectorised: kernels come with
/// explicit vectors, and what is left is short.
static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const CompileOptions &options) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  tuning.LoopInterleaving = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::ModulePassManager passes =
      builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
  if (options.sanitizeAddress)
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  passes.run(module, modules);
}

static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compilePartition(llvm::MemoryBufferRef bitcode, const StepPartition &partition,
                 const StepTarget &target, StringRef name,
                 const CompileOptions &options) {
  llvm::LLVMContext context;
  auto module = readPartition(bitcode, partition, context);
  if (!module)
    return module.takeError();
  std::unique_ptr<llvm::TargetMachine> machine = target.createTargetMachine();
  setFunctionAttributes(**module, *machine, options);
  optimize(**module, *machine, options);
  SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr,
                                   llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("cannot write object files for " +
                                   machine->getTargetTriple().str());
  passes.run(**module);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(object), name, /*RequiresNullTerminator=*/false);
}

/// Compiles all parts at once; the objects have the order of the parts.
static llvm::Expected<std::vector<std::unique_ptr<llvm::MemoryBuffer>>>
compilePartitions(llvm::MemoryBufferRef bitcode,
                  ArrayRef<StepPartition> partitions, const StepTarget &target,
                  const CompileOptions &options) {
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects(partitions.size());
  llvm::Error errors = llvm::Error::success();
  std::mutex mutex;
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(options.threads));
  for (size_t i = 0; i < partitions.size(); ++i)
    pool.async([&, i] {
      auto object = compilePartition(
          bitcode, partitions[i], target,
          options.symbol + "." + std::to_string(i) + ".o", options);
      if (object) {
        objects[i] = std::move(*object);
        return;
      }
      std::lock_guard<std::mutex> lock(mutex);
      errors = llvm::joinErrors(std::move(errors), object.takeError());
    });
  pool.wait();
  if (errors)
    return errors;
  return objects;
}

FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
execution::compileStep(ModuleOp module, const CompileOptions &options) {
  auto fail = [&](llvm::Error error) -> LogicalResult {
    return module.emitError() << llvm::toString(std::move(error));
  };
  if (!isIdentifier(options.symbol))
    return module.emitError() << "expects an identifier of C to name the "
                                 "compiled function, got '"
                              << options.symbol << "'";
  llvm::Expected<StepTarget> target = StepTarget::create(options.cpu);
  if (!target)
    return fail(target.takeError());
  llvm::LLVMContext context;
  auto translated = translateStep(module, options.symbol, context);
  if (failed(translated))
    return failure();
  {
    std::unique_ptr<llvm::TargetMachine> machine =
        target->createTargetMachine();
    (*translated)->setDataLayout(machine->createDataLayout());
    (*translated)->setTargetTriple(machine->getTargetTriple());
  }
  SmallVector<StepPartition> partitions = partitionStep(**translated);
  SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream stream(bitcode);
  llvm::WriteBitcodeToFile(**translated, stream);
  translated->reset();

  auto objects = compilePartitions(
      llvm::MemoryBufferRef({bitcode.data(), bitcode.size()}, options.symbol),
      partitions, *target, options);
  if (!objects)
    return fail(objects.takeError());
  std::vector<llvm::NewArchiveMember> members;
  for (auto &object : *objects)
    members.emplace_back(object->getMemBufferRef());
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NormalSymtab,
      llvm::object::Archive::K_GNU, /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return fail(archive.takeError());
  return std::move(*archive);
}
