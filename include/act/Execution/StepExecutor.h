//===- StepExecutor.h - What executes a loaded step -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_STEPEXECUTOR_H
#define ACT_EXECUTION_STEPEXECUTOR_H

#include "act/Execution/LoadedStep.h"

namespace mlir::act::execution {

/// Executes a loaded step on some device, from buffers in host memory as
/// act_step_execute wants them.
class StepExecutor {
public:
  virtual ~StepExecutor() = default;

  const act_step_info &getTable() const { return step->getTable(); }
  const StepInfo &getInfo() const { return step->getInfo(); }

  /// What executes the step: the number of threads, or the name of the device.
  virtual std::string getDeviceText() const = 0;
  /// Makes infinities and NaN errors.
  virtual void setCheck(bool enabled) = 0;

  virtual llvm::Error run(const void *const *arguments,
                          void *const *results) = 0;
  /// Executes the step `count` times; seconds of each. Copies between host and
  /// device do not count.
  virtual llvm::Expected<std::vector<double>>
  time(const void *const *arguments, void *const *results, int64_t count) = 0;
  /// The bytes of the arena that two executions write to; see
  /// act_step_measure_peak.
  virtual llvm::Expected<int64_t> measurePeak(const void *const *arguments,
                                              void *const *results) = 0;
  /// Executes the step and writes a Chrome trace to `path`.
  virtual llvm::Error trace(const void *const *arguments, void *const *results,
                            StringRef path) = 0;

protected:
  explicit StepExecutor(std::unique_ptr<LoadedStep> step)
      : step(std::move(step)) {}

private:
  std::unique_ptr<LoadedStep> step;
};

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_STEPEXECUTOR_H
