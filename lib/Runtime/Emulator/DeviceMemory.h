//===- DeviceMemory.h - Memory of the emulated device -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H
#define ACT_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H

#include "Shadow.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace act::emulator {

/// Bytes that kernels may access.
struct Allocation {
  char *begin = nullptr;
  uint64_t bytes = 0;
  uint64_t number = 0;
  bool isLive = true;
  /// Memory of the host that was registered, or a variable of a module.
  std::string kind;
  /// Access history of memory outside of the heap.
  std::unique_ptr<ShadowCell[]> words, bytesOfWords;
  std::atomic<bool> hasByteAccesses{false};

  char *end() const { return begin + bytes; }
};

/// The memory of the device: one reserved range of the host's address space in
/// which every 256 bytes know their allocation, and next to it the history of
/// accesses. Addresses are not used twice before the range is exhausted, so
/// that accesses to freed memory are noticed.
class DeviceMemory {
public:
  static DeviceMemory &get();

  /// Null if there is not enough memory. `kind` says what messages call it.
  char *allocate(uint64_t bytes, llvm::StringRef kind = "buffer");
  /// False if nothing live starts at `pointer`.
  bool free(char *pointer);
  /// Lets kernels access memory of the host.
  bool registerHost(char *pointer, uint64_t bytes);
  bool unregisterHost(char *pointer);

  /// The allocation that an access to `pointer` means, which may be freed;
  /// null if there never was one there.
  Allocation *find(const char *pointer);
  /// The allocation before `pointer`, for messages.
  Allocation *findBefore(const char *pointer);
  ShadowRange getShadow(Allocation &allocation, const char *pointer);
  bool isInHeap(const char *pointer) const {
    return uint64_t(pointer - heap) < heapBytes;
  }
  /// Whether [pointer, pointer + bytes) is memory of the device or registered.
  bool contains(const char *pointer, uint64_t bytes);

  uint64_t getTotalBytes() const { return capacity; }
  uint64_t getFreeBytes();
  void clearShadow();

private:
  DeviceMemory();

  static constexpr unsigned granule = 256;

  char *takeRange(uint64_t granules);
  Allocation *findHost(const char *pointer);

  std::mutex mutex;
  char *heap = nullptr;
  uint64_t heapBytes = 0;
  uint64_t capacity = 0;
  uint64_t usedBytes = 0;
  uint64_t nextGranule = 1;
  /// One entry for each granule: the number of its allocation + 1.
  uint32_t *owners = nullptr;
  ShadowCell *words = nullptr;
  ShadowCell *bytesOfWords = nullptr;
  std::vector<std::unique_ptr<Allocation>> allocations;
  /// Freed ranges, oldest first: first granule and size.
  std::vector<std::pair<uint64_t, uint64_t>> freed;
  std::map<const char *, std::unique_ptr<Allocation>> hostRanges;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_DEVICEMEMORY_H
