//===- LargePages.cpp - Pages of large results ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/LargePages.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

void mlir::act::runtime::requestLargePages(void *data, int64_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // Whole pages inside of the result only. A failure changes nothing.
  constexpr uintptr_t page = 2 * 1024 * 1024;
  uintptr_t start =
      (reinterpret_cast<uintptr_t>(data) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(data) + bytes) / page * page;
  if (data && start < end)
    (void)madvise(reinterpret_cast<void *>(start), end - start, MADV_HUGEPAGE);
#else
  (void)data;
  (void)bytes;
#endif
}
