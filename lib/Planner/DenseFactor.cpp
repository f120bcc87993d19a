//===- DenseFactor.cpp - Small systems of linear equations --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseFactor.h"
#include <algorithm>
#include <cmath>

using namespace mlir::act::planner;

/// Pivots below this are taken for zero; rows are scaled to about 1.
static constexpr double kSmallestPivot = 1e-12;

void DenseFactor::reset(unsigned newSize) {
  size = newSize;
  values.assign(size_t(size) * size, 0);
  exchanges.assign(size, 0);
}

bool DenseFactor::factorize() {
  for (unsigned step = 0; step < size; ++step) {
    unsigned pivot = step;
    for (unsigned row = step + 1; row < size; ++row)
      if (std::abs(at(row, step)) > std::abs(at(pivot, step)))
        pivot = row;
    exchanges[step] = pivot;
    if (!(std::abs(at(pivot, step)) > kSmallestPivot))
      return false;
    if (pivot != step)
      std::swap_ranges(&at(step, 0), &at(step, 0) + size, &at(pivot, 0));
    for (unsigned row = step + 1; row < size; ++row) {
      double factor = at(row, step) /= at(step, step);
      if (factor == 0)
        continue;
      for (unsigned column = step + 1; column < size; ++column)
        at(row, column) -= factor * at(step, column);
    }
  }
  return true;
}

void DenseFactor::solve(std::vector<double> &vector) const {
  for (unsigned step = 0; step < size; ++step)
    std::swap(vector[step], vector[exchanges[step]]);
  for (unsigned row = 0; row < size; ++row)
    for (unsigned column = 0; column < row; ++column)
      vector[row] -= get(row, column) * vector[column];
  for (unsigned row = size; row-- > 0;) {
    for (unsigned column = row + 1; column < size; ++column)
      vector[row] -= get(row, column) * vector[column];
    vector[row] /= get(row, row);
  }
}

void DenseFactor::solveTransposed(std::vector<double> &vector) const {
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned column = 0; column < row; ++column)
      vector[row] -= get(column, row) * vector[column];
    vector[row] /= get(row, row);
  }
  for (unsigned row = size; row-- > 0;)
    for (unsigned column = row + 1; column < size; ++column)
      vector[row] -= get(column, row) * vector[column];
  for (unsigned step = size; step-- > 0;)
    std::swap(vector[step], vector[exchanges[step]]);
}
