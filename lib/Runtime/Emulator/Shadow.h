//===- Shadow.h - Histories of memory accesses -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_SHADOW_H
#define ACT_LIB_RUNTIME_EMULATOR_SHADOW_H

#include <atomic>
#include <cstdint>

namespace act::emulator {

/// Who accessed a word or a byte last, and when. Times count what orders
/// accesses; those of different workers never mix, see Clock.
struct alignas(8) AccessRecord {
  uint32_t time = 0;
  /// Number of the thread in its block.
  uint32_t thread : 10;
  /// Someone accessed it.
  uint32_t isSet : 1;
  uint32_t worker : 6;
  uint32_t isAtomic : 1;
  /// Since the record began, others accessed it, too: other threads,
  /// threads of other warps, of other blocks.
  uint32_t isByThreads : 1;
  uint32_t isByWarps : 1;
  uint32_t isByBlocks : 1;

  AccessRecord()
      : thread(0), isSet(0), worker(0), isAtomic(0), isByThreads(0),
        isByWarps(0), isByBlocks(0) {}
};
static_assert(sizeof(AccessRecord) == 8, "read and written in one piece");

/// The history of 4 bytes of memory as far as they were accessed together, or
/// of one byte by accesses to fewer.
struct ShadowCell {
  AccessRecord writer;
  AccessRecord reader;
};

/// The histories of the word and of the byte at an address.
struct ShadowRange {
  ShadowCell *words;
  ShadowCell *bytes;
  /// Set once fewer than 4 bytes were accessed somewhere in the allocation.
  std::atomic<bool> *hasBytes;
};

/// Workers update cells of global memory at the same time. A record that gets
/// lost hides a race; it never invents one.
inline AccessRecord loadRecord(const AccessRecord &record) {
  AccessRecord result;
  __atomic_load(&record, &result, __ATOMIC_RELAXED);
  return result;
}
inline void storeRecord(AccessRecord &record, AccessRecord value) {
  __atomic_store(&record, &value, __ATOMIC_RELAXED);
}

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_SHADOW_H
