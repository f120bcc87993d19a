//===- GpuStepRunner.cpp - Executing a step on a GPU ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/GpuStepRunner.h"
#include "act-c/GpuRuntime.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

llvm::Expected<std::unique_ptr<GpuStepRunner>>
GpuStepRunner::create(std::unique_ptr<LoadedStep> step, StringRef driver) {
  void *context = act_gpu_context_create(
      driver.empty() ? nullptr : driver.str().c_str(), /*device=*/0);
  if (!context)
    return llvm::createStringError(act_gpu_last_error());
  return std::unique_ptr<GpuStepRunner>(
      new GpuStepRunner(std::move(step), context));
}

GpuStepRunner::~GpuStepRunner() { act_gpu_context_destroy(context); }

llvm::Error GpuStepRunner::takeError(int32_t status) {
  if (status == 0)
    return llvm::Error::success();
  const char *message = act_gpu_context_error(context);
  llvm::Error error = llvm::createStringError(
      message ? message : "the step failed and does not say why");
  act_gpu_context_clear_error(context);
  return error;
}

int64_t GpuStepRunner::getNumLaunches() const {
  act_gpu_counts counts;
  act_gpu_get_counts(context, &counts);
  return counts.launches;
}

bool GpuStepRunner::isOrderDependent() const {
  act_gpu_counts counts;
  act_gpu_get_counts(context, &counts);
  return counts.order_dependent_launches > 0;
}

std::string GpuStepRunner::getDeviceText() const {
  act_gpu_device_info info;
  if (act_gpu_get_device_info(context, &info) != 0)
    return "unknown";
  return std::string(info.name) + ", sm_" + std::to_string(info.architecture);
}

void GpuStepRunner::setCheck(bool enabled) {
  act_gpu_set_check(context, enabled);
}

llvm::Error GpuStepRunner::run(const void *const *arguments,
                               void *const *results) {
  return takeError(act_gpu_step(context, &getTable(), arguments, results));
}

llvm::Expected<std::vector<double>>
GpuStepRunner::time(const void *const *arguments, void *const *results,
                    int64_t count) {
  const act_step_info &table = getTable();
  SmallVector<void *> memory;
  llvm::scope_exit release([&] {
    for (void *block : memory)
      act_gpu_release(context, block);
  });
  auto allocate = [&](int64_t bytes) {
    memory.push_back(act_gpu_allocate(context, bytes));
    return memory.back();
  };
  void *arena = allocate(table.arena_bytes);
  SmallVector<void *> inputs, outputs;
  for (int32_t i = 0; i < table.num_arguments; ++i) {
    inputs.push_back(allocate(table.arguments[i].bytes));
    act_gpu_copy_in(context, inputs.back(), arguments[i],
                    table.arguments[i].bytes);
  }
  for (int32_t i = 0; i < table.num_results; ++i)
    outputs.push_back(allocate(table.results[i].bytes));
  std::vector<double> seconds(count);
  for (double &second : seconds) {
    act_gpu_timer_start(context);
    table.function(inputs.data(), outputs.data(), arena, context);
    act_gpu_timer_stop(context, &second);
  }
  if (llvm::Error error = takeError(act_gpu_context_status(context)))
    return error;
  return seconds;
}

llvm::Expected<int64_t> GpuStepRunner::measurePeak(const void *const *arguments,
                                                   void *const *results) {
  int64_t bytes = 0;
  if (llvm::Error error = takeError(act_gpu_measure_peak(
          context, &getTable(), arguments, results, &bytes)))
    return error;
  return bytes;
}

llvm::Error GpuStepRunner::trace(const void *const *arguments,
                                 void *const *results, StringRef path) {
  if (llvm::Error error = takeError(act_gpu_trace_begin(context)))
    return error;
  llvm::Error error = run(arguments, results);
  // Also stops to record. What a step did that failed is of no use.
  int32_t status =
      act_gpu_trace_write(context, error ? "/dev/null" : path.str().c_str());
  return llvm::joinErrors(std::move(error), takeError(status));
}

//===----------------------------------------------------------------------===//
// The emulator
//===----------------------------------------------------------------------===//

llvm::Expected<std::string> execution::findGpuEmulator() {
  Dl_info info;
  SmallString<128> path;
  if (dladdr(reinterpret_cast<void *>(&act_gpu_launch), &info))
    path = llvm::sys::path::parent_path(info.dli_fname);
  llvm::sys::path::append(path, "libact_gpu_emu.so");
  if (!llvm::sys::fs::exists(path))
    return llvm::createStringError("expects the emulator of GPUs in '" + path +
                                   "'");
  return path.str().str();
}

llvm::Error execution::setGpuEmulatorOptions(StringRef library,
                                             StringRef options) {
  // The runtime opens the same copy.
  void *handle = dlopen(library.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return llvm::createStringError(dlerror());
  auto find = [&](const char *name) { return dlsym(handle, name); };
  auto *set = reinterpret_cast<int (*)(const char *)>(
      find("act_gpu_emulator_configure"));
  auto *getError =
      reinterpret_cast<const char *(*)()>(find("act_gpu_emulator_last_error"));
  if (!set || !getError)
    return llvm::createStringError("'" + library +
                                   "' is not the emulator of act");
  if (set(options.str().c_str()) == 0)
    return llvm::Error::success();
  return llvm::createStringError(getError());
}
