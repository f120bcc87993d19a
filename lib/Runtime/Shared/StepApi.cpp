//===- StepApi.cpp - C functions that execute compiled steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/Step.h"
#include "act/Execution/StepRunner.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cstring>

using namespace mlir::act::execution;

struct act_step {
  std::unique_ptr<llvm::MemoryBuffer> code;
  std::unique_ptr<StepRunner> runner;
};

/// True on success, else writes the message to `reason`.
static bool report(llvm::Error error, char *reason, size_t reasonSize) {
  if (!error)
    return true;
  std::string message = llvm::toString(std::move(error));
  if (reason && reasonSize > 0) {
    size_t length = std::min(message.size(), reasonSize - 1);
    std::memcpy(reason, message.data(), length);
    reason[length] = 0;
  }
  return false;
}

static llvm::Expected<std::unique_ptr<act_step>>
loadStep(llvm::StringRef path, llvm::StringRef name, int64_t threads) {
  auto step = std::make_unique<act_step>();
  auto code = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!code)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + code.getError().message());
  step->code = std::move(*code);
  auto loaded = LoadedStep::load(step->code->getMemBufferRef(), name);
  if (!loaded)
    return loaded.takeError();
  auto runner = StepRunner::create(std::move(*loaded), threads);
  if (!runner)
    return runner.takeError();
  step->runner = std::move(*runner);
  return step;
}

act_step *act_step_load(const char *path, const char *name, int64_t threads,
                        char *reason, size_t reason_size) {
  auto step = loadStep(path, name, threads);
  if (!step) {
    report(step.takeError(), reason, reason_size);
    return nullptr;
  }
  return step->release();
}

void act_step_destroy(act_step *step) { delete step; }

const act_step_info *act_step_get_info(const act_step *step) {
  return &step->runner->getTable();
}

int64_t act_step_get_threads(const act_step *step) {
  return step->runner->getThreads();
}

bool act_step_set_arena(act_step *step, void *arena, int64_t bytes,
                        char *reason, size_t reason_size) {
  return report(step->runner->setArena(arena, bytes), reason, reason_size);
}

void act_step_set_check(act_step *step, bool enabled) {
  step->runner->setCheck(enabled);
}

bool act_step_execute(act_step *step, const void *const *arguments,
                      void *const *results, char *reason, size_t reason_size) {
  return report(step->runner->run(arguments, results), reason, reason_size);
}

bool act_step_measure_peak(act_step *step, const void *const *arguments,
                           void *const *results, int64_t *bytes, char *reason,
                           size_t reason_size) {
  auto peak = step->runner->measurePeak(arguments, results);
  if (!peak)
    return report(peak.takeError(), reason, reason_size);
  *bytes = *peak;
  return true;
}

bool act_step_trace(act_step *step, const void *const *arguments,
                    void *const *results, const char *path, char *reason,
                    size_t reason_size) {
  return report(step->runner->trace(arguments, results, path), reason,
                reason_size);
}
