//===- Graphs.cpp - Graphs, times and traces ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <cstdio>

using namespace act::gpu;

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

bool Context::beginGraph() {
  if (!driver->streamBeginCapture || !driver->streamEndCapture ||
      !driver->graphInstantiate || !driver->graphLaunch ||
      !driver->graphExecutionDestroy || !driver->graphDestroy)
    return fail("'" + driver->getPath() +
                "' has no graphs, which drivers have since CUDA 11.4");
  if (capturing)
    return fail("a graph is being captured already");
  if (tracing)
    return fail("a graph cannot be captured while launches are traced");
  capturing = check(driver->streamBeginCapture(stream, captureRelaxed),
                    "cannot capture a graph");
  return capturing;
}

void *Context::endGraph() {
  if (!capturing) {
    fail("no graph is being captured");
    return nullptr;
  }
  capturing = false;
  Graph graph = nullptr;
  Result result = driver->streamEndCapture(stream, &graph);
  // What went wrong in between counts.
  if (failed || !check(result, "cannot capture a graph")) {
    if (graph)
      driver->graphDestroy(graph);
    return nullptr;
  }
  GraphExecution execution = nullptr;
  result = driver->graphInstantiate(&execution, graph, 0);
  driver->graphDestroy(graph);
  check(result, "cannot prepare a graph");
  return execution;
}

bool Context::launchGraph(void *graph) {
  if (!graph)
    return fail("expects a graph, got null");
  return check(driver->graphLaunch(static_cast<GraphExecution>(graph), stream),
               "cannot launch a graph");
}

void Context::destroyGraph(void *graph) {
  if (graph)
    check(driver->graphExecutionDestroy(static_cast<GraphExecution>(graph)),
          "cannot destroy a graph");
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

Event Context::createEvent() {
  Event event = nullptr;
  check(driver->eventCreate(&event, 0), "cannot create an event");
  return event;
}

bool Context::startTimer() {
  if (!timer)
    timer = createEvent();
  return timer &&
         check(driver->eventRecord(timer, stream), "cannot start a timer");
}

bool Context::stopTimer(double &seconds) {
  if (!timer)
    return fail("expects a timer that was started");
  Event end = createEvent();
  if (!end)
    return false;
  float milliseconds = 0;
  bool stopped =
      check(driver->eventRecord(end, stream), "cannot stop a timer") &&
      check(driver->eventSynchronize(end), "the device failed") &&
      check(driver->eventElapsedTime(&milliseconds, timer, end),
            "cannot read a timer");
  driver->eventDestroy(end);
  seconds = milliseconds * 1e-3;
  return stopped;
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

void Context::dropTrace() {
  tracing = false;
  for (const TracedLaunch &launch : trace)
    for (Event event : {launch.begin, launch.end})
      if (event)
        driver->eventDestroy(event);
  trace.clear();
  if (traceStart)
    driver->eventDestroy(traceStart);
  traceStart = nullptr;
}

bool Context::beginTrace() {
  dropTrace();
  if (capturing)
    return fail("launches cannot be traced while a graph is captured");
  traceStart = createEvent();
  if (!traceStart ||
      !check(driver->eventRecord(traceStart, stream), "cannot start a trace"))
    return false;
  tracing = true;
  return true;
}

bool Context::writeTrace(const char *path) {
  if (!traceStart)
    return fail("expects a trace that was begun");
  tracing = false;
  bool known = synchronize();
  std::string text = "{\"traceEvents\":[";
  for (const TracedLaunch &launch : trace) {
    float begin = 0, duration = 0;
    known = known &&
            check(driver->eventElapsedTime(&begin, traceStart, launch.begin),
                  "cannot read the times of a trace") &&
            check(driver->eventElapsedTime(&duration, launch.begin, launch.end),
                  "cannot read the times of a trace");
    char line[512];
    snprintf(line, sizeof(line),
             "%s\n{\"name\":\"%.256s\",\"cat\":\"launch\",\"ph\":\"X\","
             "\"pid\":0,\"tid\":0,\"ts\":%.3f,\"dur\":%.3f}",
             &launch == trace.data() ? "" : ",", launch.name,
             double(begin) * 1e3, double(duration) * 1e3);
    text += line;
  }
  text += "\n]}\n";
  dropTrace();
  if (!known)
    return false;
  FILE *file = path ? fopen(path, "w") : nullptr;
  bool isWritten = file && fputs(text.c_str(), file) >= 0;
  isWritten = file && fclose(file) == 0 && isWritten;
  return isWritten || fail("cannot write the trace to '" +
                           std::string(path ? path : "") + "'");
}
