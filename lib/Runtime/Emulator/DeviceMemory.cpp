//===- DeviceMemory.cpp - Memory of the emulated device ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <sys/mman.h>

using namespace llvm;

namespace act::emulator {

/// Address space without memory behind it until it is touched.
static void *reserve(uint64_t bytes) {
  void *result = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return result == MAP_FAILED ? nullptr : result;
}

DeviceMemory &DeviceMemory::get() {
  // Never destroyed: kernels of other threads may still run at exit.
  static DeviceMemory *memory = new DeviceMemory;
  return *memory;
}

DeviceMemory::DeviceMemory() {
  capacity = getOptions().memoryBytes;
  // Four times the capacity, so that freed addresses stay unused for long.
  for (heapBytes = alignTo(capacity * 4, 1 << 20); heapBytes >= (1 << 20);
       heapBytes /= 2) {
    uint64_t wordShadow = heapBytes / 4 * sizeof(ShadowCell);
    uint64_t byteShadow = heapBytes * sizeof(ShadowCell);
    uint64_t ownerBytes = heapBytes / granule * sizeof(uint32_t);
    char *all = static_cast<char *>(
        reserve(heapBytes + wordShadow + byteShadow + ownerBytes + (1 << 21)));
    if (!all)
      continue;
    all = reinterpret_cast<char *>(
        alignTo(reinterpret_cast<uint64_t>(all), 1 << 21));
    heap = all;
    words = reinterpret_cast<ShadowCell *>(all + heapBytes);
    bytesOfWords = reinterpret_cast<ShadowCell *>(all + heapBytes + wordShadow);
    owners =
        reinterpret_cast<uint32_t *>(all + heapBytes + wordShadow + byteShadow);
    capacity = std::min(capacity, heapBytes);
    return;
  }
  heapBytes = 0;
  capacity = 0;
}

/// The first granule of a range of `granules` plus one that belongs to nobody.
char *DeviceMemory::takeRange(uint64_t granules) {
  uint64_t needed = granules + 1;
  if ((nextGranule + needed) * granule <= heapBytes) {
    char *result = heap + nextGranule * granule;
    nextGranule += needed;
    return result;
  }
  for (auto [index, range] : enumerate(freed)) {
    if (range.second < needed)
      continue;
    char *result = heap + range.first * granule;
    range.first += needed;
    range.second -= needed;
    if (range.second == 0)
      freed.erase(freed.begin() + index);
    return result;
  }
  return nullptr;
}

char *DeviceMemory::allocate(uint64_t bytes, StringRef kind) {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t granules = std::max<uint64_t>(1, divideCeil(bytes, granule));
  if (bytes > capacity || usedBytes + granules * granule > capacity)
    return nullptr;
  char *result = takeRange(granules);
  if (!result)
    return nullptr;
  usedBytes += granules * granule;
  auto allocation = std::make_unique<Allocation>();
  allocation->begin = result;
  allocation->bytes = bytes;
  allocation->number = allocations.size();
  allocation->kind = kind.str();
  uint64_t first = (result - heap) / granule;
  std::fill_n(owners + first, granules, uint32_t(allocations.size() + 1));
  allocations.push_back(std::move(allocation));
  if (getOptions().check)
    std::memset(result, 0xff, bytes);
  return result;
}

bool DeviceMemory::free(char *pointer) {
  Allocation *allocation = isInHeap(pointer) ? find(pointer) : nullptr;
  std::lock_guard<std::mutex> lock(mutex);
  if (!allocation || !allocation->isLive || allocation->begin != pointer)
    return false;
  allocation->isLive = false;
  uint64_t granules =
      std::max<uint64_t>(1, divideCeil(allocation->bytes, granule));
  usedBytes -= granules * granule;
  uint64_t first = (pointer - heap) / granule;
  freed.push_back({first, granules + 1});
  // Gives the pages back; what shares a page with others stays.
  auto release = [](char *begin, char *end) {
    auto from = alignTo(reinterpret_cast<uint64_t>(begin), 4096);
    auto to = alignDown(reinterpret_cast<uint64_t>(end), 4096);
    if (from < to)
      madvise(reinterpret_cast<void *>(from), to - from, MADV_DONTNEED);
  };
  release(pointer, pointer + granules * granule);
  auto releaseCells = [&](ShadowCell *cells, uint64_t perGranule) {
    release(reinterpret_cast<char *>(cells + first * perGranule),
            reinterpret_cast<char *>(cells + (first + granules) * perGranule));
  };
  releaseCells(words, granule / 4);
  releaseCells(bytesOfWords, granule);
  return true;
}

bool DeviceMemory::registerHost(char *pointer, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  if (hostRanges.count(pointer))
    return false;
  auto allocation = std::make_unique<Allocation>();
  allocation->begin = pointer;
  allocation->bytes = bytes;
  allocation->number = hostRanges.size();
  allocation->kind = "registered host memory";
  hostRanges[pointer] = std::move(allocation);
  return true;
}

bool DeviceMemory::unregisterHost(char *pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  return hostRanges.erase(pointer) != 0;
}

Allocation *DeviceMemory::findHost(const char *pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  auto next = hostRanges.upper_bound(pointer);
  if (next == hostRanges.begin())
    return nullptr;
  Allocation *result = std::prev(next)->second.get();
  return pointer < result->end() + granule ? result : nullptr;
}

Allocation *DeviceMemory::find(const char *pointer) {
  if (!isInHeap(pointer))
    return findHost(pointer);
  uint32_t owner = owners[(pointer - heap) / granule];
  return owner ? allocations[owner - 1].get() : nullptr;
}

Allocation *DeviceMemory::findBefore(const char *pointer) {
  if (!isInHeap(pointer))
    return nullptr;
  for (uint64_t index = (pointer - heap) / granule + 1; index-- > 0;)
    if (owners[index])
      return allocations[owners[index] - 1].get();
  return nullptr;
}

ShadowRange DeviceMemory::getShadow(Allocation &allocation,
                                    const char *pointer) {
  if (isInHeap(pointer))
    return {words + (pointer - heap) / 4, bytesOfWords + (pointer - heap),
            &allocation.hasByteAccesses};
  if (!allocation.words) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!allocation.words) {
      allocation.bytesOfWords =
          std::make_unique<ShadowCell[]>(allocation.bytes + 8);
      allocation.words =
          std::make_unique<ShadowCell[]>(allocation.bytes / 4 + 2);
    }
  }
  auto address = [](const char *p) { return reinterpret_cast<uint64_t>(p); };
  return {allocation.words.get() +
              (address(pointer) / 4 - address(allocation.begin) / 4),
          allocation.bytesOfWords.get() +
              (address(pointer) - address(allocation.begin) / 4 * 4),
          &allocation.hasByteAccesses};
}

bool DeviceMemory::contains(const char *pointer, uint64_t bytes) {
  Allocation *allocation = find(pointer);
  return allocation && allocation->isLive && pointer >= allocation->begin &&
         uint64_t(allocation->end() - pointer) >= bytes &&
         pointer <= allocation->end();
}

uint64_t DeviceMemory::getFreeBytes() {
  std::lock_guard<std::mutex> lock(mutex);
  return capacity - usedBytes;
}

void DeviceMemory::clearShadow() {
  madvise(words, heapBytes / 4 * sizeof(ShadowCell), MADV_DONTNEED);
  madvise(bytesOfWords, heapBytes * sizeof(ShadowCell), MADV_DONTNEED);
  std::lock_guard<std::mutex> lock(mutex);
  for (auto &[pointer, allocation] : hostRanges)
    allocation->words.reset();
}

} // namespace act::emulator
