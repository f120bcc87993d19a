//===- DenseFactor.h - Small systems of linear equations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_PLANNER_DENSEFACTOR_H
#define ACT_LIB_PLANNER_DENSEFACTOR_H

#include <vector>

namespace mlir::act::planner {

/// A square matrix and its factors P A = L U, found with row exchanges.
class DenseFactor {
public:
  /// Starts a matrix of `size` rows of zeros.
  void reset(unsigned size);
  double &at(unsigned row, unsigned column) {
    return values[row * size + column];
  }

  /// Factorises in place; false if the matrix is singular to working precision.
  bool factorize();

  /// Replaces `vector` b by the solution x of A x = b.
  void solve(std::vector<double> &vector) const;
  /// Replaces `vector` b by the solution x of transpose(A) x = b.
  void solveTransposed(std::vector<double> &vector) const;

private:
  double get(unsigned row, unsigned column) const {
    return values[row * size + column];
  }

  unsigned size = 0;
  std::vector<double> values;
  std::vector<unsigned> exchanges; ///< per step, the row that came to its place
};

} // namespace mlir::act::planner

#endif // ACT_LIB_PLANNER_DENSEFACTOR_H
