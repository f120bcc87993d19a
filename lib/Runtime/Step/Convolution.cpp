//===- Convolution.cpp - Convolutions on several threads ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Check.h"
#include "Context.h"
#include "ConvolutionCopies.h"
#include "ConvolutionPlan.h"
#include <algorithm>

using namespace act::step;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

namespace {
/// A convolution under way.
struct ConvolutionRun {
  Context &context;
  const char *name;
  const ConvolutionPlan &plan;
  const char *lhs, *rhs;
  char *out, *scratch;
  /// How many have scratch.
  int64_t threads;

  void run() const;

private:
  /// Where a piece is.
  struct Piece {
    int64_t row, rows, column, columns, term, termEnd, split;
  };

  const ConvolutionPart &findPart(int64_t piece) const;
  Piece locate(const ConvolutionPart &part, int64_t index) const;
  void computePiece(int64_t index, int64_t thread) const;
  /// The result of a piece: in out, or on the side.
  void placeResult(const ConvolutionPart &part, const Piece &piece,
                   char *threadScratch, GemmBlock &block) const;
  void computeTerms(const ConvolutionPart &part, const Piece &piece,
                    char *threadScratch, GemmBlock block, int64_t thread) const;
  void placeLhs(const ConvolutionPart &part, const Piece &piece, int64_t term,
                char *threadScratch, GemmBlock &block) const;
  void fillResult() const;
  void addSplits(const ConvolutionPart &part) const;
  /// Writes sums of `columns` columns from `column` on to row `row` of out.
  void storeRow(const SubConvolution &sub, int64_t row, int64_t column,
                int64_t columns, const void *sums) const;

  int64_t getSize() const { return getElementSize(plan.problem.dtype); }
  int64_t getOutSize() const { return getElementSize(plan.problem.dtypeOut); }
};
} // namespace

const ConvolutionPart &ConvolutionRun::findPart(int64_t piece) const {
  auto after = std::upper_bound(plan.parts.begin(), plan.parts.end(), piece,
                                [](int64_t piece, const ConvolutionPart &part) {
                                  return piece < part.firstPiece;
                                });
  return *(after - 1);
}

ConvolutionRun::Piece ConvolutionRun::locate(const ConvolutionPart &part,
                                             int64_t index) const {
  const SubConvolution &sub = part.sub;
  const ConvolutionBlocks &blocks = part.blocks;
  int64_t segment = blocks.writesOutInPlace
                        ? sub.rows.getSizeFrom(sub.rows.getMergedInOther())
                        : sub.rows.getSize();
  int64_t rowBlocks = divideUp(segment, blocks.rowBlock);
  int64_t segments = sub.rows.getSize() / segment;
  int64_t columnBlocks = divideUp(sub.columns, blocks.columnBlock);
  Piece piece{};
  int64_t rowInside = index % rowBlocks * blocks.rowBlock;
  index /= rowBlocks;
  piece.row = index % segments * segment + rowInside;
  piece.rows = std::min(blocks.rowBlock, segment - rowInside);
  index /= segments;
  piece.column = index % columnBlocks * blocks.columnBlock;
  piece.columns = std::min(blocks.columnBlock, sub.columns - piece.column);
  piece.split = index / columnBlocks;
  int64_t terms = sub.terms.getSize();
  piece.term = terms * piece.split / blocks.splits;
  piece.termEnd = terms * (piece.split + 1) / blocks.splits;
  return piece;
}

void ConvolutionRun::placeResult(const ConvolutionPart &part,
                                 const Piece &piece, char *threadScratch,
                                 GemmBlock &block) const {
  const SubConvolution &sub = part.sub;
  if (part.blocks.splits > 1) {
    int64_t rows = sub.rows.getSize();
    block.cM = sub.columns;
    block.cN = 1;
    block.c = scratch + part.partialSums +
              ((piece.split * rows + piece.row) * sub.columns + piece.column) *
                  plan.getSumSize();
    return;
  }
  if (!part.blocks.writesOutInPlace) {
    block.cM = piece.columns;
    block.cN = 1;
    block.c = threadScratch + plan.sumsOffset;
    return;
  }
  block.cM = sub.rows.count > 0 ? sub.rows.axes[sub.rows.count - 1].otherStride
                                : sub.columns * sub.outColumn;
  block.cN = sub.outColumn;
  block.c = out + (sub.outOffset + sub.rows.getOtherOffset(piece.row) +
                   piece.column * sub.outColumn) *
                      getOutSize();
}

void ConvolutionRun::placeLhs(const ConvolutionPart &part, const Piece &piece,
                              int64_t term, char *threadScratch,
                              GemmBlock &block) const {
  const SubConvolution &sub = part.sub;
  if (part.blocks.readsLhsInPlace) {
    block.aM =
        sub.rows.count > 0 ? sub.rows.axes[sub.rows.count - 1].lhsStride : 1;
    block.aK =
        sub.terms.count > 0 ? sub.terms.axes[sub.terms.count - 1].lhsStride : 1;
    block.a = lhs + (sub.lhsOffset + sub.rows.getLhsOffset(piece.row) +
                     sub.terms.getLhsOffset(term)) *
                        getSize();
    return;
  }
  packLhs(sub, {piece.row, block.m, term, block.k}, part.blocks.packsRowsInside,
          getSize(), lhs, threadScratch);
  block.a = threadScratch;
  block.aM = part.blocks.packsRowsInside ? 1 : block.k;
  block.aK = part.blocks.packsRowsInside ? block.m : 1;
}

void ConvolutionRun::computeTerms(const ConvolutionPart &part,
                                  const Piece &piece, char *threadScratch,
                                  GemmBlock block, int64_t thread) const {
  const SubConvolution &sub = part.sub;
  int64_t inner = sub.terms.getSizeFrom(part.blocks.mergedTerms);
  for (int64_t term = piece.term; term < piece.termEnd;) {
    int64_t segmentEnd = (term / inner + 1) * inner;
    block.k = std::min(
        {part.blocks.termBlock, segmentEnd - term, piece.termEnd - term});
    placeLhs(part, piece, term, threadScratch, block);
    if (part.blocks.packsRhs) {
      block.b = scratch + part.packedRhs +
                (term * sub.columns + piece.column) * getSize();
      block.bK = sub.columns;
      block.bN = 1;
    } else {
      block.b = rhs + (sub.rhsOffset + sub.terms.getOtherOffset(term) +
                       piece.column * sub.rhsColumn) *
                          getSize();
      block.bK = sub.terms.count > 0
                     ? sub.terms.axes[sub.terms.count - 1].otherStride
                     : 1;
      block.bN = sub.rhsColumn;
    }
    GemmBlock normal = block;
    normalizeBlock(normal);
    computeBlock(context, chooseMethod(normal), normal, thread);
    block.accumulate = true;
    term += block.k;
  }
}

void ConvolutionRun::computePiece(int64_t index, int64_t thread) const {
  const ConvolutionPart &part = findPart(index);
  Piece piece = locate(part, index - part.firstPiece);
  char *threadScratch = scratch + plan.sharedBytes + thread * plan.threadBytes;
  GemmBlock block{};
  block.dtype = plan.problem.dtype;
  block.m = piece.rows;
  block.n = piece.columns;
  placeResult(part, piece, threadScratch, block);
  computeTerms(part, piece, threadScratch, block, thread);
  if (part.blocks.writesOutInPlace || part.blocks.splits > 1)
    return;
  const char *sums = static_cast<const char *>(block.c);
  for (int64_t i = 0; i < piece.rows; ++i)
    storeRow(part.sub, piece.row + i, piece.column, piece.columns,
             sums + i * piece.columns * plan.getSumSize());
}

template <typename T>
static void storeStrided(const void *from, void *to, int64_t stride,
                         int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    static_cast<T *>(to)[i * stride] = static_cast<const T *>(from)[i];
}

void ConvolutionRun::storeRow(const SubConvolution &sub, int64_t row,
                              int64_t column, int64_t columns,
                              const void *sums) const {
  char *to = out + (sub.outOffset + sub.rows.getOtherOffset(row) +
                    column * sub.outColumn) *
                       getOutSize();
  if (plan.hasShortResult())
    getVectorKernels().storeShort(plan.problem.dtypeOut,
                                  static_cast<const float *>(sums), to,
                                  sub.outColumn, columns);
  else if (plan.problem.dtypeOut == ACT_CPU_F64)
    storeStrided<double>(sums, to, sub.outColumn, columns);
  else
    storeStrided<float>(sums, to, sub.outColumn, columns);
}

template <typename T>
static void addPartialSums(T *sums, int64_t stride, int64_t splits,
                           int64_t count) {
  for (int64_t split = 1; split < splits; ++split)
    for (int64_t i = 0; i < count; ++i)
      sums[i] += sums[split * stride + i];
}

void ConvolutionRun::addSplits(const ConvolutionPart &part) const {
  const SubConvolution &sub = part.sub;
  int64_t rows = sub.rows.getSize();
  // About 64 KiB for each piece.
  int64_t rowsAtOnce = std::max<int64_t>(1, 16384 / sub.columns);
  runPieces(
      context, divideUp(rows, rowsAtOnce), name, [&](int64_t piece, int64_t) {
        int64_t begin = piece * rowsAtOnce;
        int64_t end = std::min(rows, begin + rowsAtOnce);
        char *sums = scratch + part.partialSums +
                     begin * sub.columns * plan.getSumSize();
        int64_t count = (end - begin) * sub.columns;
        if (plan.problem.dtype == ACT_CPU_F64)
          addPartialSums(reinterpret_cast<double *>(sums), rows * sub.columns,
                         part.blocks.splits, count);
        else
          addPartialSums(reinterpret_cast<float *>(sums), rows * sub.columns,
                         part.blocks.splits, count);
        for (int64_t row = begin; row < end; ++row)
          storeRow(sub, row, 0, sub.columns,
                   sums + (row - begin) * sub.columns * plan.getSumSize());
      });
}

/// The dimensions of out.
static AxisList getOutAxes(const ConvolutionProblem &problem) {
  AxisList axes;
  axes.add({problem.getOutBatch(), 0, problem.outBatch, -1, 0});
  for (int64_t i = 0; i < problem.rank; ++i)
    axes.add(
        {problem.spatial[i].outSize, 0, problem.spatial[i].outStride, -1, 0});
  return axes;
}

void ConvolutionRun::fillResult() const {
  const ConvolutionProblem &problem = plan.problem;
  AxisList axes = getOutAxes(problem);
  axes.normalize();
  AxisList columns;
  columns.add({problem.outputFeatures, 0, problem.outFeature, -1, 0});
  // Whichever is consecutive is the inner loop.
  bool hasDenseColumns = problem.outFeature == 1;
  const AxisList &inner = hasDenseColumns ? columns : axes;
  const AxisList &outer = hasDenseColumns ? axes : columns;
  constexpr int64_t elementsAtOnce = 1 << 16;
  int64_t count = outer.getSize(), size = inner.getSize();
  int64_t atOnce =
      std::max<int64_t>(1, elementsAtOnce / std::max<int64_t>(1, size));
  runPieces(context, divideUp(count, atOnce), name,
            [&](int64_t piece, int64_t) {
              int64_t end = std::min(count, (piece + 1) * atOnce);
              for (int64_t i = piece * atOnce; i < end; ++i)
                fillZero(inner, 0, size, getOutSize(),
                         out + outer.getOtherOffset(i) * getOutSize());
            });
}

void ConvolutionRun::run() const {
  if (plan.fillsZero)
    fillResult();
  bool packsRhs = false;
  for (const ConvolutionPart &part : plan.parts)
    packsRhs |= part.blocks.packsRhs;
  if (packsRhs)
    runPieces(context, int64_t(plan.parts.size()), name,
              [&](int64_t index, int64_t) {
                const ConvolutionPart &part = plan.parts[size_t(index)];
                if (part.blocks.packsRhs)
                  packRhs(part.sub, getSize(), rhs, scratch + part.packedRhs);
              });
  runPieces(
      context, plan.pieces, name,
      [&](int64_t piece, int64_t thread) { computePiece(piece, thread); },
      threads);
  for (const ConvolutionPart &part : plan.parts)
    if (part.blocks.splits > 1)
      addSplits(part);
}

/// The plan for `problem`, made once.
static const ConvolutionPlan &getPlan(Context &context, const int64_t *desc,
                                      const ConvolutionProblem &problem) {
  PrimitiveCache::Key key(desc, desc + ACT_CPU_CONVOLUTION_DESC_SPATIAL +
                                    problem.rank *
                                        ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE);
  // Plans do not depend on it.
  key[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES] = 0;
  return *static_cast<ConvolutionPlan *>(context.getPrimitives().get(
      key, [&] { return std::make_unique<ConvolutionPlan>(problem); }));
}

static void checkResult(Context &context, const char *name,
                        const ConvolutionProblem &problem, const void *out) {
  AxisList axes = getOutAxes(problem);
  int64_t size = getElementSize(problem.dtypeOut);
  for (int64_t i = 0; i < axes.getSize(); ++i)
    for (int64_t o = 0; o < problem.outputFeatures && !context.hasError(); ++o)
      checkValues(context, name, problem.dtypeOut,
                  static_cast<const char *>(out) +
                      (axes.getOtherOffset(i) + o * problem.outFeature) * size,
                  1);
}

void act_cpu_convolution(void *context, const char *name, const int64_t *desc,
                         const void *lhs, const void *rhs, void *out,
                         void *scratch) {
  if (!isUsable(context, name))
    return;
  Context &owner = Context::from(context);
  ConvolutionProblem problem;
  std::string message = readConvolution(desc, problem);
  auto report = [&] {
    owner.report("convolution '" + std::string(name ? name : "") + "' " +
                 message);
  };
  if (!message.empty())
    return report();
  TraceSpan span(owner.getTrace(), name, "convolution");
  span.setWork(problem.getFlops(), problem.getBytes());
  const ConvolutionPlan &plan = getPlan(owner, desc, problem);
  int64_t threads = owner.getPool().getNumThreads();
  if (plan.threadBytes > 0)
    threads = std::min(threads, (problem.scratchBytes - plan.sharedBytes) /
                                    plan.threadBytes);
  bool hasScratch = threads >= 1 && problem.scratchBytes >= plan.sharedBytes &&
                    (scratch || plan.getScratchBytes(1) == 0);
  if (!hasScratch) {
    message = "expects at least " + std::to_string(plan.getScratchBytes(1)) +
              " bytes of scratch, got " +
              std::to_string(scratch ? problem.scratchBytes : 0);
    return report();
  }
  // All of the scratch counts as used, the rounding at its end too.
  if (scratch && problem.scratchBytes > 0)
    static_cast<char *>(scratch)[problem.scratchBytes - 1] = 0;
  ConvolutionRun{owner,
                 name,
                 plan,
                 static_cast<const char *>(lhs),
                 static_cast<const char *>(rhs),
                 static_cast<char *>(out),
                 static_cast<char *>(scratch),
                 threads}
      .run();
  if (owner.isChecking())
    checkResult(owner, name, problem, out);
}
