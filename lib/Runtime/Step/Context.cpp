//===- Context.cpp - What a step needs while it runs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Primitives.h"
#include "Processors.h"
#include <cstdlib>

using namespace act::step;

Workspace::~Workspace() { std::free(memory); }

void *Workspace::get(int64_t bytes) {
  if (memory && bytes <= size)
    return memory;
  // In steps, so that sizes that grow little by little do not allocate often.
  constexpr int64_t step = 1 << 16;
  bytes = (bytes + step) / step * step;
  std::free(memory);
  memory = std::aligned_alloc(ACT_CPU_ARENA_ALIGNMENT, size_t(bytes));
  size = memory ? bytes : 0;
  return memory;
}

Context::Context() : primitives(std::make_unique<PrimitiveCache>()) {}
Context::~Context() = default;

bool Context::start(int64_t threads) {
  if (!pool.start(threads < 1 ? getNumProcessors() : threads))
    return false;
  for (int64_t i = 0; i < pool.getNumThreads(); ++i)
    workspaces.push_back(std::make_unique<Workspaces>());
  return true;
}

void Context::report(std::string message) {
  std::lock_guard<std::mutex> lock(errorMutex);
  if (hasError())
    return;
  error = std::move(message);
  failed.store(true, std::memory_order_release);
}

const char *Context::getError() const {
  return hasError() ? error.c_str() : nullptr;
}

void Context::clearError() {
  std::lock_guard<std::mutex> lock(errorMutex);
  failed.store(false, std::memory_order_release);
  error.clear();
}
