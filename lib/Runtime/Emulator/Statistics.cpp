//===- Statistics.cpp - Counts what kernels do ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Statistics.h"
#include "BlockExecutor.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace act::emulator {

StringRef getName(InstructionClass instructions) {
  static constexpr StringRef names[numInstructionClasses] = {
      "integer",     "float",        "special",      "conversion",
      "move",        "control",      "global_load",  "global_store",
      "shared_load", "shared_store", "other_memory", "atomic",
      "collective",  "matrix",       "barrier",      "async_copy"};
  return names[unsigned(instructions)];
}

void MemoryCounts::add(const MemoryCounts &other) {
  globalLoadedBytes += other.globalLoadedBytes;
  globalStoredBytes += other.globalStoredBytes;
  globalDistinctBytes += other.globalDistinctBytes;
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  idealSectors += other.idealSectors;
  sharedRequests += other.sharedRequests;
  bankConflictCycles += other.bankConflictCycles;
}

//===----------------------------------------------------------------------===//
// Accesses of warps
//===----------------------------------------------------------------------===//

AccessRecorder::AccessRecorder(uint32_t numSites, uint32_t numWarps)
    : numSites(numSites), executions(uint64_t(numSites) * numWarps * 32) {}

void AccessRecorder::record(const Thread &thread, const Site &site,
                            const char *pointer, bool isShared,
                            const char *shared) {
  if (!isShared) {
    (site.writes ? counts.globalStoredBytes : counts.globalLoadedBytes) +=
        site.bytes;
    if (site.writes && site.reads)
      counts.globalLoadedBytes += site.bytes;
  }
  uint32_t execution =
      executions[uint64_t(thread.linear) * numSites + site.number]++;
  std::pair<uint64_t, uint32_t> key{
      uint64_t(thread.warp) * numSites + site.number, execution};
  Request &request = requests[key];
  request.site = &site;
  request.isShared = isShared;
  request.addresses.push_back(isShared ? uint64_t(pointer - shared)
                                       : reinterpret_cast<uint64_t>(pointer));
  if (request.addresses.size() == 32) {
    count(request);
    requests.erase(key);
  }
}

void AccessRecorder::finishBlock() {
  for (auto &[key, request] : requests)
    count(request);
  requests.clear();
  std::fill(executions.begin(), executions.end(), 0);
}

/// How many cycles a request of shared memory takes: 32 banks of 4 bytes, one
/// word each per cycle. Accesses of 8 and 16 bytes go in parts of 16 and 8
/// lanes.
static uint64_t countCycles(ArrayRef<uint64_t> addresses, uint32_t bytes) {
  size_t lanes = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
  uint64_t cycles = 0;
  for (size_t begin = 0; begin < addresses.size(); begin += lanes) {
    DenseSet<uint64_t> words;
    uint32_t perBank[32] = {};
    uint32_t most = 1;
    for (uint64_t address : addresses.slice(begin).take_front(lanes))
      for (uint64_t word = address / 4; word * 4 < address + bytes; ++word)
        if (words.insert(word).second)
          most = std::max(most, ++perBank[word % 32]);
    cycles += most;
  }
  return cycles;
}

void AccessRecorder::count(const Request &request) {
  uint32_t bytes = request.site->bytes;
  if (request.isShared) {
    size_t lanes = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
    ++counts.sharedRequests;
    counts.bankConflictCycles += countCycles(request.addresses, bytes) -
                                 divideCeil(request.addresses.size(), lanes);
    return;
  }
  DenseSet<uint64_t> sectors;
  DenseSet<uint64_t> distinct;
  for (uint64_t address : request.addresses) {
    distinct.insert(address);
    for (uint64_t sector = address / 32; sector * 32 < address + bytes;
         ++sector)
      sectors.insert(sector);
  }
  counts.globalDistinctBytes += distinct.size() * bytes;
  ++counts.globalRequests;
  counts.globalSectors += sectors.size();
  counts.idealSectors += divideCeil(distinct.size() * bytes, 32);
}

void BlockExecutor::recordAccess(Thread &thread, const char *pointer,
                                 const Site &site) {
  if (site.space == Space::Local || site.space == Space::Parameter ||
      (pointer >= thread.stackBegin && pointer < thread.stackEnd))
    return;
  bool isShared = uint64_t(pointer - shared) < launch->getSharedBytes();
  recorder->record(thread, site, pointer, isShared, shared);
}

//===----------------------------------------------------------------------===//
// Statistics of the process
//===----------------------------------------------------------------------===//

static void writeAtExit() {
  const std::string &file = getOptions().statisticsFile;
  if (file.empty())
    return;
  std::error_code error;
  raw_fd_ostream os(file, error);
  if (error)
    errs() << "act-gpu-emulator: error: cannot write " << file << ": "
           << error.message() << "\n";
  else
    Statistics::get().print(os);
}

Statistics &Statistics::get() {
  static Statistics *statistics = [] {
    std::atexit(writeAtExit);
    return new Statistics;
  }();
  return *statistics;
}

void Statistics::add(StringRef kernel, const KernelStatistics &launch) {
  std::lock_guard<std::mutex> lock(mutex);
  KernelStatistics &sum = kernels[kernel.str()];
  sum.launches += launch.launches;
  sum.blocks += launch.blocks;
  sum.threads += launch.threads;
  sum.seconds += launch.seconds;
  for (auto [total, count] : zip(sum.instructions, launch.instructions))
    total += count;
  sum.memory.add(launch.memory);
}

void Statistics::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  kernels.clear();
}

static void print(json::OStream &json, const KernelStatistics &kernel) {
  json.attribute("launches", int64_t(kernel.launches));
  json.attribute("blocks", int64_t(kernel.blocks));
  json.attribute("threads", int64_t(kernel.threads));
  json.attribute("emulation_seconds", kernel.seconds);
  json.attributeObject("instructions", [&] {
    for (auto [index, count] : enumerate(kernel.instructions))
      json.attribute(getName(InstructionClass(index)), int64_t(count));
  });
  const MemoryCounts &memory = kernel.memory;
  json.attribute("global_bytes_loaded", int64_t(memory.globalLoadedBytes));
  json.attribute("global_bytes_stored", int64_t(memory.globalStoredBytes));
  json.attribute("global_bytes_distinct", int64_t(memory.globalDistinctBytes));
  json.attribute("global_requests", int64_t(memory.globalRequests));
  json.attribute("global_sectors", int64_t(memory.globalSectors));
  json.attribute("global_sectors_ideal", int64_t(memory.idealSectors));
  json.attribute("shared_requests", int64_t(memory.sharedRequests));
  json.attribute("bank_conflict_cycles", int64_t(memory.bankConflictCycles));
}

void Statistics::print(raw_ostream &os) {
  std::lock_guard<std::mutex> lock(mutex);
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    for (const auto &entry : kernels)
      json.attributeObject(entry.first,
                           [&] { act::emulator::print(json, entry.second); });
  });
  os << "\n";
}

std::string Statistics::getText() {
  std::string text;
  raw_string_ostream os(text);
  print(os);
  return text;
}

} // namespace act::emulator
