//===- ProductLoops.cpp - Loops of a sum of products -===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/ProductLoops.h"
#include "act/Conversion/KernelUtils/Memory.h"

using namespace mlir;
using namespace mlir::act;

std::optional<SmallVector<ProductLoop>>
mlir::act::getProductLoops(linalg::GenericOp op) {
  SmallVector<ProductLoop> loops(op.getNumLoops());
  for (auto [loop, extent] : llvm::zip_equal(loops, op.getStaticLoopRanges()))
    loop.extent = extent;
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      return std::nullopt;
    FailureOr<SmallVector<int64_t>> strides = getKnownStrides(type);
    if (failed(strides))
      return std::nullopt;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), *strides)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        return std::nullopt;
      loops[dim.getPosition()].strides[i] += stride;
    }
  }
  return loops;
}

SmallVector<ProductLoop>
mlir::act::mergeProductLoops(ArrayRef<unsigned> group,
                             ArrayRef<ProductLoop> loops) {
  SmallVector<ProductLoop> merged;
  for (unsigned loop : group)
    if (loops[loop].extent != 1)
      merged.push_back(loops[loop]);
  llvm::stable_sort(merged, [](const ProductLoop &a, const ProductLoop &b) {
    return *llvm::max_element(a.strides) > *llvm::max_element(b.strides);
  });
  for (size_t i = 0; i + 1 < merged.size();) {
    bool adjacent = true;
    for (int k = 0; k < 3; ++k)
      adjacent &= merged[i].strides[k] ==
                  merged[i + 1].strides[k] * merged[i + 1].extent;
    if (!adjacent) {
      ++i;
      continue;
    }
    merged[i + 1].extent *= merged[i].extent;
    merged.erase(merged.begin() + i);
  }
  return merged;
}
