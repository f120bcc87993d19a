//===- SignalGuard.cpp - Accesses that the processor refuses ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SignalGuard.h"
#include "BlockExecutor.h"
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <ucontext.h>

namespace act::emulator {

namespace {
/// Per thread of the host: a stack for the handler, and one for what runs after
/// it. Leaked with the thread's storage, as handlers may still refer to it.
struct EmergencyStacks {
  alignas(64) char handler[64 << 10];
  alignas(64) char continuation[64 << 10];
};
} // namespace

static thread_local EmergencyStacks *emergencyStacks
    __attribute__((tls_model("initial-exec"))) = nullptr;
static thread_local const char *faultAddress
    __attribute__((tls_model("initial-exec"))) = nullptr;
static struct sigaction previousSegv, previousBus;

/// Runs on the continuation's stack in place of the code that faulted.
static void continueAfterFault() {
  BlockExecutor::getCurrent()->failAtAddress(faultAddress);
}

static void forward(int signal, siginfo_t *info, void *context) {
  const struct sigaction &previous =
      signal == SIGSEGV ? previousSegv : previousBus;
  if (previous.sa_flags & SA_SIGINFO) {
    previous.sa_sigaction(signal, info, context);
    return;
  }
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    previous.sa_handler(signal);
    return;
  }
  // The instruction faults again, now for the default.
  std::signal(signal, SIG_DFL);
}

static void handle(int signal, siginfo_t *info, void *context) {
  if (!BlockExecutor::getCurrent() || !emergencyStacks) {
    forward(signal, info, context);
    return;
  }
  faultAddress = static_cast<const char *>(info->si_addr);
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  // As after a call: the return address, which is never used, is not aligned.
  char *top = emergencyStacks->continuation +
              sizeof(emergencyStacks->continuation) - 64 - 8;
  registers[REG_RSP] = reinterpret_cast<greg_t>(top);
  registers[REG_RIP] = reinterpret_cast<greg_t>(continueAfterFault);
}

static void installHandlers() {
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, &previousSegv);
  sigaction(SIGBUS, &action, &previousBus);
}

SignalGuard::SignalGuard() {
  if (emergencyStacks)
    return;
  static std::once_flag once;
  std::call_once(once, installHandlers);
  emergencyStacks = new EmergencyStacks;
  stack_t old;
  if (sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE)) {
    stack_t stack = {};
    stack.ss_sp = emergencyStacks->handler;
    stack.ss_size = sizeof(emergencyStacks->handler);
    sigaltstack(&stack, nullptr);
  }
}

SignalGuard::~SignalGuard() = default;

} // namespace act::emulator
