//===- Context.h - What a step needs while it runs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_CONTEXT_H
#define ACT_RUNTIME_STEP_CONTEXT_H

#include "Pool.h"
#include "Trace.h"
#include "act-c/StepRuntime.h"
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace act::step {

class PrimitiveCache;

/// Memory of one thread that only grows: packed panels and the like. Its size
/// depends on block sizes, not on how large the operands of a product are.
class Workspace {
public:
  Workspace() = default;
  ~Workspace();
  Workspace(const Workspace &) = delete;
  Workspace &operator=(const Workspace &) = delete;

  /// At least `bytes`, aligned to ACT_CPU_ARENA_ALIGNMENT; null if there is no
  /// memory. What was there before is lost.
  void *get(int64_t bytes);

private:
  void *memory = nullptr;
  int64_t size = 0;
};

class Context {
public:
  Context();
  ~Context();

  bool start(int64_t threads);

  static Context &from(void *context) {
    return *static_cast<Context *>(context);
  }
  static const Context &from(const void *context) {
    return *static_cast<const Context *>(context);
  }

  Pool &getPool() { return pool; }
  const Pool &getPool() const { return pool; }
  Trace &getTrace() { return trace; }
  /// For panels, and for results that are converted afterwards.
  Workspace &getWorkspace(int64_t thread) { return workspaces[thread]->panels; }
  Workspace &getResultWorkspace(int64_t thread) {
    return workspaces[thread]->results;
  }
  PrimitiveCache &getPrimitives() { return *primitives; }

  bool hasError() const { return failed.load(std::memory_order_acquire); }
  /// Keeps the first of all messages.
  void report(std::string message);
  const char *getError() const;
  void clearError();

  bool isChecking() const { return checking; }
  void setChecking(bool value) { checking = value; }

private:
  Pool pool;
  Trace trace;
  struct alignas(64) Workspaces {
    Workspace panels, results;
  };
  std::vector<std::unique_ptr<Workspaces>> workspaces;
  std::unique_ptr<PrimitiveCache> primitives;
  std::atomic<bool> failed{false};
  mutable std::mutex errorMutex;
  std::string error;
  bool checking = false;
};

/// Runs `function(piece, thread)` for all pieces on the threads of `context`,
/// or on the first `threads` of them, with an event of category "part" for each
/// piece of another thread.
template <typename Function>
void runPieces(Context &context, int64_t pieces, const char *name,
               const Function &function, int64_t threads = INT64_MAX) {
  struct State {
    Context &context;
    const char *name;
    const Function &function;
  } state{context, name, function};
  context.getPool().run(pieces,
                        {[](void *pointer, int64_t piece, int64_t thread) {
                           State &state = *static_cast<State *>(pointer);
                           if (thread == 0) {
                             state.function(piece, thread);
                             return;
                           }
                           TraceSpan span(state.context.getTrace(), state.name,
                                          "part", thread);
                           state.function(piece, thread);
                         },
                         &state},
                        threads);
}

} // namespace act::step

#endif // ACT_RUNTIME_STEP_CONTEXT_H
