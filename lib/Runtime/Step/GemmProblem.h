//===- GemmProblem.h - A matrix product read off its descriptor ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_GEMMPROBLEM_H
#define ACT_RUNTIME_STEP_GEMMPROBLEM_H

#include "act-c/StepRuntime.h"
#include <cstdint>
#include <string>
#include <utility>

namespace act::step {

/// Bytes of one element of a type of a descriptor.
inline int64_t getElementSize(int64_t dtype) {
  return dtype == ACT_CPU_F64 ? 8 : dtype == ACT_CPU_F32 ? 4 : 2;
}

struct BatchDimension {
  int64_t extent, a, b, c;
};

/// A matrix with strides in elements.
struct MatrixView {
  const void *data;
  int64_t rowStride, columnStride;
};

/// c[batch, m, n] (+)= a[batch, m, k] * b[batch, k, n].
struct GemmProblem {
  int64_t dtypeAB, dtypeC;
  int64_t m, n, k;
  int64_t aM, aK, bK, bN, cM, cN;
  bool accumulate;
  int64_t batchRank;
  BatchDimension batch[ACT_CPU_MAX_BATCH_RANK];

  /// The product of the extents of the batch dimensions.
  int64_t getBatchSize() const;
  double getFlops() const;
  /// Bytes of a, b and c, as if no element of them were used twice.
  double getBytes() const;
};

/// Reads `desc` into `problem`; the text says what is wrong with it, or is
/// empty.
std::string readGemm(const int64_t *desc, GemmProblem &problem);

/// Gives strides that are never used, of extents of 1, the values that they
/// have in dense matrices. `Product` is a GemmProblem or a GemmBlock.
template <typename Product>
void fixUnitStrides(Product &product) {
  if (product.k == 1)
    product.aK = product.aM == 1 ? product.m : 1;
  if (product.m == 1)
    product.aM = product.aK == 1 ? product.k : 1;
  if (product.k == 1)
    product.bK = product.bN == 1 ? product.n : 1;
  if (product.n == 1)
    product.bN = product.bK == 1 ? product.k : 1;
  if (product.n == 1)
    product.cN = product.cM == 1 && product.m > 1 ? product.m : 1;
  if (product.m == 1)
    product.cM = product.cN == 1 ? product.n : 1;
}

/// Exchanges the roles of a and b, and rows with columns of c, if c then has
/// rows of consecutive elements. Returns whether it did.
template <typename Product>
bool swapToConsecutiveRows(Product &product) {
  if (product.cN == 1 || product.cM != 1)
    return false;
  std::swap(product.m, product.n);
  std::swap(product.cM, product.cN);
  std::swap(product.aM, product.bN);
  std::swap(product.aK, product.bK);
  return true;
}

/// Brings `problem` to a form that more methods take, without changing what it
/// computes: strides of extents of 1 are those of dense matrices, batch
/// dimensions that others or m or n can absorb are gone, and c has rows rather
/// than columns of consecutive elements (by computing the transposed product).
/// Swaps `a` and `b` if that exchanges their roles.
void normalizeGemm(GemmProblem &problem, const void *&a, const void *&b);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_GEMMPROBLEM_H
