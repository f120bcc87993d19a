//===- RandomArguments.cpp - Random arguments of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/RandomArguments.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

namespace {
/// Numbers that depend on the seed alone: the distributions of the standard
/// library differ between implementations.
class Generator {
public:
  explicit Generator(uint64_t seed) : engine(seed) {}

  uint64_t bits() { return engine(); }
  /// From (0, 1].
  double uniform() { return ((engine() >> 11) + 1) * 0x1p-53; }
  /// Two at a time by the transformation of Box and Muller (1958).
  double normal() {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    constexpr double pi = 3.14159265358979323846;
    double radius = std::sqrt(-2 * std::log(uniform()));
    double angle = 2 * pi * uniform();
    spare = radius * std::sin(angle);
    hasSpare = true;
    return radius * std::cos(angle);
  }

private:
  std::mt19937_64 engine;
  double spare = 0;
  bool hasSpare = false;
};
} // namespace

static Array draw(const ValueInfo &info, const ArgumentKind &kind,
                  Generator &generator) {
  Array array(info.type, info.shape);
  int64_t count = array.getNumElements();
  int64_t width = execution::getByteWidth(info.type);
  for (int64_t i = 0; i < count; ++i) {
    switch (kind.role) {
    case ArgumentRole::Mask:
      array.data()[i] = generator.bits() >> 63;
      break;
    case ArgumentRole::Key: {
      uint64_t bits = generator.bits();
      std::memcpy(array.data() + i * width, &bits, width);
      break;
    }
    case ArgumentRole::Counter:
      array.setNumber(i, 1);
      break;
    case ArgumentRole::Index:
      array.setNumber(i, generator.bits() % kind.bound);
      break;
    case ArgumentRole::SecondMoment:
      array.setNumber(i, std::abs(kind.deviation * generator.normal()));
      break;
    case ArgumentRole::Normal:
      array.setNumber(i, kind.mean + kind.deviation * generator.normal());
      break;
    }
  }
  return array;
}

std::vector<Array> run::drawArguments(ArrayRef<ValueInfo> arguments,
                                      ArrayRef<ArgumentKind> kinds,
                                      uint64_t seed) {
  Generator generator(seed);
  std::vector<Array> values;
  for (auto [info, kind] : llvm::zip_equal(arguments, kinds))
    values.push_back(draw(info, kind, generator));
  return values;
}
