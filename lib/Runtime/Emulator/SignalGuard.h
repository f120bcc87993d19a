//===- SignalGuard.h - Accesses that the processor refuses -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_SIGNALGUARD_H
#define ACT_LIB_RUNTIME_EMULATOR_SIGNALGUARD_H

namespace act::emulator {

/// While one exists on a thread of the host, accesses to addresses without
/// memory become faults of the kernel that runs on this thread instead of
/// ending the process. Others go to the handler that was there before.
class SignalGuard {
public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_SIGNALGUARD_H
