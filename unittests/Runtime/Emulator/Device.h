//===- Device.h - Small programs on the emulator -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_UNITTESTS_RUNTIME_EMULATOR_DEVICE_H
#define ACT_UNITTESTS_RUNTIME_EMULATOR_DEVICE_H

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

// Of the CUDA driver API.
extern "C" {
int cuInit(unsigned flags);
int cuDeviceGet(int *device, int ordinal);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetName(char *name, int length, int device);
int cuMemAlloc_v2(unsigned long long *pointer, size_t bytes);
int cuMemFree_v2(unsigned long long pointer);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemcpyHtoD_v2(unsigned long long destination, const void *source,
                    size_t bytes);
int cuMemcpyDtoH_v2(void *destination, unsigned long long source, size_t bytes);
int cuMemsetD8_v2(unsigned long long pointer, unsigned char value, size_t n);
int cuMemsetD32_v2(unsigned long long pointer, unsigned value, size_t n);
int cuMemsetD32Async(unsigned long long pointer, unsigned value, size_t n,
                     void *stream);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuModuleGetGlobal_v2(unsigned long long *pointer, size_t *bytes,
                         void *module, const char *name);
int cuFuncSetAttribute(void *function, int attribute, int value);
int cuFuncGetAttribute(int *value, int attribute, void *function);
int cuLaunchKernel(void *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned sharedBytes, void *stream,
                   void **parameters, void **extra);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamIsCapturing(void *stream, int *status);
int cuGraphInstantiateWithFlags(void **executable, void *graph,
                                unsigned long long flags);
int cuGraphLaunch(void *executable, void *stream);
int cuGraphDestroy(void *graph);
int cuGraphExecDestroy(void *executable);
int cuEventCreate(void **event, unsigned flags);
int cuEventRecord(void *event, void *stream);
int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end);
int cuEventDestroy_v2(void *event);
int cuGetErrorName(int error, const char **text);
int cuGetErrorString(int error, const char **text);
int cuGetProcAddress_v2(const char *symbol, void **function, int version,
                        uint64_t flags, int *status);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function,
                                                int threads, size_t bytes);
}

namespace act::emulator::test {

/// Memory of the device with elements of type T.
template <typename T>
class Buffer {
public:
  explicit Buffer(std::vector<T> values) : count(values.size()) {
    EXPECT_EQ(cuMemAlloc_v2(&address, count * sizeof(T)), 0);
    EXPECT_EQ(cuMemcpyHtoD_v2(address, values.data(), count * sizeof(T)), 0);
  }
  ~Buffer() { cuMemFree_v2(address); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;

  std::vector<T> read() const {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), address, count * sizeof(T)), 0);
    return values;
  }

  unsigned long long address = 0;

private:
  size_t count;
};

/// Starts the device, with all checks.
void start();
/// Text in front of functions.
extern const char *const prologue;
/// Loads a module and finds its kernel "test".
void *load(const std::string &text);
/// Launches one block, or as the sizes say. Returns a CUresult.
int launch(void *kernel, std::vector<void *> parameters, unsigned threads = 32,
           unsigned blocks = 1, unsigned sharedBytes = 0);

/// A kernel "test" that applies `instructions` to elements of inputs: thread i
/// reads element i of the inputs into %a0, %a1, %a2 and stores %d to element i
/// of the output. Bits of operands, 32 unless `inputBits` says 16 or 64.
std::vector<uint64_t> evaluate(const std::string &instructions,
                               const std::vector<std::vector<uint64_t>> &inputs,
                               unsigned inputBits = 32,
                               unsigned outputBits = 32);

inline uint32_t toBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline float toFloat(uint64_t bits) {
  auto word = uint32_t(bits);
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

} // namespace act::emulator::test

#endif // ACT_UNITTESTS_RUNTIME_EMULATOR_DEVICE_H
