//===- DriverStream.cpp - Streams, graphs and events ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "llvm/ADT/DenseSet.h"

using namespace act::emulator;
using namespace llvm;

namespace act::emulator {

namespace {
/// The streams that exist.
struct Streams {
  std::mutex mutex;
  DenseSet<Stream *> all;
  /// The default streams, which capture nothing.
  Stream standard;
};
} // namespace

static Streams &getStreams() {
  static auto *streams = new Streams;
  return *streams;
}

Stream *getStream(void *handle) {
  Streams &streams = getStreams();
  if (reinterpret_cast<uintptr_t>(handle) <= 2)
    return &streams.standard;
  std::lock_guard<std::mutex> lock(streams.mutex);
  auto *stream = static_cast<Stream *>(handle);
  return streams.all.contains(stream) ? stream : nullptr;
}

CUresult enqueue(void *handle, std::function<CUresult()> operation) {
  Stream *stream = getStream(handle);
  if (!stream)
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  if (!stream->capture)
    return operation();
  stream->capture->operations.push_back(std::move(operation));
  return CUDA_SUCCESS;
}

CUresult checkNotCapturing(void *handle, const char *function) {
  Stream *stream = getStream(handle);
  if (!stream)
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  if (stream->capture)
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                Twine(function) + " is not allowed while the stream captures");
  return CUDA_SUCCESS;
}

} // namespace act::emulator

ACT_EMULATOR_EXPORT CUresult cuStreamCreate(Stream **stream, unsigned) {
  Streams &streams = getStreams();
  std::lock_guard<std::mutex> lock(streams.mutex);
  *stream = new Stream;
  streams.all.insert(*stream);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuStreamCreateWithPriority(Stream **stream,
                                                        unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}

ACT_EMULATOR_EXPORT CUresult cuStreamDestroy_v2(Stream *stream) {
  Streams &streams = getStreams();
  std::lock_guard<std::mutex> lock(streams.mutex);
  if (!streams.all.erase(stream))
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  delete stream;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuStreamSynchronize(void *stream) {
  return checkNotCapturing(stream, "cuStreamSynchronize");
}

ACT_EMULATOR_EXPORT CUresult cuStreamQuery(void *stream) {
  return checkNotCapturing(stream, "cuStreamQuery");
}

/// Waiting for an event of a capture makes the stream part of it.
ACT_EMULATOR_EXPORT CUresult cuStreamWaitEvent(void *handle, Event *event,
                                               unsigned) {
  Stream *stream = getStream(handle);
  if (!stream || !event)
    return fail(CUDA_ERROR_INVALID_HANDLE,
                "the stream or the event does not exist");
  if (event->capture && !stream->capture)
    stream->capture = event->capture;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuStreamBeginCapture_v2(void *handle, int) {
  Stream *stream = getStream(handle);
  if (!stream)
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  if (stream == &getStreams().standard)
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                "default streams cannot capture");
  if (stream->capture)
    return fail(CUDA_ERROR_INVALID_VALUE, "the stream captures already");
  stream->capture = std::make_shared<Graph>();
  stream->startedCapture = true;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuStreamEndCapture(void *handle, Graph **graph) {
  Stream *stream = getStream(handle);
  *graph = nullptr;
  if (!stream)
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  if (!stream->startedCapture)
    return fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
                "no capture began on the stream");
  std::shared_ptr<Graph> capture = stream->capture;
  stream->startedCapture = false;
  stream->capture = nullptr;
  // Streams that had joined are free again.
  Streams &streams = getStreams();
  std::lock_guard<std::mutex> lock(streams.mutex);
  for (Stream *other : streams.all)
    if (other->capture == capture)
      other->capture = nullptr;
  *graph = new Graph(*capture);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult
cuStreamIsCapturing(void *handle, CUstreamCaptureStatus *status) {
  Stream *stream = getStream(handle);
  if (!stream)
    return fail(CUDA_ERROR_INVALID_HANDLE, "the stream does not exist");
  *status = stream->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                            : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuGraphInstantiateWithFlags(Graph **executable,
                                                         Graph *graph,
                                                         unsigned long long) {
  *executable = new Graph(*graph);
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuGraphLaunch(Graph *executable, void *stream) {
  if (!executable)
    return fail(CUDA_ERROR_INVALID_HANDLE, "expects a graph, got none");
  for (const auto &operation : executable->operations)
    if (CUresult result = enqueue(stream, operation))
      return result;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuGraphGetNodes(Graph *graph, void **nodes,
                                             size_t *count) {
  size_t available = graph->operations.size();
  if (nodes)
    for (size_t i = 0; i < std::min(*count, available); ++i)
      nodes[i] = &graph->operations[i];
  *count = available;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuGraphDestroy(Graph *graph) {
  delete graph;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuGraphExecDestroy(Graph *executable) {
  delete executable;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

ACT_EMULATOR_EXPORT CUresult cuEventCreate(Event **event, unsigned) {
  *event = new Event;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuEventDestroy_v2(Event *event) {
  delete event;
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuEventRecord(Event *event, void *handle) {
  Stream *stream = getStream(handle);
  if (!stream || !event)
    return fail(CUDA_ERROR_INVALID_HANDLE,
                "the stream or the event does not exist");
  event->capture = stream->capture;
  event->wasRecorded = true;
  event->time = std::chrono::steady_clock::now();
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuEventSynchronize(Event *) {
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuEventQuery(Event *) { return CUDA_SUCCESS; }

ACT_EMULATOR_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds,
                                                   Event *start, Event *end) {
  if (!start || !end || !start->wasRecorded || !end->wasRecorded)
    return fail(CUDA_ERROR_INVALID_HANDLE, "an event was not recorded");
  std::chrono::duration<float, std::milli> time = end->time - start->time;
  *milliseconds = time.count();
  return CUDA_SUCCESS;
}

ACT_EMULATOR_EXPORT CUresult cuEventElapsedTime(float *milliseconds,
                                                Event *start, Event *end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
