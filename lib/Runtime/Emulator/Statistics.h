//===- Statistics.h - Counts what kernels do -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_STATISTICS_H
#define ACT_LIB_RUNTIME_EMULATOR_STATISTICS_H

#include "Thread.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <map>
#include <mutex>
#include <string>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace act::emulator {

/// Classes of instructions that are counted.
enum class InstructionClass : unsigned {
  Integer,
  Float,
  Special,
  Conversion,
  Move,
  Control,
  GlobalLoad,
  GlobalStore,
  SharedLoad,
  SharedStore,
  OtherMemory,
  Atomic,
  Collective,
  Matrix,
  Barrier,
  AsyncCopy
};
constexpr unsigned numInstructionClasses = 16;

/// "global_load" for GlobalLoad.
llvm::StringRef getName(InstructionClass instructions);

/// What the accesses of a kernel to memory amount to.
struct MemoryCounts {
  uint64_t globalLoadedBytes = 0;
  uint64_t globalStoredBytes = 0;
  /// The same without what several lanes of a warp read together.
  uint64_t globalDistinctBytes = 0;
  /// Accesses of whole warps, and the 32-byte sectors that they touch; at best
  /// as many as their bytes need.
  uint64_t globalRequests = 0;
  uint64_t globalSectors = 0;
  uint64_t idealSectors = 0;
  uint64_t sharedRequests = 0;
  /// Cycles that warps wait because lanes use the same bank.
  uint64_t bankConflictCycles = 0;

  void add(const MemoryCounts &other);
};

/// Collects accesses of lanes until those of the whole warp are there.
class AccessRecorder {
public:
  AccessRecorder(uint32_t numSites, uint32_t numWarps);

  void record(const Thread &thread, const Site &site, const char *pointer,
              bool isShared, const char *shared);
  /// Counts what not all lanes of a warp did.
  void finishBlock();

  const MemoryCounts &getCounts() const { return counts; }

private:
  /// The nth execution of an instruction by a warp.
  struct Request {
    const Site *site = nullptr;
    bool isShared = false;
    llvm::SmallVector<uint64_t, 32> addresses;
  };

  void count(const Request &request);

  MemoryCounts counts;
  uint32_t numSites;
  /// For each warp, lane and site, how often it was executed.
  std::vector<uint32_t> executions;
  llvm::DenseMap<std::pair<uint64_t, uint32_t>, Request> requests;
};

/// What all launches of a kernel did.
struct KernelStatistics {
  uint64_t launches = 0;
  uint64_t blocks = 0;
  uint64_t threads = 0;
  double seconds = 0;
  std::array<uint64_t, numInstructionClasses> instructions = {};
  MemoryCounts memory;
};

/// The statistics of the process, by kernel.
class Statistics {
public:
  static Statistics &get();

  void add(llvm::StringRef kernel, const KernelStatistics &launch);
  void clear();
  /// As JSON: an object with one object for each kernel, in order of names.
  void print(llvm::raw_ostream &os);
  std::string getText();

private:
  std::mutex mutex;
  std::map<std::string, KernelStatistics> kernels;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_STATISTICS_H
