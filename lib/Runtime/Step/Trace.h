//===- Trace.h - Records what ran when ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_TRACE_H
#define ACT_RUNTIME_STEP_TRACE_H

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace act::step {

/// What one thread did in a span of time.
struct TraceEvent {
  const char *name;
  const char *category;
  int64_t thread;
  /// Of the steady clock.
  int64_t startNanoseconds, endNanoseconds;
  /// Negative if unknown.
  double flops = -1, bytes = -1;
};

/// The events since `begin`, written as a Chrome trace ("Trace Event Format",
/// Google, complete events of phase X).
class Trace {
public:
  void begin();
  bool isOn() const { return enabled.load(std::memory_order_relaxed); }
  void add(const TraceEvent &event);
  /// Ends the recording; false if the file cannot be written.
  bool write(const char *path);

  static int64_t now();

private:
  std::atomic<bool> enabled{false};
  std::mutex mutex;
  std::vector<TraceEvent> events;
  int64_t origin = 0;
};

/// Adds an event from its construction to its destruction.
class TraceSpan {
public:
  TraceSpan(Trace &trace, const char *name, const char *category,
            int64_t thread = 0)
      : trace(trace.isOn() ? &trace : nullptr) {
    if (this->trace)
      event = {name, category, thread, Trace::now(), 0};
  }
  ~TraceSpan() {
    if (!trace)
      return;
    event.endNanoseconds = Trace::now();
    trace->add(event);
  }
  TraceSpan(const TraceSpan &) = delete;
  TraceSpan &operator=(const TraceSpan &) = delete;

  void setWork(double flops, double bytes) {
    event.flops = flops;
    event.bytes = bytes;
  }

private:
  Trace *trace;
  TraceEvent event{};
};

} // namespace act::step

#endif // ACT_RUNTIME_STEP_TRACE_H
