//===- RecordStep.h - What a step does to memory -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_RECORDSTEP_H
#define LIB_ACT_TOOLS_ACTRUN_RECORDSTEP_H

#include "act-c/StepInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace mlir::act::run {

/// Executes a step by `driver` and writes to `folder` what another program
/// needs to execute and check its kernels one by one: kernels.ptx,
/// manifest.json, launches.json with the parameters of each launch,
/// arguments.bin, and expected.bin with what each launch wrote. docs/Gpu.md
/// describes the files. `module` has the kernels of the step as a gpu.binary.
llvm::Error recordStep(ModuleOp module, const act_step_info &step,
                       ArrayRef<const void *> arguments, StringRef driver,
                       StringRef folder);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_RECORDSTEP_H
