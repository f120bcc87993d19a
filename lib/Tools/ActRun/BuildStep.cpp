//===- BuildStep.cpp - Compiling the step of act-run ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildStep.h"
#include "act/Conversion/GPUToBinary/CudaToolkit.h"
#include "act/Conversion/GPUToBinary/Manifest.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "act/Execution/ObjectCache.h"
#include "act/Execution/ObjectFiles.h"
#include "act/Execution/StepCompiler.h"
#include "act/Pipelines/GpuPipelines.h"
#include "act/Pipelines/NativePipelines.h"
#include "act/Pipelines/Pipelines.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
using namespace mlir::act::execution;

/// Calls `function` and adds the seconds it takes to `seconds`.
template <typename Function>
static auto measure(double &seconds, Function function) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  llvm::scope_exit stop([&] {
    seconds += std::chrono::duration<double>(Clock::now() - start).count();
  });
  return function();
}

static LogicalResult reportError(llvm::Error error) {
  llvm::WithColor::error(llvm::errs(), "act-run")
      << llvm::toString(std::move(error)) << "\n";
  return failure();
}

//===----------------------------------------------------------------------===//
// The source
//===----------------------------------------------------------------------===//

FailureOr<StepSource> StepSource::open(StringRef path, MLIRContext &context) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return reportError(llvm::createStringError(
        "cannot read '" + path + "': " + buffer.getError().message()));
  return StepSource(std::move(*buffer), context);
}

OwningOpRef<ModuleOp> StepSource::parse() const {
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(*buffer),
                             llvm::SMLoc());
  SourceMgrDiagnosticHandler handler(sources, context);
  return parseSourceFile<ModuleOp>(sources, context);
}

/// How far a module with the attribute `act.step` is lowered for GPUs.
static GpuStage getGpuStage(ModuleOp module) {
  if (!module->hasAttr(stepAttributeName))
    return GpuStage::Stablehlo;
  for (auto kernels : module.getOps<gpu::GPUModuleOp>())
    return kernels.getOps<gpu::GPUFuncOp>().empty() ? GpuStage::LoweredKernels
                                                    : GpuStage::Kernels;
  return module.getOps<gpu::BinaryOp>().empty() ? GpuStage::Embedded
                                                : GpuStage::Binaries;
}

/// The text that a toolkit, if there is one, makes machine code of, so that the
/// manifest can say what its kernels need.
static KernelFormat getKernelFormat(Emit emit) {
  switch (emit) {
  case Emit::Cubin:
    return KernelFormat::Cubin;
  case Emit::Fatbin:
    return KernelFormat::Fatbin;
  case Emit::Manifest:
    if (llvm::Expected<CudaToolkit> toolkit = CudaToolkit::find(""))
      return KernelFormat::Cubin;
    else
      llvm::consumeError(toolkit.takeError());
    return KernelFormat::PTX;
  default:
    return KernelFormat::PTX;
  }
}

/// Adds the passes that lower a step for GPUs as far as `options` say.
static void addGpuPasses(OpPassManager &passes, const Options &options,
                         GpuStage stage) {
  ActToPtxOptions lowering;
  lowering.math = options.math;
  lowering.format = getKernelFormat(options.emit);
  if (options.emit == Emit::PTX && !options.chips.empty())
    lowering.chip = options.chips.front();
  else
    for (const std::string &chip : options.chips)
      lowering.chips.push_back(chip);
  if (options.emit == Emit::Cubin && options.chips.empty())
    lowering.chips.push_back("sm_80");
  if (options.emit == Emit::GPU)
    return buildActToGpuPipeline(passes, lowering, stage);
  if (options.emit > Emit::GPU)
    return buildActToGpuBinaryPipeline(passes, lowering, stage);
  buildActToPtxPipeline(passes, lowering, stage);
  buildGpuHostPipeline(passes);
}

/// Adds the passes that lower a StableHLO step for the CPU as far as `emit`
/// says.
static void addLoweringPasses(OpPassManager &passes, Emit emit,
                              const VectorTarget &target) {
  if (emit == Emit::Linalg) {
    passes.addPass(createActInlinePass());
    passes.addPass(createConvertStablehloToLinalgPass());
    passes.addPass(createSymbolDCEPass());
    return;
  }
  if (emit == Emit::Kernels)
    return buildActToKernelsPipeline(passes);
  ActToCPUOptions lowering;
  lowering.vectorBits = target.vectorBits;
  lowering.vectorRegisters = target.vectorRegisters;
  buildActToCPUPipeline(passes, lowering);
}

/// Runs the passes that lower a StableHLO step, as far as it is not lowered.
static LogicalResult runPipeline(ModuleOp module, const Options &options,
                                 const VectorTarget &target) {
  bool isLowered = module->hasAttr(stepAttributeName);
  if (isLowered && (options.compress || options.emit == Emit::Linalg ||
                    options.emit == Emit::Kernels))
    return module.emitError()
           << "expects a step that is not lowered yet, with "
           << (options.compress ? "--compress" : "this --emit");
  if (isLowered && !isForGPU(options))
    return success();
  PassManager passes(module.getContext());
  if (failed(applyPassManagerCLOptions(passes)))
    return failure();
  applyDefaultTimingPassManagerCLOptions(passes);
  if (options.compress) {
    CompressOptions compress;
    if (failed(compress.parseFromString(*options.compress)))
      return failure();
    compress.codecs = CodecForm::Ops;
    buildCompressPipeline(passes, compress);
  }
  if (isForGPU(options) && options.emit != Emit::Kernels)
    addGpuPasses(passes, options, getGpuStage(module));
  else
    addLoweringPasses(passes, options.emit, target);
  return passes.run(module);
}

FailureOr<OwningOpRef<ModuleOp>> run::lowerStep(const StepSource &source,
                                                const Options &options) {
  OwningOpRef<ModuleOp> module = source.parse();
  if (!module)
    return failure();
  // Locations refer to the file by name from here on.
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &source.getContext());
  llvm::Expected<StepTarget> target = StepTarget::create(options.cpu);
  if (!target)
    return reportError(target.takeError());
  if (failed(runPipeline(*module, options, target->getVectorTarget())))
    return failure();
  return module;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

static std::string getSymbol(const Options &options) {
  if (!options.symbol.empty())
    return options.symbol;
  return options.emit == Emit::Object ? getSymbolForFile(options.output)
                                      : "step";
}

/// Everything that the machine code depends on.
static std::string getKey(const StepSource &source, const Options &options,
                          const StepTarget &target, StringRef symbol) {
  std::string compress =
      options.compress ? "compress " + *options.compress : "";
  return getCacheKey({source.getText(), compress, symbol, target.getCPU(),
                      target.getFeatures(), options.sanitize ? "sanitize" : "",
                      isForGPU(options)
                          ? options.math == GpuMath::Tf32 ? "gpu tf32" : "gpu"
                          : "",
                      llvm::join(options.chips, ",")});
}

/// Lowers and compiles the step.
static LogicalResult compile(const StepSource &source, const Options &options,
                             BuiltStep &step) {
  auto module =
      measure(step.lowering, [&] { return lowerStep(source, options); });
  if (failed(module))
    return failure();
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &source.getContext());
  FailureOr<StepInfo> info = readStepInfo(**module);
  if (failed(info))
    return failure();
  llvm::raw_string_ostream header(step.header);
  writeStepHeader(*info, step.symbol, isForGPU(options), header);
  CompileOptions compileOptions;
  compileOptions.cpu = options.cpu;
  compileOptions.symbol = step.symbol;
  compileOptions.sanitizeAddress = options.sanitize;
  auto archive = measure(step.compiling,
                         [&] { return compileStep(**module, compileOptions); });
  if (failed(archive))
    return failure();
  step.archive = std::move(*archive);
  return success();
}

FailureOr<BuiltStep> run::buildStep(const StepSource &source,
                                    const Options &options) {
  BuiltStep step;
  step.symbol = getSymbol(options);
  llvm::Expected<StepTarget> target = StepTarget::create(options.cpu);
  if (!target)
    return reportError(target.takeError());
  std::string key = getKey(source, options, *target, step.symbol);
  std::string headerKey = getCacheKey({key, "header"});
  ObjectCache cache = ObjectCache::forUser();
  std::unique_ptr<llvm::MemoryBuffer> archive = cache.lookup(key);
  std::unique_ptr<llvm::MemoryBuffer> header = cache.lookup(headerKey);
  if (archive && header) {
    step.archive = std::move(archive);
    step.header = header->getBuffer().str();
    step.isCached = true;
    return step;
  }
  if (failed(compile(source, options, step)))
    return failure();
  // Without a cache everything works as well, only slower.
  if (llvm::Error error =
          llvm::joinErrors(cache.store(key, step.archive->getMemBufferRef()),
                           cache.store(headerKey, {step.header, headerKey})))
    llvm::WithColor::warning(llvm::errs(), "act-run")
        << llvm::toString(std::move(error)) << "\n";
  return step;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static LogicalResult writeText(StringRef path,
                               function_ref<void(llvm::raw_ostream &)> write) {
  if (llvm::Error error =
          llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
            write(os);
            return llvm::Error::success();
          }))
    return reportError(std::move(error));
  return success();
}

static LogicalResult emitObject(const StepSource &source,
                                const Options &options) {
  FailureOr<BuiltStep> step = buildStep(source, options);
  if (failed(step))
    return failure();
  if (llvm::Error error =
          writeObjectFile(step->archive->getMemBufferRef(), options.output))
    return reportError(std::move(error));
  if (options.header.empty())
    return success();
  return writeText(options.header,
                   [&](llvm::raw_ostream &os) { os << step->header; });
}

/// The object of `binary` that `emit` asks for, null if there is none.
static gpu::ObjectAttr getEmitted(gpu::BinaryOp binary, Emit emit) {
  gpu::CompilationTarget format =
      emit == Emit::PTX     ? gpu::CompilationTarget::Assembly
      : emit == Emit::Cubin ? gpu::CompilationTarget::Binary
                            : gpu::CompilationTarget::Fatbin;
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
    if (object.getFormat() == format)
      return object;
  return {};
}

/// Writes the kernels, or how to launch them.
static LogicalResult emitKernels(const StepSource &source,
                                 const Options &options) {
  auto module = lowerStep(source, options);
  if (failed(module))
    return failure();
  SmallVector<gpu::BinaryOp> binaries((*module)->getOps<gpu::BinaryOp>());
  if (binaries.size() != 1)
    return (*module)->emitError()
           << "expects one module of kernels, got " << binaries.size();
  if (options.emit == Emit::Manifest)
    return writeText(options.output, [&](llvm::raw_ostream &os) {
      writeManifest(binaries[0], os);
    });
  gpu::ObjectAttr object = getEmitted(binaries[0], options.emit);
  if (!object)
    return binaries[0].emitOpError(
        "expects an object of the format that --emit "
        "asks for");
  return writeText(options.output, [&](llvm::raw_ostream &os) {
    os << object.getObject().getValue();
  });
}

LogicalResult run::emitStep(const StepSource &source, const Options &options) {
  if (options.emit == Emit::Object)
    return emitObject(source, options);
  if (options.emit > Emit::GPU)
    return emitKernels(source, options);
  auto module = lowerStep(source, options);
  if (failed(module))
    return failure();
  if (options.emit != Emit::LLVMIR)
    return writeText(options.output, [&](llvm::raw_ostream &os) {
      (*module)->print(os);
      os << "\n";
    });
  llvm::LLVMContext context;
  auto translated = translateStep(**module, getSymbol(options), context);
  if (failed(translated))
    return failure();
  return writeText(options.output, [&](llvm::raw_ostream &os) {
    (*translated)->print(os, nullptr);
  });
}
