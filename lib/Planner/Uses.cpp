//===- Uses.cpp - Step functions over rows ------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Uses.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <tuple>

using namespace mlir::act::planner;

/// Adds a piece to `list`, or to its last piece if both are alike.
static void append(UseList &list, unsigned firstRow, unsigned lastRow,
                   double amount) {
  if (amount == 0)
    return;
  if (!list.empty() && list.back().lastRow + 1 == firstRow &&
      list.back().amount == amount)
    list.back().lastRow = lastRow;
  else
    list.emplace_back(firstRow, lastRow, amount);
}

UseList mlir::act::planner::normalizeUses(llvm::ArrayRef<Use> uses) {
  llvm::SmallVector<Use, 8> sorted(uses.begin(), uses.end());
  llvm::sort(sorted, [](const Use &a, const Use &b) {
    return std::tie(a.firstRow, a.lastRow, a.amount) <
           std::tie(b.firstRow, b.lastRow, b.amount);
  });
  UseList result;
  llvm::SmallVector<Use, 8> active;
  llvm::ArrayRef<Use> rest = sorted;
  for (unsigned row = 0; !rest.empty() || !active.empty();) {
    if (active.empty())
      row = rest.front().firstRow;
    for (; !rest.empty() && rest.front().firstRow == row;
         rest = rest.drop_front())
      active.push_back(rest.front());
    // The sum is constant up to where a use ends or the next one starts. It is
    // summed anew, not updated, so that fractions do not leave residues.
    unsigned last = rest.empty() ? std::numeric_limits<unsigned>::max()
                                 : rest.front().firstRow - 1;
    double amount = 0;
    for (const Use &use : active) {
      last = std::min(last, use.lastRow);
      amount += use.amount;
    }
    append(result, row, last, amount);
    row = last + 1;
    llvm::erase_if(active, [&](const Use &use) { return use.lastRow < row; });
  }
  return result;
}

bool mlir::act::planner::usesAtMost(llvm::ArrayRef<Use> a,
                                    llvm::ArrayRef<Use> b) {
  llvm::SmallVector<Use, 8> difference(a.begin(), a.end());
  for (const Use &use : b)
    difference.emplace_back(use.firstRow, use.lastRow, -use.amount);
  return llvm::all_of(normalizeUses(difference),
                      [](const Use &use) { return use.amount <= 0; });
}
