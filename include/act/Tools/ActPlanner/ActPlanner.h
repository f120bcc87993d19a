//===- ActPlanner.h - Solves planning problems -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTPLANNER_ACTPLANNER_H
#define ACT_TOOLS_ACTPLANNER_ACTPLANNER_H

#include "llvm/Support/LogicalResult.h"

namespace mlir::act {

/// Implements the tool act-planner: reads a problem of choices under shared
/// limits as JSON and writes its solution. Messages go to stderr, results to
/// stdout.
llvm::LogicalResult runActPlanner(int argc, char **argv);

} // namespace mlir::act

#endif // ACT_TOOLS_ACTPLANNER_ACTPLANNER_H
