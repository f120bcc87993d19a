//===- Memory.h - Elements in memory -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_MEMORY_H
#define ACT_CONVERSION_KERNELUTILS_MEMORY_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::act {

/// The type that a scalar or element has in memory.
Type getStoredType(Type type);

/// Strides in elements of a buffer whose layout is known, or failure.
FailureOr<SmallVector<int64_t>> getKnownStrides(MemRefType type);

/// A buffer of a kernel: where its first element is, and how far apart elements
/// are. A stride is 0 along the rows of a buffer that is private to them.
struct KernelBuffer {
  Value pointer;
  Type elementType;
  SmallVector<int64_t> strides;
  /// Known alignment of vectors of elements in bytes; 0 for that of an element.
  int64_t alignment = 0;
};

/// Lanes that exist in a vector at the end of a loop: the first `count`, an
/// index, as a vector of i1. Null if all do.
struct LaneMask {
  Value lanes;
  Value count;
  explicit operator bool() const { return static_cast<bool>(lanes); }
};

/// Reads and writes elements. Offsets are of type index, in elements. i1 is one
/// byte in memory, index eight.
class Memory {
public:
  Memory(ImplicitLocOpBuilder &builder, int64_t lanes)
      : builder(builder), lanes(lanes) {}

  int64_t getLanes() const { return lanes; }
  Value getIndex(int64_t value);
  /// offset + index * stride
  Value addOffset(Value offset, Value index, int64_t stride);
  Value loadScalar(const KernelBuffer &buffer, Value offset);
  void storeScalar(const KernelBuffer &buffer, Value offset, Value value);
  /// Elements from `offset` on, `stride` apart. Lanes that `mask` excludes hold
  /// a valid number.
  Value loadVector(const KernelBuffer &buffer, Value offset, int64_t stride,
                   LaneMask mask);
  void storeVector(const KernelBuffer &buffer, Value offset, int64_t stride,
                   Value value, LaneMask mask);
  /// Elements at `offsets`, a vector of index.
  Value gather(const KernelBuffer &buffer, Value offsets, LaneMask mask);
  /// The mask of the first `count` lanes.
  LaneMask getMask(Value count);
  Value broadcast(Value scalar);
  /// `base`, `base` + 1, ... as a vector of the type of `base`.
  Value getSequence(Value base);

private:
  Value getAddress(const KernelBuffer &buffer, Value offset);
  Value fromStored(Value value, Type type);
  Value toStored(Value value);
  unsigned getAlignment(Type stored);
  unsigned getVectorAlignment(const KernelBuffer &buffer, Type stored);

  ImplicitLocOpBuilder &builder;
  int64_t lanes;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_MEMORY_H
