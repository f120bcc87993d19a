//===- Processors.h - How many processors there are ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_PROCESSORS_H
#define ACT_RUNTIME_STEP_PROCESSORS_H

#include <cstdint>

namespace act::step {

/// The number of processors this process may run on.
int64_t getNumProcessors();

} // namespace act::step

#endif // ACT_RUNTIME_STEP_PROCESSORS_H
