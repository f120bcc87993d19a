//===- ConvolutionProblem.h - A convolution read off its descriptor
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_CONVOLUTIONPROBLEM_H
#define ACT_RUNTIME_STEP_CONVOLUTIONPROBLEM_H

#include "act-c/StepRuntime.h"
#include <cstdint>
#include <string>

namespace act::step {

struct SpatialDimension {
  int64_t lhsSize, rhsSize, outSize;
  int64_t stride, paddingLow, paddingHigh, lhsDilation, rhsDilation;
  bool isReversed;
  /// In elements.
  int64_t lhsStride, rhsStride, outStride;
};

/// See act_cpu_convolution for what it computes.
struct ConvolutionProblem {
  int64_t dtype, dtypeOut;
  int64_t rank;
  int64_t batch, features, outputFeatures, featureGroups, batchGroups;
  int64_t lhsBatch, lhsFeature, rhsInput, rhsOutput, outBatch, outFeature;
  int64_t scratchBytes;
  SpatialDimension spatial[ACT_CPU_MAX_SPATIAL_RANK];

  int64_t getGroups() const { return featureGroups * batchGroups; }
  int64_t getOutBatch() const { return batch / batchGroups; }
  int64_t getInputFeatures() const { return features / featureGroups; }
  /// With every tap counted, also those that meet padding.
  double getFlops() const;
  double getBytes() const;
};

/// Reads `desc` into `problem`; the text says what is wrong with it, or is
/// empty.
std::string readConvolution(const int64_t *desc, ConvolutionProblem &problem);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_CONVOLUTIONPROBLEM_H
