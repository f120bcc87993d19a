//===- HostFunctions.h - Functions that kernels call -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H
#define ACT_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H

#include "llvm/ADT/StringRef.h"
#include <utility>
#include <vector>

namespace act::emulator {

/// A function that translated kernels call, by its name in the IR.
using HostFunction = std::pair<llvm::StringRef, void *>;

/// Arithmetic without an instruction of the host.
void addNumericFunctions(std::vector<HostFunction> &functions);
/// Memory, collectives, barriers, printing.
void addDeviceFunctions(std::vector<HostFunction> &functions);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_HOSTFUNCTIONS_H
