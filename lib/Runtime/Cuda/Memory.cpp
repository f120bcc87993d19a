//===- Memory.cpp - Memory of a device ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <algorithm>

using namespace act::gpu;

static DevicePointer toDevice(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

static void *toPointer(DevicePointer memory) {
  return reinterpret_cast<void *>(static_cast<uintptr_t>(memory));
}

/// Sizes that memory is allocated in, so that similar ones share it.
static int64_t roundUp(int64_t bytes) {
  int64_t unit = bytes < (1 << 20) ? ACT_GPU_ARENA_ALIGNMENT : 1 << 16;
  return bytes < 1 ? unit : (bytes + unit - 1) / unit * unit;
}

void *Context::allocate(int64_t bytes) {
  if (bytes < 0) {
    fail("expects to allocate a number of bytes, got " + std::to_string(bytes));
    return nullptr;
  }
  // Exactly, where accesses behind it are noticed.
  bool isExact = driver->isEmulator();
  int64_t size = isExact ? std::max<int64_t>(bytes, 1) : roundUp(bytes);
  // The least that is large enough, unless most of it would be wasted.
  auto found = freeMemory.lower_bound(size);
  if (found != freeMemory.end() &&
      found->first <= (isExact ? size : 2 * size)) {
    DevicePointer memory = found->second;
    freeMemory.erase(found);
    return toPointer(memory);
  }
  DevicePointer memory = 0;
  Result result = driver->memoryAllocate(&memory, size_t(size));
  if (result != success && !freeMemory.empty()) {
    if (!trim())
      return nullptr;
    result = driver->memoryAllocate(&memory, size_t(size));
  }
  if (!check(result, "cannot allocate " + std::to_string(size) +
                         " bytes of the device beside " +
                         std::to_string(allocatedBytes) +
                         " bytes that are in use"))
    return nullptr;
  sizes[memory] = size;
  allocatedBytes += size;
  return toPointer(memory);
}

void Context::release(void *memory) {
  if (!memory)
    return;
  auto found = sizes.find(toDevice(memory));
  if (found == sizes.end()) {
    fail("expects memory of this context to release");
    return;
  }
  for (auto [entry, end] = freeMemory.equal_range(found->second); entry != end;
       ++entry)
    if (entry->second == found->first) {
      fail("expects memory that is released once");
      return;
    }
  freeMemory.emplace(found->second, found->first);
}

bool Context::trim() {
  // Work that is queued may still use it.
  if (!synchronize())
    return false;
  for (auto [size, memory] : freeMemory) {
    if (!check(driver->memoryFree(memory), "cannot free memory"))
      return false;
    allocatedBytes -= size;
    sizes.erase(memory);
  }
  freeMemory.clear();
  return true;
}

static std::string describeBytes(int64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

bool Context::copyIn(void *device, const void *host, int64_t bytes) {
  return bytes == 0 ||
         check(driver->copyIn(toDevice(device), host, size_t(bytes), stream),
               "cannot copy " + describeBytes(bytes) + " to the device");
}

bool Context::copyOut(void *host, const void *device, int64_t bytes) {
  return bytes == 0 ||
         check(driver->copyOut(host, toDevice(device), size_t(bytes), stream),
               "cannot copy " + describeBytes(bytes) + " from the device");
}

bool Context::copy(void *to, const void *from, int64_t bytes) {
  return bytes == 0 ||
         check(
             driver->copy(toDevice(to), toDevice(from), size_t(bytes), stream),
             "cannot copy " + describeBytes(bytes) + " on the device");
}

bool Context::fill(void *device, uint8_t value, int64_t bytes) {
  return bytes == 0 ||
         check(driver->fill(toDevice(device), value, size_t(bytes), stream),
               "cannot fill " + describeBytes(bytes) + " of the device");
}

bool Context::read(void *host, const void *device, int64_t bytes) {
  if (capturing)
    return fail("the step reads from the device to decide what to do next, so "
                "that it cannot be captured in a graph");
  return copyOut(host, device, bytes) && synchronize();
}
