//===- MgpuApi.cpp - What host code of MLIR calls ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Driver.h"
#include "Workers.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>

using namespace act::emulator;
using namespace llvm;

/// MLIR's host code checks no results, so errors end the process with status 1.
/// fail() has said why.
static void require(CUresult result) {
  if (result == CUDA_SUCCESS)
    return;
  if (!getOptions().verbose)
    errs() << "act-gpu-emulator: error: " << getLastError() << "\n";
  std::fflush(stdout);
  std::_Exit(1);
}

ACT_EMULATOR_EXPORT void *mgpuModuleLoad(void *image, size_t bytes) {
  LoadedModule *module;
  require(loadModule(&module, image, bytes));
  return module;
}

/// Host code calls it with two arguments, so the size may be anything: text
/// ends with a zero.
ACT_EMULATOR_EXPORT void *mgpuModuleLoadJIT(void *image, int, size_t) {
  LoadedModule *module;
  require(loadModule(&module, image, 0));
  return module;
}

ACT_EMULATOR_EXPORT void mgpuModuleUnload(void *module) {
  delete static_cast<LoadedModule *>(module);
}

ACT_EMULATOR_EXPORT void *mgpuModuleGetFunction(void *module,
                                                const char *name) {
  Function *function = static_cast<LoadedModule *>(module)->findFunction(name);
  if (!function)
    require(fail(CUDA_ERROR_NOT_FOUND,
                 "the module has no kernel '" + Twine(name) + "'"));
  return function;
}

ACT_EMULATOR_EXPORT void mgpuLaunchKernel(void *handle, intptr_t gridX,
                                          intptr_t gridY, intptr_t gridZ,
                                          intptr_t blockX, intptr_t blockY,
                                          intptr_t blockZ, int32_t sharedBytes,
                                          void *stream, void **parameters,
                                          void **extra, size_t) {
  auto *function = static_cast<Function *>(handle);
  // MLIR's wrappers ask for what a launch needs, too.
  if (sharedBytes > 0)
    function->maxDynamicSharedBytes =
        std::max<uint32_t>(function->maxDynamicSharedBytes,
                           std::min<uint32_t>(sharedBytes, maxSharedBytes));
  LaunchShape shape{{uint32_t(gridX), uint32_t(gridY), uint32_t(gridZ)},
                    {uint32_t(blockX), uint32_t(blockY), uint32_t(blockZ)},
                    uint32_t(sharedBytes),
                    0};
  require(launchFunction(function, shape, stream, parameters, extra));
}

ACT_EMULATOR_EXPORT void *mgpuStreamCreate() {
  // Everything has ended when the call returns: the default stream does.
  return reinterpret_cast<void *>(1);
}
ACT_EMULATOR_EXPORT void mgpuStreamDestroy(void *) {}
ACT_EMULATOR_EXPORT void mgpuStreamSynchronize(void *) {}
ACT_EMULATOR_EXPORT void mgpuStreamWaitEvent(void *, void *) {}
ACT_EMULATOR_EXPORT void *mgpuEventCreate() { return new Event; }
ACT_EMULATOR_EXPORT void mgpuEventDestroy(void *event) {
  delete static_cast<Event *>(event);
}
ACT_EMULATOR_EXPORT void mgpuEventSynchronize(void *) {}
ACT_EMULATOR_EXPORT void mgpuEventRecord(void *, void *) {}

ACT_EMULATOR_EXPORT void *mgpuMemAlloc(uint64_t bytes, void *, bool) {
  char *memory = DeviceMemory::get().allocate(std::max<uint64_t>(bytes, 1));
  if (!memory)
    require(fail(CUDA_ERROR_OUT_OF_MEMORY,
                 "mgpuMemAlloc: no " + Twine(bytes) + " bytes are left"));
  return memory;
}

ACT_EMULATOR_EXPORT void mgpuMemFree(void *pointer, void *) {
  if (pointer && !DeviceMemory::get().free(static_cast<char *>(pointer)))
    require(fail(CUDA_ERROR_INVALID_VALUE,
                 "mgpuMemFree: no live buffer starts there"));
}

ACT_EMULATOR_EXPORT void mgpuMemcpy(void *destination, void *source,
                                    size_t bytes, void *) {
  for (void *end : {destination, source})
    if (DeviceMemory::get().isInHeap(static_cast<char *>(end)))
      require(checkDeviceMemory(reinterpret_cast<CUdeviceptr>(end), bytes,
                                "mgpuMemcpy"));
  std::memmove(destination, source, bytes);
}

ACT_EMULATOR_EXPORT void mgpuMemset32(void *pointer, unsigned value,
                                      size_t count, void *) {
  require(checkDeviceMemory(reinterpret_cast<CUdeviceptr>(pointer), count * 4,
                            "mgpuMemset32"));
  std::fill_n(static_cast<unsigned *>(pointer), count, value);
}

ACT_EMULATOR_EXPORT void mgpuMemset16(void *pointer, unsigned short value,
                                      size_t count, void *) {
  require(checkDeviceMemory(reinterpret_cast<CUdeviceptr>(pointer), count * 2,
                            "mgpuMemset16"));
  std::fill_n(static_cast<unsigned short *>(pointer), count, value);
}

ACT_EMULATOR_EXPORT void mgpuMemHostRegister(void *pointer, uint64_t bytes) {
  DeviceMemory::get().registerHost(static_cast<char *>(pointer), bytes);
}
ACT_EMULATOR_EXPORT void mgpuMemHostUnregister(void *pointer) {
  DeviceMemory::get().unregisterHost(static_cast<char *>(pointer));
}

namespace {
/// MLIR's descriptor of a memref; `sizes` has as many elements as the rank
/// says.
struct MemRefDescriptor {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t sizes[1];
};
} // namespace

ACT_EMULATOR_EXPORT void mgpuMemHostRegisterMemRef(int64_t rank,
                                                   MemRefDescriptor *descriptor,
                                                   int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t i = 0; i < rank; ++i)
    bytes *= descriptor->sizes[i];
  mgpuMemHostRegister(descriptor->aligned + descriptor->offset * elementBytes,
                      bytes);
}

ACT_EMULATOR_EXPORT void
mgpuMemHostUnregisterMemRef(int64_t, MemRefDescriptor *descriptor,
                            int64_t elementBytes) {
  mgpuMemHostUnregister(descriptor->aligned +
                        descriptor->offset * elementBytes);
}

ACT_EMULATOR_EXPORT void mgpuSetDefaultDevice(int32_t) {}
