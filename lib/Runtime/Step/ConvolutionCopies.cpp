//===- ConvolutionCopies.cpp - Copies to and from matrices ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionCopies.h"
#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

using namespace act::step;

namespace {
/// A place on the first axes of a list, and what it adds to the offset in lhs
/// and to the position in each spatial dimension.
class Cursor {
public:
  Cursor(const AxisList &list, int64_t axes, int64_t index)
      : list(list), axes(axes) {
    for (int64_t i = axes; i-- > 0;) {
      const Axis &axis = list.axes[i];
      coordinates[i] = index % axis.extent;
      index /= axis.extent;
      move(axis, coordinates[i]);
    }
  }

  void advance() {
    for (int64_t i = axes; i-- > 0;) {
      const Axis &axis = list.axes[i];
      move(axis, 1);
      if (++coordinates[i] < axis.extent)
        return;
      move(axis, -axis.extent);
      coordinates[i] = 0;
    }
  }

  int64_t offset = 0;
  int64_t position[ACT_CPU_MAX_SPATIAL_RANK] = {};

private:
  void move(const Axis &axis, int64_t steps) {
    offset += steps * axis.lhsStride;
    if (axis.spatial >= 0)
      position[axis.spatial] += steps * axis.step;
  }

  const AxisList &list;
  int64_t axes;
  int64_t coordinates[maxAxes] = {};
};

/// How the inner dimension of a packed block is walked: along `axis`, copying
/// `chunk` elements at each step. A chunk is the last axis if that one is not
/// spatial, so that its elements are all there or none is.
struct Run {
  int64_t axis = -1;
  int64_t chunk = 1, chunkStride = 1;

  Run(const AxisList &list, int64_t begin, int64_t count) {
    axis = list.count - 1;
    if (axis < 1 || list.axes[axis].spatial >= 0 ||
        list.axes[axis - 1].spatial < 0 ||
        begin % list.axes[axis].extent != 0 ||
        count % list.axes[axis].extent != 0)
      return;
    chunk = list.axes[axis].extent;
    chunkStride = list.axes[axis].lhsStride;
    --axis;
  }
};
} // namespace

template <typename T>
static void copyStrided(const T *from, int64_t stride, int64_t count, T *to) {
  if (stride == 1 && count > 32) {
    std::memcpy(to, from, size_t(count) * sizeof(T));
    return;
  }
  // Short copies, of a few channels, without a call.
  if (stride == 1) {
    constexpr int64_t atOnce = 16 / int64_t(sizeof(T));
    int64_t i = 0;
    for (; i + atOnce <= count; i += atOnce)
      std::memcpy(to + i, from + i, 16);
    for (; i < count; ++i)
      to[i] = from[i];
    return;
  }
  for (int64_t i = 0; i < count; ++i)
    to[i] = from[i * stride];
}

template <typename T>
static void zero(T *to, int64_t count) {
  if (count > 0)
    std::memset(to, 0, size_t(count) * sizeof(T));
}

/// Narrows the steps [begin, end) to those that stay in [0, size), where step i
/// is at start + i * step.
static void clipSteps(int64_t start, int64_t step, int64_t size, int64_t &begin,
                      int64_t &end) {
  auto isInside = [&](int64_t i) {
    return uint64_t(start + i * step) < uint64_t(size);
  };
  // Inside a tensor, which most of it is, nothing is to be divided.
  if (isInside(begin) && isInside(end - 1))
    return;
  if (step == 0) {
    end = begin;
    return;
  }
  int64_t length = step < 0 ? -step : step;
  // The distance to the first position inside, and to the last.
  int64_t entry = step > 0 ? -start : start - (size - 1);
  int64_t exit = step > 0 ? size - 1 - start : start;
  int64_t first = entry <= 0 ? 0 : (entry + length - 1) / length;
  int64_t last = exit < 0 ? -1 : exit / length;
  begin = std::max(begin, first);
  end = std::max(begin, std::min(end, last + 1));
}

namespace {
template <typename T>
struct Packer {
  const SubConvolution &sub;
  const T *lhs;
  const AxisList &inner;
  Run run;

  /// One row of the packed block: `count` elements from `begin` on.
  T *packRow(const Cursor &outer, int64_t begin, int64_t count, T *to) const;
  T *packRun(const Cursor &outer, const Cursor &place, int64_t begin,
             int64_t end, T *to) const;
};
} // namespace

template <typename T>
T *Packer<T>::packRun(const Cursor &outer, const Cursor &place, int64_t begin,
                      int64_t end, T *to) const {
  const Axis &axis = inner.axes[run.axis];
  int64_t first = begin, last = end;
  for (int64_t i = 0; i < sub.rank && first < last; ++i) {
    int64_t start = sub.start[i] + outer.position[i] + place.position[i];
    clipSteps(start, axis.spatial == i ? axis.step : 0, sub.size[i], first,
              last);
  }
  if (first >= last) {
    zero(to, (end - begin) * run.chunk);
    return to + (end - begin) * run.chunk;
  }
  zero(to, (first - begin) * run.chunk);
  to += (first - begin) * run.chunk;
  const T *from = lhs + (sub.lhsOffset + outer.offset + place.offset +
                         first * axis.lhsStride);
  int64_t count = last - first;
  if (run.chunk == 1) {
    copyStrided(from, axis.lhsStride, count, to);
  } else if (run.chunkStride == 1 && axis.lhsStride == run.chunk) {
    copyStrided(from, 1, count * run.chunk, to);
  } else {
    for (int64_t i = 0; i < count; ++i)
      copyStrided(from + i * axis.lhsStride, run.chunkStride, run.chunk,
                  to + i * run.chunk);
  }
  to += count * run.chunk;
  zero(to, (end - last) * run.chunk);
  return to + (end - last) * run.chunk;
}

template <typename T>
T *Packer<T>::packRow(const Cursor &outer, int64_t begin, int64_t count,
                      T *to) const {
  int64_t extent = inner.axes[run.axis].extent;
  int64_t unit = begin / run.chunk, end = (begin + count) / run.chunk;
  for (Cursor place(inner, run.axis, unit / extent); unit < end;
       place.advance()) {
    int64_t first = unit % extent;
    int64_t last = std::min(extent, first + end - unit);
    to = packRun(outer, place, first, last, to);
    unit += last - first;
  }
  return to;
}

namespace {
/// The runs of one row of a packed block, which are the same for all rows: rows
/// whose positions are all inside lhs, which most are, are copied by this list.
struct RunList {
  /// Offsets in lhs from the first element of the row, and numbers of elements.
  std::vector<std::pair<int64_t, int64_t>> runs;
  /// The smallest and the largest position that the inner axes add.
  int64_t first[ACT_CPU_MAX_SPATIAL_RANK] = {};
  int64_t last[ACT_CPU_MAX_SPATIAL_RANK] = {};

  RunList(const AxisList &inner, const Run &run, int64_t begin, int64_t count);
  bool isInside(const SubConvolution &sub, const Cursor &outer) const;
};
} // namespace

RunList::RunList(const AxisList &inner, const Run &run, int64_t begin,
                 int64_t count) {
  const Axis &axis = inner.axes[run.axis];
  bool isDense = run.chunk == 1
                     ? axis.lhsStride == 1
                     : run.chunkStride == 1 && axis.lhsStride == run.chunk;
  if (!isDense)
    return;
  int64_t unit = begin / run.chunk, end = (begin + count) / run.chunk;
  for (Cursor place(inner, run.axis, unit / axis.extent); unit < end;
       place.advance()) {
    int64_t start = unit % axis.extent;
    int64_t stop = std::min(axis.extent, start + end - unit);
    runs.push_back(
        {place.offset + start * axis.lhsStride, (stop - start) * run.chunk});
    unit += stop - start;
  }
  for (int64_t i = 0; i < inner.count; ++i) {
    const Axis &other = inner.axes[i];
    int64_t reach = (other.extent - 1) * other.step;
    if (other.spatial >= 0)
      (reach < 0 ? first : last)[other.spatial] += reach;
  }
}

bool RunList::isInside(const SubConvolution &sub, const Cursor &outer) const {
  bool inside = !runs.empty();
  for (int64_t i = 0; i < sub.rank; ++i) {
    int64_t start = sub.start[i] + outer.position[i];
    inside &= start + first[i] >= 0 && start + last[i] < sub.size[i];
  }
  return inside;
}

template <typename T>
static void packLhsOf(const SubConvolution &sub, const LhsBlock &block,
                      bool rowsInside, const T *lhs, T *to) {
  const AxisList &outer = rowsInside ? sub.terms : sub.rows;
  int64_t outerBegin = rowsInside ? block.term : block.row;
  int64_t outerCount = rowsInside ? block.terms : block.rows;
  int64_t innerBegin = rowsInside ? block.row : block.term;
  int64_t innerCount = rowsInside ? block.rows : block.terms;
  AxisList inner = rowsInside ? sub.rows : sub.terms;
  // An axis to walk along even if there is one element.
  if (inner.count == 0)
    inner.add({1, 0, 0, -1, 0});
  Packer<T> packer{sub, lhs, inner, Run(inner, innerBegin, innerCount)};
  RunList list(inner, packer.run, innerBegin, innerCount);
  Cursor cursor(outer, outer.count, outerBegin);
  for (int64_t i = 0; i < outerCount; ++i, cursor.advance()) {
    if (!list.isInside(sub, cursor)) {
      to = packer.packRow(cursor, innerBegin, innerCount, to);
      continue;
    }
    // The sum first: a part of it may be outside of lhs.
    int64_t start = sub.lhsOffset + cursor.offset;
    for (auto [offset, count] : list.runs) {
      copyStrided(lhs + (start + offset), 1, count, to);
      to += count;
    }
  }
}

void act::step::packLhs(const SubConvolution &sub, const LhsBlock &block,
                        bool rowsInside, int64_t elementSize, const void *lhs,
                        void *to) {
  if (elementSize == 8)
    packLhsOf(sub, block, rowsInside, static_cast<const uint64_t *>(lhs),
              static_cast<uint64_t *>(to));
  else if (elementSize == 4)
    packLhsOf(sub, block, rowsInside, static_cast<const uint32_t *>(lhs),
              static_cast<uint32_t *>(to));
  else
    packLhsOf(sub, block, rowsInside, static_cast<const uint16_t *>(lhs),
              static_cast<uint16_t *>(to));
}

template <typename T>
static void packRhsOf(const SubConvolution &sub, const T *rhs, T *to) {
  for (int64_t term = 0; term < sub.terms.getSize(); ++term)
    copyStrided(rhs + sub.rhsOffset + sub.terms.getOtherOffset(term),
                sub.rhsColumn, sub.columns, to + term * sub.columns);
}

void act::step::packRhs(const SubConvolution &sub, int64_t elementSize,
                        const void *rhs, void *to) {
  if (elementSize == 8)
    packRhsOf(sub, static_cast<const uint64_t *>(rhs),
              static_cast<uint64_t *>(to));
  else if (elementSize == 4)
    packRhsOf(sub, static_cast<const uint32_t *>(rhs),
              static_cast<uint32_t *>(to));
  else
    packRhsOf(sub, static_cast<const uint16_t *>(rhs),
              static_cast<uint16_t *>(to));
}

void act::step::fillZero(const AxisList &axes, int64_t begin, int64_t end,
                         int64_t elementSize, void *out) {
  char *bytes = static_cast<char *>(out);
  int64_t merged = axes.getMergedInOther();
  bool isDense = axes.count > 0 && axes.axes[axes.count - 1].otherStride == 1;
  int64_t run = isDense ? axes.getSizeFrom(merged) : 1;
  for (int64_t index = begin; index < end;) {
    int64_t count = std::min(end - index, run - index % run);
    std::memset(bytes + axes.getOtherOffset(index) * elementSize, 0,
                size_t(count * elementSize));
    index += count;
  }
}
