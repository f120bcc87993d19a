//===- TileCopy.h - Parts of factors in shared memory -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_TILECOPY_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_TILECOPY_H

#include "Axis.h"
#include "MatrixUnits.h"

namespace mlir::act {

/// Where a factor of a product has its elements: a matrix of positions along
/// the product (*outer*) and along the sums.
class FactorAccess {
public:
  virtual ~FactorAccess() = default;

  /// The offset from `pointer` (i32 or i64) of an element.
  virtual Value getOffset(GpuKernelBuilder &kernel, Value outer, Value sum) = 0;
  /// Whether there is an element: a condition, or null if there always is. What
  /// is not there is zero.
  virtual Value isPresent(GpuKernelBuilder &kernel, Value outer, Value sum) {
    return {};
  }

  Value pointer;
  Type elementType;
  int64_t outerExtent = 1;
  int64_t sumExtent = 1;
  /// As many elements, a power of two, are neighbours and aligned to their
  /// size, from multiples of it on, along the outer positions or the sums. They
  /// are present together.
  int64_t outerVector = 1;
  int64_t sumVector = 1;
  /// Neighbours along the sums are closer in memory than along the outer
  /// positions.
  bool sumsAreClose = false;
};

/// A factor whose offsets are sums of those along both axes.
class LinearFactor : public FactorAccess {
public:
  /// `alignment` is that of the pointer in bytes, and `others` the strides of
  /// what is already added to it.
  LinearFactor(Value pointer, Type elementType, Axis outer, Axis sums,
               int64_t alignment, const Axis &others);

  Value getOffset(GpuKernelBuilder &kernel, Value outer, Value sum) override;

private:
  Axis outer, sums;
};

/// A part of a factor in shared memory, as `outer` x `sums` elements.
struct FactorTile {
  int64_t outer = 0;
  int64_t sums = 0;
  /// Of elements in shared memory.
  Type storedType;
  /// Rows of the matrix in shared memory are outer positions and run along the
  /// sums, or else the other way round.
  bool rowsAlongSums = false;
  bool swizzled = false;
  /// Unused bytes at the end of each row.
  int64_t paddingBytes = 0;

  int64_t getElementBytes() const {
    return storedType.getIntOrFloatBitWidth() / 8;
  }
  int64_t getRowBytes() const {
    return (rowsAlongSums ? sums : outer) * getElementBytes() + paddingBytes;
  }
  int64_t getBytes() const {
    return (rowsAlongSums ? outer : sums) * getRowBytes();
  }
};

/// Copies parts of a factor to shared memory by all threads of a block. What is
/// outside of the factor becomes zero.
class TileCopy {
public:
  TileCopy(GpuKernelBuilder &kernel, FactorAccess &factor, FactorTile tile);

  /// Whether copies are asynchronous, and have to be committed and waited for.
  bool isAsync() const { return async; }
  /// Copies the part from (`outer`, `sum`) (i32) on to `pointer`.
  void emit(Value pointer, Value outer, Value sum);

private:
  void copyPiece(Value pointer, Value outer, Value sum, Value localOuter,
                 Value localSum);
  Value getSharedAddress(Value pointer, Value localOuter, Value localSum);
  void copyThroughRegisters(Value shared, Value global, Value present);

  GpuKernelBuilder &kernel;
  PositionMath math;
  FactorAccess &factor;
  FactorTile tile;
  /// Elements that are copied at once, along the sums or the outer positions.
  int64_t vector = 1;
  bool alongSums = false;
  bool async = false;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_TILECOPY_H
