//===- ObjectCache.cpp - Compiled steps on disk ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/ObjectCache.h"
#include "act/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

/// The start of every entry, before the checksum of the rest.
static constexpr StringRef entryMagic = "act step 1\n";
static constexpr size_t checksumBytes = 32;

static std::string getChecksum(StringRef text) {
  std::array<uint8_t, checksumBytes> hash =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return std::string(hash.begin(), hash.end());
}

ObjectCache ObjectCache::forUser() {
  if (const char *named = std::getenv("ACT_CACHE_DIR"))
    return ObjectCache(named);
  SmallString<128> path;
  if (!llvm::sys::path::cache_directory(path))
    return ObjectCache("");
  llvm::sys::path::append(path, "act");
  return ObjectCache(path);
}

std::string ObjectCache::getPath(StringRef key) const {
  SmallString<128> path(folder);
  // The prefix marks what pruneCache may delete.
  llvm::sys::path::append(path, "llvmcache-" + key);
  return path.str().str();
}

std::unique_ptr<llvm::MemoryBuffer> ObjectCache::lookup(StringRef key) const {
  if (folder.empty())
    return nullptr;
  auto file = llvm::MemoryBuffer::getFile(getPath(key), /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return nullptr;
  StringRef rest = (*file)->getBuffer();
  if (!rest.consume_front(entryMagic) || rest.size() < checksumBytes)
    return nullptr;
  StringRef checksum = rest.take_front(checksumBytes);
  StringRef archive = rest.drop_front(checksumBytes);
  if (getChecksum(archive) != checksum)
    return nullptr;
  return llvm::MemoryBuffer::getMemBufferCopy(archive, key);
}

llvm::Error ObjectCache::store(StringRef key,
                               llvm::MemoryBufferRef archive) const {
  if (folder.empty())
    return llvm::Error::success();
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError("cannot make the cache folder '" + folder +
                                   "': " + code.message());
  if (llvm::Error error = llvm::writeToOutput(
          getPath(key), [&](llvm::raw_ostream &os) -> llvm::Error {
            os << entryMagic << getChecksum(archive.getBuffer())
               << archive.getBuffer();
            return llvm::Error::success();
          }))
    return error;
  llvm::CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(30 * 24);
  policy.MaxSizeBytes = uint64_t(4) << 30;
  llvm::pruneCache(folder, policy);
  return llvm::Error::success();
}

/// Tells one build of act from another of the same version.
static std::string describeProgram() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&describeProgram), &info))
    return "";
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(info.dli_fname, status))
    return "";
  return std::to_string(status.getSize()) + " " +
         std::to_string(
             status.getLastModificationTime().time_since_epoch().count());
}

std::string execution::getCacheKey(ArrayRef<StringRef> parts) {
  llvm::SHA256 hash;
  auto add = [&](StringRef part) {
    // The length keeps parts apart.
    hash.update(std::to_string(part.size()) + ":");
    hash.update(part);
  };
  add(ACT_VERSION_STRING);
  add(describeProgram());
  for (StringRef part : parts)
    add(part);
  return llvm::toHex(hash.final(), /*LowerCase=*/true);
}
