//===- LoadedStep.h - A compiled step in this process -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_LOADEDSTEP_H
#define ACT_EXECUTION_LOADEDSTEP_H

#include "act/Execution/StepInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <memory>

namespace mlir::act::execution {

/// Machine code of a step that is ready to be called.
class LoadedStep {
public:
  /// Loads the step called `symbol` from an object file or an archive of them.
  /// What it calls is looked up in libActStepRuntime, libActGpuRuntime and
  /// among the functions of this process, such as those of the C library; an
  /// error names what is in neither.
  static llvm::Expected<std::unique_ptr<LoadedStep>>
  load(llvm::MemoryBufferRef code, StringRef symbol);
  ~LoadedStep();

  const act_step_info &getTable() const { return *table; }
  const StepInfo &getInfo() const { return info; }

private:
  struct Session;
  LoadedStep(std::unique_ptr<Session> session, const act_step_info *table);

  std::unique_ptr<Session> session;
  const act_step_info *table;
  StepInfo info;
};

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_LOADEDSTEP_H
