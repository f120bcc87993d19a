//===- ExecuteStep.cpp - Executing the step of act-run ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecuteStep.h"
#include "Table.h"
#include "act/Execution/StepRunner.h"
#include "act/Tools/ActRun/CompareResults.h"
#include "act/Tools/ActRun/Npz.h"
#include "act/Tools/ActRun/RandomArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
using namespace mlir::act::execution;

/// A result whose error is above 1 may be zero but for rounding if it is so
/// much smaller than the largest result, as python/act/compare.py has it.
static constexpr double vanishing = 1e-4;

namespace {
/// A step with its arguments and results.
class Execution {
public:
  Execution(const StepSource &source, const BuiltStep &step,
            const Options &options)
      : source(source), step(step), options(options) {}

  llvm::Error run();

private:
  const StepInfo &getInfo() const { return runner->getInfo(); }

  llvm::Error load();
  llvm::Error prepareArguments();
  llvm::Error drawRandomArguments();
  llvm::Error prepareResults();
  llvm::Error readReference();
  llvm::Error time();
  llvm::Error measurePeak();
  llvm::Error compare();
  llvm::Error writeResults();

  const StepSource &source;
  const BuiltStep &step;
  const Options &options;
  std::unique_ptr<StepRunner> runner;
  std::vector<Array> arguments, results, reference;
  std::vector<const void *> argumentBuffers;
  std::vector<void *> resultBuffers;
  Table table;
};
} // namespace

llvm::Error Execution::load() {
  auto loaded = LoadedStep::load(step.archive->getMemBufferRef(), step.symbol);
  if (!loaded)
    return loaded.takeError();
  auto created = StepRunner::create(std::move(*loaded), options.threads);
  if (!created)
    return created.takeError();
  runner = std::move(*created);
  runner->setCheck(options.check);
  const StepInfo &info = getInfo();
  table.add("step", info.name);
  table.add("arguments", std::to_string(info.arguments.size()));
  table.add("results", std::to_string(info.results.size()));
  table.add("kernels", std::to_string(info.kernels));
  table.add("arena", formatBytes(info.arenaBytes));
  table.add("bound", formatBytes(info.boundBytes));
  table.add("threads", std::to_string(runner->getThreads()));
  table.add("compiled", step.isCached
                            ? "taken from the cache"
                            : formatSeconds(step.lowering) + " act, " +
                                  formatSeconds(step.compiling) + " LLVM");
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

llvm::Error Execution::drawRandomArguments() {
  OwningOpRef<ModuleOp> module = source.parse();
  if (!module)
    return llvm::createStringError("the step cannot be parsed");
  arguments = drawArguments(
      getInfo().arguments,
      getArgumentKinds(*module, getInfo().name, getInfo().arguments),
      options.seed);
  return llvm::Error::success();
}

llvm::Error Execution::prepareArguments() {
  if (options.randomArguments) {
    if (llvm::Error error = drawRandomArguments())
      return error;
  } else {
    std::vector<NamedArray> arrays;
    if (!options.arguments.empty()) {
      auto read = readNpz(options.arguments);
      if (!read)
        return read.takeError();
      arrays = std::move(*read);
    } else if (!getInfo().arguments.empty()) {
      return llvm::createStringError(
          "expects --args=FILE.npz or --random-args: the step has " +
          Twine(getInfo().arguments.size()) + " arguments");
    }
    auto matched =
        matchArrays(getInfo().arguments, std::move(arrays), "argument");
    if (!matched)
      return matched.takeError();
    arguments = std::move(*matched);
  }
  for (const Array &array : arguments)
    argumentBuffers.push_back(array.data());
  return llvm::Error::success();
}

llvm::Error Execution::prepareResults() {
  for (const ValueInfo &value : getInfo().results) {
    results.emplace_back(value.type, value.shape);
    if (!results.back().data())
      return llvm::createStringError("there is no memory for the results");
    resultBuffers.push_back(results.back().data());
  }
  return llvm::Error::success();
}

llvm::Error Execution::readReference() {
  if (options.compare.empty())
    return llvm::Error::success();
  auto arrays = readNpz(options.compare);
  if (!arrays)
    return arrays.takeError();
  auto matched = matchArrays(getInfo().results, std::move(*arrays), "result");
  if (!matched)
    return llvm::createStringError(options.compare + ": " +
                                   llvm::toString(matched.takeError()));
  reference = std::move(*matched);
  return llvm::Error::success();
}

llvm::Error Execution::writeResults() {
  if (options.results.empty())
    return llvm::Error::success();
  std::vector<std::pair<std::string, const Array *>> arrays;
  for (auto [number, array] : llvm::enumerate(results))
    arrays.emplace_back("result_" + std::to_string(number), &array);
  return writeNpz(options.results, arrays);
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

llvm::Error Execution::time() {
  if (!options.time)
    return llvm::Error::success();
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int64_t i = 0; i < *options.time; ++i) {
    Clock::time_point start = Clock::now();
    if (llvm::Error error =
            runner->run(argumentBuffers.data(), resultBuffers.data()))
      return error;
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  llvm::sort(seconds);
  table.add("time", formatSeconds(seconds[seconds.size() / 2]) + " median of " +
                        std::to_string(seconds.size()) + ", from " +
                        formatSeconds(seconds.front()) + " to " +
                        formatSeconds(seconds.back()));
  return llvm::Error::success();
}

llvm::Error Execution::measurePeak() {
  if (!options.peak)
    return llvm::Error::success();
  auto peak = runner->measurePeak(argumentBuffers.data(), resultBuffers.data());
  if (!peak)
    return peak.takeError();
  bool isExact = *peak == getInfo().arenaBytes;
  table.add("peak", formatBytes(*peak) + (isExact ? ", the whole arena" : ""));
  if (isExact)
    return llvm::Error::success();
  return llvm::createStringError("expects the step to use its whole arena of " +
                                 Twine(getInfo().arenaBytes) + " bytes, got " +
                                 Twine(*peak));
}

/// Root of the mean square of the finite elements.
static double getRootMeanSquare(const Array &array) {
  double squares = 0;
  for (int64_t i = 0, end = array.getNumElements(); i < end; ++i)
    if (double x = array.getNumber(i); std::isfinite(x))
      squares += x * x;
  return std::sqrt(squares / std::max<int64_t>(array.getNumElements(), 1));
}

static std::string formatError(double error) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.2e", error);
  return text;
}

llvm::Error Execution::compare() {
  if (options.compare.empty())
    return llvm::Error::success();
  double largest = 0;
  for (const Array &array : reference)
    if (isFloat(array.getType()))
      largest = std::max(largest, getRootMeanSquare(array));
  int64_t failed = 0;
  table.startColumns({"result", "type", "relative error", "largest", ""});
  for (auto [number, result, expected] : llvm::enumerate(results, reference)) {
    Difference difference = compareArrays(result, expected);
    double tolerance =
        options.tolerance.value_or(getDefaultTolerance(result.getType()));
    bool mustBeIdentical = options.tolerance && *options.tolerance == 0;
    bool isClose = mustBeIdentical ? difference.isIdentical
                                   : difference.relativeError <= tolerance;
    bool vanishes = !mustBeIdentical && difference.relativeError > 1 &&
                    isFloat(result.getType()) &&
                    std::isfinite(difference.relativeError) &&
                    getRootMeanSquare(expected) < vanishing * largest;
    failed += !isClose && !vanishes;
    std::string name = std::to_string(number);
    if (!getInfo().results[number].name.empty())
      name += " " + getInfo().results[number].name;
    table.addRow({name, result.getTypeText(),
                  formatError(difference.relativeError),
                  formatError(difference.largest),
                  difference.isIdentical ? "identical"
                  : isClose              ? "close"
                  : vanishes             ? "zero but for rounding"
                                         : "DIFFERENT"});
  }
  if (failed == 0)
    return llvm::Error::success();
  return llvm::createStringError(
      Twine(failed) + " of " + Twine(results.size()) + " results differ from " +
      options.compare + " by more than " +
      (options.tolerance ? formatError(*options.tolerance)
                         : std::string("what their types allow")));
}

llvm::Error Execution::run() {
  if (llvm::Error error = load())
    return error;
  for (auto prepare : {&Execution::prepareArguments, &Execution::prepareResults,
                       &Execution::readReference})
    if (llvm::Error error = (this->*prepare)())
      return error;
  llvm::Error error =
      options.trace.empty()
          ? runner->run(argumentBuffers.data(), resultBuffers.data())
          : runner->trace(argumentBuffers.data(), resultBuffers.data(),
                          options.trace);
  if (error)
    return error;
  for (auto measure : {&Execution::time, &Execution::measurePeak,
                       &Execution::writeResults, &Execution::compare})
    if ((error = (this->*measure)()))
      break;
  table.print(llvm::outs());
  return error;
}

LogicalResult run::executeStep(const StepSource &source, const BuiltStep &step,
                               const Options &options) {
  Execution execution(source, step, options);
  llvm::Error error = execution.run();
  if (!error)
    return success();
  llvm::WithColor::error(llvm::errs(), "act-run")
      << llvm::toString(std::move(error)) << "\n";
  return failure();
}
