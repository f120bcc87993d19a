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
#include "act/Conversion/KernelUtils/ProductLoops.h"

using namespace mlir;
using namespace mlir::act;

/// Most calls for one operation.
static constexpr int64_t mostCalls = 64;

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

/// Takes the dimension with most iterations out of `dims`; the others are added
/// to `rest`.
static ProductLoop takeLargest(SmallVector<ProductLoop> dims,
                               SmallVectorImpl<ProductLoop> &rest) {
  if (dims.empty())
    return {};
  auto largest = llvm::max_element(
      dims, [](const auto &a, const auto &b) { return a.extent < b.extent; });
  ProductLoop taken = *largest;
  dims.erase(largest);
  llvm::append_range(rest, dims);
  return taken;
}

/// Offsets in a and b of every index of `dims`.
static SmallVector<std::pair<int64_t, int64_t>>
getOffsets(ArrayRef<ProductLoop> dims) {
  SmallVector<std::pair<int64_t, int64_t>> offsets = {{0, 0}};
  for (const ProductLoop &dim : dims) {
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
  std::optional<SmallVector<ProductLoop>> loops = getProductLoops(op);
  auto type = [&](unsigned i) {
    return getTypeCode(getElementTypeOrSelf(op->getOperand(i)));
  };
  if (failed(dims) || !loops || !type(0) || type(0) != type(1) || !type(2) ||
      (type(2) != type(0) && type(2) != ACT_CPU_F32))
    return std::nullopt;
  SmallVector<ProductLoop> batch = mergeProductLoops(dims->batch, *loops),
                           calls;
  ProductLoop m = takeLargest(mergeProductLoops(dims->m, *loops), batch);
  ProductLoop n = takeLargest(mergeProductLoops(dims->n, *loops), batch);
  ProductLoop k = takeLargest(mergeProductLoops(dims->k, *loops), calls);
  int64_t count = 1;
  for (const ProductLoop &dim : calls)
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
  for (const ProductLoop &dim : batch)
    product.descriptor.append(
        {dim.extent, dim.strides[0], dim.strides[1], dim.strides[2]});
  return product;
}
