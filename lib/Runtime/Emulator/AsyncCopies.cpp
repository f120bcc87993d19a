//===- AsyncCopies.cpp - Copies of cp.async ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockExecutor.h"
#include "DeviceMemory.h"
#include <cstring>

using namespace llvm;

namespace act::emulator {

/// Copies happen as late as the program allows, so that a missing wait shows.
void BlockExecutor::startCopy(Thread &thread, const Site &site,
                              char *destination, const char *source,
                              uint32_t sourceBytes) {
  thread.openCopies.push_back(
      {destination, source, std::min(sourceBytes, site.bytes), &site});
}

void BlockExecutor::copyNow(Thread &thread, const AsyncCopy &copy) {
  const Site &site = *copy.site;
  if (launch->options.check) {
    if (copy.sourceBytes)
      checkRange(thread, copy.source, copy.sourceBytes, site.bytes, false,
                 site);
    checkSharedRange(thread, copy.destination - shared, site.bytes, site.bytes,
                     true, site);
  } else if (uint64_t(copy.destination - shared) + site.bytes >
             launch->getSharedBytes()) {
    fail(FaultKind::IllegalAddress, &thread, &site,
         "copies outside of shared memory");
  }
  std::memcpy(copy.destination, copy.source, copy.sourceBytes);
  std::memset(copy.destination + copy.sourceBytes, 0,
              site.bytes - copy.sourceBytes);
}

void BlockExecutor::commitCopies(Thread &thread) {
  thread.copyGroups.push_back(std::move(thread.openCopies));
  thread.openCopies.clear();
}

void BlockExecutor::waitForCopies(Thread &thread, uint32_t groupsLeft) {
  while (thread.copyGroups.size() > groupsLeft) {
    for (const AsyncCopy &copy : thread.copyGroups.front())
      copyNow(thread, copy);
    thread.copyGroups.pop_front();
  }
}

} // namespace act::emulator
