//===- StepRunner.h - Executing a loaded step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_STEPRUNNER_H
#define ACT_EXECUTION_STEPRUNNER_H

#include "act/Execution/StepExecutor.h"
#include <cstdlib>
#include <vector>

namespace mlir::act::execution {

/// Bytes from the heap, aligned to ACT_CPU_ARENA_ALIGNMENT, not initialised.
class AlignedBytes {
public:
  AlignedBytes() = default;
  /// Null if there is no memory.
  explicit AlignedBytes(int64_t bytes);

  void *get() const { return data.get(); }
  explicit operator bool() const { return data != nullptr; }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<void, Free> data;
};

/// A loaded step with the arena and the threads that it keeps between calls.
class StepRunner : public StepExecutor {
public:
  /// `threads` below 1 is one per processor this process may run on.
  static llvm::Expected<std::unique_ptr<StepRunner>>
  create(std::unique_ptr<LoadedStep> step, int64_t threads);
  ~StepRunner() override;

  int64_t getThreads() const;
  std::string getDeviceText() const override;

  /// Works in memory of the caller instead of an arena of its own.
  llvm::Error setArena(void *memory, int64_t bytes);
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
  StepRunner(std::unique_ptr<LoadedStep> step, void *context)
      : StepExecutor(std::move(step)), context(context) {}

  llvm::Error verifyBuffers(const void *const *arguments, void *const *results);
  llvm::Error verifyOverlap(const void *const *arguments, void *const *results,
                            const void *arena) const;
  llvm::Error checkResults(void *const *results);
  /// The error of the context, which is cleared.
  llvm::Error takeContextError();
  llvm::Error allocateArena();
  llvm::Error runIn(void *memory, const void *const *arguments,
                    void *const *results);

  void *context;
  AlignedBytes ownArena;
  void *arena = nullptr;
  bool check = false;
  /// Buffers that were found sound before.
  std::vector<const void *> verified;
};

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_STEPRUNNER_H
