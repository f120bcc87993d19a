//===- StoreProduct.h - Results of products to memory -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_STOREPRODUCT_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_STOREPRODUCT_H

#include "TiledProduct.h"

namespace mlir::act {

/// Stores a product to `out`, whose rows are outer positions and whose columns
/// are those along sums, rounded to its element type; or adds it to what is
/// there, before rounding. `kernel` and `out` live as long as the epilogue.
TileEpilogue getStoreEpilogue(GpuKernelBuilder &kernel, FactorAccess &out,
                              bool adds);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_STOREPRODUCT_H
