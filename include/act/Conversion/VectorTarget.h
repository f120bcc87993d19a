//===- VectorTarget.h - The vector unit code is made for -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_VECTORTARGET_H
#define ACT_CONVERSION_VECTORTARGET_H

#include <cstdint>

namespace mlir::act {

/// The vector unit that code is made for.
struct VectorTarget {
  /// Bits of one vector register: a power of two, at least 128.
  int64_t vectorBits = 256;
  /// Number of vector registers.
  int64_t vectorRegisters = 16;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_VECTORTARGET_H
