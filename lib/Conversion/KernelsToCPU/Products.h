//===- Products.h - Descriptors of matrix products -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOCPU_PRODUCTS_H
#define ACT_LIB_CONVERSION_KERNELSTOCPU_PRODUCTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// A sum of products as calls of act_cpu_gemm: one per index of the reduced
/// loops that are not part of one matrix dimension.
struct ProductCalls {
  /// As act-c/StepRuntime.h says. The first call adds to the destination only
  /// if the operation does, all others always do.
  SmallVector<int64_t> descriptor;
  /// Offsets of the operands in elements, one pair per call.
  SmallVector<std::pair<int64_t, int64_t>> offsets;
};

/// The calls for `op`, a contraction on buffers of known strides; nothing if no
/// few calls do it. `accumulates` tells whether the destination has been filled
/// with something other than zero.
std::optional<ProductCalls> getProductCalls(linalg::GenericOp op,
                                            bool accumulates);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOCPU_PRODUCTS_H
