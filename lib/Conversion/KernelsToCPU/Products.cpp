//===- Products.cpp - Descriptors of matrix products ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Products.h"
#include "KernelFunction.h"
#include "act-c/StepRuntime.h"

using namespace mlir;
using namespace mlir::act;

/// Most calls for one operation.
static constexpr int64_t mostCalls = 64;

namespace {
/// Loops that go through memory as one, with the strides in a, b and c.
struct Dimension {
  int64_t extent = 1;
  std::array<int64_t, 3> strides = {0, 0, 0};
};
} // namespace

static std::optional<int64_t> getTypeCode(Type type) {
  if (type.isF32())
    return ACT_CPU_F32;
  if (type.isF64())
    return ACT_CPU_F64;
  if (type.isBF16())
    return ACT_CPU_BF16;
  if (type.isF16())
    return ACT_CPU_F16;
  return std::nullopt;
}

/// Strides of every loop in the three operands.
static std::optional<SmallVector<Dimension>> getLoops(linalg::GenericOp op) {
  SmallVector<Dimension> loops(op.getNumLoops());
  for (auto [loop, extent] : llvm::zip_equal(loops, op.getStaticLoopRanges()))
    loop.extent = extent;
  for (auto [i, operand] : llvm::enumerate(op->getOpOperands())) {
    FailureOr<SmallVector<int64_t>> strides =
        getKnownStrides(cast<MemRefType>(operand.get().getType()));
    if (failed(strides))
      return std::nullopt;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, stride] : llvm::zip_equal(map.getResults(), *strides))
      loops[cast<AffineDimExpr>(expr).getPosition()].strides[i] += stride;
  }
  return loops;
}

/// As few dimensions as possible for the loops `group`, longest strides first.
static SmallVector<Dimension> merge(ArrayRef<unsigned> group,
                                    ArrayRef<Dimension> loops) {
  SmallVector<Dimension> merged;
  for (unsigned loop : group)
    if (loops[loop].extent != 1)
      merged.push_back(loops[loop]);
  llvm::stable_sort(merged, [](const Dimension &a, const Dimension &b) {
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

/// Takes the dimension with most iterations out of `dims`; the others are added
/// to `rest`.
static Dimension takeLargest(SmallVector<Dimension> dims,
                             SmallVectorImpl<Dimension> &rest) {
  if (dims.empty())
    return {};
  auto largest = llvm::max_element(
      dims, [](const auto &a, const auto &b) { return a.extent < b.extent; });
  Dimension taken = *largest;
  dims.erase(largest);
  llvm::append_range(rest, dims);
  return taken;
}

/// Offsets in a and b of every index of `dims`.
static SmallVector<std::pair<int64_t, int64_t>>
getOffsets(ArrayRef<Dimension> dims) {
  SmallVector<std::pair<int64_t, int64_t>> offsets = {{0, 0}};
  for (const Dimension &dim : dims) {
    SmallVector<std::pair<int64_t, int64_t>> next;
    for (auto [a, b] : offsets)
      for (int64_t i = 0; i < dim.extent; ++i)
        next.push_back({a + i * dim.strides[0], b + i * dim.strides[1]});
    offsets = std::move(next);
  }
  return offsets;
}

std::optional<ProductCalls> mlir::act::getProductCalls(linalg::GenericOp op,
                                                       bool accumulates) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  std::optional<SmallVector<Dimension>> loops = getLoops(op);
  auto type = [&](unsigned i) {
    return getTypeCode(getElementTypeOrSelf(op->getOperand(i)));
  };
  if (failed(dims) || !loops || !type(0) || type(0) != type(1) || !type(2) ||
      (type(2) != type(0) && type(2) != ACT_CPU_F32))
    return std::nullopt;
  SmallVector<Dimension> batch = merge(dims->batch, *loops), calls;
  Dimension m = takeLargest(merge(dims->m, *loops), batch);
  Dimension n = takeLargest(merge(dims->n, *loops), batch);
  Dimension k = takeLargest(merge(dims->k, *loops), calls);
  int64_t count = 1;
  for (const Dimension &dim : calls)
    count *= dim.extent;
  if (count > mostCalls || batch.size() > ACT_CPU_MAX_BATCH_RANK)
    return std::nullopt;
  ProductCalls product;
  product.offsets = getOffsets(calls);
  product.descriptor = {ACT_CPU_GEMM_VERSION,
                        *type(0),
                        *type(2),
                        m.extent,
                        n.extent,
                        k.extent,
                        m.strides[0],
                        k.strides[0],
                        k.strides[1],
                        n.strides[1],
                        m.strides[2],
                        n.strides[2],
                        accumulates,
                        static_cast<int64_t>(batch.size())};
  for (const Dimension &dim : batch)
    product.descriptor.append(
        {dim.extent, dim.strides[0], dim.strides[1], dim.strides[2]});
  return product;
}
