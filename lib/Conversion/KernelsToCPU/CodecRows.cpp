//===- CodecRows.cpp - The groups that a codec goes through ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecRows.h"
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

GroupRows::GroupRows(const GroupLayout &layout)
    : numRows(getProduct(layout.outer)), extent(layout.extent),
      inner(getProduct(layout.inner)), group(layout.group),
      numGroups(layout.numGroups) {}

void GroupRows::forRanges(CodecVectors &v, Value begin, Value end,
                          function_ref<void(const GroupRange &)> body) const {
  if (isEven()) {
    body({{begin, v.multiply(begin, group * inner), group},
          v.subtract(end, begin)});
    return;
  }
  v.loop(begin, end, 1, [&](Value row) {
    Value number = v.multiply(row, numGroups);
    Value firstElement = v.multiply(row, extent * inner);
    int64_t whole = numGroups - 1;
    if (whole > 0)
      body({{number, firstElement, group}, v.index(whole)});
    body({{v.add(number, whole), v.add(firstElement, whole * group * inner),
           extent - whole * group},
          v.index(1)});
  });
}

void GroupRows::forGroups(CodecVectors &v, Value begin, Value end,
                          function_ref<void(const Group &)> body) const {
  forRanges(v, begin, end, [&](const GroupRange &range) {
    v.loop(v.index(0), range.count, 1, [&](Value i) {
      body({v.add(range.first.number, i),
            v.add(range.first.firstElement,
                  v.multiply(i, range.first.size * inner)),
            range.first.size});
    });
  });
}
