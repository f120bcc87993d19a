//===- Options.cpp - Options of act-run ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "act/Version.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
namespace cl = llvm::cl;

namespace {
/// The options as they are registered, while the command line is read.
struct CommandLine {
  cl::OptionCategory category{"act-run options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("STEP.mlir"),
                             cl::Required, cl::cat(category)};
  cl::opt<Target> target{
      "target", cl::desc("What executes the step"), cl::init(Target::CPU),
      cl::values(clEnumValN(Target::CPU, "cpu", "this processor"),
                 clEnumValN(Target::CUDA, "cuda", "a GPU, by CUDA's driver"),
                 clEnumValN(Target::Emulator, "emulator",
                            "act's emulator of a GPU, with its checks")),
      cl::cat(category)};
  cl::list<std::string> chips{
      "chip",
      cl::desc("GPUs to compile for, such as sm_90 [text for sm_80 and newer]"),
      cl::value_desc("names"), cl::CommaSeparated, cl::cat(category)};
  cl::opt<GpuMath> math{
      "math", cl::desc("How products of f32 are computed on GPUs"),
      cl::init(GpuMath::Ieee),
      cl::values(clEnumValN(GpuMath::Ieee, "ieee", "in f32"),
                 clEnumValN(GpuMath::Tf32, "tf32",
                            "on tensor cores, with rounded factors")),
      cl::cat(category)};
  cl::opt<bool> schedules{
      "schedules",
      cl::desc(
          "Execute in three orders of blocks and threads; results must have "
          "the same bits (--target=emulator)"),
      cl::cat(category)};
  cl::opt<std::string> record{
      "record",
      cl::desc(
          "Write kernels, launches and what each of them writes to memory, "
          "for utils/gpu-check.sh (--target=emulator)"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<int64_t> threads{
      "threads",
      cl::desc("Threads that execute the step, 0 for all processors"),
      cl::init(0), cl::cat(category)};
  cl::opt<std::string> cpu{
      "cpu", cl::desc("Processor to compile for, as LLVM names it [this one]"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> compress{
      "compress",
      cl::desc("Compress saved values first, with options of act-compress, "
               "such as --compress=bits=2"),
      cl::value_desc("options"), cl::ValueOptional, cl::cat(category)};

  cl::opt<std::string> arguments{"args", cl::desc("Arguments of the step"),
                                 cl::value_desc("file.npz"), cl::cat(category)};
  cl::opt<bool> randomArguments{"random-args",
                                cl::desc("Draw arguments that suit their uses"),
                                cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::desc("Of random arguments"), cl::init(0),
                         cl::cat(category)};
  cl::opt<std::string> results{"results", cl::desc("Write the results"),
                               cl::value_desc("file.npz"), cl::cat(category)};
  cl::opt<std::string> compare{
      "compare",
      cl::desc("Compare the results with these, or with "
               "those of the CPU (cpu)"),
      cl::value_desc("file.npz"), cl::cat(category)};
  cl::opt<double> tolerance{
      "tolerance",
      cl::desc("Largest relative error of a float result [1e-5; f16 2e-3, "
               "bf16 2e-2]; 0 for the same bits"),
      cl::cat(category)};
  cl::opt<std::string> time{
      "time",
      cl::desc("Execute N more times and print how long that takes [10]"),
      cl::value_desc("N"), cl::ValueOptional, cl::cat(category)};
  cl::opt<bool> peak{"peak", cl::desc("Measure how much of the arena is used"),
                     cl::cat(category)};
  cl::opt<std::string> trace{"trace",
                             cl::desc("Write a Chrome trace of an execution"),
                             cl::value_desc("file.json"), cl::cat(category)};
  cl::opt<bool> check{"check", cl::desc("Infinities and NaN are errors"),
                      cl::cat(category)};

  cl::opt<Emit> emit{
      "emit", cl::desc("Write what the step compiles to, execute nothing"),
      cl::init(Emit::Nothing),
      cl::values(
          clEnumValN(Emit::Object, "object",
                     "an object file (-o FILE.o), or "
                     "several (-o FILE.a)"),
          clEnumValN(Emit::LLVMIR, "llvm-ir", "LLVM IR, not optimised"),
          clEnumValN(Emit::LLVMDialect, "llvm", "a module in the LLVM dialect"),
          clEnumValN(Emit::Kernels, "kernels", "kernels on buffers"),
          clEnumValN(Emit::Linalg, "linalg", "a module in linalg"),
          clEnumValN(Emit::GPU, "gpu",
                     "a module with kernels for GPUs in NVVM"),
          clEnumValN(Emit::PTX, "ptx", "text of the kernels for GPUs"),
          clEnumValN(Emit::Cubin, "cubin",
                     "machine code of the kernels for one GPU (--chip)"),
          clEnumValN(Emit::Fatbin, "fatbin",
                     "text, and machine code for several GPUs"),
          clEnumValN(Emit::Manifest, "manifest",
                     "how to launch the kernels, as JSON")),
      cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("File to write"),
                              cl::value_desc("file"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<std::string> header{
      "header", cl::desc("Also write a C header for the object file"),
      cl::value_desc("file.h"), cl::cat(category)};
  cl::opt<bool> sanitize{
      "sanitize",
      cl::desc("Let AddressSanitizer check the object file, for programs built "
               "with -fsanitize=address"),
      cl::cat(category)};
  cl::opt<std::string> symbol{
      "name",
      cl::desc("C name of the step in the object file [name of the file]"),
      cl::value_desc("name"), cl::cat(category)};
};
} // namespace

static LogicalResult reject(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "act-run") << message << "\n";
  return failure();
}

/// Options that make no sense for the target.
static LogicalResult verifyTarget(const CommandLine &line) {
  bool emitsForGPU = line.emit >= Emit::GPU;
  bool isForGPU = line.target != Target::CPU || emitsForGPU;
  if (emitsForGPU && line.target.getNumOccurrences() > 0 &&
      line.target == Target::CPU)
    return reject("expects another --emit with --target=cpu");
  if (isForGPU && (line.cpu.getNumOccurrences() > 0 || line.sanitize))
    return reject("expects --target=cpu with --cpu and --sanitize");
  if (isForGPU && line.emit == Emit::Linalg)
    return reject("expects --target=cpu with --emit=linalg, which is the same "
                  "for all targets");
  if (!isForGPU && (!line.chips.empty() || line.math.getNumOccurrences() > 0))
    return reject("expects --target=cuda, --target=emulator or an --emit for "
                  "GPUs with --chip and --math");
  if (line.emit == Emit::Cubin && line.chips.size() > 1)
    return reject("expects one --chip with --emit=cubin, got " +
                  Twine(line.chips.size()) + "; --emit=fatbin takes several");
  if (line.emit == Emit::PTX && line.chips.size() > 1)
    return reject("expects one --chip with --emit=ptx, got " +
                  Twine(line.chips.size()));
  if (line.target != Target::Emulator &&
      (line.schedules || !line.record.empty()))
    return reject("expects --target=emulator with --schedules and --record");
  return success();
}

/// Options that make no sense, alone or together.
static LogicalResult verify(const CommandLine &line) {
  if (failed(verifyTarget(line)))
    return failure();
  if (line.threads < 0)
    return reject("expects --threads not to be negative, got " +
                  Twine(line.threads));
  bool hasArguments = !line.arguments.empty();
  if (hasArguments && line.randomArguments)
    return reject("expects --args or --random-args, got both");
  bool writesObject = line.emit == Emit::Object;
  bool isBinary = line.emit == Emit::Cubin || line.emit == Emit::Fatbin;
  if ((writesObject || isBinary) && line.output == "-")
    return reject("expects a file (-o) for --emit=" +
                  Twine(writesObject               ? "object"
                        : line.emit == Emit::Cubin ? "cubin"
                                                   : "fatbin"));
  if (!writesObject &&
      (!line.header.empty() || !line.symbol.empty() || line.sanitize))
    return reject("expects --emit=object with --header, --name and --sanitize");
  bool executes = line.emit == Emit::Nothing;
  if (!executes) {
    for (const cl::Option *option :
         {static_cast<const cl::Option *>(&line.arguments),
          static_cast<const cl::Option *>(&line.randomArguments),
          static_cast<const cl::Option *>(&line.results),
          static_cast<const cl::Option *>(&line.compare),
          static_cast<const cl::Option *>(&line.schedules),
          static_cast<const cl::Option *>(&line.record),
          static_cast<const cl::Option *>(&line.time),
          static_cast<const cl::Option *>(&line.peak),
          static_cast<const cl::Option *>(&line.trace),
          static_cast<const cl::Option *>(&line.check)})
      if (option->getNumOccurrences() > 0)
        return reject("--" + option->ArgStr +
                      " executes the step, which --emit does not");
    return success();
  }
  if (line.output.getNumOccurrences() > 0)
    return reject("expects --emit with -o; --results writes the results");
  if (line.tolerance.getNumOccurrences() > 0 && line.compare.empty())
    return reject("expects --compare with --tolerance");
  if (line.tolerance.getNumOccurrences() > 0 && !(line.tolerance >= 0))
    return reject("expects --tolerance not to be negative");
  return success();
}

bool run::isForGPU(const Options &options) {
  return options.target != Target::CPU || options.emit >= Emit::GPU;
}

FailureOr<Options> run::parseOptions(int argc, char **argv) {
  // LLVM's own options, of which some are called as ours, are in its way.
  cl::ResetCommandLineParser();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  static CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "act " << ACT_VERSION_STRING << "\n";
  });
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Compiles a training step for the CPU or for GPUs and "
          "executes it.\n",
          &llvm::errs()))
    return failure();
  if (failed(verify(line)))
    return failure();
  Options options;
  options.input = line.input;
  options.output = line.output;
  options.header = line.header;
  options.symbol = line.symbol;
  options.emit = line.emit;
  options.target = line.target;
  options.chips.assign(line.chips.begin(), line.chips.end());
  options.math = line.math;
  options.cpu = line.cpu;
  options.sanitize = line.sanitize;
  options.threads = line.threads;
  if (line.compress.getNumOccurrences() > 0)
    options.compress = line.compress;
  options.arguments = line.arguments;
  options.randomArguments = line.randomArguments;
  options.seed = line.seed;
  options.results = line.results;
  options.compareWithCPU = line.compare == "cpu";
  if (!options.compareWithCPU)
    options.compare = line.compare;
  options.schedules = line.schedules;
  options.record = line.record;
  if (line.tolerance.getNumOccurrences() > 0)
    options.tolerance = line.tolerance;
  if (line.time.getNumOccurrences() > 0) {
    int64_t count = 10;
    if (!line.time.empty() &&
        (StringRef(line.time).getAsInteger(10, count) || count < 1))
      return reject("expects a positive number with --time, got '" + line.time +
                    "'");
    options.time = count;
  }
  options.peak = line.peak;
  options.trace = line.trace;
  options.check = line.check;
  return options;
}
