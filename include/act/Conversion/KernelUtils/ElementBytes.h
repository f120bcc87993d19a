//===- ElementBytes.h - Memory of an element -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_ELEMENTBYTES_H
#define ACT_CONVERSION_KERNELUTILS_ELEMENTBYTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::act {

/// Bytes of an element of a buffer: of an integer or float as many as hold its
/// bits, of an index eight.
inline int64_t getElementBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_ELEMENTBYTES_H
