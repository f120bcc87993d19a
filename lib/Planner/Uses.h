//===- Uses.h - Step functions over rows -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_USES_H
#define ACT_LIB_PLANNER_USES_H

#include "act/Planner/Problem.h"

namespace mlir::act::planner {

/// Uses in the order of their rows that do not overlap and are not zero.
using UseList = llvm::SmallVector<Use, 2>;

/// The sum of `uses` as such a list.
UseList normalizeUses(llvm::ArrayRef<Use> uses);

/// True if `a` uses no more than `b` of any row.
bool usesAtMost(llvm::ArrayRef<Use> a, llvm::ArrayRef<Use> b);

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_USES_H
