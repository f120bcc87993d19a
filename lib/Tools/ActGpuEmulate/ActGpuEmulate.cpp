//===- ActGpuEmulate.cpp - Executes kernels on the emulator ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActGpuEmulate/ActGpuEmulate.h"
#include "Arguments.h"
#include "Device.h"
#include "Options.h"
#include "act-c/GpuEmulator.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::emulate;
using llvm::createStringError;
using llvm::Error;
using run::Array;

/// Translates all kernels and prints one line for each.
static Error listKernels(void *module) {
  int64_t numKernels = act_gpu_emulator_num_kernels(module);
  for (int64_t i = 0; i < numKernels; ++i) {
    void *kernel = act_gpu_emulator_kernel(module, i);
    llvm::outs() << act_gpu_emulator_kernel_name(kernel) << '(';
    for (int64_t j = 0; j < act_gpu_emulator_num_parameters(kernel); ++j) {
      bool isPointer = act_gpu_emulator_parameter_is_pointer(kernel, j);
      llvm::outs() << (j ? ", " : "")
                   << act_gpu_emulator_parameter_bytes(kernel, j)
                   << (isPointer ? "-byte pointer" : " bytes");
    }
    llvm::outs() << ")\n";
    llvm::outs().flush();
    if (Error error = toError(act_gpu_emulator_compile(kernel)))
      return error;
  }
  llvm::outs() << numKernels << " kernels, all translated\n";
  return Error::success();
}

namespace {
/// A launch with arguments from the command line.
class Execution {
public:
  Execution(const Options &options, void *kernel)
      : options(options), kernel(kernel) {}

  Error parseArguments();
  /// Executes once with fresh buffers. The results are the contents of all
  /// buffers afterwards.
  llvm::Expected<std::vector<Array>> run();
  Error finish(ArrayRef<Array> results);

private:
  const Options &options;
  void *kernel;
  std::vector<Argument> arguments;
};
} // namespace

Error Execution::parseArguments() {
  for (const std::string &text : options.arguments) {
    llvm::Expected<Argument> argument = parseArgument(text);
    if (!argument)
      return createStringError("--arg: " +
                               llvm::toString(argument.takeError()));
    arguments.push_back(std::move(*argument));
  }
  int64_t expected = act_gpu_emulator_num_parameters(kernel);
  if (expected != int64_t(arguments.size()))
    return createStringError("kernel " + Twine(options.kernel) + ": expects " +
                             Twine(expected) + " arguments, got " +
                             Twine(arguments.size()));
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    int64_t bytes = argument.kind == Argument::Kind::Scalar
                        ? argument.array.getNumBytes()
                        : 8;
    int64_t parameterBytes = act_gpu_emulator_parameter_bytes(kernel, index);
    if (bytes != parameterBytes)
      return createStringError("argument " + Twine(index) + ": expects " +
                               Twine(parameterBytes) + " bytes, got " +
                               Twine(bytes));
  }
  return Error::success();
}

llvm::Expected<std::vector<Array>> Execution::run() {
  std::vector<DeviceBuffer> buffers;
  buffers.reserve(arguments.size());
  SmallVector<void *> parameters;
  for (Argument &argument : arguments) {
    if (argument.kind == Argument::Kind::Scalar) {
      parameters.push_back(argument.array.data());
      continue;
    }
    size_t bytes = argument.array.getNumBytes();
    llvm::Expected<DeviceBuffer> buffer = DeviceBuffer::allocate(bytes);
    if (!buffer)
      return buffer.takeError();
    if (argument.isInitialized)
      if (Error error = buffer->write({argument.array.data(), bytes}))
        return std::move(error);
    buffers.push_back(std::move(*buffer));
    parameters.push_back(buffers.back().getParameter());
  }
  if (Error error = launchKernel(kernel, options.grid, options.block,
                                 options.sharedBytes, parameters))
    return std::move(error);
  std::vector<Array> results;
  for (const Argument &argument : arguments) {
    Array &contents = results.emplace_back(argument.array.getType(),
                                           argument.array.getShape());
    if (argument.kind == Argument::Kind::Scalar)
      std::memcpy(contents.data(), argument.array.data(),
                  contents.getNumBytes());
  }
  auto buffer = buffers.begin();
  for (auto [argument, contents] : llvm::zip_equal(arguments, results))
    if (argument.kind != Argument::Kind::Scalar)
      if (Error error = (buffer++)->read(
              {contents.data(), size_t(contents.getNumBytes())}))
        return std::move(error);
  return std::move(results);
}

Error Execution::finish(ArrayRef<Array> results) {
  for (auto [index, argument] : llvm::enumerate(arguments))
    if (Error error = finishArgument(argument, index, results[index]))
      return error;
  return Error::success();
}

static Error execute(const Options &options, void *module) {
  llvm::Expected<void *> kernel = findKernel(module, options.kernel);
  if (!kernel)
    return kernel.takeError();
  Execution execution(options, *kernel);
  if (Error error = execution.parseArguments())
    return error;
  llvm::Expected<std::vector<Array>> results = execution.run();
  if (!results)
    return results.takeError();
  for (StringRef schedule : {"reverse", "random:1"}) {
    if (!options.allSchedules)
      break;
    if (Error error = configureDevice(("schedule=" + schedule).str()))
      return error;
    llvm::Expected<std::vector<Array>> others = execution.run();
    if (!others)
      return others.takeError();
    for (size_t i = 0; i < results->size(); ++i)
      if ((*results)[i].getBytes() != (*others)[i].getBytes())
        return createStringError("kernel " + Twine(options.kernel) +
                                 ": argument " + Twine(i) +
                                 " depends on the schedule: forward and " +
                                 schedule + " give different bytes");
  }
  if (Error error = execution.finish(*results))
    return error;
  if (options.allSchedules)
    llvm::outs() << "3 schedules identical\n";
  return Error::success();
}

static Error writeStatistics(StringRef path) {
  std::error_code error;
  // "-" is stdout.
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return createStringError("cannot write " + path + ": " + error.message());
  os << act_gpu_emulator_statistics();
  return Error::success();
}

static Error runTool(const Options &options) {
  if (Error error = startDevice(options.configuration))
    return error;
  auto file = llvm::MemoryBuffer::getFile(options.input);
  if (!file)
    return createStringError("cannot read " + Twine(options.input) + ": " +
                             file.getError().message());
  llvm::Expected<void *> module = loadModule((*file)->getBuffer());
  if (!module)
    return module.takeError();
  if (options.kernel.empty())
    return listKernels(*module);
  if (Error error = execute(options, *module))
    return error;
  if (options.statistics.empty())
    return Error::success();
  return writeStatistics(options.statistics);
}

LogicalResult mlir::act::runActGpuEmulate(int argc, char **argv) {
  auto report = [](Error error) {
    llvm::outs().flush();
    llvm::WithColor::error(llvm::errs(), "act-gpu-emulate")
        << llvm::toString(std::move(error)) << "\n";
    return failure();
  };
  llvm::Expected<Options> options = parseCommandLine(argc, argv);
  if (!options)
    return report(options.takeError());
  if (Error error = runTool(*options))
    return report(std::move(error));
  return success();
}
