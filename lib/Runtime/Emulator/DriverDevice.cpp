//===- DriverDevice.cpp - Devices, contexts and errors ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Driver.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <dlfcn.h>

using namespace act::emulator;
using namespace llvm;

namespace act::emulator {

static std::atomic<bool> initialized{false};
static thread_local std::string lastError;
static thread_local std::vector<Context *> contexts;
static Context primaryContext;

bool isInitialized() { return initialized; }
const std::string &getLastError() { return lastError; }

CUresult fail(CUresult result, const Twine &message) {
  lastError = message.str();
  if (getOptions().verbose) {
    std::fflush(stdout);
    errs() << "act-gpu-emulator: error: " << lastError << "\n";
  }
  return result;
}

static CUresult checkDevice(CUdevice device) {
  if (!initialized)
    return fail(CUDA_ERROR_NOT_INITIALIZED, "cuInit was not called");
  if (device != 0)
    return fail(CUDA_ERROR_INVALID_DEVICE,
                "expects device 0, got " + Twine(device));
  return CUDA_SUCCESS;
}

/// -1 for attributes that are not known.
static int getAttribute(CUdevice_attribute attribute) {
  unsigned capability = getOptions().computeCapability;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    return maxThreadsPerBlock;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return maxBlockSize[attribute - CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X];
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return maxGridSize[attribute - CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X];
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return maxStaticSharedBytes;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return maxSharedBytes;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return 164 << 10;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return 1 << 10;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 64 << 10;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return getOptions().workers;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return 2048;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return 32;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 1000000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 64;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return 40 << 20;
  case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
  case CU_DEVICE_ATTRIBUTE_INTEGRATED:
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    return 1;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
  case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
  case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    return 0;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return capability / 10;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return capability % 10;
  }
  return -1;
}

/// The name, the number and a description of each error.
static std::pair<const char *, const char *> describe(CUresult result) {
#define ACT_ERROR(name, text)                                                  \
  case name:                                                                   \
    return {#name, text};
  switch (result) {
    ACT_ERROR(CUDA_SUCCESS, "no error")
    ACT_ERROR(CUDA_ERROR_INVALID_VALUE, "invalid argument")
    ACT_ERROR(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")
    ACT_ERROR(CUDA_ERROR_NOT_INITIALIZED, "initialization error")
    ACT_ERROR(CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")
    ACT_ERROR(CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")
    ACT_ERROR(CUDA_ERROR_INVALID_CONTEXT, "invalid device context")
    ACT_ERROR(CUDA_ERROR_NO_BINARY_FOR_GPU,
              "no kernel image is available for execution on the device")
    ACT_ERROR(CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")
    ACT_ERROR(CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")
    ACT_ERROR(CUDA_ERROR_NOT_FOUND, "named symbol not found")
    ACT_ERROR(CUDA_ERROR_NOT_READY, "device not ready")
    ACT_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS,
              "an illegal memory access was encountered")
    ACT_ERROR(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
              "too many resources requested for launch")
    ACT_ERROR(CUDA_ERROR_LAUNCH_TIMEOUT,
              "the launch timed out and was terminated")
    ACT_ERROR(CUDA_ERROR_ASSERT, "device-side assert triggered")
    ACT_ERROR(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              "part or all of the requested memory range is already mapped")
    ACT_ERROR(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
              "pointer does not correspond to a registered memory region")
    ACT_ERROR(CUDA_ERROR_HARDWARE_STACK_ERROR, "hardware stack error")
    ACT_ERROR(CUDA_ERROR_ILLEGAL_INSTRUCTION,
              "an illegal instruction was encountered")
    ACT_ERROR(CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")
    ACT_ERROR(CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")
    ACT_ERROR(CUDA_ERROR_NOT_SUPPORTED, "operation not supported")
    ACT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
              "operation not permitted when stream is capturing")
    ACT_ERROR(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
              "operation failed due to a previous error during capture")
    ACT_ERROR(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
              "capture was not initiated in this stream")
    ACT_ERROR(CUDA_ERROR_UNKNOWN, "unknown error")
  }
#undef ACT_ERROR
  return {nullptr, nullptr};
}

} // namespace act::emulator

ACT_EMULATOR_EXPORT CUresult cuInit(unsigned flags) {
  if (flags != 0)
    return fail(CUDA_ERROR_INVALID_VALUE, "cuInit expects flags 0");
  initialized = true;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return checkDevice(ordinal);
}

ACT_EMULATOR_EXPORT CUresult cuDeviceGetCount(int *count) {
  *count = 1;
  return checkDevice(0);
}

ACT_EMULATOR_EXPORT CUresult cuDeviceGetName(char *name, int length,
                                             CUdevice device) {
  if (CUresult result = checkDevice(device))
    return result;
  std::snprintf(name, length, "act GPU emulator");
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuDeviceGetAttribute(int *value,
                                                  CUdevice_attribute attribute,
                                                  CUdevice device) {
  if (CUresult result = checkDevice(device))
    return result;
  *value = getAttribute(attribute);
  if (*value < 0)
    return fail(CUDA_ERROR_INVALID_VALUE,
                "the device has no attribute " + Twine(int(attribute)));
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes,
                                                 CUdevice device) {
  if (CUresult result = checkDevice(device))
    return result;
  *bytes = DeviceMemory::get().getTotalBytes();
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuDevicePrimaryCtxRetain(Context **context,
                                                      CUdevice device) {
  if (CUresult result = checkDevice(device))
    return result;
  *context = &primaryContext;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return checkDevice(device);
}

ACT_EMULATOR_EXPORT CUresult cuCtxSetCurrent(Context *context) {
  if (contexts.empty())
    contexts.push_back(context);
  contexts.back() = context;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuCtxGetCurrent(Context **context) {
  *context = contexts.empty() ? nullptr : contexts.back();
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuCtxPushCurrent_v2(Context *context) {
  contexts.push_back(context);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuCtxPopCurrent_v2(Context **context) {
  if (contexts.empty())
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  if (context)
    *context = contexts.back();
  contexts.pop_back();
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
  if (contexts.empty() || !contexts.back())
    return fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
  *device = contexts.back()->device;
  return CUDA_SUCCESS;
}

/// Launches have ended when they return.
ACT_EMULATOR_EXPORT CUresult cuCtxSynchronize() { return CUDA_SUCCESS; }

//===----------------------------------------------------------------------===//
// Errors and entry points
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuGetErrorName(CUresult error, const char **text) {
  *text = describe(error).first;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

ACT_EMULATOR_EXPORT CUresult cuGetErrorString(CUresult error,
                                              const char **text) {
  *text = describe(error).second;
  return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/// Names come without version: the newest that there is.
ACT_EMULATOR_EXPORT CUresult cuGetProcAddress_v2(const char *symbol,
                                                 void **function, int, uint64_t,
                                                 int *status) {
  static void *library = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void *>(&cuInit), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  for (const char *version : {"_v2", ""}) {
    *function = dlsym(library, (std::string(symbol) + version).c_str());
    if (*function)
      break;
  }
  // 0 is success, 1 is a symbol that is not there.
  if (status)
    *status = *function ? 0 : 1;
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
