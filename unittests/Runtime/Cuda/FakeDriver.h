//===- FakeDriver.h - A driver that records what is asked of it ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H
#define ACT_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H

#include <cstdint>
#include <string>
#include <vector>

/// What the fake driver is told and what it saw. Its device executes kernels of
/// the name "add" with parameters (float *x, float value, int64_t count), which
/// adds `value` to `x`; others do nothing.
struct FakeDriver {
  // The device.
  int major = 8, minor = 0;
  int sharedOptIn = 163 * 1024;
  size_t memoryBytes = size_t(1) << 30;
  /// Images that begin with this are refused, with `log` as the message.
  std::string refused, log;
  /// Static shared memory of kernels.
  int staticShared = 0;
  /// What the next launches return.
  int launchResult = 0;

  // What was asked.
  std::vector<std::string> loaded;
  std::vector<std::string> launched;
  std::vector<int> sharedRequests;
  std::vector<void *> streams;
  int64_t allocations = 0, frees = 0;
  int pushes = 0, pops = 0;
  int synchronizations = 0;
};

/// The state of the copy of the fake driver that the runtime opened.
FakeDriver &getFakeDriver();

#endif // ACT_UNITTESTS_RUNTIME_CUDA_FAKEDRIVER_H
