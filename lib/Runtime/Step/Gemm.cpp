//===- Gemm.cpp - Matrix products on one thread and on several ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gemm.h"
#include "Check.h"
#include "Context.h"
#include "Libraries.h"
#include <algorithm>
#include <utility>

using namespace act::step;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static bool isShort(int64_t dtype) {
  return dtype == ACT_CPU_BF16 || dtype == ACT_CPU_F16;
}

int64_t GemmPlan::countPieces(const GemmProblem &problem) const {
  return divideUp(problem.getBatchSize(), batchBlock) *
         divideUp(problem.m, mBlock) * divideUp(problem.n, nBlock);
}

/// The whole product of one index of the batch, without pointers.
static GemmBlock getWholeBlock(const GemmProblem &problem) {
  return {problem.dtypeAB, problem.m,         problem.n,  problem.k,
          nullptr,         problem.aM,        problem.aK, nullptr,
          problem.bK,      problem.bN,        nullptr,    problem.cM,
          problem.cN,      problem.accumulate};
}

/// Few rows or few terms: each element of b, or of c, is used too seldom for
/// packing to pay.
static bool isThin(const GemmBlock &block) {
  if (isShort(block.dtype))
    return false;
  if (block.bN == 1 && block.cN == 1)
    return block.m <= 8 || block.k <= 8;
  return block.m <= 8 && block.bK == 1 && block.aK == 1;
}

/// Which of the methods is fastest, as benchmarks/kernels measured them. With
/// vectors of 64 bytes oneDNN is a sixth faster than OpenBLAS, and several
/// times for thin products, but slow to start; with shorter vectors it is not
/// faster.
GemmMethod act::step::chooseMethod(const GemmBlock &block) {
  bool isDense = isBlasForm(block);
  if (isShort(block.dtype))
    return block.dtype == ACT_CPU_BF16 && isDense && hasFastBFloat16()
               ? GemmMethod::OneDnnShort
               : GemmMethod::Packed;
  double flops = 2.0 * double(block.m) * double(block.n) * double(block.k);
  constexpr double tiny = 2.0 * 64 * 64 * 64;
  if (isDense && block.dtype == ACT_CPU_F32 && hasAvx512() &&
      !(flops <= tiny && hasOpenBlas()))
    return GemmMethod::OneDnn;
  if (isThin(block))
    return GemmMethod::InPlace;
  if (!isDense)
    return GemmMethod::Packed;
  if (hasOpenBlas())
    return GemmMethod::OpenBlas;
  return block.dtype == ACT_CPU_F32 && hasOneDnn() ? GemmMethod::OneDnn
                                                   : GemmMethod::Packed;
}

/// What one index of the batch costs, in the operations that could be done in
/// that time: thin products wait for memory.
static double estimateWork(const GemmProblem &problem) {
  constexpr double operationsPerByte = 10;
  double batch = double(problem.getBatchSize());
  return std::max(problem.getFlops(), operationsPerByte * problem.getBytes()) /
         batch;
}

/// Halves blocks of `extent`, in multiples of what fills a vector, as long as
/// there are fewer than `pieces`, each costs at least twice `smallestWork` and
/// the halves have `smallestBlock`.
static void halveBlock(int64_t &block, double &work, int64_t &count,
                       int64_t pieces, double smallestWork,
                       int64_t smallestBlock) {
  constexpr int64_t alignment = 16;
  while (count < pieces && work >= 2 * smallestWork &&
         block >= 2 * smallestBlock) {
    block = divideUp(divideUp(block, 2), alignment) * alignment;
    work /= 2;
    count *= 2;
  }
}

GemmPlan act::step::planGemm(const GemmProblem &problem) {
  GemmPlan plan{chooseMethod(getWholeBlock(problem)), 1,
                std::max<int64_t>(problem.m, 1),
                std::max<int64_t>(problem.n, 1)};
  int64_t batch = problem.getBatchSize();
  if (batch == 0)
    return plan;
  // A piece of about 10 microseconds is worth handing to another thread, but
  // each packs again what it shares with others: blocks of rows share b, which
  // costs little, blocks of columns a, which costs up to a fifth; more if a has
  // to be transposed.
  constexpr double smallWork = 1 << 20, largeWork = 1 << 28;
  const int64_t fewPieces = problem.aK == 1 ? 4 : 2, manyPieces = 64;
  double work = estimateWork(problem);
  if (work < smallWork)
    plan.batchBlock =
        std::clamp<int64_t>(int64_t(smallWork / std::max(work, 1.0)), 1, batch);
  int64_t count = divideUp(batch, plan.batchBlock);
  halveBlock(plan.mBlock, work, count, fewPieces, smallWork, 64);
  halveBlock(plan.nBlock, work, count, fewPieces, smallWork, 64);
  halveBlock(plan.mBlock, work, count, manyPieces, largeWork, 512);
  halveBlock(plan.nBlock, work, count, manyPieces, largeWork, 512);
  return plan;
}

void act::step::normalizeBlock(GemmBlock &block) {
  fixUnitStrides(block);
  if (swapToConsecutiveRows(block))
    std::swap(block.a, block.b);
}

void act::step::computeBlock(Context &context, GemmMethod method,
                             const GemmBlock &block, int64_t thread) {
  bool done = true;
  switch (method) {
  case GemmMethod::InPlace:
    return getVectorKernels().gemmInPlace(block);
  case GemmMethod::OneDnn:
    done = computeOneDnn(block);
    break;
  case GemmMethod::OneDnnShort:
    done = computeOneDnnShort(context, block, thread);
    break;
  case GemmMethod::OpenBlas:
    done = computeOpenBlas(block);
    break;
  case GemmMethod::Packed: {
    const VectorKernels &kernels = getVectorKernels();
    void *workspace =
        context.getWorkspace(thread).get(kernels.gemmWorkspaceBytes);
    if (!workspace)
      return context.report("out of memory for the panels of a product");
    return kernels.gemm(block, workspace);
  }
  }
  if (!done)
    context.report("a library of matrix products failed");
}

/// Computes a block whose c is bf16 or f16, through sums in f32 on the side.
static void computeShortBlock(Context &context, GemmMethod method,
                              GemmBlock block, int64_t dtypeC, int64_t thread) {
  const VectorKernels &kernels = getVectorKernels();
  float *sums = static_cast<float *>(context.getResultWorkspace(thread).get(
      block.m * block.n * int64_t(sizeof(float))));
  if (!sums)
    return context.report("out of memory for the sums of a product");
  uint16_t *c = static_cast<uint16_t *>(block.c);
  int64_t cM = block.cM, cN = block.cN;
  if (block.accumulate)
    for (int64_t i = 0; i < block.m; ++i)
      kernels.loadShort(dtypeC, c + i * cM, cN, sums + i * block.n, block.n);
  block.c = sums;
  block.cM = block.n;
  block.cN = 1;
  computeBlock(context, method, block, thread);
  for (int64_t i = 0; i < block.m; ++i)
    kernels.storeShort(dtypeC, sums + i * block.n, c + i * cM, cN, block.n);
}

namespace {
/// A product under way.
struct GemmRun {
  Context &context;
  const GemmProblem &problem;
  GemmPlan plan;
  const char *a, *b;
  char *c;

  void computePiece(int64_t piece, int64_t thread) const;
  void computeBatch(GemmBlock block, int64_t index, int64_t thread) const;
};
} // namespace

void GemmRun::computePiece(int64_t piece, int64_t thread) const {
  int64_t rows = divideUp(problem.m, plan.mBlock);
  int64_t columns = divideUp(problem.n, plan.nBlock);
  int64_t row = piece % rows * plan.mBlock;
  int64_t column = piece / rows % columns * plan.nBlock;
  int64_t batch = piece / rows / columns * plan.batchBlock;
  int64_t sizeAB = getElementSize(problem.dtypeAB);
  int64_t sizeC = getElementSize(problem.dtypeC);
  GemmBlock block = getWholeBlock(problem);
  block.m = std::min(plan.mBlock, problem.m - row);
  block.n = std::min(plan.nBlock, problem.n - column);
  block.a = a + row * problem.aM * sizeAB;
  block.b = b + column * problem.bN * sizeAB;
  block.c = c + (row * problem.cM + column * problem.cN) * sizeC;
  int64_t end = std::min(problem.getBatchSize(), batch + plan.batchBlock);
  for (; batch < end; ++batch)
    computeBatch(block, batch, thread);
}

void GemmRun::computeBatch(GemmBlock block, int64_t index,
                           int64_t thread) const {
  int64_t offsetA = 0, offsetB = 0, offsetC = 0;
  for (int64_t i = problem.batchRank; i-- > 0;) {
    const BatchDimension &dim = problem.batch[i];
    int64_t position = index % dim.extent;
    index /= dim.extent;
    offsetA += position * dim.a;
    offsetB += position * dim.b;
    offsetC += position * dim.c;
  }
  block.a = static_cast<const char *>(block.a) +
            offsetA * getElementSize(problem.dtypeAB);
  block.b = static_cast<const char *>(block.b) +
            offsetB * getElementSize(problem.dtypeAB);
  block.c =
      static_cast<char *>(block.c) + offsetC * getElementSize(problem.dtypeC);
  if (isShort(problem.dtypeC))
    computeShortBlock(context, plan.method, block, problem.dtypeC, thread);
  else
    computeBlock(context, plan.method, block, thread);
}

void act::step::runGemm(Context &context, const char *name,
                        const GemmProblem &problem, const void *a,
                        const void *b, void *c) {
  if (problem.m == 0 || problem.n == 0 || problem.getBatchSize() == 0)
    return;
  GemmRun run{context,
              problem,
              planGemm(problem),
              static_cast<const char *>(a),
              static_cast<const char *>(b),
              static_cast<char *>(c)};
  // Libraries need not define what an empty sum is.
  if (problem.k == 0)
    run.plan.method = GemmMethod::Packed;
  runPieces(
      context, run.plan.countPieces(problem), name,
      [&](int64_t piece, int64_t thread) { run.computePiece(piece, thread); });
}

/// Searches c, whatever its strides, for values that are not finite.
static void checkResult(Context &context, const char *name,
                        const GemmProblem &problem, const void *c) {
  int64_t size = getElementSize(problem.dtypeC);
  int64_t count = problem.getBatchSize() * problem.m;
  for (int64_t row = 0; row < count && !context.hasError(); ++row) {
    int64_t offset = row % problem.m * problem.cM, index = row / problem.m;
    for (int64_t i = problem.batchRank; i-- > 0;) {
      offset += index % problem.batch[i].extent * problem.batch[i].c;
      index /= problem.batch[i].extent;
    }
    const char *begin = static_cast<const char *>(c) + offset * size;
    if (problem.cN == 1) {
      checkValues(context, name, problem.dtypeC, begin, problem.n);
      continue;
    }
    for (int64_t i = 0; i < problem.n; ++i)
      checkValues(context, name, problem.dtypeC, begin + i * problem.cN * size,
                  1);
  }
}

const char *act_cpu_gemm_verify(const int64_t *desc) {
  thread_local std::string message;
  GemmProblem problem;
  message = readGemm(desc, problem);
  return message.empty() ? nullptr : message.c_str();
}

void act_cpu_gemm(void *context, const char *name, const int64_t *desc,
                  const void *a, const void *b, void *c) {
  if (!isUsable(context, name))
    return;
  Context &owner = Context::from(context);
  GemmProblem problem;
  std::string message = readGemm(desc, problem);
  if (message.empty() && !c)
    message = "expects a result, got null";
  if (!message.empty())
    return owner.report("product '" + std::string(name ? name : "") + "' " +
                        message);
  TraceSpan span(owner.getTrace(), name, "gemm");
  span.setWork(problem.getFlops(), problem.getBytes());
  normalizeGemm(problem, a, b);
  runGemm(owner, name, problem, a, b, c);
  if (owner.isChecking())
    checkResult(owner, name, problem, c);
}
