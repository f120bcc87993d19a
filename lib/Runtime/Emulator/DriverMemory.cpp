//===- DriverMemory.cpp - Memory of the driver API ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Driver.h"
#include "Workers.h"
#include <cstdlib>
#include <cstring>

using namespace act::emulator;
using namespace llvm;

namespace act::emulator {

CUresult checkDeviceMemory(CUdeviceptr pointer, size_t bytes,
                           const char *function) {
  if (bytes == 0 ||
      DeviceMemory::get().contains(reinterpret_cast<char *>(pointer), bytes))
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              Twine(function) + ": " + Twine(bytes) + " bytes at 0x" +
                  Twine::utohexstr(pointer) +
                  " are not inside of one live buffer of the device");
}

static void *toHost(CUdeviceptr pointer) {
  return reinterpret_cast<void *>(pointer);
}

/// Copies after checking the ends that are on the device.
static CUresult copy(void *destination, bool isToDevice, const void *source,
                     bool isFromDevice, size_t bytes, void *stream,
                     const char *function) {
  if (isToDevice)
    if (CUresult result = checkDeviceMemory(
            reinterpret_cast<CUdeviceptr>(destination), bytes, function))
      return result;
  if (isFromDevice)
    if (CUresult result = checkDeviceMemory(
            reinterpret_cast<CUdeviceptr>(source), bytes, function))
      return result;
  return enqueue(stream, [=] {
    std::memmove(destination, source, bytes);
    return CUDA_SUCCESS;
  });
}

template <typename T>
static CUresult fill(CUdeviceptr pointer, T value, size_t count, void *stream,
                     const char *function) {
  if (pointer % sizeof(T))
    return fail(CUDA_ERROR_INVALID_VALUE,
                Twine(function) + ": the address is not a multiple of " +
                    Twine(sizeof(T)));
  if (CUresult result = checkDeviceMemory(pointer, count * sizeof(T), function))
    return result;
  return enqueue(stream, [=] {
    std::fill_n(static_cast<T *>(toHost(pointer)), count, value);
    return CUDA_SUCCESS;
  });
}

} // namespace act::emulator

ACT_EMULATOR_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
  if (bytes == 0)
    return fail(CUDA_ERROR_INVALID_VALUE, "cuMemAlloc: expects some bytes");
  std::lock_guard<std::mutex> lock(Workers::get().getMutex());
  char *memory = DeviceMemory::get().allocate(bytes);
  *pointer = reinterpret_cast<CUdeviceptr>(memory);
  if (!memory)
    return fail(CUDA_ERROR_OUT_OF_MEMORY,
                "cuMemAlloc: no " + Twine(bytes) + " bytes are left");
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer) {
  if (pointer == 0)
    return CUDA_SUCCESS;
  std::lock_guard<std::mutex> lock(Workers::get().getMutex());
  if (DeviceMemory::get().free(static_cast<char *>(toHost(pointer))))
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              "cuMemFree: no live buffer starts at 0x" +
                  Twine::utohexstr(pointer));
}

ACT_EMULATOR_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes,
                                             void *stream) {
  if (CUresult result = checkNotCapturing(stream, "cuMemAllocAsync"))
    return result;
  return cuMemAlloc_v2(pointer, bytes);
}

ACT_EMULATOR_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, void *stream) {
  if (CUresult result = checkNotCapturing(stream, "cuMemFreeAsync"))
    return result;
  return cuMemFree_v2(pointer);
}

ACT_EMULATOR_EXPORT CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
  *pointer = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (!*pointer)
    return fail(CUDA_ERROR_OUT_OF_MEMORY,
                "cuMemAllocHost: no " + Twine(bytes) + " bytes are left");
  // Kernels may access it, too.
  DeviceMemory::get().registerHost(static_cast<char *>(*pointer), bytes);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuMemFreeHost(void *pointer) {
  if (!DeviceMemory::get().unregisterHost(static_cast<char *>(pointer)))
    return fail(CUDA_ERROR_INVALID_VALUE,
                "cuMemFreeHost: cuMemAllocHost gave no such pointer");
  std::free(pointer);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuMemHostRegister_v2(void *pointer, size_t bytes,
                                                  unsigned) {
  if (DeviceMemory::get().registerHost(static_cast<char *>(pointer), bytes))
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
              "cuMemHostRegister: the memory is registered already");
}

ACT_EMULATOR_EXPORT CUresult cuMemHostUnregister(void *pointer) {
  if (DeviceMemory::get().unregisterHost(static_cast<char *>(pointer)))
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
              "cuMemHostUnregister: the memory is not registered");
}

ACT_EMULATOR_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *result,
                                                          void *pointer,
                                                          unsigned) {
  *result = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
  *free = DeviceMemory::get().getFreeBytes();
  *total = DeviceMemory::get().getTotalBytes();
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination,
                                                  const void *source,
                                                  size_t bytes, void *stream) {
  return copy(toHost(destination), true, source, false, bytes, stream,
              "cuMemcpyHtoD");
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr destination,
                                             const void *source, size_t bytes) {
  return cuMemcpyHtoDAsync_v2(destination, source, bytes, nullptr);
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *destination,
                                                  CUdeviceptr source,
                                                  size_t bytes, void *stream) {
  return copy(destination, false, toHost(source), true, bytes, stream,
              "cuMemcpyDtoH");
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyDtoH_v2(void *destination,
                                             CUdeviceptr source, size_t bytes) {
  return cuMemcpyDtoHAsync_v2(destination, source, bytes, nullptr);
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination,
                                                  CUdeviceptr source,
                                                  size_t bytes, void *stream) {
  return copy(toHost(destination), true, toHost(source), true, bytes, stream,
              "cuMemcpyDtoD");
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr destination,
                                             CUdeviceptr source, size_t bytes) {
  return cuMemcpyDtoDAsync_v2(destination, source, bytes, nullptr);
}

ACT_EMULATOR_EXPORT CUresult cuMemcpyAsync(CUdeviceptr destination,
                                           CUdeviceptr source, size_t bytes,
                                           void *stream) {
  // Either end may be memory of the host.
  DeviceMemory &memory = DeviceMemory::get();
  auto *to = static_cast<char *>(toHost(destination));
  auto *from = static_cast<char *>(toHost(source));
  return copy(to, memory.isInHeap(to), from, memory.isInHeap(from), bytes,
              stream, "cuMemcpy");
}

ACT_EMULATOR_EXPORT CUresult cuMemcpy(CUdeviceptr destination,
                                      CUdeviceptr source, size_t bytes) {
  return cuMemcpyAsync(destination, source, bytes, nullptr);
}

//===----------------------------------------------------------------------===//
// Filling
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuMemsetD8Async(CUdeviceptr pointer,
                                             unsigned char value, size_t count,
                                             void *stream) {
  return fill(pointer, value, count, stream, "cuMemsetD8");
}
ACT_EMULATOR_EXPORT CUresult cuMemsetD16Async(CUdeviceptr pointer,
                                              unsigned short value,
                                              size_t count, void *stream) {
  return fill(pointer, value, count, stream, "cuMemsetD16");
}
ACT_EMULATOR_EXPORT CUresult cuMemsetD32Async(CUdeviceptr pointer,
                                              unsigned value, size_t count,
                                              void *stream) {
  return fill(pointer, value, count, stream, "cuMemsetD32");
}
ACT_EMULATOR_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr pointer,
                                           unsigned char value, size_t count) {
  return cuMemsetD8Async(pointer, value, count, nullptr);
}
ACT_EMULATOR_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr pointer,
                                            unsigned short value,
                                            size_t count) {
  return cuMemsetD16Async(pointer, value, count, nullptr);
}
ACT_EMULATOR_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr pointer, unsigned value,
                                            size_t count) {
  return cuMemsetD32Async(pointer, value, count, nullptr);
}
