//===- ExecuteStep.h - Executing the step of act-run -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_EXECUTESTEP_H
#define LIB_ACT_TOOLS_ACTRUN_EXECUTESTEP_H

#include "BuildStep.h"

namespace mlir::act::run {

/// Loads a compiled step and does with it what `options` say. Nothing is
/// written if something fails.
LogicalResult executeStep(const StepSource &source, const BuiltStep &step,
                          const Options &options);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_EXECUTESTEP_H
