//===- XlaGpuHandlers.cpp - Steps compiled for GPUs in XLA ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The target of custom calls `act_gpu_step`: executes a step in an object file
// that act-run --target=cuda --emit=object wrote, on the stream of XLA and in
// memory of XLA. docs/Gpu.md shows how JAX calls it.
//
//===----------------------------------------------------------------------===//

#include "act-c/GpuRuntime.h"
#include "act/Execution/LoadedStep.h"
#include "xla/ffi/api/ffi.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <map>
#include <mutex>
#include <string>
#include <tuple>

using namespace mlir::act::execution;
namespace ffi = xla::ffi;

namespace {
/// A step with the context of one device. Calls take turns.
struct GpuStep {
  GpuStep() = default;
  ~GpuStep() { act_gpu_context_destroy(context); }
  GpuStep(const GpuStep &) = delete;
  GpuStep &operator=(const GpuStep &) = delete;

  std::unique_ptr<llvm::MemoryBuffer> code;
  std::unique_ptr<LoadedStep> step;
  void *context = nullptr;
  std::mutex mutex;
};
} // namespace

static llvm::Expected<std::unique_ptr<GpuStep>>
loadStep(const std::string &path, const std::string &name, int32_t device) {
  auto loaded = std::make_unique<GpuStep>();
  auto code = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!code)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + code.getError().message());
  loaded->code = std::move(*code);
  auto step = LoadedStep::load(loaded->code->getMemBufferRef(), name);
  if (!step)
    return step.takeError();
  loaded->step = std::move(*step);
  loaded->context = act_gpu_context_create(nullptr, device);
  if (!loaded->context)
    return llvm::createStringError(act_gpu_last_error());
  return loaded;
}

/// The step, loaded when it is first called on a device.
static llvm::Expected<GpuStep *>
getStep(const std::string &path, const std::string &name, int32_t device) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, std::string, int32_t>,
                  std::unique_ptr<GpuStep>>
      steps;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<GpuStep> &step = steps[{path, name, device}];
  if (!step) {
    auto loaded = loadStep(path, name, device);
    if (!loaded)
      return loaded.takeError();
    step = std::move(*loaded);
  }
  return step.get();
}

static llvm::Error verifyCount(const char *kind, size_t count,
                               int32_t expected) {
  if (count == static_cast<size_t>(expected))
    return llvm::Error::success();
  return llvm::createStringError("expects " + llvm::Twine(expected) + " " +
                                 kind + "s of the step, got " +
                                 llvm::Twine(count));
}

/// The address of `buffer`, which must have the shape of `value`.
static llvm::Expected<void *> getAddress(const char *kind, int32_t number,
                                         const act_step_value &value,
                                         const ffi::AnyBuffer &buffer) {
  auto dimensions = buffer.dimensions();
  bool matches =
      dimensions.size() == static_cast<size_t>(value.rank) &&
      std::equal(dimensions.begin(), dimensions.end(), value.shape) &&
      static_cast<int64_t>(buffer.size_bytes()) == value.bytes;
  if (!matches)
    return llvm::createStringError(
        llvm::Twine("expects ") + kind + " " + llvm::Twine(number) + " ('" +
        value.name +
        "') to have the shape that the step was compiled for, of " +
        llvm::Twine(value.bytes) + " bytes, got " +
        llvm::Twine(buffer.size_bytes()) + " bytes");
  return buffer.untyped_data();
}

namespace {
/// One call by XLA.
struct Call {
  void *stream;
  ffi::ScratchAllocator &scratch;
  const ffi::RemainingArgs &arguments;
  const ffi::RemainingRets &results;
};
} // namespace

static llvm::Error execute(GpuStep &step, const Call &call) {
  const act_step_info &info = step.step->getTable();
  if (llvm::Error error =
          verifyCount("argument", call.arguments.size(), info.num_arguments))
    return error;
  if (llvm::Error error =
          verifyCount("result", call.results.size(), info.num_results))
    return error;
  std::vector<const void *> inputs;
  for (int32_t i = 0; i < info.num_arguments; ++i) {
    auto buffer = call.arguments.get<ffi::AnyBuffer>(i);
    if (!buffer.has_value())
      return llvm::createStringError("expects arguments that are buffers");
    auto address = getAddress("argument", i, info.arguments[i], *buffer);
    if (!address)
      return address.takeError();
    inputs.push_back(*address);
  }
  std::vector<void *> outputs;
  for (int32_t i = 0; i < info.num_results; ++i) {
    auto buffer = call.results.get<ffi::AnyBuffer>(i);
    if (!buffer.has_value())
      return llvm::createStringError("expects results that are buffers");
    auto address = getAddress("result", i, info.results[i], **buffer);
    if (!address)
      return address.takeError();
    outputs.push_back(*address);
  }
  std::optional<void *> arena = call.scratch.Allocate(
      std::max<int64_t>(info.arena_bytes, 1), ACT_GPU_ARENA_ALIGNMENT);
  if (!arena)
    return llvm::createStringError("there is no memory for the arena of " +
                                   llvm::Twine(info.arena_bytes) + " bytes");
  std::lock_guard<std::mutex> lock(step.mutex);
  act_gpu_set_stream(step.context, call.stream);
  if (info.function(inputs.data(), outputs.data(), *arena, step.context) == 0)
    return llvm::Error::success();
  llvm::Error error =
      llvm::createStringError(act_gpu_context_error(step.context));
  act_gpu_context_clear_error(step.context);
  return error;
}

static ffi::Error runStep(void *stream, ffi::ScratchAllocator scratch,
                          int32_t device, ffi::RemainingArgs arguments,
                          ffi::RemainingRets results, ffi::Dictionary config) {
  auto path = config.get<std::string_view>("object");
  auto name = config.get<std::string_view>("name");
  if (!path.has_value() || !name.has_value())
    return ffi::Error(ffi::ErrorCode::kInvalidArgument,
                      "expects the attributes object, the path of an object "
                      "file, and name, that of the step in it");
  auto step = getStep(std::string(*path), std::string(*name), device);
  if (!step)
    return ffi::Error(ffi::ErrorCode::kInternal,
                      llvm::toString(step.takeError()));
  if (llvm::Error error =
          execute(**step, Call{stream, scratch, arguments, results}))
    return ffi::Error(ffi::ErrorCode::kInternal,
                      llvm::toString(std::move(error)));
  return ffi::Error::Success();
}

// The macro says nothing about visibility.
#pragma GCC visibility push(default)
XLA_FFI_DEFINE_HANDLER_SYMBOL(ActGpuStep, runStep,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::PlatformStream<void *>>()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Ctx<ffi::DeviceOrdinal>()
                                  .RemainingArgs()
                                  .RemainingRets()
                                  .Attrs());
#pragma GCC visibility pop
