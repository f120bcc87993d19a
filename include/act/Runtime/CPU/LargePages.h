//===- LargePages.h - Pages of large results -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_LARGEPAGES_H
#define ACT_RUNTIME_CPU_LARGEPAGES_H

#include <cstdint>

namespace mlir::act::runtime {

/// Has the system use large pages for a result that is about to be written for
/// the first time, where it can. Frameworks allocate results anew for each
/// call, and having small pages mapped one by one takes as long as computing
/// them.
void requestLargePages(void *data, int64_t bytes);

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_LARGEPAGES_H
