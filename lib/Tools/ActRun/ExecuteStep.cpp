//===- ExecuteStep.cpp - Executing the step of act-run ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExecuteStep.h"
#include "RecordStep.h"
#include "Table.h"
#include "act/Execution/GpuStepRunner.h"
#include "act/Execution/StepRunner.h"
#include "act/Tools/ActRun/CompareResults.h"
#include "act/Tools/ActRun/Npz.h"
#include "act/Tools/ActRun/RandomArguments.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
using namespace mlir::act::execution;

/// A result whose error is above 1 may be zero but for rounding if it is so
/// much smaller than the largest result, as python/act/compare.py has it.
static constexpr double vanishing = 1e-4;

/// How many times as far from the exact result as on the CPU a result of a
/// compressed step may be.
static constexpr double mostTimesAsInexact = 2;

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
  llvm::Error createRunner();
  llvm::Error createGpuRunner(std::unique_ptr<LoadedStep> loaded);
  llvm::Error prepareArguments();
  llvm::Error drawRandomArguments();
  llvm::Error prepareResults();
  llvm::Error readReference();
  llvm::Error computeOnCPU(const std::optional<std::string> &compress,
                           std::vector<Array> &computed);
  llvm::Error computeReference();
  llvm::Error runSchedules();
  llvm::Error record();
  llvm::Error time();
  llvm::Error measurePeak();
  llvm::Error compare();
  llvm::Error writeResults();
  double getComputeTolerance(const Array &result) const;
  Difference compareResult(size_t number, const Array &result,
                           const Array &expected, double largest,
                           StringRef &verdict) const;
  void printSummary() const;

  const StepSource &source;
  const BuiltStep &step;
  const Options &options;
  std::unique_ptr<StepExecutor> runner;
  /// The runner if that is on a GPU or the emulator `emulator`.
  GpuStepRunner *gpuRunner = nullptr;
  std::string emulator;
  /// Whether the emulator checks what kernels do; a finding is an error.
  bool hasFindings = false;
  std::vector<Array> arguments, results, reference;
  /// What a compressed step would compute without, if it is compared.
  std::vector<Array> exact;
  std::vector<const void *> argumentBuffers;
  std::vector<void *> resultBuffers;
  Table table;
  /// Kernels that one execution launches on a GPU.
  int64_t launches = 0;
  std::string scheduleVerdict;
  /// The result with the largest error.
  std::optional<size_t> worst;
  double worstError = 0;
};
} // namespace

/// The step on a GPU, or on the emulator with its checks.
llvm::Error Execution::createGpuRunner(std::unique_ptr<LoadedStep> loaded) {
  if (options.target == Target::Emulator) {
    auto found = findGpuEmulator();
    if (!found)
      return found.takeError();
    emulator = std::move(*found);
    const char *chosen = std::getenv("ACT_GPU_EMULATOR");
    hasFindings = !chosen || StringRef(chosen).contains("check=1");
    if (!chosen)
      if (llvm::Error error = setGpuEmulatorOptions(
              emulator,
              "check=1,workers=" +
                  std::to_string(
                      llvm::hardware_concurrency().compute_thread_count())))
        return error;
  }
  auto created = GpuStepRunner::create(std::move(loaded), emulator);
  if (!created)
    return created.takeError();
  gpuRunner = created->get();
  runner = std::move(*created);
  return llvm::Error::success();
}

llvm::Error Execution::createRunner() {
  auto loaded = LoadedStep::load(step.archive->getMemBufferRef(), step.symbol);
  if (!loaded)
    return loaded.takeError();
  if (options.target != Target::CPU)
    return createGpuRunner(std::move(*loaded));
  auto created = StepRunner::create(std::move(*loaded), options.threads);
  if (!created)
    return created.takeError();
  runner = std::move(*created);
  return llvm::Error::success();
}

llvm::Error Execution::load() {
  if (llvm::Error error = createRunner())
    return error;
  runner->setCheck(options.check);
  const StepInfo &info = getInfo();
  table.add("step", info.name);
  table.add("arguments", std::to_string(info.arguments.size()));
  table.add("results", std::to_string(info.results.size()));
  table.add("kernels", std::to_string(info.kernels));
  table.add("arena", formatBytes(info.arenaBytes));
  table.add("bound", formatBytes(info.boundBytes));
  table.add(gpuRunner ? "device" : "threads", runner->getDeviceText());
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

/// Executes the same step on the CPU, compressed with `compress`.
llvm::Error Execution::computeOnCPU(const std::optional<std::string> &compress,
                                    std::vector<Array> &computed) {
  Options native = options;
  native.target = Target::CPU;
  native.compress = compress;
  FailureOr<BuiltStep> built = buildStep(source, native);
  if (failed(built))
    return llvm::createStringError("cannot compile the step for the CPU");
  auto loaded =
      LoadedStep::load(built->archive->getMemBufferRef(), built->symbol);
  if (!loaded)
    return loaded.takeError();
  auto created = StepRunner::create(std::move(*loaded), options.threads);
  if (!created)
    return created.takeError();
  std::vector<void *> buffers;
  for (const ValueInfo &value : getInfo().results) {
    computed.emplace_back(value.type, value.shape);
    if (!computed.back().data())
      return llvm::createStringError("there is no memory for the results");
    buffers.push_back(computed.back().data());
  }
  return (*created)->run(argumentBuffers.data(), buffers.data());
}

llvm::Error Execution::computeReference() {
  if (llvm::Error error = computeOnCPU(options.compress, reference))
    return error;
  if (!options.compress)
    return llvm::Error::success();
  return computeOnCPU(std::nullopt, exact);
}

llvm::Error Execution::readReference() {
  if (options.compareWithCPU)
    return computeReference();
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
  auto measured =
      runner->time(argumentBuffers.data(), resultBuffers.data(), *options.time);
  if (!measured)
    return measured.takeError();
  std::vector<double> &seconds = *measured;
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

/// The root of the mean square of the largest float array.
static double getLargest(ArrayRef<Array> arrays) {
  double largest = 0;
  for (const Array &array : arrays)
    if (isFloat(array.getType()))
      largest = std::max(largest, getRootMeanSquare(array));
  return largest;
}

/// The tolerance of what `source` computes with, for results that are floats.
double Execution::getComputeTolerance(const Array &result) const {
  StringRef text = source.getText();
  if (!isFloat(result.getType()))
    return 0;
  if (text.contains("xbf16>") || text.contains("<bf16>"))
    return getDefaultTolerance(ElementType::BF16);
  if (text.contains("xf16>") || text.contains("<f16>"))
    return getDefaultTolerance(ElementType::F16);
  return 0;
}

/// Compares a result; `verdict` is "DIFFERENT" if that is too much.
Difference Execution::compareResult(size_t number, const Array &result,
                                    const Array &expected, double largest,
                                    StringRef &verdict) const {
  Difference difference = compareArrays(result, expected);
  double tolerance = options.tolerance.value_or(std::max(
      getDefaultTolerance(result.getType()), getComputeTolerance(result)));
  // Sums in another order than on the CPU.
  if (!options.tolerance && gpuRunner)
    tolerance *= 2;
  bool mustBeIdentical = options.tolerance && *options.tolerance == 0;
  bool isClose = mustBeIdentical ? difference.isIdentical
                                 : difference.relativeError <= tolerance;
  bool vanishes = !mustBeIdentical && difference.relativeError > 1 &&
                  isFloat(result.getType()) &&
                  std::isfinite(difference.relativeError) &&
                  getRootMeanSquare(expected) < vanishing * largest;
  // Rounding of saved values is drawn from all their bits: where one differs,
  // gradients differ by as much as compression changes them.
  bool isAsExact =
      !exact.empty() &&
      compareArrays(result, exact[number]).relativeError <=
          mostTimesAsInexact *
                  compareArrays(expected, exact[number]).relativeError +
              tolerance;
  verdict = difference.isIdentical ? "identical"
            : isClose              ? "close"
            : isAsExact            ? "as exact"
            : vanishes             ? "zero but for rounding"
                                   : "DIFFERENT";
  return difference;
}

llvm::Error Execution::compare() {
  if (options.compare.empty() && !options.compareWithCPU)
    return llvm::Error::success();
  double largest = getLargest(reference);
  int64_t failed = 0;
  table.startColumns({"result", "type", "relative error", "largest", ""});
  for (auto [number, result, expected] : llvm::enumerate(results, reference)) {
    StringRef verdict;
    Difference difference =
        compareResult(number, result, expected, largest, verdict);
    failed += verdict == "DIFFERENT";
    bool counts = verdict != "zero but for rounding" && verdict != "as exact";
    if (counts && (!worst || difference.relativeError > worstError)) {
      worst = number;
      worstError = difference.relativeError;
    }
    std::string name = std::to_string(number);
    if (!getInfo().results[number].name.empty())
      name += " " + getInfo().results[number].name;
    table.addRow({name, result.getTypeText(),
                  formatError(difference.relativeError),
                  formatError(difference.largest), verdict.str()});
  }
  if (failed == 0)
    return llvm::Error::success();
  return llvm::createStringError(
      Twine(failed) + " of " + Twine(results.size()) + " results differ from " +
      (options.compareWithCPU ? "those of the CPU" : options.compare) +
      " by more than " +
      (options.tolerance ? formatError(*options.tolerance)
                         : std::string("what their types allow")));
}

//===----------------------------------------------------------------------===//
// GPUs
//===----------------------------------------------------------------------===//

/// Executes the step under two more schedules of the emulator.
llvm::Error Execution::runSchedules() {
  if (!options.schedules)
    return llvm::Error::success();
  bool areIdentical = true;
  for (StringRef schedule : {"reverse", "random:1"}) {
    if (llvm::Error error =
            setGpuEmulatorOptions(emulator, ("schedule=" + schedule).str()))
      return error;
    std::vector<Array> others;
    std::vector<void *> buffers;
    for (const ValueInfo &value : getInfo().results) {
      others.emplace_back(value.type, value.shape);
      if (!others.back().data())
        return llvm::createStringError("there is no memory for the results");
      buffers.push_back(others.back().data());
    }
    if (llvm::Error error = runner->run(argumentBuffers.data(), buffers.data()))
      return error;
    double largest = getLargest(results);
    for (auto [number, result, other] : llvm::enumerate(results, others)) {
      if (result.getBytes() == other.getBytes())
        continue;
      areIdentical = false;
      StringRef verdict;
      compareResult(number, other, result, largest, verdict);
      if (!gpuRunner->isOrderDependent() || verdict == "DIFFERENT")
        return llvm::createStringError(
            "result " + Twine(number) + " differs under the schedule " +
            schedule + " from the one under the first schedule");
    }
  }
  scheduleVerdict =
      areIdentical ? "3 schedules identical" : "3 schedules close";
  return setGpuEmulatorOptions(emulator, "schedule=forward");
}

llvm::Error Execution::record() {
  if (options.record.empty())
    return llvm::Error::success();
  Options kernels = options;
  kernels.emit = Emit::Manifest;
  auto module = lowerStep(source, kernels);
  if (failed(module))
    return llvm::createStringError("cannot compile the kernels");
  return recordStep(**module, runner->getTable(), argumentBuffers, emulator,
                    options.record);
}

/// One line with what counts.
void Execution::printSummary() const {
  llvm::outs() << llvm::sys::path::filename(options.input) << ": " << launches
               << " kernels";
  if (hasFindings)
    llvm::outs() << ", 0 findings";
  if (!scheduleVerdict.empty())
    llvm::outs() << ", " << scheduleVerdict;
  if (worst)
    llvm::outs() << ", worst error " << llvm::format("%.1e", worstError)
                 << " of result " << *worst;
  llvm::outs() << "\n";
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
  if (gpuRunner)
    launches = gpuRunner->getNumLaunches();
  for (auto measure :
       {&Execution::runSchedules, &Execution::record, &Execution::time,
        &Execution::measurePeak, &Execution::writeResults, &Execution::compare})
    if ((error = (this->*measure)()))
      break;
  table.print(llvm::outs());
  if (gpuRunner && !error)
    printSummary();
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
