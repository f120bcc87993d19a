//===- Check.cpp - Checks before and after the work of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Context.h"
#include "NonFinite.h"
#include <cstdio>

using namespace act::step;

bool act::step::isUsable(void *context, const char *name) {
  if (context)
    return !Context::from(context).hasError();
  fprintf(stderr, "act step runtime: error: '%s' is called without a context\n",
          name ? name : "");
  return false;
}

void act::step::checkValues(Context &context, const char *name, int64_t dtype,
                            const void *values, int64_t count) {
  struct Type {
    int32_t type;
    int64_t bytes;
  };
  // In the order of the element types in descriptors.
  static constexpr Type types[] = {{ACT_STEP_F32, 4},
                                   {ACT_STEP_F64, 8},
                                   {ACT_STEP_BF16, 2},
                                   {ACT_STEP_F16, 2}};
  const Type &type = types[dtype];
  NonFinite found = findNonFinite(type.type, values, count * type.bytes);
  if (found.index >= 0)
    context.report("'" + std::string(name ? name : "") +
                   "' has the non-finite value " + found.text + " at element " +
                   std::to_string(found.index));
}
