//===- Api.cpp - C functions of the step runtime ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Context.h"
#include <algorithm>
#include <cstdio>
#include <new>

using namespace act::step;

void *act_cpu_context_create(int64_t threads) {
  std::unique_ptr<Context> context(new (std::nothrow) Context);
  if (!context || !context->start(threads))
    return nullptr;
  return context.release();
}

void act_cpu_context_destroy(void *context) {
  delete static_cast<Context *>(context);
}

int64_t act_cpu_context_threads(const void *context) {
  return context ? Context::from(context).getPool().getNumThreads() : 0;
}

const char *act_cpu_context_error(const void *context) {
  if (!context)
    return "the context is null";
  return Context::from(context).getError();
}

int32_t act_cpu_context_status(const void *context) {
  return !context || Context::from(context).hasError();
}

void act_cpu_context_clear_error(void *context) {
  if (context)
    Context::from(context).clearError();
}

void act_cpu_report_error(void *context, const char *message) {
  if (context)
    Context::from(context).report(message ? message : "unknown error");
}

void act_cpu_set_check(void *context, int32_t enabled) {
  if (context)
    Context::from(context).setChecking(enabled != 0);
}

void act_cpu_trace_begin(void *context) {
  if (context)
    Context::from(context).getTrace().begin();
}

int32_t act_cpu_trace_write(void *context, const char *path) {
  if (!context)
    return 1;
  if (Context::from(context).getTrace().write(path))
    return 0;
  Context::from(context).report("cannot write the trace to '" +
                                std::string(path ? path : "") + "'");
  return 1;
}

/// What the message about a bad call starts with.
static std::string getLabel(const char *name) {
  return "'" + std::string(name ? name : "") + "' ";
}

void act_cpu_check_values(void *context, const char *name, int64_t dtype,
                          const void *values, int64_t count) {
  if (!isUsable(context, name) || !Context::from(context).isChecking())
    return;
  if (dtype < ACT_CPU_F32 || dtype > ACT_CPU_F16)
    return Context::from(context).report(
        getLabel(name) + "expects an element type from 0 to 3, got " +
        std::to_string(dtype));
  checkValues(Context::from(context), name, dtype, values, count);
}

void act_cpu_launch(void *context, const char *name, act_cpu_kernel kernel,
                    void *const *buffers, int64_t count, int64_t grain) {
  if (!isUsable(context, name))
    return;
  Context &owner = Context::from(context);
  if (!kernel || count < 0 || grain < 1)
    return owner.report(getLabel(name) +
                        "expects a kernel, a count of at least 0 and a grain "
                        "of at least 1, got count " +
                        std::to_string(count) + " and grain " +
                        std::to_string(grain));
  if (count == 0)
    return;
  TraceSpan span(owner.getTrace(), name, "launch");
  // More pieces than threads, so that a thread that is kept busy by another
  // process does not hold up the rest.
  constexpr int64_t piecesPerThread = 4;
  int64_t threads = owner.getPool().getNumThreads();
  int64_t pieces =
      threads == 1 ? 1 : std::min(count / grain, threads * piecesPerThread);
  if (pieces <= 1)
    return kernel(buffers, 0, count);
  int64_t size = count / pieces, rest = count % pieces;
  runPieces(owner, pieces, name, [&](int64_t piece, int64_t) {
    int64_t begin = piece * size + std::min(piece, rest);
    kernel(buffers, begin, begin + size + (piece < rest));
  });
}
