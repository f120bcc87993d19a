//===- MatrixUnits.h - Instructions of tensor cores -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of small matrices by a warp, and how their factors come from global
// into shared memory and from there into registers. Everything here exists
// since sm_80.
//
// A *chunk* is 16 bytes: 8 elements of 16 bits or 4 of 32. Rows of a matrix in
// shared memory consist of chunks. Where a row has 128 bytes, chunk c of row r
// is stored as chunk c ^ (r % 8), so that the 8 rows that a warp reads at once
// are in different banks.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_MATRIXUNITS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_MATRIXUNITS_H

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"

namespace mlir::act {

/// Bytes of a chunk.
constexpr int64_t chunkBytes = 16;
/// Rows and columns of the product that one instruction adds to.
constexpr int64_t matrixUnitRows = 16;
constexpr int64_t matrixUnitColumns = 8;

/// Whether tensor cores multiply `elementType`: bf16, f16, or f32 rounded to
/// tf32.
bool hasMatrixUnit(Type elementType);
/// Length of the sums of one instruction: 16, of f32 8.
int64_t getMatrixUnitDepth(Type elementType);

/// Adds the product of a matrix of 16 rows and one of 8 columns to `sums`.
/// Thread `lane` of the warp has, with g = lane / 4 and t = lane % 4,
///
/// * of `sums` (f32) the elements (g, 2t), (g, 2t + 1), (g + 8, 2t),
///   (g + 8, 2t + 1);
/// * of the left factor 4 registers (i32): rows g, g + 8, g, g + 8; of 16 bits
/// the
///   columns 2t and 2t + 1 of the first 8 columns twice, then of the last 8; of
///   f32 the columns t, t, t + 4, t + 4;
/// * of the right factor 2 registers (i32): column g; rows as the columns
/// above,
///   the first 8 (4) and the last.
///
/// All threads of the warp take part. Returns the new sums.
SmallVector<Value> multiplyMatrices(GpuKernelBuilder &kernel, Type elementType,
                                    ValueRange left, ValueRange right,
                                    ValueRange sums);

/// The bits of an f32 rounded to the nearest tf32, ties away from zero.
Value roundToTf32(GpuKernelBuilder &kernel, Value value);
/// Two f32 rounded to `elementType`, of 16 bits, in one register (i32), `low`
/// first in memory.
Value packPair(GpuKernelBuilder &kernel, Type elementType, Value low,
               Value high);

/// Loads `count` (1, 2 or 4) matrices of 8 rows of one chunk from shared
/// memory. `address` is, in thread 8 i + r, that of row r of matrix i; those of
/// threads from 8 * count on do not matter. Of 16 bit elements, a thread gets
/// of each matrix those of row lane / 4 and columns 2 * (lane % 4) and the
/// next; if `transposed`, of column lane / 4 and rows 2 * (lane % 4) and the
/// next. Of f32 it gets the one in row lane / 4 and column lane % 4.
SmallVector<Value> loadMatrices(GpuKernelBuilder &kernel, Value address,
                                int64_t count, bool transposed = false);

/// Starts to copy `bytes` (4, 8 or 16, to which both addresses are aligned)
/// from global to shared memory. If `validBytes` (i32) is there, only that many
/// are read, and the others become zero.
void copyAsync(GpuKernelBuilder &kernel, Value shared, Value global,
               int64_t bytes, Value validBytes = {});
/// Ends a group of copies of this thread.
void commitCopies(GpuKernelBuilder &kernel);
/// Waits until at most the `pending` last groups of this thread are unfinished.
/// Others see the copies after a barrier.
void waitForCopies(GpuKernelBuilder &kernel, int64_t pending);

/// A matrix in shared memory.
struct SharedMatrix {
  /// To element (0, 0).
  Value pointer;
  Type elementType;
  /// Bytes from one row to the next: a multiple of a chunk.
  int64_t rowBytes = 0;
  /// Chunks are permuted as said above. Rows have a multiple of 128 bytes.
  bool swizzled = false;

  int64_t getChunkElements() const {
    return chunkBytes * 8 / elementType.getIntOrFloatBitWidth();
  }
};

/// The address of `chunk` of `row`, both i32.
Value getChunkAddress(GpuKernelBuilder &kernel, const SharedMatrix &matrix,
                      Value row, Value chunk);

/// Which factor a matrix is and how it is stored.
enum class FactorLayout {
  /// Rows are rows of the left factor, and run along the sums.
  LeftRows,
  /// Rows are columns of the left factor. Only of 16 bits.
  LeftColumns,
  /// Rows are columns of the right factor, and run along the sums.
  RightColumns,
  /// Rows are rows of the right factor. Only of 16 bits.
  RightRows,
};

/// Loads factors of multiplyMatrices out of a matrix in shared memory.
class FactorLoader {
public:
  /// Computes what is the same for all loads, at the builder's insertion point.
  /// `origin` (i32) is the first row or column, along the product, of the part
  /// that this warp multiplies; null for 0. It is a multiple of a power of two
  /// that is not less than the extent of that part.
  FactorLoader(GpuKernelBuilder &kernel, SharedMatrix matrix,
               FactorLayout layout, Value origin = {});

  /// The 4 registers of the left factor of rows `position` to `position` + 15,
  /// or twice 2 registers of the right factor, of columns `position` and
  /// `position` + 8 on, for the sums over `depth` on: a multiple of what one
  /// instruction sums. `offset` bytes (i32, may be null) are added to all
  /// addresses. Elements of f32 are not rounded.
  SmallVector<Value> load(int64_t position, int64_t depth, Value offset = {});

private:
  GpuKernelBuilder &kernel;
  SharedMatrix matrix;
  /// Rows run along the product, not along the sums.
  bool transposed;
  /// Of this thread: bytes of its row, and of its chunk (permuted) in the row.
  Value rowOffset, chunkOffset;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_MATRIXUNITS_H
