//===- ConvolutionDecomposition.cpp - The products a convolution consists of
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionPlan.h"
#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace act::step;

int64_t AxisList::getSizeFrom(int64_t begin) const {
  int64_t size = 1;
  for (int64_t i = begin; i < count; ++i)
    size *= axes[i].extent;
  return size;
}

int64_t AxisList::getSize() const { return getSizeFrom(0); }

void AxisList::normalize() {
  Axis *end = std::remove_if(axes, axes + count,
                             [](const Axis &axis) { return axis.extent == 1; });
  count = end - axes;
  std::sort(axes, end, [](const Axis &x, const Axis &y) {
    return std::abs(x.otherStride) > std::abs(y.otherStride);
  });
}

int64_t AxisList::getMergedInOther() const {
  int64_t begin = std::max<int64_t>(count - 1, 0);
  while (begin > 0 && axes[begin - 1].otherStride ==
                          axes[begin].otherStride * axes[begin].extent)
    --begin;
  return begin;
}

int64_t AxisList::getMergedInLhs() const {
  int64_t begin = std::max<int64_t>(count - 1, 0);
  while (begin > 0 && axes[begin - 1].lhsStride ==
                          axes[begin].lhsStride * axes[begin].extent)
    --begin;
  return begin;
}

int64_t AxisList::getOtherOffset(int64_t index) const {
  int64_t offset = 0;
  for (int64_t i = count; i-- > 0;) {
    offset += index % axes[i].extent * axes[i].otherStride;
    index /= axes[i].extent;
  }
  return offset;
}

int64_t AxisList::getLhsOffset(int64_t index) const {
  int64_t offset = 0;
  for (int64_t i = count; i-- > 0;) {
    offset += index % axes[i].extent * axes[i].lhsStride;
    index /= axes[i].extent;
  }
  return offset;
}

namespace {
/// One spatial dimension of a product: output y and window element k meet at
/// position start + y * outStep + k * windowStep of lhs.
struct Walk {
  int64_t start, outStep, windowStep, size;
  /// Which y and k: these many, from `firstY` and `firstK` on, `strideY` and
  /// `strideK` apart.
  int64_t countY, firstY, strideY;
  int64_t countK, firstK, strideK;
};
} // namespace

static int64_t floorDivide(int64_t value, int64_t by) {
  return value / by - (value % by < 0);
}

static int64_t modulo(int64_t value, int64_t by) {
  return value - floorDivide(value, by) * by;
}

/// The part of `walk`, in positions of the dilated lhs, whose outputs have the
/// residue `phase`; every position of it is one of lhs.
static Walk takePhase(const Walk &walk, int64_t phase, int64_t dilation) {
  int64_t strideY = dilation / std::gcd(dilation, walk.outStep);
  int64_t strideK = dilation / std::gcd(dilation, std::abs(walk.windowStep));
  Walk result = walk;
  result.firstY = phase;
  result.strideY = strideY;
  result.countY =
      phase < walk.countY ? (walk.countY - phase - 1) / strideY + 1 : 0;
  int64_t start = walk.start + phase * walk.outStep;
  int64_t first = 0;
  while (first < strideK &&
         modulo(start + first * walk.windowStep, dilation) != 0)
    ++first;
  bool hasTaps = first < strideK && first < walk.countK;
  result.firstK = first;
  result.strideK = strideK;
  result.countK = hasTaps ? (walk.countK - first - 1) / strideK + 1 : 0;
  result.start = floorDivide(start + first * walk.windowStep, dilation);
  result.outStep = walk.outStep * strideY / dilation;
  result.windowStep = walk.windowStep * strideK / dilation;
  return result;
}

/// Whether start + i * step is in [0, size) for some i in [0, count).
static bool meets(int64_t start, int64_t step, int64_t count, int64_t size) {
  if (step < 0)
    return meets(start + (count - 1) * step, -step, count, size);
  int64_t first = start >= 0 ? 0 : (-start + step - 1) / step;
  return first < count && start + first * step < size;
}

/// Leaves out taps and outputs that meet nothing but padding, at both ends.
static void trim(Walk &walk) {
  while (walk.countK > 0 &&
         !meets(walk.start + (walk.countK - 1) * walk.windowStep, walk.outStep,
                walk.countY, walk.size))
    --walk.countK;
  while (walk.countK > 0 &&
         !meets(walk.start, walk.outStep, walk.countY, walk.size)) {
    --walk.countK;
    walk.firstK += walk.strideK;
    walk.start += walk.windowStep;
  }
  if (walk.countK == 0) {
    walk.countY = 0;
    return;
  }
  while (walk.countY > 0 &&
         !meets(walk.start + (walk.countY - 1) * walk.outStep, walk.windowStep,
                walk.countK, walk.size))
    --walk.countY;
  while (walk.countY > 0 &&
         !meets(walk.start, walk.windowStep, walk.countK, walk.size)) {
    --walk.countY;
    walk.firstY += walk.strideY;
    walk.start += walk.outStep;
  }
}

/// All phases of one spatial dimension that have results to compute.
static std::vector<Walk> getWalks(const SpatialDimension &dim) {
  Walk whole = {-dim.paddingLow,
                dim.stride,
                dim.rhsDilation,
                dim.lhsSize,
                dim.outSize,
                0,
                1,
                dim.rhsSize,
                0,
                1};
  if (dim.isReversed) {
    whole.start += (dim.rhsSize - 1) * dim.rhsDilation;
    whole.windowStep = -dim.rhsDilation;
  }
  std::vector<Walk> walks;
  int64_t phases = dim.lhsDilation / std::gcd(dim.lhsDilation, dim.stride);
  for (int64_t phase = 0; phase < phases; ++phase) {
    Walk walk = takePhase(whole, phase, dim.lhsDilation);
    trim(walk);
    if (walk.countY > 0)
      walks.push_back(walk);
  }
  return walks;
}

/// The product of group `group` that walks as `walks` say.
static SubConvolution makeProduct(const ConvolutionProblem &problem,
                                  int64_t group, const Walk *const *walks) {
  SubConvolution sub{};
  sub.rank = problem.rank;
  sub.columns = problem.outputFeatures / problem.getGroups();
  sub.rhsColumn = problem.rhsOutput;
  sub.outColumn = problem.outFeature;
  int64_t lhsBatch =
      problem.batchGroups > 1 ? group * problem.getOutBatch() : 0;
  int64_t lhsFeature =
      problem.featureGroups > 1 ? group * problem.getInputFeatures() : 0;
  sub.lhsOffset = lhsBatch * problem.lhsBatch + lhsFeature * problem.lhsFeature;
  sub.rhsOffset = group * sub.columns * problem.rhsOutput;
  sub.outOffset = group * sub.columns * problem.outFeature;
  sub.rows.add(
      {problem.getOutBatch(), problem.lhsBatch, problem.outBatch, -1, 0});
  sub.terms.add({problem.getInputFeatures(), problem.lhsFeature,
                 problem.rhsInput, -1, 0});
  for (int64_t i = 0; i < problem.rank; ++i) {
    const SpatialDimension &dim = problem.spatial[i];
    const Walk &walk = *walks[i];
    sub.start[i] = walk.start;
    sub.size[i] = walk.size;
    sub.spatialStride[i] = dim.lhsStride;
    sub.lhsOffset += walk.start * dim.lhsStride;
    sub.rhsOffset += walk.firstK * dim.rhsStride;
    sub.outOffset += walk.firstY * dim.outStride;
    sub.rows.add({walk.countY, walk.outStep * dim.lhsStride,
                  walk.strideY * dim.outStride, i, walk.outStep});
    sub.terms.add({walk.countK, walk.windowStep * dim.lhsStride,
                   walk.strideK * dim.rhsStride, i, walk.windowStep});
  }
  sub.rows.normalize();
  sub.terms.normalize();
  return sub;
}

std::vector<SubConvolution>
act::step::decompose(const ConvolutionProblem &problem, bool &coversOut) {
  std::vector<Walk> walks[ACT_CPU_MAX_SPATIAL_RANK];
  int64_t combinations = problem.getInputFeatures() == 0 ? 0 : 1;
  coversOut = combinations > 0;
  for (int64_t i = 0; i < problem.rank; ++i) {
    walks[i] = getWalks(problem.spatial[i]);
    combinations *= int64_t(walks[i].size());
    int64_t covered = 0;
    for (const Walk &walk : walks[i])
      covered += walk.countY;
    coversOut &= covered == problem.spatial[i].outSize;
  }
  std::vector<SubConvolution> result;
  if (problem.getOutBatch() == 0 || problem.outputFeatures == 0)
    return result;
  for (int64_t group = 0; group < problem.getGroups(); ++group)
    for (int64_t index = 0; index < combinations; ++index) {
      const Walk *chosen[ACT_CPU_MAX_SPATIAL_RANK] = {};
      int64_t rest = index;
      for (int64_t i = 0; i < problem.rank; ++i) {
        int64_t count = int64_t(walks[i].size());
        chosen[i] = &walks[i][size_t(rest % count)];
        rest /= count;
      }
      result.push_back(makeProduct(problem, group, chosen));
    }
  return result;
}
