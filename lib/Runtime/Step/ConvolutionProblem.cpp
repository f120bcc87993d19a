//===- ConvolutionProblem.cpp - A convolution read off its descriptor
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionProblem.h"
#include "GemmProblem.h"
#include <algorithm>
#include <utility>

using namespace act::step;

double ConvolutionProblem::getFlops() const {
  double flops = 2.0 * double(getOutBatch()) * double(outputFeatures) *
                 double(getInputFeatures());
  for (int64_t i = 0; i < rank; ++i)
    flops *= double(spatial[i].outSize) * double(spatial[i].rhsSize);
  return flops;
}

double ConvolutionProblem::getBytes() const {
  double lhs = double(batch) * double(features);
  double rhs = double(getInputFeatures()) * double(outputFeatures);
  double out = double(getOutBatch()) * double(outputFeatures);
  for (int64_t i = 0; i < rank; ++i) {
    lhs *= double(spatial[i].lhsSize);
    rhs *= double(spatial[i].rhsSize);
    out *= double(spatial[i].outSize);
  }
  return (lhs + rhs) * double(getElementSize(dtype)) +
         out * double(getElementSize(dtypeOut));
}

static std::string expects(const char *what, int64_t got) {
  return std::string("expects ") + what + ", got " + std::to_string(got);
}

static int64_t getDilated(int64_t size, int64_t dilation) {
  return size == 0 ? 0 : (size - 1) * dilation + 1;
}

static std::string readSpatial(const int64_t *entry, SpatialDimension &dim) {
  dim.lhsSize = entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_SIZE];
  dim.rhsSize = entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_SIZE];
  dim.outSize = entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT_SIZE];
  dim.stride = entry[ACT_CPU_CONVOLUTION_SPATIAL_STRIDE];
  dim.paddingLow = entry[ACT_CPU_CONVOLUTION_SPATIAL_PADDING_LOW];
  dim.paddingHigh = entry[ACT_CPU_CONVOLUTION_SPATIAL_PADDING_HIGH];
  dim.lhsDilation = entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_DILATION];
  dim.rhsDilation = entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_DILATION];
  dim.lhsStride = entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS];
  dim.rhsStride = entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS];
  dim.outStride = entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT];
  for (int64_t size : {dim.lhsSize, dim.rhsSize, dim.outSize})
    if (size < 0)
      return expects("spatial sizes of at least 0", size);
  for (int64_t factor : {dim.stride, dim.lhsDilation, dim.rhsDilation})
    if (factor < 1)
      return expects("strides and dilations of at least 1", factor);
  int64_t reversal = entry[ACT_CPU_CONVOLUTION_SPATIAL_REVERSAL];
  if (reversal != 0 && reversal != 1)
    return expects("0 or 1 for a reversal", reversal);
  dim.isReversed = reversal == 1;
  int64_t padded = getDilated(dim.lhsSize, dim.lhsDilation) + dim.paddingLow +
                   dim.paddingHigh;
  int64_t window = getDilated(dim.rhsSize, dim.rhsDilation);
  int64_t expected =
      padded <= 0 || window > padded ? 0 : (padded - window) / dim.stride + 1;
  if (dim.outSize != expected)
    return expects(("an output size of " + std::to_string(expected)).c_str(),
                   dim.outSize);
  return "";
}

/// Whether strides keep the elements of out apart.
static bool isInjective(const ConvolutionProblem &problem) {
  std::pair<int64_t, int64_t> dimensions[ACT_CPU_MAX_SPATIAL_RANK + 2];
  int64_t count = 0;
  bool isEmpty = false;
  auto add = [&](int64_t stride, int64_t extent) {
    isEmpty |= extent == 0;
    if (extent > 1)
      dimensions[count++] = {stride, extent};
  };
  add(problem.outBatch, problem.getOutBatch());
  add(problem.outFeature, problem.outputFeatures);
  for (int64_t i = 0; i < problem.rank; ++i)
    add(problem.spatial[i].outStride, problem.spatial[i].outSize);
  std::sort(dimensions, dimensions + count);
  int64_t reach = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (dimensions[i].first <= reach)
      return isEmpty;
    reach += dimensions[i].first * (dimensions[i].second - 1);
  }
  return true;
}

static std::string verifyTypes(const ConvolutionProblem &problem) {
  if (problem.dtype < ACT_CPU_F32 || problem.dtype > ACT_CPU_F16)
    return expects("an element type of lhs and rhs from 0 to 3", problem.dtype);
  bool isShort = problem.dtype == ACT_CPU_BF16 || problem.dtype == ACT_CPU_F16;
  if (problem.dtypeOut != problem.dtype &&
      !(isShort && problem.dtypeOut == ACT_CPU_F32))
    return expects("the element type of lhs and rhs, or f32 for bf16 and f16, "
                   "as that of out",
                   problem.dtypeOut);
  return "";
}

static std::string verifyGroups(const ConvolutionProblem &problem) {
  for (int64_t extent :
       {problem.batch, problem.features, problem.outputFeatures})
    if (extent < 0)
      return expects("a batch and features of at least 0", extent);
  for (int64_t groups : {problem.featureGroups, problem.batchGroups})
    if (groups < 1)
      return expects("numbers of groups of at least 1", groups);
  if (problem.featureGroups > 1 && problem.batchGroups > 1)
    return "expects feature groups or batch groups, got both";
  if (problem.features % problem.featureGroups != 0)
    return expects("feature groups that divide the features",
                   problem.featureGroups);
  if (problem.batch % problem.batchGroups != 0)
    return expects("batch groups that divide the batch", problem.batchGroups);
  if (problem.outputFeatures % problem.getGroups() != 0)
    return expects("groups that divide the output features",
                   problem.getGroups());
  return "";
}

std::string act::step::readConvolution(const int64_t *desc,
                                       ConvolutionProblem &problem) {
  if (!desc)
    return "expects a descriptor, got null";
  if (desc[ACT_CPU_CONVOLUTION_DESC_VERSION] != ACT_CPU_CONVOLUTION_VERSION)
    return expects("version 1 of the descriptor",
                   desc[ACT_CPU_CONVOLUTION_DESC_VERSION]);
  problem.dtype = desc[ACT_CPU_CONVOLUTION_DESC_DTYPE];
  problem.dtypeOut = desc[ACT_CPU_CONVOLUTION_DESC_DTYPE_OUT];
  problem.rank = desc[ACT_CPU_CONVOLUTION_DESC_SPATIAL_RANK];
  if (problem.rank < 0 || problem.rank > ACT_CPU_MAX_SPATIAL_RANK)
    return expects("0 to 3 spatial dimensions", problem.rank);
  problem.batch = desc[ACT_CPU_CONVOLUTION_DESC_BATCH];
  problem.features = desc[ACT_CPU_CONVOLUTION_DESC_FEATURES];
  problem.outputFeatures = desc[ACT_CPU_CONVOLUTION_DESC_OUTPUT_FEATURES];
  problem.featureGroups = desc[ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS];
  problem.batchGroups = desc[ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS];
  problem.lhsBatch = desc[ACT_CPU_CONVOLUTION_DESC_LHS_BATCH];
  problem.lhsFeature = desc[ACT_CPU_CONVOLUTION_DESC_LHS_FEATURE];
  problem.rhsInput = desc[ACT_CPU_CONVOLUTION_DESC_RHS_INPUT];
  problem.rhsOutput = desc[ACT_CPU_CONVOLUTION_DESC_RHS_OUTPUT];
  problem.outBatch = desc[ACT_CPU_CONVOLUTION_DESC_OUT_BATCH];
  problem.outFeature = desc[ACT_CPU_CONVOLUTION_DESC_OUT_FEATURE];
  problem.scratchBytes = desc[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES];
  if (std::string message = verifyTypes(problem); !message.empty())
    return message;
  if (std::string message = verifyGroups(problem); !message.empty())
    return message;
  for (int64_t i = 0; i < problem.rank; ++i) {
    std::string message =
        readSpatial(desc + ACT_CPU_CONVOLUTION_DESC_SPATIAL +
                        i * ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE,
                    problem.spatial[i]);
    if (!message.empty())
      return message + " in spatial dimension " + std::to_string(i);
  }
  if (!isInjective(problem))
    return "expects positive strides of out that keep its elements apart";
  return "";
}
