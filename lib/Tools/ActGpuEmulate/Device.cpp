//===- Device.cpp - The emulated device ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "act-c/GpuEmulator.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::emulate;

// Of the CUDA driver API, which the emulator exports.
extern "C" {
int cuInit(unsigned flags);
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes);
int cuMemFree_v2(unsigned long long pointer);
int cuMemcpyHtoD_v2(unsigned long long destination, const void *source,
                    size_t bytes);
int cuMemcpyDtoH_v2(void *destination, unsigned long long source, size_t bytes);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **parameters, void **extra);
}
/// CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES.
static constexpr int maxDynamicShared = 8;
/// What kernels have without asking.
static constexpr unsigned sharedWithoutAsking = 48 << 10;

llvm::Error emulate::toError(int result) {
  if (result == 0)
    return llvm::Error::success();
  return llvm::createStringError(act_gpu_emulator_last_error());
}

DeviceBuffer::~DeviceBuffer() {
  if (address)
    cuMemFree_v2(address);
}

llvm::Expected<DeviceBuffer> DeviceBuffer::allocate(size_t bytes) {
  unsigned long long address = 0;
  // The driver refuses empty buffers; no kernel may access this byte.
  if (llvm::Error error =
          toError(cuMemAlloc_v2(&address, std::max<size_t>(bytes, 1))))
    return std::move(error);
  return DeviceBuffer(address);
}

llvm::Error DeviceBuffer::write(ArrayRef<uint8_t> bytes) {
  return toError(cuMemcpyHtoD_v2(address, bytes.data(), bytes.size()));
}

llvm::Error DeviceBuffer::read(MutableArrayRef<uint8_t> bytes) const {
  return toError(cuMemcpyDtoH_v2(bytes.data(), address, bytes.size()));
}

llvm::Error emulate::configureDevice(StringRef configuration) {
  return toError(act_gpu_emulator_configure(configuration.str().c_str()));
}

llvm::Error emulate::startDevice(StringRef configuration) {
  if (llvm::Error error = configureDevice(configuration))
    return error;
  return toError(cuInit(0));
}

llvm::Expected<void *> emulate::loadModule(StringRef image) {
  void *module;
  if (llvm::Error error =
          toError(act_gpu_emulator_load(&module, image.data(), image.size())))
    return std::move(error);
  return module;
}

llvm::Expected<void *> emulate::findKernel(void *module, StringRef name) {
  void *kernel;
  if (llvm::Error error =
          toError(cuModuleGetFunction(&kernel, module, name.str().c_str())))
    return std::move(error);
  return kernel;
}

llvm::Error emulate::launchKernel(void *kernel, const unsigned (&grid)[3],
                                  const unsigned (&block)[3],
                                  unsigned sharedBytes,
                                  MutableArrayRef<void *> parameters) {
  if (sharedBytes > sharedWithoutAsking)
    if (llvm::Error error =
            toError(cuFuncSetAttribute(kernel, maxDynamicShared, sharedBytes)))
      return error;
  return toError(cuLaunchKernel(kernel, grid[0], grid[1], grid[2], block[0],
                                block[1], block[2], sharedBytes, nullptr,
                                parameters.data(), nullptr));
}
