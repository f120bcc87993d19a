//===- TiledProduct.h - Products of matrices by blocks -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_TILEDPRODUCT_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_TILEDPRODUCT_H

#include "TileCopy.h"

namespace mlir::act {

/// How a block computes its part of a product.
struct TileShape {
  /// Of the part, and how many terms of the sums are in shared memory at once.
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t sums = 0;
  /// Into how many parts rows and columns are divided among warps, if tensor
  /// cores multiply, or else among threads.
  int64_t rowParts = 0;
  int64_t columnParts = 0;
  /// Parts of the factors that are in shared memory or on their way.
  int64_t stages = 2;
  bool matrixUnits = false;

  int64_t getThreads() const {
    return rowParts * columnParts * (matrixUnits ? warpThreads : 1);
  }
};

/// The shape for a product of `batch` matrices of factors of `elementType`. It
/// depends on nothing else, so that sums have the same order on all devices.
TileShape chooseTileShape(int64_t batch, int64_t rows, int64_t columns,
                          Type elementType, bool matrixUnits);

/// What is done with a block's part of a product.
struct TileEpilogue {
  int64_t rows = 0;
  int64_t columns = 0;
  /// Gets `values` (f32, or f64 if the factors are) of some consecutive
  /// columns, 2, 4 or 8, from (`row`, `column`) on, which is in the product
  /// (i32). Values from column `columns` on are to be ignored. Neighbouring
  /// threads have neighbouring columns.
  std::function<void(Value row, Value column, ArrayRef<Value> values)> emit;
};

/// Emits the product of `left` and `right`, whose sums have the same extent,
/// for the part from (`firstRow`, `firstColumn`) on. Sums start from zero; they
/// are of f64 if the factors are, else of f32. Factors of tensor cores have 16
/// bits, or are f32 and get rounded to tf32. `kernel` has as many threads as
/// `shape`.
void emitTiledProduct(GpuKernelBuilder &kernel, const TileShape &shape,
                      FactorAccess &left, FactorAccess &right, Value firstRow,
                      Value firstColumn, const TileEpilogue &epilogue);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_TILEDPRODUCT_H
