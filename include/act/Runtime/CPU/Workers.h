//===- Workers.h - Tasks on several threads -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_WORKERS_H
#define ACT_RUNTIME_CPU_WORKERS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <functional>

namespace mlir::act::runtime {

/// Where tasks can run beside the calling thread.
class Workers {
public:
  virtual ~Workers() = default;
  /// Number of threads, the calling one included.
  virtual int64_t getNumThreads() const = 0;
  /// Has `function` called on another thread, at some time.
  virtual void schedule(std::function<void()> function) = 0;

  /// Calls `task` once with each number below `count` and waits for all. The
  /// calling thread works too, so this ends even if no other thread does.
  void run(int64_t count, llvm::function_ref<void(int64_t)> task);
};

/// `threads` threads of the process's own pool, which grows to the most that
/// were asked for.
class PoolWorkers : public Workers {
public:
  explicit PoolWorkers(int64_t threads);
  int64_t getNumThreads() const override { return threads; }
  void schedule(std::function<void()> function) override;

private:
  int64_t threads;
};

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_WORKERS_H
