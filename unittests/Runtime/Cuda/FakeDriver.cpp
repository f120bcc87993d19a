//===- FakeDriver.cpp - A driver that records what is asked of it
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define ACT_EXPORT extern "C" __attribute__((visibility("default")))

static FakeDriver *state() {
  static FakeDriver driver;
  return &driver;
}

ACT_EXPORT FakeDriver *act_fake_driver() { return state(); }

namespace {
struct Kernel {
  char name[64];
};
} // namespace

using Pointer = uint64_t;
static void *toHost(Pointer pointer) {
  return reinterpret_cast<void *>(uintptr_t(pointer));
}
static int token;

ACT_EXPORT int cuInit(unsigned) { return 0; }
ACT_EXPORT int cuDriverGetVersion(int *version) { return *version = 12040, 0; }
ACT_EXPORT int cuGetErrorName(int result, const char **name) {
  *name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
  return 0;
}
ACT_EXPORT int cuGetErrorString(int, const char **text) {
  *text = "as the test wants it";
  return 0;
}
ACT_EXPORT int cuDeviceGetCount(int *count) { return *count = 1, 0; }
ACT_EXPORT int cuDeviceGet(int *device, int) { return *device = 0, 0; }
ACT_EXPORT int cuDeviceGetName(char *name, int size, int) {
  snprintf(name, size_t(size), "fake");
  return 0;
}
ACT_EXPORT int cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 1:
  case 2:
  case 3:
    *value = 1024;
    break;
  case 4:
    *value = 64;
    break;
  case 5:
    *value = 2147483647;
    break;
  case 6:
  case 7:
    *value = 65535;
    break;
  case 16:
    *value = 108;
    break;
  case 75:
    *value = state()->major;
    break;
  case 76:
    *value = state()->minor;
    break;
  case 97:
    *value = state()->sharedOptIn;
    break;
  default:
    return 1;
  }
  return 0;
}
ACT_EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int) {
  return *bytes = state()->memoryBytes, 0;
}
ACT_EXPORT int cuDevicePrimaryCtxRetain(void **context, int) {
  return *context = &token, 0;
}
ACT_EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
ACT_EXPORT int cuCtxPushCurrent_v2(void *) { return ++state()->pushes, 0; }
ACT_EXPORT int cuCtxPopCurrent_v2(void **) { return ++state()->pops, 0; }
ACT_EXPORT int cuStreamCreate(void **stream, unsigned) {
  return *stream = &token, 0;
}
ACT_EXPORT int cuStreamDestroy_v2(void *) { return 0; }
ACT_EXPORT int cuStreamSynchronize(void *) {
  return ++state()->synchronizations, 0;
}
ACT_EXPORT int cuModuleLoadDataEx(void **module, const void *image,
                                  unsigned count, int *options, void **values) {
  std::string text(static_cast<const char *>(image), 8);
  state()->loaded.push_back(text.c_str());
  if (!state()->refused.empty() &&
      text.compare(0, state()->refused.size(), state()->refused) == 0) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == 5)
        strcpy(static_cast<char *>(values[i]), state()->log.c_str());
    return 218;
  }
  return *module = &token, 0;
}
ACT_EXPORT int cuModuleUnload(void *) { return 0; }
ACT_EXPORT int cuModuleGetFunction(void **function, void *, const char *name) {
  if (strcmp(name, "missing") == 0)
    return 500;
  auto *kernel = new (std::nothrow) Kernel;
  snprintf(kernel->name, sizeof(kernel->name), "%s", name);
  return *function = kernel, 0;
}
ACT_EXPORT int cuFuncGetAttribute(int *value, int attribute, void *) {
  *value = attribute == 1 ? state()->staticShared : attribute == 4 ? 32 : 0;
  return 0;
}
ACT_EXPORT int cuFuncSetAttribute(void *, int attribute, int value) {
  if (attribute == 8)
    state()->sharedRequests.push_back(value);
  return 0;
}
ACT_EXPORT int cuLaunchKernel(void *function, unsigned, unsigned, unsigned,
                              unsigned, unsigned, unsigned, unsigned,
                              void *stream, void **parameters, void **) {
  if (state()->launchResult != 0)
    return state()->launchResult;
  auto *kernel = static_cast<Kernel *>(function);
  state()->launched.push_back(kernel->name);
  state()->streams.push_back(stream);
  if (strcmp(kernel->name, "add") == 0) {
    auto *values = *static_cast<float **>(parameters[0]);
    float value = *static_cast<float *>(parameters[1]);
    int64_t count = *static_cast<int64_t *>(parameters[2]);
    for (int64_t i = 0; i < count; ++i)
      values[i] += value;
  }
  return 0;
}
ACT_EXPORT int cuMemAlloc_v2(Pointer *pointer, size_t bytes) {
  if (bytes > state()->memoryBytes)
    return 2;
  ++state()->allocations;
  *pointer = reinterpret_cast<uintptr_t>(aligned_alloc(256, bytes));
  return 0;
}
ACT_EXPORT int cuMemFree_v2(Pointer pointer) {
  ++state()->frees;
  free(toHost(pointer));
  return 0;
}
ACT_EXPORT int cuMemcpyHtoDAsync_v2(Pointer to, const void *from, size_t bytes,
                                    void *) {
  memcpy(toHost(to), from, bytes);
  return 0;
}
ACT_EXPORT int cuMemcpyDtoHAsync_v2(void *to, Pointer from, size_t bytes,
                                    void *) {
  memcpy(to, toHost(from), bytes);
  return 0;
}
ACT_EXPORT int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes,
                                    void *) {
  memcpy(toHost(to), toHost(from), bytes);
  return 0;
}
ACT_EXPORT int cuMemsetD8Async(Pointer to, unsigned char value, size_t bytes,
                               void *) {
  memset(toHost(to), value, bytes);
  return 0;
}
ACT_EXPORT int cuEventCreate(void **event, unsigned) {
  return *event = &token, 0;
}
ACT_EXPORT int cuEventDestroy_v2(void *) { return 0; }
ACT_EXPORT int cuEventRecord(void *, void *) { return 0; }
ACT_EXPORT int cuEventSynchronize(void *) { return 0; }
ACT_EXPORT int cuEventElapsedTime(float *milliseconds, void *, void *) {
  return *milliseconds = 2, 0;
}
