//===- Driver.h - CUDA's driver API, opened at run time ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CUDA_DRIVER_H
#define ACT_RUNTIME_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace act::gpu {

// The types of the driver API, as its documentation has them, so that nothing
// here needs its headers.
using Result = int;
using Device = int;
using DevicePointer = uint64_t;
using DriverContext = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;
using Event = struct CUevent_st *;
using Graph = struct CUgraph_st *;
using GraphExecution = struct CUgraphExec_st *;

constexpr Result success = 0;

/// Numbers of enumerations of the driver API.
enum DeviceAttribute {
  maxThreadsPerBlock = 1,
  maxBlockX = 2,
  maxGridX = 5,
  numMultiprocessors = 16,
  computeMajor = 75,
  computeMinor = 76,
  maxSharedOptIn = 97
};
enum FunctionAttribute {
  functionMaxThreads = 0,
  functionSharedBytes = 1,
  functionLocalBytes = 3,
  functionRegisters = 4,
  functionMaxDynamicShared = 8
};
enum JitOption { jitErrorLog = 5, jitErrorLogBytes = 6 };
enum { streamNonBlocking = 1, captureRelaxed = 2 };

/// What every driver has: member, symbol, parameters. The symbols with a
/// version are those that the headers of CUDA make of the names without one.
#define ACT_DRIVER_FUNCTIONS(X)                                                \
  X(init, "cuInit", (unsigned))                                                \
  X(driverGetVersion, "cuDriverGetVersion", (int *))                           \
  X(getErrorName, "cuGetErrorName", (Result, const char **))                   \
  X(getErrorString, "cuGetErrorString", (Result, const char **))               \
  X(deviceGetCount, "cuDeviceGetCount", (int *))                               \
  X(deviceGet, "cuDeviceGet", (Device *, int))                                 \
  X(deviceGetName, "cuDeviceGetName", (char *, int, Device))                   \
  X(deviceGetAttribute, "cuDeviceGetAttribute", (int *, int, Device))          \
  X(deviceTotalMem, "cuDeviceTotalMem_v2", (size_t *, Device))                 \
  X(primaryContextRetain, "cuDevicePrimaryCtxRetain",                          \
    (DriverContext *, Device))                                                 \
  X(primaryContextRelease, "cuDevicePrimaryCtxRelease_v2", (Device))           \
  X(contextPush, "cuCtxPushCurrent_v2", (DriverContext))                       \
  X(contextPop, "cuCtxPopCurrent_v2", (DriverContext *))                       \
  X(streamCreate, "cuStreamCreate", (Stream *, unsigned))                      \
  X(streamDestroy, "cuStreamDestroy_v2", (Stream))                             \
  X(streamSynchronize, "cuStreamSynchronize", (Stream))                        \
  X(moduleLoadDataEx, "cuModuleLoadDataEx",                                    \
    (Module *, const void *, unsigned, int *, void **))                        \
  X(moduleUnload, "cuModuleUnload", (Module))                                  \
  X(moduleGetFunction, "cuModuleGetFunction",                                  \
    (Function *, Module, const char *))                                        \
  X(functionGetAttribute, "cuFuncGetAttribute", (int *, int, Function))        \
  X(functionSetAttribute, "cuFuncSetAttribute", (Function, int, int))          \
  X(launchKernel, "cuLaunchKernel",                                            \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
     unsigned, Stream, void **, void **))                                      \
  X(memoryAllocate, "cuMemAlloc_v2", (DevicePointer *, size_t))                \
  X(memoryFree, "cuMemFree_v2", (DevicePointer))                               \
  X(copyIn, "cuMemcpyHtoDAsync_v2",                                            \
    (DevicePointer, const void *, size_t, Stream))                             \
  X(copyOut, "cuMemcpyDtoHAsync_v2", (void *, DevicePointer, size_t, Stream))  \
  X(copy, "cuMemcpyDtoDAsync_v2",                                              \
    (DevicePointer, DevicePointer, size_t, Stream))                            \
  X(fill, "cuMemsetD8Async", (DevicePointer, unsigned char, size_t, Stream))   \
  X(eventCreate, "cuEventCreate", (Event *, unsigned))                         \
  X(eventDestroy, "cuEventDestroy_v2", (Event))                                \
  X(eventRecord, "cuEventRecord", (Event, Stream))                             \
  X(eventSynchronize, "cuEventSynchronize", (Event))                           \
  X(eventElapsedTime, "cuEventElapsedTime", (float *, Event, Event))

/// What an emulator may leave out.
#define ACT_OPTIONAL_DRIVER_FUNCTIONS(X)                                       \
  X(streamBeginCapture, "cuStreamBeginCapture_v2", (Stream, int))              \
  X(streamEndCapture, "cuStreamEndCapture", (Stream, Graph *))                 \
  X(graphInstantiate, "cuGraphInstantiateWithFlags",                           \
    (GraphExecution *, Graph, unsigned long long))                             \
  X(graphLaunch, "cuGraphLaunch", (GraphExecution, Stream))                    \
  X(graphExecutionDestroy, "cuGraphExecDestroy", (GraphExecution))             \
  X(graphDestroy, "cuGraphDestroy", (Graph))

/// The functions of one library. It stays open: drivers do not expect to be
/// closed.
class Driver {
public:
  /// Opens `library`; if that is null, what ACT_GPU_DRIVER names, else
  /// libcuda.so.1. Null on failure; `message` says why.
  static std::shared_ptr<const Driver> open(const char *library,
                                            std::string &message);

#define ACT_DECLARE(member, symbol, parameters) Result(*member) parameters;
  ACT_DRIVER_FUNCTIONS(ACT_DECLARE)
  ACT_OPTIONAL_DRIVER_FUNCTIONS(ACT_DECLARE)
#undef ACT_DECLARE

  /// What `result` means, with what act's emulator has to say about it.
  std::string describe(Result result) const;
  /// Whether the library is act's emulator.
  bool isEmulator() const { return emulatorError != nullptr; }
  const std::string &getPath() const { return path; }

private:
  bool load(void *handle, std::string &message);

  std::string path;
  const char *(*emulatorError)() = nullptr;
};

} // namespace act::gpu

#endif // ACT_RUNTIME_CUDA_DRIVER_H
