//===- Launcher.cpp - Launches kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launcher.h"
#include "DeviceMemory.h"
#include "Statistics.h"
#include "Workers.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>
#include <numeric>

using namespace llvm;

namespace act::emulator {

static std::string format(const uint32_t (&size)[3]) {
  return ("(" + Twine(size[0]) + "," + Twine(size[1]) + "," + Twine(size[2]) +
          ")")
      .str();
}

static Fault reject(const Kernel &kernel, FaultKind kind,
                    const Twine &message) {
  return {kind, ("kernel " + kernel.getName() + ": " + message).str()};
}

/// What a driver refuses before anything runs.
static Fault checkShape(const Kernel &kernel, const LaunchShape &shape) {
  uint64_t threads = 1;
  for (unsigned i = 0; i < 3; ++i) {
    threads *= shape.block[i];
    if (shape.block[i] == 0 || shape.block[i] > maxBlockSize[i])
      return reject(kernel, FaultKind::InvalidValue,
                    "expects blocks of 1 to (1024,1024,64) threads, got " +
                        format(shape.block));
    if (shape.grid[i] == 0 || shape.grid[i] > maxGridSize[i])
      return reject(kernel, FaultKind::InvalidValue,
                    "expects a grid of 1 to (2147483647,65535,65535) blocks, "
                    "got " +
                        format(shape.grid));
  }
  if (threads > maxThreadsPerBlock)
    return reject(kernel, FaultKind::InvalidValue,
                  "expects at most 1024 threads in a block, got " +
                      Twine(threads));
  const ptx::Function &function = kernel.getFunction();
  auto count = [](const unsigned (&size)[3]) {
    return uint64_t(size[0]) * size[1] * size[2];
  };
  if (function.maxThreads[0] && threads > count(function.maxThreads))
    return reject(kernel, FaultKind::InvalidValue,
                  ".maxntid allows " + Twine(count(function.maxThreads)) +
                      " threads in a block, got " + Twine(threads));
  if (function.requiredThreads[0] &&
      !std::equal(shape.block, shape.block + 3, function.requiredThreads))
    return reject(kernel, FaultKind::InvalidValue,
                  ".reqntid requires blocks of " +
                      format(function.requiredThreads) + " threads, got " +
                      format(shape.block));
  return {};
}

static Fault checkShared(const Kernel &kernel, const LaunchShape &shape,
                         const CompiledKernel &code) {
  if (code.staticSharedBytes > maxStaticSharedBytes)
    return reject(kernel, FaultKind::InvalidValue,
                  "expects at most 49152 bytes of static shared memory, got " +
                      Twine(code.staticSharedBytes));
  uint32_t allowed = shape.maxDynamicSharedBytes;
  if (shape.dynamicSharedBytes > allowed)
    return reject(kernel, FaultKind::InvalidValue,
                  "the launch asks for " + Twine(shape.dynamicSharedBytes) +
                      " bytes of dynamic shared memory, but only " +
                      Twine(allowed) +
                      " are allowed; cuFuncSetAttribute allows more");
  uint32_t limit =
      allowed > maxStaticSharedBytes ? maxSharedBytes : maxStaticSharedBytes;
  if (code.staticSharedBytes + shape.dynamicSharedBytes > limit)
    return reject(
        kernel, FaultKind::InvalidValue,
        "needs " + Twine(code.staticSharedBytes + shape.dynamicSharedBytes) +
            " bytes of shared memory, but a block has " + Twine(limit));
  return {};
}

/// Parameters that promise an alignment of what they point to must keep it.
static Fault checkPointers(const Kernel &kernel, ArrayRef<char> parameters) {
  const ptx::Function &function = kernel.getFunction();
  for (auto [index, parameter] : enumerate(function.parameters)) {
    if (!parameter.isPointer || parameter.getBytes() != 8)
      continue;
    uint64_t address;
    std::memcpy(&address, parameters.data() + kernel.getOffsets()[index], 8);
    if (address % parameter.pointeeAlignment)
      return reject(kernel, FaultKind::MisalignedAddress,
                    "parameter " + Twine(index) + " (" + parameter.name +
                        ") promises addresses that are multiples of " +
                        Twine(parameter.pointeeAlignment) + ", got 0x" +
                        Twine::utohexstr(address));
  }
  return {};
}

/// Block number `index` in the order of the schedule.
static uint64_t getBlock(uint64_t index, uint64_t numBlocks,
                         const Options &options) {
  switch (options.schedule) {
  case Schedule::Forward:
    return index;
  case Schedule::Reverse:
    return numBlocks - 1 - index;
  case Schedule::Random:
    break;
  }
  // A factor without common divisors permutes the numbers.
  uint64_t factor = (options.seed * 2654435761u + 40503) % numBlocks | 1;
  while (std::gcd(factor, numBlocks) != 1)
    factor += 2;
  return uint64_t((__uint128_t(index) * factor + options.seed) % numBlocks);
}

static void addStatistics(const Launch &launch, Workers &workers,
                          double seconds) {
  KernelStatistics sum;
  sum.launches = 1;
  sum.blocks = launch.getNumBlocks();
  sum.threads = sum.blocks * launch.getNumThreads();
  sum.seconds = seconds;
  for (unsigned i = 0; i < workers.getNumUsed(); ++i) {
    BlockExecutor &executor = workers.getExecutor(i);
    for (auto [total, count] : zip(sum.instructions, executor.getCounters()))
      total += count;
    if (AccessRecorder *recorder = executor.getRecorder())
      sum.memory.add(recorder->getCounts());
  }
  Statistics::get().add(launch.kernelName, sum);
}

Fault launch(Kernel &kernel, const LaunchShape &shape,
             ArrayRef<char> parameters) {
  if (Fault fault = checkShape(kernel, shape))
    return fault;
  Expected<const CompiledKernel *> code = kernel.compile();
  if (!code)
    return {FaultKind::InvalidPtx, toString(code.takeError())};
  if (Fault fault = checkShared(kernel, shape, **code))
    return fault;
  if (Fault fault = checkPointers(kernel, parameters))
    return fault;

  Workers &workers = Workers::get();
  std::lock_guard<std::mutex> lock(workers.getMutex());
  Launch launch;
  launch.kernelName = kernel.getName();
  launch.entry = (*code)->entry;
  launch.parameters = parameters.data();
  launch.parameterBytes = parameters.size();
  std::copy_n(shape.grid, 3, launch.grid);
  std::copy_n(shape.block, 3, launch.block);
  launch.staticSharedBytes = (*code)->staticSharedBytes;
  launch.dynamicSharedBytes = shape.dynamicSharedBytes;
  launch.needsFibers = (*code)->needsFibers;
  launch.numSites = (*code)->sites.size();
  launch.options = getOptions();
  auto start = std::chrono::steady_clock::now();
  launch.deadline = start + std::chrono::nanoseconds(
                                int64_t(launch.options.watchdogSeconds * 1e9));
  Fault fault = workers.run(launch, [&](uint64_t index) {
    return getBlock(index, launch.getNumBlocks(), launch.options);
  });
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  if (launch.options.statistics)
    addStatistics(launch, workers, seconds.count());
  return fault;
}

} // namespace act::emulator
