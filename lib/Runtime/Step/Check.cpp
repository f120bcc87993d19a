//===- Check.cpp - Checks before and after the work of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Context.h"
#include <cstdio>
#include <cstring>

using namespace act::step;

bool act::step::isUsable(void *context, const char *name) {
  if (context)
    return !Context::from(context).hasError();
  fprintf(stderr, "act step runtime: error: '%s' is called without a context\n",
          name ? name : "");
  return false;
}

namespace {
/// How the bits of an element say that it is neither an infinity nor a NaN.
template <typename Bits, Bits exponent>
struct Format {
  static int64_t findNonFinite(const void *values, int64_t count) {
    const Bits *bits = static_cast<const Bits *>(values);
    // Blocks without a branch on each element, then the exact place.
    constexpr int64_t block = 1024;
    for (int64_t begin = 0; begin < count; begin += block) {
      int64_t end = begin + block < count ? begin + block : count;
      bool found = false;
      for (int64_t i = begin; i < end; ++i)
        found |= (bits[i] & exponent) == exponent;
      for (int64_t i = begin; found && i < end; ++i)
        if ((bits[i] & exponent) == exponent)
          return i;
    }
    return -1;
  }

  static const char *describe(const void *values, int64_t index) {
    Bits bits = static_cast<const Bits *>(values)[index];
    Bits mantissa = exponent & (~exponent + 1);
    if (bits & (mantissa - 1))
      return "nan";
    return bits >> (8 * sizeof(Bits) - 1) ? "-inf" : "inf";
  }
};
using F32 = Format<uint32_t, 0x7f800000u>;
using F64 = Format<uint64_t, 0x7ff0000000000000u>;
using BF16 = Format<uint16_t, 0x7f80u>;
using F16 = Format<uint16_t, 0x7c00u>;
} // namespace

template <typename Format>
static void checkFormat(Context &context, const char *name, const void *values,
                        int64_t count) {
  int64_t index = Format::findNonFinite(values, count);
  if (index >= 0)
    context.report("'" + std::string(name ? name : "") +
                   "' has the non-finite value " +
                   Format::describe(values, index) + " at element " +
                   std::to_string(index));
}

void act::step::checkValues(Context &context, const char *name, int64_t dtype,
                            const void *values, int64_t count) {
  switch (dtype) {
  case ACT_CPU_F32:
    return checkFormat<F32>(context, name, values, count);
  case ACT_CPU_F64:
    return checkFormat<F64>(context, name, values, count);
  case ACT_CPU_BF16:
    return checkFormat<BF16>(context, name, values, count);
  default:
    return checkFormat<F16>(context, name, values, count);
  }
}
