//===- Driver.h - The CUDA driver API -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_DRIVER_H
#define ACT_LIB_RUNTIME_EMULATOR_DRIVER_H

#include "Cuda.h"
#include "Launcher.h"
#include <functional>
#include <memory>

namespace act::emulator {

/// The context of the only device.
struct Context {
  int device = 0;
};

/// A kernel of a loaded module, which is what cuModuleGetFunction gives out.
struct Function {
  Kernel *kernel = nullptr;
  /// What cuFuncSetAttribute allowed. Programs are shared by modules; this is
  /// not.
  uint32_t maxDynamicSharedBytes = maxStaticSharedBytes;
};

/// What cuModuleLoad gives out.
struct LoadedModule {
  explicit LoadedModule(std::shared_ptr<Program> program);

  /// Null if there is no kernel of that name.
  Function *findFunction(llvm::StringRef name);

  std::shared_ptr<Program> program;
  /// In the order of the program's kernels.
  std::vector<Function> functions;
};

/// Operations that were captured, in their order.
struct Graph {
  std::vector<std::function<CUresult()>> operations;
};

struct Stream {
  /// Where operations go instead of being executed; null for execution.
  std::shared_ptr<Graph> capture;
  /// Whether the capture began on this stream and not on one it waited for.
  bool startedCapture = false;
};

struct Event {
  bool wasRecorded = false;
  std::chrono::steady_clock::time_point time;
  /// The capture in which it was recorded.
  std::shared_ptr<Graph> capture;
};

/// The text of the last error of this thread of the host.
const std::string &getLastError();
/// Stores the text, and prints it if the options say so. Returns `result`.
CUresult fail(CUresult result, const llvm::Twine &message);

bool isInitialized();
/// The stream that a handle means, where null, 1 and 2 are default streams;
/// null for a handle that is none.
Stream *getStream(void *handle);
/// Executes `operation`, or keeps it if the stream captures.
CUresult enqueue(void *stream, std::function<CUresult()> operation);
/// An error if the stream captures, which waiting for it does not allow.
CUresult checkNotCapturing(void *stream, const char *function);

/// Loads an image. `bytes` is 0 if the format says where the image ends.
CUresult loadModule(LoadedModule **result, const void *image, size_t bytes);
/// The buffer of parameters from pointers to each.
std::vector<char> packParameters(const Kernel &kernel, void **parameters);
/// With the limit of shared memory that `function` has.
CUresult launchFunction(Function *function, LaunchShape shape, void *stream,
                        void **parameters, void **extra);

/// Checks that [pointer, pointer + bytes) is memory of the device.
CUresult checkDeviceMemory(CUdeviceptr pointer, size_t bytes,
                           const char *function);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_DRIVER_H
