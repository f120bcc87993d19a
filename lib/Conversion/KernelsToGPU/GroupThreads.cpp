//===- GroupThreads.cpp - Threads that go through groups ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupThreads.h"
#include "CodecModels.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

GroupThreads::GroupThreads(const GroupLayout &layout)
    : numRows(getProduct(layout.outer)), extent(layout.extent),
      inner(getProduct(layout.inner)), group(layout.group),
      numGroups(layout.numGroups) {}

int64_t GroupThreads::getLanes(int64_t perLane) const {
  // Neighbours in memory are neighbouring columns then.
  if (inner > 1)
    return 1;
  uint64_t lanes = llvm::PowerOf2Ceil(llvm::divideCeil(group, perLane));
  return std::clamp<int64_t>(lanes, 1, warpThreads);
}

GpuCodecSplit GroupThreads::getSplit(int64_t lanes) const {
  int64_t items = codecThreads / lanes;
  if (isEven())
    return {numRows * numGroups, codecThreads,
            std::max<int64_t>(items / inner, 1)};
  return {numRows, codecThreads,
          std::max<int64_t>(items / (numGroups * inner), 1)};
}

void GroupThreads::forGroups(CodecThreads &t, const GpuCodecPieces &pieces,
                             int64_t lanes,
                             function_ref<void(const Group &)> body) const {
  CodecVectors &v = t.getVectors();
  int64_t perUnit = isEven() ? 1 : numGroups;
  t.forItems(
      pieces, perUnit * inner, lanes, [&](const CodecThreads::Item &item) {
        Value number = v.add(v.multiply(pieces.first, perUnit),
                             t.divide(item.number, inner));
        Group found{/*param=*/number, {},        number, {}, {},
                    item.lane,        item.isOwn};
        if (isEven()) {
          found.firstElement = v.multiply(number, group * inner);
        } else {
          Value inRow = t.remainder(number, numGroups);
          found.firstElement =
              v.add(v.multiply(t.divide(number, numGroups), extent * inner),
                    v.multiply(inRow, group * inner));
          Value left = v.subtract(t.offset(extent), v.multiply(inRow, group));
          found.size = t.toI32(t.smaller(left, t.offset(group)));
        }
        if (inner > 1) {
          found.column = t.remainder(item.number, inner);
          found.firstElement = v.add(found.firstElement, found.column);
          found.param = v.add(v.multiply(number, inner), found.column);
        }
        body(found);
      });
}

Value GroupThreads::getElement(CodecThreads &t, const Group &found,
                               Value i) const {
  CodecVectors &v = t.getVectors();
  Value places = t.toOffset(i);
  if (inner > 1)
    places = v.multiply(places, inner);
  return v.add(found.firstElement, places);
}

Value GroupThreads::getPlace(CodecThreads &t, const Group &found,
                             int64_t perGroup, Value i) const {
  CodecVectors &v = t.getVectors();
  Value place = v.add(v.multiply(found.firstRow, perGroup), t.toOffset(i));
  if (inner > 1)
    place = v.add(v.multiply(place, inner), found.column);
  return place;
}

Value GroupThreads::getSize(CodecThreads &t, const Group &found) const {
  return found.size ? found.size : t.i32(group);
}
