//===- StepRunner.h - Executing a loaded step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_STEPRUNNER_H
#define ACT_EXECUTION_STEPRUNNER_H

#include "act/Execution/LoadedStep.h"
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
class StepRunner {
public:
  /// `threads` below 1 is one per processor this process may run on.
  static llvm::Expected<std::unique_ptr<StepRunner>>
  create(std::unique_ptr<LoadedStep> step, int64_t threads);
  ~StepRunner();

  const act_step_info &getTable() const { return step->getTable(); }
  const StepInfo &getInfo() const { return step->getInfo(); }
  int64_t getThreads() const;

  /// Works in memory of the caller instead of an arena of its own.
  llvm::Error setArena(void *memory, int64_t bytes);
  /// Makes infinities and NaN errors.
  void setCheck(bool enabled);

  /// Executes the step. Buffers are as act_step_execute wants them.
  llvm::Error run(const void *const *arguments, void *const *results);
  /// The bytes of the arena that two executions write to; see
  /// act_step_measure_peak.
  llvm::Expected<int64_t> measurePeak(const void *const *arguments,
                                      void *const *results);
  /// Executes the step and writes a Chrome trace to `path`.
  llvm::Error trace(const void *const *arguments, void *const *results,
                    StringRef path);

private:
  StepRunner(std::unique_ptr<LoadedStep> step, void *context)
      : step(std::move(step)), context(context) {}

  llvm::Error verifyBuffers(const void *const *arguments, void *const *results);
  llvm::Error verifyOverlap(const void *const *arguments, void *const *results,
                            const void *arena) const;
  llvm::Error checkResults(void *const *results);
  /// The error of the context, which is cleared.
  llvm::Error takeContextError();
  llvm::Error allocateArena();
  llvm::Error runIn(void *memory, const void *const *arguments,
                    void *const *results);

  std::unique_ptr<LoadedStep> step;
  void *context;
  AlignedBytes ownArena;
  void *arena = nullptr;
  bool check = false;
  /// Buffers that were found sound before.
  std::vector<const void *> verified;
};

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_STEPRUNNER_H
