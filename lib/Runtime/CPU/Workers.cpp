//===- Workers.cpp - Tasks on several threads ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/Workers.h"
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using namespace mlir::act::runtime;

namespace {
/// The tasks of one call. Threads that come late find none left, and only then
/// is it gone: the caller waits for tasks, not for threads.
struct TaskList {
  TaskList(int64_t count, llvm::function_ref<void(int64_t)> task)
      : count(count), task(task) {}

  void work() {
    for (;;) {
      int64_t number = next.fetch_add(1);
      if (number >= count)
        return;
      task(number);
      std::lock_guard<std::mutex> lock(mutex);
      if (++finished == count)
        allFinished.notify_all();
    }
  }

  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    allFinished.wait(lock, [&] { return finished == count; });
  }

  int64_t count;
  llvm::function_ref<void(int64_t)> task;
  std::atomic<int64_t> next{0};
  int64_t finished = 0;
  std::mutex mutex;
  std::condition_variable allFinished;
};

/// Threads that wait for functions to call. It is never destroyed: a process
/// that ends does not wait for them.
class Pool {
public:
  static Pool &get() {
    static Pool *pool = new Pool;
    return *pool;
  }

  void grow(int64_t size) {
    std::lock_guard<std::mutex> lock(mutex);
    for (; threads < size; ++threads)
      std::thread([this] { work(); }).detach();
  }

  void schedule(std::function<void()> function) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      functions.push_back(std::move(function));
    }
    changed.notify_one();
  }

private:
  void work() {
    for (;;) {
      std::function<void()> function;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return !functions.empty(); });
        function = std::move(functions.front());
        functions.pop_front();
      }
      function();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> functions;
  int64_t threads = 0;
};
} // namespace

void Workers::run(int64_t count, llvm::function_ref<void(int64_t)> task) {
  if (count <= 0)
    return;
  int64_t helpers = std::min(getNumThreads(), count) - 1;
  if (helpers <= 0) {
    for (int64_t i = 0; i < count; ++i)
      task(i);
    return;
  }
  auto list = std::make_shared<TaskList>(count, task);
  for (int64_t i = 0; i < helpers; ++i)
    schedule([list] { list->work(); });
  list->work();
  list->wait();
}

PoolWorkers::PoolWorkers(int64_t threads)
    : threads(std::clamp<int64_t>(threads, 1, 1024)) {
  Pool::get().grow(this->threads - 1);
}

void PoolWorkers::schedule(std::function<void()> function) {
  Pool::get().schedule(std::move(function));
}
