//===- Context.h - A device and what steps need of it ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CUDA_CONTEXT_H
#define ACT_RUNTIME_CUDA_CONTEXT_H

#include "Driver.h"
#include "act-c/GpuRuntime.h"
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace act::gpu {

/// The last error of the calling thread.
std::string &getThreadError();

/// A kernel of a loaded module.
struct LoadedKernel {
  Function function = nullptr;
  /// Whether the limits of the device were found to allow its launches.
  bool isReady = false;
};

struct LoadedImage {
  Module module = nullptr;
  std::vector<LoadedKernel> kernels;
};

/// Events around a launch.
struct TracedLaunch {
  const char *name;
  Event begin, end;
};

class Context {
public:
  Context() = default;
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  static Context &from(void *context) {
    return *static_cast<Context *>(context);
  }
  static const Context &from(const void *context) {
    return *static_cast<const Context *>(context);
  }

  bool start(const char *library, int32_t number);

  // Errors.
  bool hasError() const { return failed; }
  const char *getError() const { return failed ? error.c_str() : nullptr; }
  /// Keeps the first of all messages; always returns false.
  bool fail(const std::string &message);
  void clearError() { failed = false; }
  /// True if `result` is a success; else an error that starts with `what`.
  bool check(Result result, const std::string &what);

  // Streams.
  Stream getStream() const { return stream; }
  void setStream(Stream value) { stream = value; }
  void useOwnStream() { stream = ownStream; }
  bool synchronize();

  // Memory.
  void *allocate(int64_t bytes);
  void release(void *memory);
  bool trim();
  int64_t getAllocatedBytes() const { return allocatedBytes; }
  bool copyIn(void *device, const void *host, int64_t bytes);
  bool copyOut(void *host, const void *device, int64_t bytes);
  bool copy(void *to, const void *from, int64_t bytes);
  bool fill(void *device, uint8_t value, int64_t bytes);
  bool read(void *host, const void *device, int64_t bytes);

  // Kernels.
  LoadedImage *load(const act_gpu_image *image);
  LoadedKernel *getKernel(const act_gpu_image *image, int32_t index);
  bool launch(const act_gpu_image *image, int32_t index,
              void *const *parameters);
  bool getKernelInfo(const act_gpu_image *image, int32_t index,
                     act_gpu_kernel_info &info);

  const act_gpu_counts &getCounts() const { return counts; }
  void setLaunchHook(act_gpu_launch_hook function, void *argument) {
    hook = function;
    hookArgument = argument;
  }

  // Graphs, times, traces.
  bool beginGraph();
  void *endGraph();
  bool launchGraph(void *graph);
  void destroyGraph(void *graph);
  bool startTimer();
  bool stopTimer(double &seconds);
  bool beginTrace();
  bool writeTrace(const char *path);

  void setCheck(bool enabled) { checking = enabled; }
  bool isChecking() const { return checking; }
  const act_gpu_device_info &getDeviceInfo() const { return info; }
  const Driver &getDriver() const { return *driver; }
  DriverContext getDriverContext() const { return context; }

private:
  bool readDeviceInfo();
  int getDeviceAttribute(int attribute);
  Module loadModule(const void *code, std::string &message);
  Module loadBestModule(const act_gpu_image &image);
  bool prepare(const act_gpu_kernel &kernel, LoadedKernel &loaded);
  bool verifySizes(const act_gpu_kernel &kernel);
  bool allowSharedMemory(const act_gpu_kernel &kernel, LoadedKernel &loaded);
  Event createEvent();
  void dropTrace();

  std::shared_ptr<const Driver> driver;
  Device device = 0;
  DriverContext context = nullptr;
  Stream ownStream = nullptr, stream = nullptr;
  act_gpu_device_info info = {};
  std::unordered_map<const act_gpu_image *, LoadedImage> images;
  act_gpu_counts counts = {};
  act_gpu_launch_hook hook = nullptr;
  void *hookArgument = nullptr;
  bool failed = false;
  std::string error;
  bool checking = false;
  bool capturing = false;

  /// Memory that is not in use, by size, and the sizes of all memory.
  std::multimap<int64_t, DevicePointer> freeMemory;
  std::unordered_map<DevicePointer, int64_t> sizes;
  int64_t allocatedBytes = 0;

  Event timer = nullptr;
  bool tracing = false;
  Event traceStart = nullptr;
  std::vector<TracedLaunch> trace;
};

/// Makes the context current on this thread as long as it lives.
class CurrentContext {
public:
  explicit CurrentContext(const Context &context)
      : driver(context.getDriver()) {
    driver.contextPush(context.getDriverContext());
  }
  ~CurrentContext() {
    DriverContext previous;
    driver.contextPop(&previous);
  }
  CurrentContext(const CurrentContext &) = delete;
  CurrentContext &operator=(const CurrentContext &) = delete;

private:
  const Driver &driver;
};

/// Executes `info` from host memory in `arena`, device memory.
bool executeStep(Context &context, const act_step_info &info,
                 const void *const *arguments, void *const *results,
                 void *arena);
/// Implements act_gpu_measure_peak.
bool measurePeak(Context &context, const act_step_info &info,
                 const void *const *arguments, void *const *results,
                 int64_t &bytes);

} // namespace act::gpu

#endif // ACT_RUNTIME_CUDA_CONTEXT_H
