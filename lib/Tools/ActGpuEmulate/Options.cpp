//===- Options.cpp - Options of act-gpu-emulate ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "act/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::emulate;
using llvm::createStringError;
namespace cl = llvm::cl;

namespace {
/// The options as they are registered, while the command line is read.
struct CommandLine {
  cl::OptionCategory category{"act-gpu-emulate options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("KERNELS.ptx"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> kernel{
      "kernel",
      cl::desc("Kernel to execute; without it, all are translated "
               "and listed"),
      cl::value_desc("name"), cl::cat(category)};
  cl::opt<std::string> grid{"grid", cl::desc("Blocks of the grid [1,1,1]"),
                            cl::value_desc("x,y,z"), cl::cat(category)};
  cl::opt<std::string> block{"block", cl::desc("Threads of a block [1,1,1]"),
                             cl::value_desc("x,y,z"), cl::cat(category)};
  cl::opt<unsigned> shared{"shared", cl::desc("Bytes of dynamic shared memory"),
                           cl::value_desc("bytes"), cl::init(0),
                           cl::cat(category)};
  cl::list<std::string> arguments{
      "arg",
      cl::desc("The next argument: i32=5, in:FILE.npy, "
               "inout:FILE.npy[:RESULT.npy], out:8x4xf32[:RESULT.npy], "
               "zero:8x4xf32[:RESULT.npy], expect:FILE.npy[:TOLERANCE]"),
      cl::value_desc("spec"), cl::cat(category)};
  cl::opt<std::string> schedule{
      "schedule",
      cl::desc("Order of threads and blocks: forward, reverse, random:SEED, "
               "or all to execute three and compare them"),
      cl::init("forward"), cl::cat(category)};
  cl::opt<bool> check{"check", cl::desc("Check accesses and races [true]"),
                      cl::init(true), cl::cat(category)};
  cl::opt<unsigned> workers{"workers",
                            cl::desc("Threads that execute blocks [1]"),
                            cl::init(1), cl::cat(category)};
  cl::opt<std::string> statistics{
      "statistics", cl::desc("Write counts as JSON, to stdout without a file"),
      cl::value_desc("file.json"), cl::ValueOptional, cl::cat(category)};
  cl::opt<std::string> emulator{
      "emulator",
      cl::desc("Further options of the emulator, as in ACT_GPU_EMULATOR"),
      cl::value_desc("options"), cl::cat(category)};
};
} // namespace

static llvm::Error parseSize(StringRef name, StringRef text,
                             unsigned (&size)[3]) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/!text.empty());
  if (parts.size() > 3)
    parts.assign(1, "");
  for (auto [part, number] : llvm::zip(parts, size))
    if (part.getAsInteger(10, number))
      return createStringError("--" + name + " expects X, X,Y or X,Y,Z, got '" +
                               text + "'");
  return llvm::Error::success();
}

llvm::Expected<Options> emulate::parseCommandLine(int argc, char **argv) {
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "act-gpu-emulate " << ACT_VERSION_STRING << "\n";
  });
  cl::ParseCommandLineOptions(
      argc, argv, "executes kernels in PTX or LLVM bitcode on the processor\n");
  Options options;
  options.input = line.input;
  options.kernel = line.kernel;
  options.sharedBytes = line.shared;
  options.arguments = line.arguments;
  if (llvm::Error error = parseSize("grid", line.grid, options.grid))
    return std::move(error);
  if (llvm::Error error = parseSize("block", line.block, options.block))
    return std::move(error);
  options.allSchedules = line.schedule == "all";
  // The tool prints errors itself.
  StringRef schedule =
      options.allSchedules ? "forward" : StringRef(line.schedule.getValue());
  bool countsWork = line.statistics.getNumOccurrences() != 0;
  options.configuration =
      llvm::formatv("verbose=0,check={0},workers={1},schedule={2},"
                    "statistics={3},{4}",
                    int(line.check), line.workers.getValue(), schedule,
                    int(countsWork), line.emulator.getValue())
          .str();
  if (countsWork)
    options.statistics =
        line.statistics.empty() ? "-" : line.statistics.getValue();
  return options;
}
