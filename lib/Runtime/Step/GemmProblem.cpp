//===- GemmProblem.cpp - A matrix product read off its descriptor
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GemmProblem.h"
#include <algorithm>
#include <utility>

using namespace act::step;

int64_t GemmProblem::getBatchSize() const {
  int64_t size = 1;
  for (int64_t i = 0; i < batchRank; ++i)
    size *= batch[i].extent;
  return size;
}

double GemmProblem::getFlops() const {
  return 2.0 * double(getBatchSize()) * double(m) * double(n) * double(k);
}

double GemmProblem::getBytes() const {
  double a = double(m) * double(k), b = double(k) * double(n),
         c = double(m) * double(n) * (accumulate ? 2 : 1);
  for (int64_t i = 0; i < batchRank; ++i) {
    double extent = double(batch[i].extent);
    a *= batch[i].a == 0 ? 1 : extent;
    b *= batch[i].b == 0 ? 1 : extent;
    c *= extent;
  }
  return (a + b) * double(getElementSize(dtypeAB)) +
         c * double(getElementSize(dtypeC));
}

static std::string expects(const char *what, int64_t got) {
  return std::string("expects ") + what + ", got " + std::to_string(got);
}

/// True if no two indices of c mean the same element, which holds if each
/// stride is at least as long as all smaller dimensions together.
static bool isInjective(const GemmProblem &problem) {
  std::pair<int64_t, int64_t> dimensions[ACT_CPU_MAX_BATCH_RANK + 2];
  int64_t count = 0;
  if (problem.m == 0 || problem.n == 0 || problem.getBatchSize() == 0)
    return true;
  auto add = [&](int64_t stride, int64_t extent) {
    if (extent > 1)
      dimensions[count++] = {stride, extent};
  };
  add(problem.cM, problem.m);
  add(problem.cN, problem.n);
  for (int64_t i = 0; i < problem.batchRank; ++i)
    add(problem.batch[i].c, problem.batch[i].extent);
  std::sort(dimensions, dimensions + count);
  int64_t reach = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (dimensions[i].first <= reach)
      return false;
    reach += dimensions[i].first * (dimensions[i].second - 1);
  }
  return true;
}

static std::string verifyTypes(const GemmProblem &problem) {
  if (problem.dtypeAB < ACT_CPU_F32 || problem.dtypeAB > ACT_CPU_F16)
    return expects("an element type of a and b from 0 to 3", problem.dtypeAB);
  bool isShort =
      problem.dtypeAB == ACT_CPU_BF16 || problem.dtypeAB == ACT_CPU_F16;
  if (problem.dtypeC != problem.dtypeAB &&
      !(isShort && problem.dtypeC == ACT_CPU_F32))
    return expects("the element type of a and b, or f32 for bf16 and f16, as "
                   "that of c",
                   problem.dtypeC);
  return "";
}

std::string act::step::readGemm(const int64_t *desc, GemmProblem &problem) {
  if (!desc)
    return "expects a descriptor, got null";
  if (desc[ACT_CPU_GEMM_DESC_VERSION] != ACT_CPU_GEMM_VERSION)
    return expects("version 1 of the descriptor",
                   desc[ACT_CPU_GEMM_DESC_VERSION]);
  problem.dtypeAB = desc[ACT_CPU_GEMM_DESC_DTYPE_AB];
  problem.dtypeC = desc[ACT_CPU_GEMM_DESC_DTYPE_C];
  if (std::string message = verifyTypes(problem); !message.empty())
    return message;
  problem.m = desc[ACT_CPU_GEMM_DESC_M];
  problem.n = desc[ACT_CPU_GEMM_DESC_N];
  problem.k = desc[ACT_CPU_GEMM_DESC_K];
  for (int64_t extent : {problem.m, problem.n, problem.k})
    if (extent < 0)
      return expects("m, n and k of at least 0", extent);
  problem.aM = desc[ACT_CPU_GEMM_DESC_A_M];
  problem.aK = desc[ACT_CPU_GEMM_DESC_A_K];
  problem.bK = desc[ACT_CPU_GEMM_DESC_B_K];
  problem.bN = desc[ACT_CPU_GEMM_DESC_B_N];
  problem.cM = desc[ACT_CPU_GEMM_DESC_C_M];
  problem.cN = desc[ACT_CPU_GEMM_DESC_C_N];
  int64_t accumulate = desc[ACT_CPU_GEMM_DESC_ACCUMULATE];
  if (accumulate != 0 && accumulate != 1)
    return expects("0 or 1 for accumulate", accumulate);
  problem.accumulate = accumulate == 1;
  problem.batchRank = desc[ACT_CPU_GEMM_DESC_BATCH_RANK];
  if (problem.batchRank < 0 || problem.batchRank > ACT_CPU_MAX_BATCH_RANK)
    return expects("0 to 16 batch dimensions", problem.batchRank);
  for (int64_t i = 0; i < problem.batchRank; ++i) {
    const int64_t *entry = desc + ACT_CPU_GEMM_DESC_BATCH + 4 * i;
    problem.batch[i] = {entry[0], entry[1], entry[2], entry[3]};
    if (entry[0] < 0)
      return expects("extents of batch dimensions of at least 0", entry[0]);
  }
  if (!isInjective(problem))
    return "expects positive strides of c that keep its elements apart";
  return "";
}

/// Merges dimensions of the batch that are one dimension in a, b and c.
static void mergeBatch(GemmProblem &problem) {
  BatchDimension *begin = problem.batch;
  BatchDimension *end =
      std::remove_if(begin, begin + problem.batchRank,
                     [](const BatchDimension &dim) { return dim.extent == 1; });
  std::sort(begin, end, [](const BatchDimension &x, const BatchDimension &y) {
    return x.c > y.c;
  });
  int64_t count = 0;
  for (BatchDimension *inner = begin; inner != end; ++inner) {
    if (count > 0) {
      BatchDimension &outer = begin[count - 1];
      if (outer.a == inner->a * inner->extent &&
          outer.b == inner->b * inner->extent &&
          outer.c == inner->c * inner->extent) {
        *inner = {outer.extent * inner->extent, inner->a, inner->b, inner->c};
        --count;
      }
    }
    begin[count++] = *inner;
  }
  problem.batchRank = count;
}

/// Makes a batch dimension with one matrix b a part of m (then all rows share
/// one product), and one with one matrix a a part of n.
static void absorbBatch(GemmProblem &problem) {
  while (problem.batchRank > 0) {
    const BatchDimension &dim = problem.batch[problem.batchRank - 1];
    if (dim.b == 0 && dim.a == problem.aM * problem.m &&
        dim.c == problem.cM * problem.m)
      problem.m *= dim.extent;
    else if (dim.a == 0 && dim.b == problem.bN * problem.n &&
             dim.c == problem.cN * problem.n)
      problem.n *= dim.extent;
    else
      return;
    --problem.batchRank;
  }
}

void act::step::normalizeGemm(GemmProblem &problem, const void *&a,
                              const void *&b) {
  mergeBatch(problem);
  absorbBatch(problem);
  fixUnitStrides(problem);
  if (!swapToConsecutiveRows(problem))
    return;
  std::swap(a, b);
  for (int64_t i = 0; i < problem.batchRank; ++i)
    std::swap(problem.batch[i].a, problem.batch[i].b);
}
