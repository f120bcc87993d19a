//===- Fiber.cpp - Stacks and switches between them ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fiber.h"
#include <sys/mman.h>

#if !defined(__x86_64__)
#error "the emulator's fibers are written for x86-64"
#endif

asm(R"(.text
.globl act_gpu_emulator_switch
.hidden act_gpu_emulator_switch
.type act_gpu_emulator_switch,@function
act_gpu_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size act_gpu_emulator_switch, .-act_gpu_emulator_switch
)");

namespace act::emulator {

FiberStacks::~FiberStacks() { release(); }

void FiberStacks::release() {
  if (base)
    munmap(base, numStacks * (stackBytes + pageBytes));
  base = nullptr;
  numStacks = 0;
}

bool FiberStacks::resize(size_t count, size_t bytes) {
  bytes = (bytes + pageBytes - 1) / pageBytes * pageBytes;
  if (count <= numStacks && bytes == stackBytes)
    return true;
  release();
  stackBytes = bytes;
  size_t total = count * (stackBytes + pageBytes);
  void *mapped = mmap(nullptr, total, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    return false;
  base = static_cast<char *>(mapped);
  numStacks = count;
  for (size_t i = 0; i < count; ++i)
    if (mprotect(getBegin(i) - pageBytes, pageBytes, PROT_NONE) != 0)
      return false;
  return true;
}

bool FiberStacks::isGuard(const char *pointer) const {
  if (!base || pointer < base ||
      pointer >= base + numStacks * (stackBytes + pageBytes))
    return false;
  return size_t(pointer - base) % (stackBytes + pageBytes) < pageBytes;
}

void *FiberStacks::start(size_t index, void (*entry)()) const {
  // Stacks that begin at different lines do not fight for the same sets of the
  // first cache.
  char *top = getEnd(index) - index * 320 % 8192 / 64 * 64;
  auto **stack = reinterpret_cast<void **>(top);
  *--stack = nullptr;
  *--stack = reinterpret_cast<void *>(entry);
  for (int i = 0; i < 6; ++i)
    *--stack = nullptr;
  return stack;
}

} // namespace act::emulator
