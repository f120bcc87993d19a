//===- Api.cpp - C functions of the runtime for GPUs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <cstring>
#include <new>

using namespace act::gpu;

/// Calls `function` with the context, current on this thread. 0 if it returns
/// true; 1 if it fails, if there is no context, or if there was an error.
template <typename F>
static int32_t call(void *context, const F &function) {
  if (!context) {
    getThreadError() = "expects a context, got null";
    return 1;
  }
  Context &owner = Context::from(context);
  if (owner.hasError()) {
    getThreadError() = owner.getError();
    return 1;
  }
  CurrentContext current(owner);
  return function(owner) ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

const char *act_gpu_last_error(void) {
  const std::string &error = getThreadError();
  return error.empty() ? nullptr : error.c_str();
}

const char *act_gpu_context_error(const void *context) {
  return context ? Context::from(context).getError() : "the context is null";
}

int32_t act_gpu_context_status(const void *context) {
  return !context || Context::from(context).hasError();
}

void act_gpu_context_clear_error(void *context) {
  if (context)
    Context::from(context).clearError();
}

void act_gpu_report_error(void *context, const char *message) {
  if (context)
    Context::from(context).fail(message ? message : "unknown error");
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

void *act_gpu_context_create(const char *driver, int32_t device) {
  auto context = std::unique_ptr<Context>(new (std::nothrow) Context);
  if (!context) {
    getThreadError() = "there is no memory for a context";
    return nullptr;
  }
  return context->start(driver, device) ? context.release() : nullptr;
}

void act_gpu_context_destroy(void *context) {
  delete static_cast<Context *>(context);
}

int32_t act_gpu_get_device_info(void *context, act_gpu_device_info *info) {
  return call(context, [&](Context &owner) {
    *info = owner.getDeviceInfo();
    return true;
  });
}

void act_gpu_set_stream(void *context, void *stream) {
  if (context)
    Context::from(context).setStream(static_cast<Stream>(stream));
}

void act_gpu_use_own_stream(void *context) {
  if (context)
    Context::from(context).useOwnStream();
}

void *act_gpu_get_stream(const void *context) {
  return context ? Context::from(context).getStream() : nullptr;
}

int32_t act_gpu_synchronize(void *context) {
  return call(context, [](Context &owner) { return owner.synchronize(); });
}

void act_gpu_set_check(void *context, int32_t enabled) {
  if (context)
    Context::from(context).setCheck(enabled != 0);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *act_gpu_allocate(void *context, int64_t bytes) {
  void *memory = nullptr;
  call(context, [&](Context &owner) {
    memory = owner.allocate(bytes);
    return memory != nullptr;
  });
  return memory;
}

void act_gpu_release(void *context, void *memory) {
  // After an error, too, so that nothing is lost.
  if (context)
    Context::from(context).release(memory);
}

int32_t act_gpu_trim(void *context) {
  return call(context, [](Context &owner) { return owner.trim(); });
}

int64_t act_gpu_allocated_bytes(const void *context) {
  return context ? Context::from(context).getAllocatedBytes() : 0;
}

int32_t act_gpu_copy_in(void *context, void *device, const void *host,
                        int64_t bytes) {
  return call(context, [&](Context &owner) {
    return owner.copyIn(device, host, bytes);
  });
}

int32_t act_gpu_copy_out(void *context, void *host, const void *device,
                         int64_t bytes) {
  return call(context, [&](Context &owner) {
    return owner.copyOut(host, device, bytes);
  });
}

int32_t act_gpu_copy(void *context, void *to, const void *from, int64_t bytes) {
  return call(context,
              [&](Context &owner) { return owner.copy(to, from, bytes); });
}

int32_t act_gpu_fill(void *context, void *device, uint8_t value,
                     int64_t bytes) {
  return call(context,
              [&](Context &owner) { return owner.fill(device, value, bytes); });
}

int32_t act_gpu_read(void *context, void *host, const void *device,
                     int64_t bytes) {
  int32_t status = call(
      context, [&](Context &owner) { return owner.read(host, device, bytes); });
  // Control flow that asks for it comes to an end.
  if (status != 0 && host && bytes > 0)
    std::memset(host, 0, size_t(bytes));
  return status;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

int32_t act_gpu_load(void *context, const act_gpu_image *image) {
  return call(context,
              [&](Context &owner) { return owner.load(image) != nullptr; });
}

int32_t act_gpu_launch(void *context, const act_gpu_image *image, int32_t index,
                       void *const *parameters) {
  return call(context, [&](Context &owner) {
    return owner.launch(image, index, parameters);
  });
}

void act_gpu_set_launch_hook(void *context, act_gpu_launch_hook hook,
                             void *user) {
  if (context)
    Context::from(context).setLaunchHook(hook, user);
}

void act_gpu_get_counts(const void *context, act_gpu_counts *counts) {
  *counts = context ? Context::from(context).getCounts() : act_gpu_counts{};
}

int32_t act_gpu_get_kernel_info(void *context, const act_gpu_image *image,
                                int32_t index, act_gpu_kernel_info *info) {
  return call(context, [&](Context &owner) {
    return owner.getKernelInfo(image, index, *info);
  });
}

//===----------------------------------------------------------------------===//
// Graphs, times, traces
//===----------------------------------------------------------------------===//

int32_t act_gpu_graph_begin(void *context) {
  return call(context, [](Context &owner) { return owner.beginGraph(); });
}

void *act_gpu_graph_end(void *context) {
  if (!context)
    return nullptr;
  // After an error, too: the stream must stop to record.
  CurrentContext current(Context::from(context));
  return Context::from(context).endGraph();
}

int32_t act_gpu_graph_launch(void *context, void *graph) {
  return call(context,
              [&](Context &owner) { return owner.launchGraph(graph); });
}

void act_gpu_graph_destroy(void *context, void *graph) {
  if (!context)
    return;
  CurrentContext current(Context::from(context));
  Context::from(context).destroyGraph(graph);
}

int32_t act_gpu_timer_start(void *context) {
  return call(context, [](Context &owner) { return owner.startTimer(); });
}

int32_t act_gpu_timer_stop(void *context, double *seconds) {
  return call(context,
              [&](Context &owner) { return owner.stopTimer(*seconds); });
}

int32_t act_gpu_trace_begin(void *context) {
  return call(context, [](Context &owner) { return owner.beginTrace(); });
}

int32_t act_gpu_trace_write(void *context, const char *path) {
  return call(context, [&](Context &owner) { return owner.writeTrace(path); });
}

//===----------------------------------------------------------------------===//
// Whole steps
//===----------------------------------------------------------------------===//

int32_t act_gpu_step(void *context, const act_step_info *info,
                     const void *const *arguments, void *const *results) {
  return call(context, [&](Context &owner) {
    void *arena = owner.allocate(info->arena_bytes);
    bool isDone = arena && executeStep(owner, *info, arguments, results, arena);
    owner.release(arena);
    return isDone;
  });
}

int32_t act_gpu_measure_peak(void *context, const act_step_info *info,
                             const void *const *arguments, void *const *results,
                             int64_t *bytes) {
  return call(context, [&](Context &owner) {
    return measurePeak(owner, *info, arguments, results, *bytes);
  });
}
