//===- Pool.h - Threads that run the pieces of a launch ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_POOL_H
#define ACT_RUNTIME_STEP_POOL_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace act::step {

/// Work in independent pieces. `run` may be called for any piece on any thread;
/// threads are numbered from 0, the caller of Pool::run.
struct Job {
  void (*run)(void *state, int64_t piece, int64_t thread);
  void *state;
};

/// A fork-join pool for a sequence of short jobs. A step launches hundreds of
/// kernels of 20 microseconds to some milliseconds, one after the other, so a
/// worker looks for the next job for some microseconds before it sleeps: waking
/// a thread costs more than most kernels take. No thread looks on for longer
/// than that, because other processes need the processors too.
///
/// Workers that come late find no piece left; a job waits for pieces, never for
/// threads.
class Pool {
public:
  /// The most pieces a job may have.
  static constexpr int64_t maxPieces = (int64_t(1) << 31) - 1;

  Pool() = default;
  ~Pool();
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// Starts threads - 1 workers; false if the system refuses.
  bool start(int64_t threads);

  int64_t getNumThreads() const { return numThreads; }

  /// Runs all `pieces` of `job` on the first `threads` threads and returns when
  /// they are done. Must not be called by two threads at once, nor by a job.
  void run(int64_t pieces, Job job, int64_t threads = INT64_MAX);

private:
  static void *work(void *worker);
  void workOn(int64_t thread);
  void sleep();
  void wake(int64_t count);
  void awaitFinished(int64_t pieces);

  struct Worker {
    Pool *pool;
    int64_t thread;
    pthread_t handle;
  };

  /// The number of the job in the upper half, how many of its pieces nobody has
  /// taken in the lower one. `current` and `total` are valid for who has taken
  /// a piece, until that piece is done.
  std::atomic<uint64_t> ticket{0};
  Job current{nullptr, nullptr};
  int64_t total = 0;
  /// Set before the ticket of a job, read after it.
  std::atomic<int64_t> threadLimit{0};
  alignas(64) std::atomic<int64_t> finished{0};

  alignas(64) std::atomic<int64_t> sleepers{0};
  std::atomic<bool> callerSleeps{false};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable workPublished, allFinished;

  std::vector<std::unique_ptr<Worker>> workers;
  int64_t numThreads = 1;
  /// How long to look for work before sleeping; zero with more threads than
  /// processors, where looking keeps from working.
  int64_t spinNanoseconds = 0;
};

} // namespace act::step

#endif // ACT_RUNTIME_STEP_POOL_H
