//===- ActPlanner.cpp - Solves planning problems ------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActPlanner/ActPlanner.h"
#include "act/Planner/Json.h"
#include "act/Version.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir::act;
using namespace mlir::act::planner;
namespace cl = llvm::cl;

namespace {
/// The options as they are registered, while the command line is read.
struct CommandLine {
  cl::OptionCategory category{"act-planner options"};

  cl::opt<std::string> input{cl::Positional, cl::desc("PROBLEM.json"),
                             cl::init("-"), cl::cat(category)};
  cl::opt<double> limit{"limit", cl::desc("Limit of the peak rows"),
                        cl::value_desc("amount"), cl::cat(category)};
  cl::opt<bool> monotone{
      "monotone",
      cl::desc(
          "Choose among plans for fixed limits, such that a larger --limit "
          "never costs more and a smaller one never has a higher peak"),
      cl::cat(category)};
  cl::opt<bool> least{"least",
                      cl::desc("Find the least limit of the peak rows instead"),
                      cl::cat(category)};
  cl::opt<double> gap{"gap", cl::desc("Relative gap that ends the search"),
                      cl::value_desc("ratio"),
                      cl::init(SolverOptions().targetGap), cl::cat(category)};
  cl::opt<uint64_t> work{
      "work", cl::desc("Multiplications that end the search"),
      cl::value_desc("count"), cl::init(SolverOptions().workLimit),
      cl::cat(category)};
};
} // namespace

static llvm::Error checkOptions(const CommandLine &line) {
  bool hasLimit = line.limit.getNumOccurrences() > 0;
  if (hasLimit && !std::isfinite(line.limit))
    return llvm::createStringError("--limit expects a finite number, got " +
                                   llvm::formatv("{0}", line.limit).str());
  if (line.least && hasLimit)
    return llvm::createStringError("--least expects no --limit, got both");
  if (line.monotone && !hasLimit)
    return llvm::createStringError("--monotone expects --limit, got none");
  if (!(line.gap >= 0))
    return llvm::createStringError(
        "--gap expects a number of at least 0, got " +
        llvm::formatv("{0}", line.gap).str());
  return llvm::Error::success();
}

static llvm::Expected<Problem> readProblem(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + buffer.getError().message());
  return parseProblem((*buffer)->getBuffer());
}

static llvm::Error solveAndPrint(const CommandLine &line) {
  if (llvm::Error error = checkOptions(line))
    return error;
  llvm::Expected<Problem> problem = readProblem(line.input);
  if (!problem)
    return problem.takeError();
  if (problem->peakRows.empty() &&
      (line.least || line.limit.getNumOccurrences() > 0))
    return llvm::createStringError(
        "--limit and --least expect a problem with peak_rows, got none");
  SolverOptions options{line.gap, line.work};
  if (line.least) {
    llvm::outs() << toJson(findLeastLimit(*problem, options)) << "\n";
    return llvm::Error::success();
  }
  if (line.limit.getNumOccurrences() > 0)
    problem->setPeakLimit(line.limit);
  Solution solution = line.monotone
                          ? solveMonotone(*problem, line.limit, options)
                          : solve(*problem, options);
  llvm::outs() << toJson(*problem, solution) << "\n";
  return llvm::Error::success();
}

llvm::LogicalResult mlir::act::runActPlanner(int argc, char **argv) {
  CommandLine line;
  cl::HideUnrelatedOptions(line.category);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "act-planner " << ACT_VERSION_STRING << "\n";
  });
  cl::ParseCommandLineOptions(argc, argv,
                              "solves choices under shared limits, from and to "
                              "JSON (docs/Planner.md)\n");
  if (llvm::Error error = solveAndPrint(line)) {
    llvm::WithColor::error(llvm::errs(), "act-planner")
        << llvm::toString(std::move(error)) << "\n";
    return llvm::failure();
  }
  return llvm::success();
}
