//===- Driver.cpp - CUDA's driver API, opened at run time ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace act::gpu;

bool Driver::load(void *handle, std::string &message) {
  auto find = [&](auto &member, const char *symbol) {
    void *address = dlsym(handle, symbol);
    member =
        reinterpret_cast<std::remove_reference_t<decltype(member)>>(address);
    return address != nullptr;
  };
#define ACT_FIND(member, symbol, parameters)                                   \
  if (!find(member, symbol)) {                                                 \
    message = "'" + path +                                                     \
              "' has no " symbol                                               \
              ", which CUDA's driver API has since version 11";                \
    return false;                                                              \
  }
  ACT_DRIVER_FUNCTIONS(ACT_FIND)
#undef ACT_FIND
#define ACT_FIND(member, symbol, parameters) find(member, symbol);
  ACT_OPTIONAL_DRIVER_FUNCTIONS(ACT_FIND)
#undef ACT_FIND
  find(emulatorError, "act_gpu_emulator_last_error");
  return true;
}

std::shared_ptr<const Driver> Driver::open(const char *library,
                                           std::string &message) {
  const char *path = library;
  if (!path)
    path = std::getenv("ACT_GPU_DRIVER");
  if (!path || !*path)
    path = "libcuda.so.1";
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    message = std::string("there is no driver for a GPU: ") + dlerror();
    return nullptr;
  }
  auto driver = std::make_shared<Driver>();
  driver->path = path;
  if (!driver->load(handle, message))
    return nullptr;
  return driver;
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  getErrorName(result, &name);
  getErrorString(result, &text);
  std::string description = name ? name : "error " + std::to_string(result);
  if (text)
    description += std::string(": ") + text;
  const char *detail = emulatorError ? emulatorError() : nullptr;
  if (detail && *detail)
    description += std::string("; ") + detail;
  return description;
}
