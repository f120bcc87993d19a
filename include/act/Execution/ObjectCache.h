//===- ObjectCache.h - Compiled steps on disk -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_OBJECTCACHE_H
#define ACT_EXECUTION_OBJECTCACHE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <string>

namespace mlir::act::execution {

/// What compileStep returned for modules and options seen before. An entry is
/// written at once and carries a checksum; one that is damaged is not there.
/// What nobody used for a month is deleted.
class ObjectCache {
public:
  /// In the folder that the environment variable ACT_CACHE_DIR names (no cache
  /// if that is empty), else in `act` of the user's cache folder.
  static ObjectCache forUser();
  /// In `folder`, which need not exist; empty for no cache.
  explicit ObjectCache(StringRef folder) : folder(folder.str()) {}

  /// Null if there is none for `key`.
  std::unique_ptr<llvm::MemoryBuffer> lookup(StringRef key) const;
  /// A failure to write is none of the step's: it is returned to be reported.
  llvm::Error store(StringRef key, llvm::MemoryBufferRef archive) const;

private:
  std::string getPath(StringRef key) const;

  std::string folder;
};

/// A hash of everything that the code depends on: the parts, the version of act
/// and the program that compiles.
std::string getCacheKey(ArrayRef<StringRef> parts);

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_OBJECTCACHE_H
