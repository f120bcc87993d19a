//===- DriverModule.cpp - Modules and launches of the driver API ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Driver.h"
#include <cstring>

using namespace act::emulator;
using namespace llvm;

namespace act::emulator {

LoadedModule::LoadedModule(std::shared_ptr<Program> loaded)
    : program(std::move(loaded)) {
  for (const auto &kernel : program->getKernels())
    functions.push_back({kernel.get()});
}

Function *LoadedModule::findFunction(StringRef name) {
  for (Function &function : functions)
    if (function.kernel->getName() == name)
      return &function;
  return nullptr;
}

CUresult loadModule(LoadedModule **result, const void *image, size_t bytes) {
  *result = nullptr;
  if (!image)
    return fail(CUDA_ERROR_INVALID_VALUE, "expects an image, got none");
  StringRef content = delimitImage(static_cast<const char *>(image), bytes);
  switch (getImageKind(content)) {
  case ImageKind::Ptx:
    break;
  case ImageKind::Bitcode:
    if (bytes != 0)
      break;
    return fail(CUDA_ERROR_INVALID_IMAGE,
                "LLVM bitcode does not say where it ends: load it with "
                "act_gpu_emulator_load or mgpuModuleLoad");
  case ImageKind::Elf:
  case ImageKind::FatBinary:
    return fail(CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the emulator executes PTX, not machine code of a GPU");
  case ImageKind::Unknown:
    return fail(CUDA_ERROR_INVALID_IMAGE,
                "the image is neither PTX nor LLVM bitcode");
  }
  Expected<std::shared_ptr<Program>> program = Program::load(content);
  if (!program)
    return fail(CUDA_ERROR_INVALID_PTX, toString(program.takeError()));
  *result = new LoadedModule(*program);
  return CUDA_SUCCESS;
}

std::vector<char> packParameters(const Kernel &kernel, void **parameters) {
  // Rounded up, so that reading with vectors stays inside.
  std::vector<char> result(alignTo(kernel.getParameterBytes(), 16));
  const auto &variables = kernel.getFunction().parameters;
  for (auto [index, variable] : enumerate(variables))
    std::memcpy(result.data() + kernel.getOffsets()[index], parameters[index],
                variable.getBytes());
  return result;
}

/// The parameters of cuLaunchKernel's `extra`.
static bool unpackExtra(void **extra, std::vector<char> &buffer) {
  const char *data = nullptr;
  const size_t *size = nullptr;
  for (; *extra; extra += 2) {
    auto key = reinterpret_cast<uintptr_t>(*extra);
    if (key == CU_LAUNCH_PARAM_BUFFER_POINTER)
      data = static_cast<const char *>(extra[1]);
    else if (key == CU_LAUNCH_PARAM_BUFFER_SIZE)
      size = static_cast<const size_t *>(extra[1]);
    else
      return false;
  }
  if (!data || !size || *size > buffer.size())
    return false;
  std::memcpy(buffer.data(), data, *size);
  return true;
}

CUresult launchFunction(Function *function, LaunchShape shape, void *stream,
                        void **parameters, void **extra) {
  if (!function)
    return fail(CUDA_ERROR_INVALID_HANDLE, "expects a function, got none");
  Kernel *kernel = function->kernel;
  shape.maxDynamicSharedBytes = function->maxDynamicSharedBytes;
  std::vector<char> buffer(alignTo(kernel->getParameterBytes(), 16));
  if (parameters)
    buffer = packParameters(*kernel, parameters);
  else if (extra ? !unpackExtra(extra, buffer) : !buffer.empty())
    return fail(CUDA_ERROR_INVALID_VALUE,
                "kernel " + kernel->getName() + ": expects " +
                    Twine(kernel->getFunction().parameters.size()) +
                    " parameters, got none");
  return enqueue(stream, [kernel, shape, buffer = std::move(buffer)] {
    Fault fault = launch(*kernel, shape, buffer);
    if (!fault)
      return CUDA_SUCCESS;
    return fail(CUresult(fault.kind), fault.text);
  });
}

static Expected<int> getAttribute(const Function &handle,
                                  CUfunction_attribute attribute) {
  Kernel &kernel = *handle.kernel;
  const ptx::Function &function = kernel.getFunction();
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    if (function.maxThreads[0])
      return function.maxThreads[0] * function.maxThreads[1] *
             function.maxThreads[2];
    return maxThreadsPerBlock;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: {
    Expected<const CompiledKernel *> code = kernel.compile();
    if (!code)
      return code.takeError();
    return (*code)->staticSharedBytes;
  }
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
  case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    return 0;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    // PTX has as many registers as it likes.
    return 32;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    return getOptions().computeCapability;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    return handle.maxDynamicSharedBytes;
  }
  return createStringError("functions have no attribute " +
                           Twine(int(attribute)));
}

} // namespace act::emulator

ACT_EMULATOR_EXPORT CUresult cuModuleLoadData(LoadedModule **module,
                                              const void *image) {
  return loadModule(module, image, 0);
}

ACT_EMULATOR_EXPORT CUresult cuModuleLoadDataEx(LoadedModule **module,
                                                const void *image, unsigned,
                                                int *, void **) {
  return loadModule(module, image, 0);
}

ACT_EMULATOR_EXPORT CUresult cuModuleUnload(LoadedModule *module) {
  delete module;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuModuleGetFunction(Function **function,
                                                 LoadedModule *module,
                                                 const char *name) {
  if (!module)
    return fail(CUDA_ERROR_INVALID_HANDLE, "expects a module, got none");
  *function = module->findFunction(name);
  if (!*function)
    return fail(CUDA_ERROR_NOT_FOUND,
                "the module has no kernel '" + Twine(name) + "'");
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *pointer,
                                                  size_t *bytes,
                                                  LoadedModule *module,
                                                  const char *name) {
  char *memory = module ? module->program->findVariable(name) : nullptr;
  if (!memory)
    return fail(CUDA_ERROR_NOT_FOUND,
                "the module has no variable '" + Twine(name) + "'");
  if (pointer)
    *pointer = reinterpret_cast<CUdeviceptr>(memory);
  if (bytes)
    *bytes = module->program->getModule().findVariable(name)->getBytes();
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuFuncGetAttribute(int *value,
                                                CUfunction_attribute attribute,
                                                Function *function) {
  Expected<int> result = getAttribute(*function, attribute);
  if (!result)
    return fail(CUDA_ERROR_INVALID_VALUE, toString(result.takeError()));
  *value = *result;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuFuncSetAttribute(Function *function,
                                                CUfunction_attribute attribute,
                                                int value) {
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    return CUDA_SUCCESS;
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    return fail(CUDA_ERROR_INVALID_VALUE,
                "attribute " + Twine(int(attribute)) + " cannot be set");
  Expected<const CompiledKernel *> code = function->kernel->compile();
  if (!code)
    return fail(CUDA_ERROR_INVALID_PTX, toString(code.takeError()));
  int most = maxSharedBytes - (*code)->staticSharedBytes;
  if (value < 0 || value > most)
    return fail(CUDA_ERROR_INVALID_VALUE,
                "kernel " + function->kernel->getName() + ": expects 0 to " +
                    Twine(most) + " bytes of dynamic shared memory, got " +
                    Twine(value));
  function->maxDynamicSharedBytes = value;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuLaunchKernel(Function *function, unsigned gridX,
                                            unsigned gridY, unsigned gridZ,
                                            unsigned blockX, unsigned blockY,
                                            unsigned blockZ,
                                            unsigned sharedBytes, void *stream,
                                            void **parameters, void **extra) {
  LaunchShape shape{
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes, 0};
  return launchFunction(function, shape, stream, parameters, extra);
}

/// Limited by threads and shared memory; the emulator knows no registers.
ACT_EMULATOR_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, Function *function, int threads, size_t dynamicBytes) {
  Expected<const CompiledKernel *> code = function->kernel->compile();
  if (!code)
    return fail(CUDA_ERROR_INVALID_PTX, toString(code.takeError()));
  if (threads <= 0 || threads > int(maxThreadsPerBlock))
    return fail(CUDA_ERROR_INVALID_VALUE,
                "expects 1 to 1024 threads, got " + Twine(threads));
  uint64_t shared = (*code)->staticSharedBytes + dynamicBytes + (1 << 10);
  uint64_t byThreads = 2048 / alignTo(threads, 32);
  uint64_t byShared = (164 << 10) / shared;
  *blocks = std::min<uint64_t>({byThreads, byShared, 32});
  return CUDA_SUCCESS;
}
