//===- Primitives.h - Primitives of oneDNN that are kept ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_PRIMITIVES_H
#define ACT_RUNTIME_STEP_PRIMITIVES_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace act::step {

/// Something compiled for one problem; the destructor of what derives from it
/// frees it.
struct Primitive {
  virtual ~Primitive() = default;
};

/// Keeps what is compiled for a problem (which takes oneDNN about a
/// millisecond) by all numbers that the problem consists of.
class PrimitiveCache {
public:
  using Key = std::vector<int64_t>;

  /// The primitive of `key`, which `create` makes if there is none. Null if
  /// that failed, which is remembered too.
  Primitive *get(const Key &key,
                 const std::function<std::unique_ptr<Primitive>()> &create) {
    std::lock_guard<std::mutex> lock(mutex);
    auto found = primitives.find(key);
    if (found == primitives.end())
      found = primitives.emplace(key, create()).first;
    return found->second.get();
  }

private:
  std::mutex mutex;
  std::map<Key, std::unique_ptr<Primitive>> primitives;
};

} // namespace act::step

#endif // ACT_RUNTIME_STEP_PRIMITIVES_H
