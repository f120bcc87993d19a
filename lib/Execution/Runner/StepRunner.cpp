//===- StepRunner.cpp - Executing a loaded step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/StepRunner.h"
#include "act/Runtime/CPU/LargePages.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <chrono>
#include <cstring>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

/// Bytes behind the arena that show whether a step leaves it.
static constexpr int64_t guardBytes = 64 * 1024;

AlignedBytes::AlignedBytes(int64_t bytes)
    : data(std::aligned_alloc(ACT_CPU_ARENA_ALIGNMENT,
                              llvm::alignTo(std::max<int64_t>(bytes, 1),
                                            ACT_CPU_ARENA_ALIGNMENT))) {
  runtime::requestLargePages(data.get(), bytes);
}

llvm::Expected<std::unique_ptr<StepRunner>>
StepRunner::create(std::unique_ptr<LoadedStep> step, int64_t threads) {
  void *context = act_cpu_context_create(threads);
  if (!context)
    return llvm::createStringError("there is no memory for a context, or no "
                                   "thread to be had");
  return std::unique_ptr<StepRunner>(new StepRunner(std::move(step), context));
}

StepRunner::~StepRunner() { act_cpu_context_destroy(context); }

int64_t StepRunner::getThreads() const {
  return act_cpu_context_threads(context);
}

std::string StepRunner::getDeviceText() const {
  return std::to_string(getThreads());
}

void StepRunner::setCheck(bool enabled) {
  check = enabled;
  act_cpu_set_check(context, enabled);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool isAligned(const void *pointer, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

llvm::Error StepRunner::setArena(void *memory, int64_t bytes) {
  int64_t needed = getTable().arena_bytes;
  if (bytes < needed)
    return llvm::createStringError("expects an arena of " +
                                   llvm::Twine(needed) + " bytes, got " +
                                   llvm::Twine(bytes));
  if (needed > 0 && !memory)
    return llvm::createStringError("expects an arena, got null");
  if (!isAligned(memory, ACT_CPU_ARENA_ALIGNMENT))
    return llvm::createStringError("expects an arena aligned to " +
                                   llvm::Twine(int(ACT_CPU_ARENA_ALIGNMENT)) +
                                   " bytes");
  arena = memory;
  ownArena = AlignedBytes();
  verified.clear();
  return llvm::Error::success();
}

llvm::Error StepRunner::allocateArena() {
  if (arena)
    return llvm::Error::success();
  ownArena = AlignedBytes(getTable().arena_bytes);
  if (!ownArena)
    return llvm::createStringError("there is no memory for the arena of " +
                                   llvm::Twine(getTable().arena_bytes) +
                                   " bytes");
  arena = ownArena.get();
  return llvm::Error::success();
}

static llvm::Error verifyBuffer(const act_step_value &value, StringRef kind,
                                int32_t number, const void *buffer) {
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("expects " + kind + " " +
                                   llvm::Twine(number) + " ('" + value.name +
                                   "') " + what);
  };
  if (!buffer)
    return value.bytes == 0 ? llvm::Error::success()
                            : fail("to point to " + llvm::Twine(value.bytes) +
                                   " bytes, got null");
  int64_t width = getByteWidth(static_cast<ElementType>(value.type));
  if (!isAligned(buffer, width))
    return fail("to be aligned to its elements of " + llvm::Twine(width) +
                " bytes");
  return llvm::Error::success();
}

/// Nothing may overlap a result.
llvm::Error StepRunner::verifyOverlap(const void *const *arguments,
                                      void *const *results,
                                      const void *memory) const {
  struct Range {
    const char *start;
    int64_t bytes;
    std::string what;
    bool isResult;
  };
  const act_step_info &table = getTable();
  std::vector<Range> ranges;
  auto add = [&](const void *start, int64_t bytes, const llvm::Twine &what,
                 bool isResult) {
    if (bytes > 0)
      ranges.push_back(
          {static_cast<const char *>(start), bytes, what.str(), isResult});
  };
  for (int32_t i = 0; i < table.num_arguments; ++i)
    add(arguments[i], table.arguments[i].bytes, "argument " + llvm::Twine(i),
        false);
  for (int32_t i = 0; i < table.num_results; ++i)
    add(results[i], table.results[i].bytes, "result " + llvm::Twine(i), true);
  add(memory, table.arena_bytes, "the arena", true);
  llvm::sort(ranges, [](const Range &lhs, const Range &rhs) {
    return std::tie(lhs.start, lhs.what) < std::tie(rhs.start, rhs.what);
  });
  // Arguments may overlap each other: the one that ends last counts.
  const Range *last = nullptr, *lastResult = nullptr;
  for (const Range &range : ranges) {
    const Range *before = range.isResult ? last : lastResult;
    if (before && before->start + before->bytes > range.start)
      return llvm::createStringError(
          "expects results that overlap neither arguments nor the arena nor "
          "each other, but " +
          before->what + " and " + range.what + " overlap");
    auto isLater = [&](const Range *other) {
      return !other || range.start + range.bytes > other->start + other->bytes;
    };
    if (isLater(last))
      last = &range;
    if (range.isResult && isLater(lastResult))
      lastResult = &range;
  }
  return llvm::Error::success();
}

llvm::Error StepRunner::verifyBuffers(const void *const *arguments,
                                      void *const *results) {
  const act_step_info &table = getTable();
  std::vector<const void *> buffers(arguments, arguments + table.num_arguments);
  buffers.insert(buffers.end(), results, results + table.num_results);
  if (buffers == verified)
    return llvm::Error::success();
  for (int32_t i = 0; i < table.num_arguments; ++i)
    if (llvm::Error error =
            verifyBuffer(table.arguments[i], "argument", i, arguments[i]))
      return error;
  for (int32_t i = 0; i < table.num_results; ++i)
    if (llvm::Error error =
            verifyBuffer(table.results[i], "result", i, results[i]))
      return error;
  if (llvm::Error error = verifyOverlap(arguments, results, arena))
    return error;
  verified = std::move(buffers);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

llvm::Error StepRunner::takeContextError() {
  const char *message = act_cpu_context_error(context);
  llvm::Error error = llvm::createStringError(
      message ? message : "the step failed and does not say why");
  act_cpu_context_clear_error(context);
  return error;
}

static std::optional<int64_t> getCheckedType(int32_t type) {
  switch (static_cast<ElementType>(type)) {
  case ElementType::F32:
    return ACT_CPU_F32;
  case ElementType::F64:
    return ACT_CPU_F64;
  case ElementType::BF16:
    return ACT_CPU_BF16;
  case ElementType::F16:
    return ACT_CPU_F16;
  default:
    return std::nullopt;
  }
}

llvm::Error StepRunner::checkResults(void *const *results) {
  const act_step_info &table = getTable();
  for (int32_t i = 0; i < table.num_results; ++i) {
    const act_step_value &value = table.results[i];
    std::optional<int64_t> type = getCheckedType(value.type);
    if (!type)
      continue;
    std::string name = "result " + std::to_string(i);
    if (*value.name)
      name += std::string(", ") + value.name;
    act_cpu_check_values(
        context, name.c_str(), *type, results[i],
        value.bytes / getByteWidth(static_cast<ElementType>(value.type)));
  }
  if (act_cpu_context_error(context))
    return takeContextError();
  return llvm::Error::success();
}

llvm::Error StepRunner::runIn(void *memory, const void *const *arguments,
                              void *const *results) {
  if (getTable().function(arguments, results, memory, context) != 0)
    return takeContextError();
  return check ? checkResults(results) : llvm::Error::success();
}

llvm::Error StepRunner::run(const void *const *arguments,
                            void *const *results) {
  if (llvm::Error error = allocateArena())
    return error;
  if (llvm::Error error = verifyBuffers(arguments, results))
    return error;
  return runIn(arena, arguments, results);
}

llvm::Expected<std::vector<double>>
StepRunner::time(const void *const *arguments, void *const *results,
                 int64_t count) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds;
  for (int64_t i = 0; i < count; ++i) {
    Clock::time_point start = Clock::now();
    if (llvm::Error error = run(arguments, results))
      return error;
    seconds.push_back(
        std::chrono::duration<double>(Clock::now() - start).count());
  }
  return seconds;
}

/// The number of leading bytes of `data` up to the last that is not `pattern`.
static int64_t getHighWaterMark(const uint8_t *data, int64_t bytes,
                                uint8_t pattern) {
  while (bytes > 0 && data[bytes - 1] == pattern)
    --bytes;
  return bytes;
}

llvm::Expected<int64_t> StepRunner::measurePeak(const void *const *arguments,
                                                void *const *results) {
  int64_t bytes = getTable().arena_bytes;
  AlignedBytes memory(bytes + guardBytes);
  if (!memory)
    return llvm::createStringError("there is no memory for the arena of " +
                                   llvm::Twine(bytes) + " bytes");
  if (llvm::Error error = verifyBuffers(arguments, results))
    return error;
  int64_t peak = 0;
  auto *data = static_cast<uint8_t *>(memory.get());
  // A byte that happens to be written with one pattern differs from the other.
  for (uint8_t pattern : {0xa5, 0x5a}) {
    std::memset(data, pattern, bytes + guardBytes);
    if (llvm::Error error = runIn(data, arguments, results))
      return error;
    if (getHighWaterMark(data + bytes, guardBytes, pattern) > 0)
      return llvm::createStringError("the step writes behind its arena of " +
                                     llvm::Twine(bytes) + " bytes");
    peak = std::max(peak, getHighWaterMark(data, bytes, pattern));
  }
  return peak;
}

llvm::Error StepRunner::trace(const void *const *arguments,
                              void *const *results, StringRef path) {
  act_cpu_trace_begin(context);
  llvm::Error error = run(arguments, results);
  // Also stops to record. What a step did that failed is of no use.
  if (act_cpu_trace_write(context, error ? "/dev/null" : path.str().c_str()) !=
      0)
    return llvm::joinErrors(std::move(error), takeContextError());
  return error;
}
