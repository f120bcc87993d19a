//===- ConvolutionPlan.h - How a convolution becomes matrix products
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_CONVOLUTIONPLAN_H
#define ACT_RUNTIME_STEP_CONVOLUTIONPLAN_H

#include "ConvolutionProblem.h"
#include "Gemm.h"
#include "Primitives.h"
#include <vector>

namespace act::step {

/// A dimension of the rows or of the terms of the matrix product that a
/// convolution is.
struct Axis {
  int64_t extent;
  /// In elements: in lhs, and in out (rows) or rhs (terms).
  int64_t lhsStride, otherStride;
  /// The spatial dimension it moves through, by `step` positions, or -1.
  int64_t spatial, step;
};

/// The most axes that rows or terms have: a batch or features, and the spatial
/// dimensions.
constexpr int64_t maxAxes = ACT_CPU_MAX_SPATIAL_RANK + 1;

struct AxisList {
  Axis axes[maxAxes];
  int64_t count = 0;

  void add(const Axis &axis) { axes[count++] = axis; }
  int64_t getSize() const;
  /// The product of the extents from axis `begin` on.
  int64_t getSizeFrom(int64_t begin) const;
  /// Sorts by strides in out or rhs, the longest first, after removing extents
  /// of 1.
  void normalize();
  /// From which axis on all of them are one dimension in out or rhs, and in
  /// lhs.
  int64_t getMergedInOther() const;
  int64_t getMergedInLhs() const;
  /// Offset of the element of number `index` in out or rhs.
  int64_t getOtherOffset(int64_t index) const;
  int64_t getLhsOffset(int64_t index) const;
};

/// One matrix product
///   out[row, o] = sum over terms of lhs[row, term] * rhs[term, o]
/// where a row and a term meet at a position of lhs, which counts as zero
/// outside it. There is one for each group and, with lhs dilation, for each
/// residue of output positions: in between, only some taps of the window meet
/// elements of lhs, and these again form a convolution, without dilation.
struct SubConvolution {
  AxisList rows, terms;
  int64_t columns, rhsColumn, outColumn;
  /// In elements.
  int64_t lhsOffset, rhsOffset, outOffset;
  /// The position that row 0 and term 0 meet at, and how many there are.
  int64_t start[ACT_CPU_MAX_SPATIAL_RANK], size[ACT_CPU_MAX_SPATIAL_RANK];
  int64_t spatialStride[ACT_CPU_MAX_SPATIAL_RANK];
  int64_t rank;
};

/// The blocks of a SubConvolution.
struct ConvolutionBlocks {
  /// Terms up to this axis are separate products, added up; the axes from it on
  /// are one dimension of rhs.
  int64_t mergedTerms;
  int64_t rowBlock, columnBlock, termBlock;
  /// Sums over so many parts of the terms are computed apart and added up in
  /// order. Only where rows and columns give too few pieces.
  int64_t splits;
  /// rhs is copied first, for more terms to be one dimension of it.
  bool packsRhs;
  /// lhs is a matrix as it is.
  bool readsLhsInPlace;
  /// Rows are one dimension of out, in the type of the sums.
  bool writesOutInPlace;
  /// Packed blocks of lhs have consecutive rows instead of consecutive terms.
  bool packsRowsInside;

  int64_t countPieces(const SubConvolution &sub) const;
};

struct ConvolutionPart {
  SubConvolution sub;
  ConvolutionBlocks blocks;
  /// Where the copy of rhs and the partial sums are in the scratch, in bytes.
  int64_t packedRhs = 0, partialSums = 0;
  int64_t firstPiece = 0;
};

/// What to do for one descriptor. Depends on nothing else, above all not on the
/// number of threads.
struct ConvolutionPlan : Primitive {
  ConvolutionProblem problem;
  std::vector<ConvolutionPart> parts;
  /// Some elements of out are not a result of any part.
  bool fillsZero = false;
  int64_t pieces = 0;
  /// Scratch: bytes that all threads share, then bytes of each thread, which
  /// begin with a block of lhs and continue with a block of sums.
  int64_t sharedBytes = 0, threadBytes = 0, sumsOffset = 0;

  explicit ConvolutionPlan(const ConvolutionProblem &problem);

  int64_t getScratchBytes(int64_t threads) const {
    return sharedBytes + threads * threadBytes;
  }
  int64_t getSumSize() const { return problem.dtype == ACT_CPU_F64 ? 8 : 4; }
  bool hasShortResult() const {
    return problem.dtypeOut == ACT_CPU_BF16 || problem.dtypeOut == ACT_CPU_F16;
  }
};

/// The products that `problem` consists of; `coversOut` is set to whether they
/// write all of out.
std::vector<SubConvolution> decompose(const ConvolutionProblem &problem,
                                      bool &coversOut);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_CONVOLUTIONPLAN_H
