//===- ConvolutionCopies.h - Copies to and from matrices ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_CONVOLUTIONCOPIES_H
#define ACT_RUNTIME_STEP_CONVOLUTIONCOPIES_H

#include "ConvolutionPlan.h"

namespace act::step {

/// Rows and terms of a block of lhs.
struct LhsBlock {
  int64_t row, rows, term, terms;
};

/// Writes what rows and terms of `block` meet as a dense matrix: its rows are
/// rows, or terms if `rowsInside`. `elementSize` is 2, 4 or 8.
void packLhs(const SubConvolution &sub, const LhsBlock &block, bool rowsInside,
             int64_t elementSize, const void *lhs, void *to);

/// Writes rhs as a dense matrix of terms and columns.
void packRhs(const SubConvolution &sub, int64_t elementSize, const void *rhs,
             void *to);

/// Writes zeros to what outputs `begin` to `end` of `axes` (their strides in
/// out) are.
void fillZero(const AxisList &axes, int64_t begin, int64_t end,
              int64_t elementSize, void *out);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_CONVOLUTIONCOPIES_H
