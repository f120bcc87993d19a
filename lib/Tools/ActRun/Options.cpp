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
enum class Target { CPU, CUDA, Emulator };

/// The options as they are registered, while the command line is read.
struct CommandLine {
  cl::OptionCategory category{"act-run options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("STEP.mlir"),
                             cl::Required, cl::cat(category)};
  cl::opt<Target> target{
      "target", cl::desc("What executes the step"), cl::init(Target::CPU),
      cl::values(clEnumValN(Target::CPU, "cpu", "this processor"),
                 clEnumValN(Target::CUDA, "cuda", "not available yet"),
                 clEnumValN(Target::Emulator, "emulator", "not available yet")),
      cl::cat(category)};
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
  cl::opt<std::string> compare{"compare",
                               cl::desc("Compare the results with these"),
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
          clEnumValN(Emit::Linalg, "linalg", "a module in linalg")),
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

/// Options that make no sense, alone or together.
static LogicalResult verify(const CommandLine &line) {
  if (line.target != Target::CPU)
    return reject(
        "--target=" + Twine(line.target == Target::CUDA ? "cuda" : "emulator") +
        " is not available yet; available is --target=cpu");
  if (line.threads < 0)
    return reject("expects --threads not to be negative, got " +
                  Twine(line.threads));
  bool hasArguments = !line.arguments.empty();
  if (hasArguments && line.randomArguments)
    return reject("expects --args or --random-args, got both");
  bool writesObject = line.emit == Emit::Object;
  if (writesObject && line.output == "-")
    return reject("expects a file (-o) for --emit=object");
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
          argc, argv, "Compiles a training step for the CPU and executes it.\n",
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
  options.cpu = line.cpu;
  options.sanitize = line.sanitize;
  options.threads = line.threads;
  if (line.compress.getNumOccurrences() > 0)
    options.compress = line.compress;
  options.arguments = line.arguments;
  options.randomArguments = line.randomArguments;
  options.seed = line.seed;
  options.results = line.results;
  options.compare = line.compare;
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
