//===- DeviceFunctions.cpp - Functions of the device that kernels call
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"
#include "HostFunctions.h"
#include "Numbers.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace act::emulator {

static Thread &getThread(ThreadContext *context) {
  return *static_cast<Thread *>(context);
}

static void check(ThreadContext *context, uint64_t address, const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->checkAccess(thread, reinterpret_cast<char *>(address),
                               *site);
}
static void checkShared(ThreadContext *context, uint64_t offset,
                        const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->checkShared(thread, offset, *site);
}
static void record(ThreadContext *context, const char *pointer,
                   const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->recordAccess(thread, pointer, *site);
}
static void collective(ThreadContext *context, const Site *site, uint32_t mask,
                       const uint32_t *inputs, uint32_t *outputs) {
  Thread &thread = getThread(context);
  thread.executor->runCollective(thread, *site, mask, inputs, outputs);
}
static uint32_t barrier(ThreadContext *context, const Site *site, uint32_t id,
                        uint32_t count, uint32_t predicate) {
  Thread &thread = getThread(context);
  return thread.executor->runBarrier(thread, *site, id, count, predicate);
}
static void refuel(ThreadContext *context, const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->refuel(thread, *site);
}
static void trap(ThreadContext *context, const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->fail(FaultKind::IllegalInstruction, &thread, site,
                        "the kernel executes a trap");
}
static void copy(ThreadContext *context, const Site *site, char *destination,
                 const char *source, uint32_t bytes) {
  Thread &thread = getThread(context);
  thread.executor->startCopy(thread, *site, destination, source, bytes);
}
static void copyCommit(ThreadContext *context) {
  Thread &thread = getThread(context);
  thread.executor->commitCopies(thread);
}
static void copyWait(ThreadContext *context, uint32_t groups) {
  Thread &thread = getThread(context);
  thread.executor->waitForCopies(thread, groups);
}
static void copyWaitAll(ThreadContext *context) {
  Thread &thread = getThread(context);
  thread.executor->commitCopies(thread);
  thread.executor->waitForCopies(thread, 0);
}
static uint64_t readClock() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

static uint32_t isSpace(ThreadContext *context, const char *address,
                        uint32_t number) {
  Thread &thread = getThread(context);
  bool isShared = uint64_t(address - thread.shared) < thread.totalSharedBytes;
  bool isLocal = address >= thread.stackBegin && address < thread.stackEnd;
  switch (Space(number)) {
  case Space::Shared:
    return isShared;
  case Space::Local:
    return isLocal;
  case Space::Global:
    return !isShared && !isLocal;
  default:
    return 0;
  }
}

//===----------------------------------------------------------------------===//
// Atomic operations on floating-point numbers
//===----------------------------------------------------------------------===//

enum class AtomicOperation { Add, Min, Max };

template <AtomicOperation operation, typename T>
static T apply(T a, T b) {
  switch (operation) {
  case AtomicOperation::Add:
    return a + b;
  case AtomicOperation::Min:
    return std::fmin(a, b);
  case AtomicOperation::Max:
    return std::fmax(a, b);
  }
}

/// Replaces what is at `pointer` by `function` of it; returns what was there.
template <typename Bits, typename Function>
static Bits update(Bits *pointer, Function function) {
  Bits old = __atomic_load_n(pointer, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(pointer, &old, function(old), false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
  }
  return old;
}

static float flush(float value) {
  return std::fabs(value) < 0x1p-126f ? std::copysign(0.0f, value) : value;
}

static uint32_t addFloat(uint32_t *pointer, uint32_t operand,
                         uint32_t flushes) {
  return update(pointer, [&](uint32_t old) {
    float a = bitsToFloat(old);
    float b = bitsToFloat(operand);
    if (flushes)
      return floatToBits(flush(flush(a) + flush(b)));
    return floatToBits(a + b);
  });
}

static uint64_t addDouble(uint64_t *pointer, uint64_t operand) {
  return update(pointer, [&](uint64_t old) {
    return doubleToBits(bitsToDouble(old) + bitsToDouble(operand));
  });
}

template <AtomicOperation operation>
static uint16_t combineHalf(uint16_t a, uint16_t b, bool isBfloat) {
  auto widen = [&](uint16_t bits) {
    return isBfloat ? bitsToFloat(uint32_t(bits) << 16) : halfToFloat(bits);
  };
  float result = apply<operation>(widen(a), widen(b));
  return isBfloat ? doubleToBfloat(result) : doubleToHalf(result);
}

/// One or two numbers of 16 bits.
template <AtomicOperation operation>
static uint32_t atomicHalf(void *pointer, uint32_t operand, uint32_t isBfloat,
                           uint32_t lanes) {
  if (lanes == 1)
    return update(static_cast<uint16_t *>(pointer), [&](uint16_t old) {
      return combineHalf<operation>(old, operand, isBfloat);
    });
  return update(static_cast<uint32_t *>(pointer), [&](uint32_t old) {
    uint32_t low = combineHalf<operation>(old, operand, isBfloat);
    uint32_t high = combineHalf<operation>(old >> 16, operand >> 16, isBfloat);
    return low | high << 16;
  });
}

//===----------------------------------------------------------------------===//
// Functions that kernels call by name
//===----------------------------------------------------------------------===//

namespace {
/// The operands of vprintf, one after the other, each aligned to its size.
class PrintOperands {
public:
  explicit PrintOperands(const char *memory) : memory(memory) {}

  template <typename T>
  T take() {
    offset = (offset + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, memory + offset, sizeof(T));
    offset += sizeof(T);
    return value;
  }

private:
  const char *memory;
  size_t offset = 0;
};
} // namespace

/// Prints one conversion like "%-8.3f" with the next operand.
static void printOne(std::string conversion, PrintOperands &operands) {
  char kind = conversion.back();
  bool isLong = conversion.find('l') != std::string::npos;
  switch (kind) {
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
    if (isLong)
      std::printf(conversion.c_str(), operands.take<long long>());
    else
      std::printf(conversion.c_str(), operands.take<int>());
    return;
  case 'c':
    std::printf(conversion.c_str(), operands.take<int>());
    return;
  case 's':
    std::printf(conversion.c_str(), operands.take<const char *>());
    return;
  case 'p':
    std::printf(conversion.c_str(), operands.take<void *>());
    return;
  default:
    std::printf(conversion.c_str(), operands.take<double>());
    return;
  }
}

static void callPrintf(ThreadContext *, uint32_t *result,
                       const char *const *format, const char *const *operands,
                       const Site *) {
  PrintOperands rest(*operands);
  uint32_t count = 0;
  StringRef text = *format;
  while (!text.empty()) {
    size_t plain = std::min(text.find('%'), text.size());
    std::fwrite(text.data(), 1, plain, stdout);
    text = text.drop_front(plain);
    if (text.empty())
      break;
    if (text.starts_with("%%")) {
      std::putchar('%');
      text = text.drop_front(2);
      continue;
    }
    size_t end = text.find_first_of("diuxXocspfFeEgGaA");
    if (end == StringRef::npos)
      break;
    printOne(text.take_front(end + 1).str(), rest);
    text = text.drop_front(end + 1);
    ++count;
  }
  std::fflush(stdout);
  *result = count;
}

static void callAssertFail(ThreadContext *context, const char *const *message,
                           const char *const *file, const uint32_t *line,
                           const char *const *function, const void *,
                           const Site *site) {
  Thread &thread = getThread(context);
  thread.executor->fail(FaultKind::Assert, &thread, site,
                        Twine("assertion '") + *message + "' failed at " +
                            *file + ":" + Twine(*line) + " in " + *function);
}

/// What the front end for bitcode puts before conversions to integers: LLVM
/// gives poison where PTX saturates.
static void callCheckConversion(ThreadContext *context, const double *number,
                                const uint32_t *bits, const uint32_t *isSigned,
                                const Site *site) {
  double whole = std::trunc(*number);
  double least = *isSigned ? -std::ldexp(1.0, *bits - 1) : 0;
  double most = std::ldexp(1.0, *isSigned ? *bits - 1 : *bits);
  if (whole >= least && whole < most)
    return;
  Thread &thread = getThread(context);
  thread.executor->fail(FaultKind::LaunchFailed, &thread, site,
                        "converting " + Twine(std::to_string(*number)) +
                            " to " + (*isSigned ? "i" : "u") + Twine(*bits) +
                            " is out of range, which is poison in LLVM IR");
}

void addDeviceFunctions(std::vector<HostFunction> &functions) {
  using Operation = AtomicOperation;
  const HostFunction all[] = {
      {"act_emulator_check", (void *)check},
      {"act_emulator_check_shared", (void *)checkShared},
      {"act_emulator_record", (void *)record},
      {"act_emulator_collective", (void *)collective},
      {"act_emulator_barrier", (void *)barrier},
      {"act_emulator_refuel", (void *)refuel},
      {"act_emulator_trap", (void *)trap},
      {"act_emulator_copy", (void *)copy},
      {"act_emulator_copy_commit", (void *)copyCommit},
      {"act_emulator_copy_wait", (void *)copyWait},
      {"act_emulator_copy_wait_all", (void *)copyWaitAll},
      {"act_emulator_clock", (void *)readClock},
      {"act_emulator_is_space", (void *)isSpace},
      {"act_emulator_atomic_add_f32", (void *)addFloat},
      {"act_emulator_atomic_add_f64", (void *)addDouble},
      {"act_emulator_atomic_add_half", (void *)atomicHalf<Operation::Add>},
      {"act_emulator_atomic_min_half", (void *)atomicHalf<Operation::Min>},
      {"act_emulator_atomic_max_half", (void *)atomicHalf<Operation::Max>},
      {"act_emulator_call_vprintf", (void *)callPrintf},
      {"act_emulator_call___assertfail", (void *)callAssertFail},
      {"act_emulator_call_act_gpu_emulator_check_conversion",
       (void *)callCheckConversion}};
  functions.insert(functions.end(), std::begin(all), std::end(all));
}

} // namespace act::emulator
