//===- Kernels.cpp - Loading and launching kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <algorithm>

using namespace act::gpu;

/// Shared memory that a kernel may use without asking.
static constexpr int64_t defaultSharedBytes = 48 * 1024;

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// Loads one form of code; what is wrong with it is added to `message`.
Module Context::loadModule(const void *code, std::string &message) {
  char log[8192] = "";
  int options[] = {jitErrorLog, jitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
  Module module = nullptr;
  Result result = driver->moduleLoadDataEx(&module, code, 2, options, values);
  if (result == success)
    return module;
  message += (message.empty() ? "" : "; ") + driver->describe(result);
  if (*log)
    message += std::string(": ") + log;
  return nullptr;
}

/// The cubins that may run on `architecture`, the best one first.
static std::vector<const act_gpu_cubin *>
getCandidates(const act_gpu_image &image, uint32_t architecture) {
  std::vector<const act_gpu_cubin *> candidates;
  for (int32_t i = 0; i < image.num_cubins; ++i) {
    const act_gpu_cubin &cubin = image.cubins[i];
    if (cubin.architecture / 10 == architecture / 10 &&
        cubin.architecture <= architecture)
      candidates.push_back(&cubin);
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const act_gpu_cubin *lhs, const act_gpu_cubin *rhs) {
              return std::pair(rhs->architecture, lhs) <
                     std::pair(lhs->architecture, rhs);
            });
  return candidates;
}

Module Context::loadBestModule(const act_gpu_image &image) {
  uint32_t architecture = uint32_t(info.architecture);
  std::string message;
  for (const act_gpu_cubin *cubin : getCandidates(image, architecture))
    if (Module module = loadModule(cubin->data, message))
      return module;
  if (image.fatbin)
    if (Module module = loadModule(image.fatbin, message))
      return module;
  if (image.ptx && image.ptx_architecture <= info.architecture)
    if (Module module = loadModule(image.ptx, message))
      return module;
  if (message.empty())
    message =
        "its code is for other devices" +
        (image.ptx ? ", its text for sm_" +
                         std::to_string(image.ptx_architecture) + " and newer"
                   : std::string());
  fail("cannot load kernels for " + std::string(info.name) + " (sm_" +
       std::to_string(info.architecture) + "): " + message);
  return nullptr;
}

LoadedImage *Context::load(const act_gpu_image *image) {
  if (!image) {
    fail("expects an image with kernels, got null");
    return nullptr;
  }
  auto found = images.find(image);
  if (found != images.end())
    return &found->second;
  if (image->version != ACT_GPU_IMAGE_VERSION) {
    fail("expects an image of version " +
         std::to_string(ACT_GPU_IMAGE_VERSION) + ", got version " +
         std::to_string(image->version) + ": compile the step again");
    return nullptr;
  }
  Module module = loadBestModule(*image);
  if (!module)
    return nullptr;
  LoadedImage &loaded = images[image];
  loaded.module = module;
  loaded.kernels.resize(size_t(image->num_kernels));
  return &loaded;
}

LoadedKernel *Context::getKernel(const act_gpu_image *image, int32_t index) {
  LoadedImage *loaded = load(image);
  if (!loaded)
    return nullptr;
  if (index < 0 || index >= image->num_kernels) {
    fail("expects a kernel below " + std::to_string(image->num_kernels) +
         ", got " + std::to_string(index));
    return nullptr;
  }
  LoadedKernel &kernel = loaded->kernels[size_t(index)];
  const char *name = image->kernels[index].name;
  if (!kernel.function &&
      !check(driver->moduleGetFunction(&kernel.function, loaded->module, name),
             "cannot find the kernel '" + std::string(name) + "'"))
    return nullptr;
  return &kernel;
}

bool Context::getKernelInfo(const act_gpu_image *image, int32_t index,
                            act_gpu_kernel_info &result) {
  LoadedKernel *kernel = getKernel(image, index);
  if (!kernel)
    return false;
  auto get = [&](int attribute, int32_t &value) {
    int number = 0;
    bool isKnown = check(
        driver->functionGetAttribute(&number, attribute, kernel->function),
        "cannot read an attribute of the kernel '" +
            std::string(image->kernels[index].name) + "'");
    value = number;
    return isKnown;
  };
  return get(functionRegisters, result.registers) &&
         get(functionLocalBytes, result.local_bytes) &&
         get(functionSharedBytes, result.static_shared_bytes) &&
         get(functionMaxThreads, result.max_threads);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Checks numbers of blocks and threads against the limits of the device.
bool Context::verifySizes(const act_gpu_kernel &kernel) {
  std::string label = "the kernel '" + std::string(kernel.name) + "' ";
  auto verify = [&](const char *what, uint64_t number, int attribute) {
    int64_t limit = getDeviceAttribute(attribute);
    if (number >= 1 && int64_t(number) <= limit)
      return true;
    return fail(label + "expects " + what + " from 1 to " +
                std::to_string(limit) + ", got " + std::to_string(number));
  };
  const char *blockNames[] = {"threads in x", "threads in y", "threads in z"};
  const char *gridNames[] = {"blocks in x", "blocks in y", "blocks in z"};
  for (int i = 0; i < 3; ++i)
    if (!verify(blockNames[i], kernel.block[i], maxBlockX + i) ||
        !verify(gridNames[i], kernel.grid[i], maxGridX + i))
      return false;
  uint64_t threads =
      uint64_t(kernel.block[0]) * kernel.block[1] * kernel.block[2];
  return verify("threads in a block", threads, maxThreadsPerBlock);
}

/// Asks for the shared memory of the kernel if that is more than usual.
bool Context::allowSharedMemory(const act_gpu_kernel &kernel,
                                LoadedKernel &loaded) {
  std::string label = "the kernel '" + std::string(kernel.name) + "'";
  int statically = 0;
  if (!check(driver->functionGetAttribute(&statically, functionSharedBytes,
                                          loaded.function),
             "cannot read the shared memory of " + label))
    return false;
  int64_t bytes = int64_t(statically) + kernel.dynamic_shared_bytes;
  if (bytes <= defaultSharedBytes)
    return true;
  if (bytes > info.shared_bytes)
    return fail(label + " expects " + std::to_string(bytes) +
                " bytes of shared memory in a block; " + info.name + " has " +
                std::to_string(info.shared_bytes));
  return check(driver->functionSetAttribute(loaded.function,
                                            functionMaxDynamicShared,
                                            int(kernel.dynamic_shared_bytes)),
               "cannot ask for the shared memory of " + label);
}

bool Context::prepare(const act_gpu_kernel &kernel, LoadedKernel &loaded) {
  if (loaded.isReady)
    return true;
  loaded.isReady = verifySizes(kernel) && allowSharedMemory(kernel, loaded);
  return loaded.isReady;
}

bool Context::launch(const act_gpu_image *image, int32_t index,
                     void *const *parameters) {
  LoadedKernel *loaded = getKernel(image, index);
  if (!loaded)
    return false;
  const act_gpu_kernel &kernel = image->kernels[index];
  if (!prepare(kernel, *loaded))
    return false;
  if (!parameters && kernel.num_parameters > 0)
    return fail("the kernel '" + std::string(kernel.name) +
                "' expects parameters, got null");
  std::string what =
      "cannot launch the kernel '" + std::string(kernel.name) + "'";
  TracedLaunch traced = {kernel.name, nullptr, nullptr};
  if (tracing) {
    traced.begin = createEvent();
    traced.end = createEvent();
    if (!traced.begin || !traced.end)
      return false;
    trace.push_back(traced);
    if (!check(driver->eventRecord(traced.begin, stream), what))
      return false;
  }
  if (!check(driver->launchKernel(
                 loaded->function, kernel.grid[0], kernel.grid[1],
                 kernel.grid[2], kernel.block[0], kernel.block[1],
                 kernel.block[2], kernel.dynamic_shared_bytes, stream,
                 const_cast<void **>(parameters), nullptr),
             what))
    return false;
  ++counts.launches;
  if (kernel.flags & ACT_GPU_KERNEL_ORDER_DEPENDENT)
    ++counts.order_dependent_launches;
  if (tracing && !check(driver->eventRecord(traced.end, stream), what))
    return false;
  if (hook)
    hook(hookArgument, image, index, parameters);
  return !failed;
}
