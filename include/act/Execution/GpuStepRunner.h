//===- GpuStepRunner.h - Executing a step on a GPU -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_GPUSTEPRUNNER_H
#define ACT_EXECUTION_GPUSTEPRUNNER_H

#include "act/Execution/StepExecutor.h"

namespace mlir::act::execution {

/// A loaded step with a GPU, or with the emulator of one.
class GpuStepRunner : public StepExecutor {
public:
  /// `driver` is the library with CUDA's driver API; empty for that of the
  /// system.
  static llvm::Expected<std::unique_ptr<GpuStepRunner>>
  create(std::unique_ptr<LoadedStep> step, StringRef driver);
  ~GpuStepRunner() override;

  /// Kernels launched so far.
  int64_t getNumLaunches() const;
  /// Whether one of them adds floats in an order that nothing determines.
  bool isOrderDependent() const;

  std::string getDeviceText() const override;
  void setCheck(bool enabled) override;
  llvm::Error run(const void *const *arguments, void *const *results) override;
  llvm::Expected<std::vector<double>> time(const void *const *arguments,
                                           void *const *results,
                                           int64_t count) override;
  llvm::Expected<int64_t> measurePeak(const void *const *arguments,
                                      void *const *results) override;
  llvm::Error trace(const void *const *arguments, void *const *results,
                    StringRef path) override;

private:
  GpuStepRunner(std::unique_ptr<LoadedStep> step, void *context)
      : StepExecutor(std::move(step)), context(context) {}

  /// An error if `status` is not 0; the context's error, which is cleared.
  llvm::Error takeError(int32_t status);

  void *context;
};

/// Where act's emulator of GPUs is: beside the libraries of this program. An
/// error if it is not there.
llvm::Expected<std::string> findGpuEmulator();

/// Sets options of the emulator, such as "check=1,schedule=reverse", for the
/// launches that follow.
llvm::Error setGpuEmulatorOptions(StringRef library, StringRef options);

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_GPUSTEPRUNNER_H
