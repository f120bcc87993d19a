//===- Check.h - Checks before and after the work of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_CHECK_H
#define ACT_RUNTIME_STEP_CHECK_H

#include <cstdint>

namespace act::step {

class Context;

/// False if there is nothing to run on: without a context, which is said on the
/// standard error output for want of a better place, or after an error.
bool isUsable(void *context, const char *name);

/// Reports the first infinity or NaN among `count` contiguous elements.
void checkValues(Context &context, const char *name, int64_t dtype,
                 const void *values, int64_t count);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_CHECK_H
