//===- EmulatorApi.cpp - Options and contents of modules ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "Statistics.h"
#include "act-c/GpuEmulator.h"

using namespace act::emulator;
using namespace llvm;

ACT_EMULATOR_EXPORT int act_gpu_emulator_configure(const char *options) {
  Error error = parseOptions(options, getOptions());
  if (!error)
    return 0;
  return fail(CUDA_ERROR_INVALID_VALUE, toString(std::move(error)));
}

ACT_EMULATOR_EXPORT const char *act_gpu_emulator_last_error(void) {
  return getLastError().c_str();
}

ACT_EMULATOR_EXPORT int act_gpu_emulator_load(void **module, const void *image,
                                              size_t bytes) {
  LoadedModule *loaded;
  CUresult result = loadModule(&loaded, image, bytes);
  *module = loaded;
  return result;
}

ACT_EMULATOR_EXPORT int64_t act_gpu_emulator_num_kernels(const void *module) {
  return static_cast<const LoadedModule *>(module)->functions.size();
}

static Kernel &getKernel(const void *kernel) {
  return *static_cast<const Function *>(kernel)->kernel;
}

ACT_EMULATOR_EXPORT void *act_gpu_emulator_kernel(void *module,
                                                  int64_t number) {
  return &static_cast<LoadedModule *>(module)->functions[number];
}

ACT_EMULATOR_EXPORT const char *
act_gpu_emulator_kernel_name(const void *kernel) {
  // Names end where the text goes on, so a copy is kept.
  static thread_local std::string name;
  name = getKernel(kernel).getName().str();
  return name.c_str();
}

ACT_EMULATOR_EXPORT int act_gpu_emulator_compile(void *kernel) {
  auto code = getKernel(kernel).compile();
  if (code)
    return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_PTX, toString(code.takeError()));
}

ACT_EMULATOR_EXPORT int64_t
act_gpu_emulator_num_parameters(const void *kernel) {
  return getKernel(kernel).getFunction().parameters.size();
}

ACT_EMULATOR_EXPORT int64_t act_gpu_emulator_parameter_bytes(const void *kernel,
                                                             int64_t number) {
  const ptx::Function &function = getKernel(kernel).getFunction();
  return function.parameters[number].getBytes();
}

ACT_EMULATOR_EXPORT int
act_gpu_emulator_parameter_is_pointer(const void *kernel, int64_t number) {
  const ptx::Function &function = getKernel(kernel).getFunction();
  return function.parameters[number].isPointer;
}

ACT_EMULATOR_EXPORT const char *act_gpu_emulator_statistics(void) {
  static thread_local std::string text;
  text = Statistics::get().getText();
  return text.c_str();
}

ACT_EMULATOR_EXPORT void act_gpu_emulator_clear_statistics(void) {
  Statistics::get().clear();
}
