//===- Step.cpp - Whole steps from host memory ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Step/NonFinite.h"
#include "Context.h"
#include <algorithm>

using namespace act::gpu;

/// Bytes behind the arena that show whether a step leaves it.
static constexpr int64_t guardBytes = 64 * 1024;

namespace {
/// Memory that is released in the end.
class Allocation {
public:
  Allocation(Context &context, int64_t bytes)
      : context(&context), memory(context.allocate(bytes)) {}
  Allocation(Allocation &&other)
      : context(other.context), memory(other.memory) {
    other.memory = nullptr;
  }
  ~Allocation() {
    if (memory)
      context->release(memory);
  }
  Allocation(const Allocation &) = delete;
  Allocation &operator=(const Allocation &) = delete;
  Allocation &operator=(Allocation &&) = delete;

  void *get() const { return memory; }

private:
  Context *context;
  void *memory;
};

/// Device memory for arguments or results.
class Buffers {
public:
  Buffers(Context &context, const act_step_value *values, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
      allocations.emplace_back(context, values[i].bytes);
      addresses.push_back(allocations.back().get());
    }
  }

  void *const *get() const { return addresses.data(); }
  bool isComplete() const {
    return std::find(addresses.begin(), addresses.end(), nullptr) ==
           addresses.end();
  }

private:
  std::vector<Allocation> allocations;
  std::vector<void *> addresses;
};
} // namespace

static std::string describe(const char *kind, int32_t number,
                            const act_step_value &value) {
  std::string text = std::string(kind) + " " + std::to_string(number);
  return *value.name ? text + " ('" + value.name + "')" : text;
}

static bool verifyHostBuffers(Context &context, const char *kind,
                              const act_step_value *values, int32_t count,
                              const void *const *buffers) {
  for (int32_t i = 0; i < count; ++i)
    if (values[i].bytes > 0 && (!buffers || !buffers[i]))
      return context.fail("expects " + describe(kind, i, values[i]) +
                          " to point to " + std::to_string(values[i].bytes) +
                          " bytes, got null");
  return true;
}

/// Searches results for infinities and NaN.
static bool checkResults(Context &context, const act_step_info &info,
                         void *const *results) {
  for (int32_t i = 0; i < info.num_results; ++i) {
    const act_step_value &value = info.results[i];
    act::step::NonFinite found =
        act::step::findNonFinite(value.type, results[i], value.bytes);
    if (found.index >= 0)
      return context.fail(describe("result", i, value) +
                          " has the non-finite value " + found.text +
                          " at element " + std::to_string(found.index));
  }
  return true;
}

bool act::gpu::executeStep(Context &context, const act_step_info &info,
                           const void *const *arguments, void *const *results,
                           void *arena) {
  if (!verifyHostBuffers(context, "argument", info.arguments,
                         info.num_arguments, arguments) ||
      !verifyHostBuffers(context, "result", info.results, info.num_results,
                         results))
    return false;
  Buffers inputs(context, info.arguments, info.num_arguments);
  Buffers outputs(context, info.results, info.num_results);
  if (!inputs.isComplete() || !outputs.isComplete())
    return false;
  for (int32_t i = 0; i < info.num_arguments; ++i)
    if (!context.copyIn(inputs.get()[i], arguments[i], info.arguments[i].bytes))
      return false;
  if (info.function(inputs.get(), outputs.get(), arena, &context) != 0)
    return context.fail(context.hasError()
                            ? context.getError()
                            : "the step failed and does not say why");
  for (int32_t i = 0; i < info.num_results; ++i)
    if (!context.copyOut(results[i], outputs.get()[i], info.results[i].bytes))
      return false;
  if (!context.synchronize())
    return false;
  return !context.isChecking() || checkResults(context, info, results);
}

/// The number of leading bytes of device memory up to the last one that is not
/// `pattern`, or -1 on failure.
static int64_t getHighWaterMark(Context &context, const char *memory,
                                int64_t bytes, uint8_t pattern) {
  constexpr int64_t piece = 1 << 24;
  std::vector<uint8_t> data;
  while (bytes > 0) {
    int64_t size = std::min(bytes, piece);
    data.resize(size_t(size));
    if (!context.read(data.data(), memory + bytes - size, size))
      return -1;
    for (int64_t i = size; i > 0; --i)
      if (data[size_t(i - 1)] != pattern)
        return bytes - size + i;
    bytes -= size;
  }
  return 0;
}

bool act::gpu::measurePeak(Context &context, const act_step_info &info,
                           const void *const *arguments, void *const *results,
                           int64_t &bytes) {
  int64_t arenaBytes = info.arena_bytes;
  Allocation arena(context, arenaBytes + guardBytes);
  auto *memory = static_cast<char *>(arena.get());
  if (!memory)
    return false;
  bytes = 0;
  // A byte that happens to be written with one pattern differs from the other.
  for (uint8_t pattern : {0xa5, 0x5a}) {
    if (!context.fill(memory, pattern, arenaBytes + guardBytes) ||
        !executeStep(context, info, arguments, results, memory))
      return false;
    int64_t behind =
        getHighWaterMark(context, memory + arenaBytes, guardBytes, pattern);
    int64_t used = getHighWaterMark(context, memory, arenaBytes, pattern);
    if (behind < 0 || used < 0)
      return false;
    if (behind > 0)
      return context.fail("the step writes behind its arena of " +
                          std::to_string(arenaBytes) + " bytes");
    bytes = std::max(bytes, used);
  }
  return true;
}
