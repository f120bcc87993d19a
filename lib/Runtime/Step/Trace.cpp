//===- Trace.cpp - Records what ran when ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trace.h"
#include <chrono>
#include <cstdio>

using namespace act::step;

int64_t Trace::now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Trace::begin() {
  std::lock_guard<std::mutex> lock(mutex);
  events.clear();
  origin = now();
  enabled.store(true);
}

void Trace::add(const TraceEvent &event) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isOn())
    events.push_back(event);
}

/// Writes `text` as a JSON string.
static void writeString(FILE *file, const char *text) {
  fputc('"', file);
  for (; *text; ++text) {
    unsigned char character = static_cast<unsigned char>(*text);
    if (character == '"' || character == '\\')
      fprintf(file, "\\%c", character);
    else if (character < 0x20)
      fprintf(file, "\\u%04x", character);
    else
      fputc(character, file);
  }
  fputc('"', file);
}

/// Without the decimal separator of the locale.
static void writeMicroseconds(FILE *file, int64_t nanoseconds) {
  fprintf(file, "%lld.%03lld", static_cast<long long>(nanoseconds / 1000),
          static_cast<long long>(nanoseconds % 1000));
}

static void writeEvent(FILE *file, const TraceEvent &event, int64_t origin) {
  fputs("{\"name\":", file);
  writeString(file, event.name);
  fprintf(file, ",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":0,\"tid\":%lld,\"ts\":",
          event.category, static_cast<long long>(event.thread));
  writeMicroseconds(file, event.startNanoseconds - origin);
  fputs(",\"dur\":", file);
  writeMicroseconds(file, event.endNanoseconds - event.startNanoseconds);
  fputs(",\"args\":{", file);
  if (event.flops >= 0)
    fprintf(file, "\"flops\":%.0f", event.flops);
  if (event.bytes >= 0)
    fprintf(file, "%s\"bytes\":%.0f", event.flops >= 0 ? "," : "", event.bytes);
  fputs("}}", file);
}

bool Trace::write(const char *path) {
  std::lock_guard<std::mutex> lock(mutex);
  enabled.store(false);
  FILE *file = path ? fopen(path, "w") : nullptr;
  if (!file)
    return false;
  fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file);
  for (size_t i = 0; i < events.size(); ++i) {
    fputs(i == 0 ? "\n" : ",\n", file);
    writeEvent(file, events[i], origin);
  }
  fputs("\n]}\n", file);
  bool good = !ferror(file);
  return fclose(file) == 0 && good;
}
