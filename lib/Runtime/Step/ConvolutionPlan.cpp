//===- ConvolutionPlan.cpp - How a convolution becomes matrix products
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionPlan.h"
#include "GemmProblem.h"
#include "Processors.h"
#include <algorithm>
#include <cstdlib>

using namespace act::step;

static int64_t divideUp(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

static int64_t alignUp(int64_t value, int64_t alignment) {
  return divideUp(value, alignment) * alignment;
}

int64_t ConvolutionBlocks::countPieces(const SubConvolution &sub) const {
  int64_t segment = writesOutInPlace
                        ? sub.rows.getSizeFrom(sub.rows.getMergedInOther())
                        : sub.rows.getSize();
  return sub.rows.getSize() / segment * divideUp(segment, rowBlock) *
         divideUp(sub.columns, columnBlock) * splits;
}

/// True if no row and term meet outside lhs.
static bool hasNoPadding(const SubConvolution &sub) {
  for (int64_t i = 0; i < sub.rank; ++i) {
    int64_t first = sub.start[i], last = sub.start[i];
    for (const AxisList *list : {&sub.rows, &sub.terms})
      for (int64_t j = 0; j < list->count; ++j) {
        const Axis &axis = list->axes[j];
        if (axis.spatial != i)
          continue;
        int64_t reach = (axis.extent - 1) * axis.step;
        (reach < 0 ? first : last) += reach;
      }
    if (first < 0 || last >= sub.size[i])
      return false;
  }
  return true;
}

static int64_t getShortestLhsStride(const AxisList &list) {
  int64_t shortest = INT64_MAX;
  for (int64_t i = 0; i < list.count; ++i)
    shortest = std::min(shortest, std::abs(list.axes[i].lhsStride));
  return shortest;
}

/// Decides what is copied before it is multiplied.
static void chooseCopies(const ConvolutionPlan &plan, SubConvolution &sub,
                         ConvolutionBlocks &blocks) {
  // With few terms in one product, writing its result costs more than a copy of
  // rhs, and with many rows the copy costs little.
  constexpr int64_t fewTerms = 32, fewRows = 32, manyRows = 512;
  blocks.mergedTerms = sub.terms.getMergedInOther();
  int64_t inner = sub.terms.getSizeFrom(blocks.mergedTerms);
  blocks.packsRhs = blocks.mergedTerms > 0 &&
                    (inner < fewTerms || sub.rows.getSize() >= manyRows);
  if (blocks.packsRhs) {
    // The copy has its terms in the order of lhs.
    std::sort(sub.terms.axes, sub.terms.axes + sub.terms.count,
              [](const Axis &x, const Axis &y) {
                return std::abs(x.lhsStride) > std::abs(y.lhsStride);
              });
    blocks.mergedTerms = 0;
  }
  int64_t mergedRows = sub.rows.getMergedInOther();
  blocks.writesOutInPlace =
      !plan.hasShortResult() &&
      (mergedRows == 0 || sub.rows.getSizeFrom(mergedRows) >= fewRows);
  blocks.readsLhsInPlace =
      hasNoPadding(sub) && sub.terms.getMergedInLhs() <= blocks.mergedTerms &&
      sub.rows.getMergedInLhs() <=
          (blocks.writesOutInPlace ? mergedRows : int64_t(0));
  blocks.packsRowsInside =
      getShortestLhsStride(sub.rows) < getShortestLhsStride(sub.terms);
}

/// What a product costs, in operations that could be done in that time.
static double estimateWork(const SubConvolution &sub) {
  double rows = double(sub.rows.getSize()), terms = double(sub.terms.getSize()),
         columns = double(sub.columns);
  constexpr double operationsPerElement = 40;
  return std::max(2 * rows * terms * columns,
                  operationsPerElement * (terms + rows) * columns);
}

/// Of which numbers of rows or terms a packed block should have multiples: then
/// its rows consist of whole runs (see ConvolutionCopies.cpp).
static int64_t getRunLength(const AxisList &list) {
  constexpr int64_t longest = 512;
  if (list.count == 0 || list.axes[list.count - 1].spatial >= 0)
    return 1;
  int64_t extent = list.axes[list.count - 1].extent;
  return extent <= longest ? extent : 1;
}

/// Blocks whose packed part of lhs fits into the second cache.
static void fitBlocks(const SubConvolution &sub, ConvolutionBlocks &blocks,
                      int64_t rows, int64_t terms) {
  constexpr int64_t cacheElements = 1 << 18, mostTerms = 2048, fewTerms = 1024;
  blocks.columnBlock = sub.columns;
  blocks.rowBlock = rows;
  blocks.termBlock = terms;
  if (!blocks.readsLhsInPlace) {
    int64_t run = blocks.packsRowsInside ? 1 : getRunLength(sub.terms);
    if (terms > fewTerms)
      blocks.termBlock =
          std::min(terms, alignUp(std::clamp<int64_t>(cacheElements / rows,
                                                      fewTerms / 2, mostTerms),
                                  run));
    blocks.rowBlock = std::max<int64_t>(cacheElements / blocks.termBlock, 64);
  } else if (!blocks.writesOutInPlace) {
    blocks.rowBlock = std::max<int64_t>(cacheElements / sub.columns, 64);
  }
}

/// Chooses blocks that fit into the second cache, and at least four pieces if
/// each of them is worth handing to another thread.
static void chooseBlocks(SubConvolution &sub, ConvolutionBlocks &blocks,
                         int64_t parts) {
  constexpr int64_t fewPieces = 4, fewResults = 1 << 18, fewTerms = 512;
  constexpr double smallWork = 1 << 20;
  int64_t rows = blocks.writesOutInPlace
                     ? sub.rows.getSizeFrom(sub.rows.getMergedInOther())
                     : sub.rows.getSize();
  fitBlocks(sub, blocks, rows, sub.terms.getSizeFrom(blocks.mergedTerms));
  blocks.splits = 1;
  int64_t rowUnit = 16;
  if (blocks.packsRowsInside && !blocks.readsLhsInPlace)
    rowUnit = alignUp(rowUnit, getRunLength(sub.rows));
  blocks.rowBlock = std::min(rows, alignUp(blocks.rowBlock, rowUnit));
  double work = estimateWork(sub) / double(blocks.countPieces(sub));
  auto wants = [&] {
    return parts * blocks.countPieces(sub) < fewPieces && work >= 2 * smallWork;
  };
  while (wants() && blocks.rowBlock >= std::max<int64_t>(128, 2 * rowUnit)) {
    blocks.rowBlock = alignUp(divideUp(blocks.rowBlock, 2), rowUnit);
    work /= 2;
  }
  while (wants() && blocks.columnBlock >= 128) {
    blocks.columnBlock = alignUp(divideUp(blocks.columnBlock, 2), 16);
    work /= 2;
  }
  while (wants() && sub.rows.getSize() * sub.columns <= fewResults &&
         sub.terms.getSize() / blocks.splits >= fewTerms) {
    blocks.splits *= 2;
    work /= 2;
  }
}

ConvolutionPlan::ConvolutionPlan(const ConvolutionProblem &problem)
    : problem(problem) {
  bool coversOut = false;
  std::vector<SubConvolution> subs = decompose(problem, coversOut);
  fillsZero = !coversOut;
  int64_t size = getElementSize(problem.dtype);
  int64_t lhsBytes = 0, sumBytes = 0;
  for (SubConvolution &sub : subs) {
    ConvolutionBlocks blocks{};
    chooseCopies(*this, sub, blocks);
    chooseBlocks(sub, blocks, int64_t(subs.size()));
    ConvolutionPart part{sub, blocks};
    part.firstPiece = pieces;
    pieces += blocks.countPieces(sub);
    part.packedRhs = sharedBytes;
    if (blocks.packsRhs)
      sharedBytes += alignUp(sub.terms.getSize() * sub.columns * size,
                             ACT_CPU_ARENA_ALIGNMENT);
    part.partialSums = sharedBytes;
    if (blocks.splits > 1)
      sharedBytes += alignUp(blocks.splits * sub.rows.getSize() * sub.columns *
                                 getSumSize(),
                             ACT_CPU_ARENA_ALIGNMENT);
    else if (!blocks.writesOutInPlace)
      sumBytes = std::max(sumBytes,
                          blocks.rowBlock * blocks.columnBlock * getSumSize());
    if (!blocks.readsLhsInPlace)
      lhsBytes = std::max(lhsBytes, blocks.rowBlock * blocks.termBlock * size);
    parts.push_back(part);
  }
  sumsOffset = alignUp(lhsBytes, ACT_CPU_ARENA_ALIGNMENT);
  threadBytes = sumsOffset + alignUp(sumBytes, ACT_CPU_ARENA_ALIGNMENT);
}

const char *act_cpu_convolution_verify(const int64_t *desc) {
  thread_local std::string message;
  ConvolutionProblem problem;
  message = readConvolution(desc, problem);
  return message.empty() ? nullptr : message.c_str();
}

int64_t act_cpu_convolution_scratch(const int64_t *desc, int64_t threads) {
  ConvolutionProblem problem;
  if (!readConvolution(desc, problem).empty())
    return -1;
  return ConvolutionPlan(problem).getScratchBytes(
      threads < 1 ? getNumProcessors() : threads);
}
