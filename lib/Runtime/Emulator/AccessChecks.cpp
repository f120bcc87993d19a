//===- AccessChecks.cpp - Checks accesses to memory ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"
#include "DeviceMemory.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace act::emulator {

static const char *getVerb(bool writes) { return writes ? "write" : "read"; }

/// Whether nothing orders the access that `record` tells of and one of `thread`
/// now. Threads of a block are ordered by barriers, lanes of a warp by
/// bar.warp.sync, too; blocks of a launch are not ordered at all, but each has
/// a shared memory of its own.
bool BlockExecutor::isConcurrent(const AccessRecord &record,
                                 const Thread &thread, bool isShared) const {
  if (record.time < (isShared ? blockStartTime : launch->startTime))
    return false;
  if (record.worker != worker || record.time < blockStartTime)
    return true;
  if (record.isByBlocks)
    return true;
  if (record.thread == thread.linear && !record.isByThreads)
    return false;
  if (record.time < thread.barrierTime)
    return false;
  bool isSameWarp = record.thread / 32 == thread.warp && !record.isByWarps;
  return !isSameWarp || record.time >= thread.warpTime;
}

void BlockExecutor::failRace(const AccessRecord &other, bool otherWrites,
                             bool writes, Thread &thread, const Site &site,
                             bool isShared) {
  std::string who = "of another block";
  if (other.worker == worker) {
    // The last block that began no later than the access.
    auto block = std::upper_bound(
        blockTimes.begin(), blockTimes.end(), other.time,
        [](uint32_t time, const auto &entry) { return time < entry.first; });
    uint64_t number =
        block == blockTimes.begin() ? 0 : std::prev(block)->second;
    const uint32_t *size = launch->block;
    who = formatv("by thread ({0},{1},{2}) of {3}", other.thread % size[0],
                  other.thread / size[0] % size[1],
                  other.thread / size[0] / size[1],
                  number == blockNumber
                      ? std::string("the block")
                      : formatv("block number {0}", number).str())
              .str();
  }
  fail(FaultKind::LaunchFailed, &thread, &site,
       Twine("data race on ") + (isShared ? "shared" : "global") +
           " memory: " + getVerb(writes) + " without order after " +
           (other.isAtomic ? "an atomic " : "a ") + getVerb(otherWrites) + " " +
           who);
}

/// Fails if what `cell` tells of is not ordered before an access now.
void BlockExecutor::check(ShadowCell &cell, Thread &thread, const Site &site,
                          bool writes, bool isShared) {
  AccessRecord writer = loadRecord(cell.writer);
  if (writer.isSet && !(writer.isAtomic && site.isAtomic) &&
      isConcurrent(writer, thread, isShared))
    failRace(writer, true, writes, thread, site, isShared);
  if (!writes)
    return;
  AccessRecord reader = loadRecord(cell.reader);
  if (reader.isSet && !(reader.isAtomic && site.isAtomic) &&
      isConcurrent(reader, thread, isShared))
    failRace(reader, false, true, thread, site, isShared);
}

void BlockExecutor::noteWrite(ShadowCell &cell, Thread &thread,
                              const Site &site, bool isShared) {
  AccessRecord writer = loadRecord(cell.writer);
  AccessRecord mine;
  mine.time = time;
  mine.thread = thread.linear;
  mine.isSet = 1;
  mine.worker = worker;
  mine.isAtomic = site.isAtomic;
  // Atomic operations of several threads count together.
  if (writer.isAtomic && site.isAtomic &&
      isConcurrent(writer, thread, isShared)) {
    mine.isByThreads = 1;
    mine.isByBlocks = writer.isByBlocks || writer.worker != worker ||
                      writer.time < blockStartTime;
    mine.isByWarps = writer.isByWarps || writer.thread / 32 != thread.warp;
  }
  storeRecord(cell.writer, mine);
}

void BlockExecutor::noteRead(ShadowCell &cell, Thread &thread, const Site &site,
                             bool isShared) {
  AccessRecord reader = loadRecord(cell.reader);
  AccessRecord mine;
  mine.time = time;
  mine.thread = thread.linear;
  mine.isSet = 1;
  mine.worker = worker;
  mine.isAtomic = site.isAtomic;
  // A record stands for all reads that no write could be ordered after yet.
  if (reader.isSet && isConcurrent(reader, thread, isShared)) {
    bool isOtherBlock = reader.worker != worker || reader.time < blockStartTime;
    mine.isByThreads = 1;
    mine.isByBlocks = reader.isByBlocks || isOtherBlock;
    mine.isByWarps = reader.isByWarps || reader.thread / 32 != thread.warp;
    mine.isAtomic = site.isAtomic && reader.isAtomic;
  }
  storeRecord(cell.reader, mine);
}

/// `cells` are the histories of the word that contains `*pointer`, and of the
/// byte itself.
void BlockExecutor::checkCells(const ShadowRange &cells, const char *pointer,
                               uint32_t bytes, Thread &thread, const Site &site,
                               bool writes, bool isShared) {
  ShadowCell *word = cells.words, *byte = cells.bytes;
  uint32_t offset = reinterpret_cast<uint64_t>(pointer) % 4;
  while (bytes > 0) {
    uint32_t count = std::min(bytes, 4 - offset);
    bool isWord = count == 4;
    if (!isWord && !cells.hasBytes->load(std::memory_order_relaxed))
      cells.hasBytes->store(true, std::memory_order_relaxed);
    auto note = [&](ShadowCell &cell) {
      if (writes)
        noteWrite(cell, thread, site, isShared);
      else
        noteRead(cell, thread, site, isShared);
    };
    check(*word, thread, site, writes, isShared);
    if (isWord)
      note(*word);
    if (cells.hasBytes->load(std::memory_order_relaxed))
      for (uint32_t i = 0; i < count; ++i) {
        check(byte[i], thread, site, writes, isShared);
        if (!isWord)
          note(byte[i]);
      }
    bytes -= count;
    byte += count;
    offset = 0;
    ++word;
  }
}

void BlockExecutor::checkSharedRange(Thread &thread, uint64_t offset,
                                     uint32_t bytes, uint32_t alignment,
                                     bool writes, const Site &site) {
  uint32_t size = launch->getSharedBytes();
  if (offset + bytes > size || offset > size)
    fail(FaultKind::IllegalAddress, &thread, &site,
         "out-of-bounds " + Twine(bytes) + "-byte " + getVerb(writes) +
             " of shared memory: offset " + Twine(int64_t(offset)) + ", size " +
             Twine(size));
  if (offset % alignment)
    fail(FaultKind::MisalignedAddress, &thread, &site,
         "misaligned " + Twine(bytes) + "-byte " + getVerb(writes) +
             " of shared memory: offset " + Twine(offset) +
             " is not a multiple of " + Twine(alignment));
  ShadowRange cells{sharedWords.data() + offset / 4,
                    sharedBytes.data() + offset, &sharedHasBytes};
  bool reads = !writes || (site.reads && site.isAtomic);
  if (reads && launch->options.uninitialized)
    for (uint64_t i = 0; i < bytes; ++i)
      if (sharedWords[(offset + i) / 4].writer.time < blockStartTime &&
          sharedBytes[offset + i].writer.time < blockStartTime)
        fail(FaultKind::LaunchFailed, &thread, &site,
             "reads shared memory that no thread of the block has written: "
             "offset " +
                 Twine(offset));
  checkCells(cells, shared + offset, bytes, thread, site, writes, true);
}

void BlockExecutor::checkShared(Thread &thread, uint64_t offset,
                                const Site &site) {
  checkSharedRange(thread, offset, site.bytes, site.alignment, site.writes,
                   site);
}

/// "offset 4096 of the 4096-byte buffer #3"
static std::string describe(const Allocation &allocation, const char *pointer) {
  return formatv("offset {0} of the {1}-byte {2} #{3}",
                 int64_t(pointer - allocation.begin), allocation.bytes,
                 allocation.kind, allocation.number)
      .str();
}

void BlockExecutor::checkRange(Thread &thread, const char *pointer,
                               uint32_t bytes, uint32_t alignment, bool writes,
                               const Site &site) {
  if (uint64_t(pointer - shared) < launch->getSharedBytes()) {
    if (site.space == Space::Global)
      fail(FaultKind::IllegalAddress, &thread, &site,
           "the address lies in shared memory");
    checkSharedRange(thread, pointer - shared, bytes, alignment, writes, site);
    return;
  }
  bool isLocal = pointer >= thread.stackBegin && pointer < thread.stackEnd;
  bool isParameter =
      uint64_t(pointer - launch->parameters) < launch->parameterBytes;
  if (isLocal || isParameter)
    return;
  DeviceMemory &memory = DeviceMemory::get();
  Allocation *allocation = memory.find(pointer);
  // LLVM makes one aligned load of several that leave gaps or end before it
  // does: memory comes in larger units than such a load.
  if (allocation && !writes && pointer < allocation->end() &&
      reinterpret_cast<uint64_t>(pointer) % PowerOf2Ceil(bytes) == 0)
    bytes = std::min<uint64_t>(bytes, allocation->end() - pointer);
  if (!allocation || pointer + bytes > allocation->end()) {
    if (!allocation)
      allocation = memory.findBefore(pointer);
    fail(FaultKind::IllegalAddress, &thread, &site,
         "out-of-bounds " + Twine(bytes) + "-byte " + getVerb(writes) +
             (allocation
                  ? " at " + describe(*allocation, pointer)
                  : " at 0x" +
                        Twine::utohexstr(reinterpret_cast<uint64_t>(pointer))
                            .str() +
                        ", where no buffer is"));
  }
  if (!allocation->isLive)
    fail(FaultKind::IllegalAddress, &thread, &site,
         Twine(getVerb(writes)) +
             " after free: " + describe(*allocation, pointer));
  if (reinterpret_cast<uint64_t>(pointer) % alignment)
    fail(FaultKind::MisalignedAddress, &thread, &site,
         "misaligned " + Twine(bytes) + "-byte " + getVerb(writes) + " at " +
             describe(*allocation, pointer) + ", expects a multiple of " +
             Twine(alignment));
  checkCells(memory.getShadow(*allocation, pointer), pointer, bytes, thread,
             site, writes, false);
}

void BlockExecutor::checkAccess(Thread &thread, const char *pointer,
                                const Site &site) {
  checkRange(thread, pointer, site.bytes, site.alignment, site.writes, site);
}

} // namespace act::emulator
