//===- CodecUnits.cpp - How the work of encodings divides -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActAttributes.h"
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

static int64_t getProduct(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         std::multiplies<>());
}

/// Units of single elements.
static CodecUnits getElementUnits(RankedTensorType type) {
  return {type.getNumElements(), 1, true};
}

/// Units of integers that are packed along the last `merge` axes, all of them
/// or `group` elements at a time.
static CodecUnits getPackedUnits(RankedTensorType type, int64_t merge,
                                 int64_t group) {
  return getGroupLayout(type.getShape(), group ? group : INT64_MAX,
                        /*axis=*/-1, merge)
      .getUnits();
}

CodecUnits GroupLayout::getUnits() const {
  int64_t rows = getProduct(outer), elements = getProduct(inner);
  if (extent % group == 0)
    return {rows * numGroups, group * elements, true};
  return {rows, extent * elements, true};
}

CodecUnits RawAttr::getUnits(RankedTensorType type) const {
  return getElementUnits(type);
}

CodecUnits GroupQuantAttr::getUnits(RankedTensorType type) const {
  return getGroupLayout(type.getShape(), getGroup(), getAxis(), getMerge())
      .getUnits();
}

CodecUnits AxisQuantAttr::getUnits(RankedTensorType type) const {
  int64_t all = type.getNumElements();
  // Bytes hold codes of several columns.
  if (getAxis() == type.getRank() - 1)
    return {1, all, true};
  int64_t size = type.getDimSize(getAxis());
  bool isFirst = getProduct(type.getShape().take_front(getAxis())) == 1;
  return {size, all / size, isFirst || size == 1};
}

CodecUnits FloatCodeAttr::getUnits(RankedTensorType type) const {
  return getGroupLayout(type.getShape(), getGroup() ? getGroup() : 1,
                        /*axis=*/-1, /*merge=*/1)
      .getUnits();
}

CodecUnits MaskAttr::getUnits(RankedTensorType type) const {
  return getPackedUnits(type, getMerge(), getGroup());
}

CodecUnits NarrowAttr::getUnits(RankedTensorType type) const {
  if (getBits() >= 8)
    return getElementUnits(type);
  return getPackedUnits(type, getMerge(), getGroup());
}
