//===- Elements.h - Arrays of any element type for tests ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_UNITTESTS_RUNTIME_STEP_ELEMENTS_H
#define ACT_UNITTESTS_RUNTIME_STEP_ELEMENTS_H

#include "act-c/StepRuntime.h"
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace act::step::test {

/// A context that is destroyed.
struct ContextDeleter {
  void operator()(void *context) const { act_cpu_context_destroy(context); }
};
using ContextOwner = std::unique_ptr<void, ContextDeleter>;

inline int64_t getSize(int64_t dtype) {
  return dtype == ACT_CPU_F64 ? 8 : dtype == ACT_CPU_F32 ? 4 : 2;
}

/// How much one rounding changes a number at most, relative to it.
inline double getPrecision(int64_t dtype) {
  switch (dtype) {
  case ACT_CPU_F64:
    return 0x1p-53;
  case ACT_CPU_F32:
    return 0x1p-24;
  case ACT_CPU_BF16:
    return 0x1p-8;
  default:
    return 0x1p-11;
  }
}

/// An array of a type that a descriptor names.
class Array {
public:
  Array(int64_t dtype, int64_t size)
      : dtype(dtype), bytes(size_t(size * getSize(dtype))) {
    // So that an empty array has an address.
    bytes.reserve(1);
  }

  void *data() { return bytes.data(); }
  const void *data() const { return bytes.data(); }
  int64_t size() const { return int64_t(bytes.size()) / getSize(dtype); }
  bool operator==(const Array &other) const { return bytes == other.bytes; }

  double get(int64_t index) const {
    switch (dtype) {
    case ACT_CPU_F64:
      return read<double>(index);
    case ACT_CPU_F32:
      return read<float>(index);
    case ACT_CPU_BF16: {
      uint32_t bits = uint32_t(read<uint16_t>(index)) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    default:
      return double(read<_Float16>(index));
    }
  }

  void set(int64_t index, double value) {
    switch (dtype) {
    case ACT_CPU_F64:
      return write(index, value);
    case ACT_CPU_F32:
      return write(index, float(value));
    case ACT_CPU_BF16: {
      // The numbers of the tests are multiples of 1/64 below 2: truncating is
      // exact.
      float number = float(value);
      uint32_t bits;
      std::memcpy(&bits, &number, 4);
      return write(index, uint16_t(std::isnan(value) ? 0x7fc0 : bits >> 16));
    }
    default:
      return write(index, _Float16(float(value)));
    }
  }

  /// Multiples of 1/64 between -1 and 1, which all types hold.
  void fill(uint32_t seed) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<int> numbers(-64, 64);
    for (int64_t i = 0; i < size(); ++i)
      set(i, numbers(generator) / 64.0);
  }

private:
  template <typename T>
  T read(int64_t index) const {
    T value;
    std::memcpy(&value, bytes.data() + index * int64_t(sizeof(T)), sizeof(T));
    return value;
  }
  template <typename T>
  void write(int64_t index, T value) {
    std::memcpy(bytes.data() + index * int64_t(sizeof(T)), &value, sizeof(T));
  }

  int64_t dtype;
  std::vector<char> bytes;
};

} // namespace act::step::test

#endif // ACT_UNITTESTS_RUNTIME_STEP_ELEMENTS_H
