//===- Fault.h - Errors of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_FAULT_H
#define ACT_LIB_RUNTIME_EMULATOR_FAULT_H

#include <string>

namespace act::emulator {

/// What kind of error stops a kernel, with the numbers of the driver API.
enum class FaultKind {
  None = 0,
  InvalidValue = 1,
  InvalidPtx = 218,
  IllegalAddress = 700,
  OutOfResources = 701,
  Timeout = 702,
  Assert = 710,
  StackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  LaunchFailed = 719
};

/// Why a launch failed.
struct Fault {
  FaultKind kind = FaultKind::None;
  std::string text;

  explicit operator bool() const { return kind != FaultKind::None; }
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_FAULT_H
