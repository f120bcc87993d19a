//===- Plan.h - Kernels of an attention -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_PLAN_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_PLAN_H

#include "FinishKernels.h"
#include "act/Conversion/LinearAttentionToGPU/LinearAttentionToGPU.h"

namespace mlir::act {

/// Segments are whole chunks of any sweep.
constexpr int64_t segmentUnit = 64;

/// A tensor and where its pointer comes from.
struct PlacedTensor {
  AttentionTensor tensor;
  AttentionArgument argument;

  explicit operator bool() const { return static_cast<bool>(tensor); }
};

/// Makes the plan of one operation.
class AttentionPlanner {
public:
  AttentionPlanner(LinearAttentionOpInterface op, gpu::GPUModuleOp module,
                   int64_t segments)
      : op(op), module(module), wantedSegments(segments) {}

  FailureOr<AttentionPlan> plan();

private:
  LogicalResult verify();
  void initialize();
  void chooseSegments();

  PlacedTensor describe(Value buffer);
  PlacedTensor describeState(Value buffer);
  /// Scratch memory for rows of tokens, and for states (of segments).
  PlacedTensor allocateRows(int64_t heads, int64_t columns);
  PlacedTensor allocateState(int64_t heads, int64_t columns,
                             int64_t segmentCount = 1);
  AttentionArgument allocate(int64_t elements);

  std::string getName(StringRef base);
  KernelPlace getPlace(StringRef base) {
    return {module, op->getLoc(), getName(base)};
  }
  void launch(GpuKernel kernel, ArrayRef<PlacedTensor> tensors);

  using Buffers = ArrayRef<std::pair<SweepBuffer, PlacedTensor>>;
  SweepOptions getOptions(SweepKind kind, int64_t heads);
  void addSweep(StringRef name, SweepOptions options, Buffers buffers);
  bool isDirect() const { return segments == 1 && heads == stateHeads; }

  void planForward(LinearAttentionOp attention);
  void planState(LinearAttentionStateOp state);
  void planGrad(LinearAttentionGradOp grad);
  /// States that segments start from.
  void carryStates(PlacedTensor initial, PlacedTensor initialSums,
                   PlacedTensor final, PlacedTensor finalSums);
  void carryStateGrads(LinearAttentionGradOp grad);
  void addCarry(bool reverse, PlacedTensor initial, PlacedTensor ends,
                PlacedTensor final, int64_t columns);
  PlacedTensor addInitialState(LinearAttentionGradOp grad, PlacedTensor &sums);
  void addDenominatorGrad(LinearAttentionGradOp grad);
  void addStateProduct(LinearAttentionGradOp grad, PlacedTensor final,
                       PlacedTensor finalSums);
  void addSumHeads(PlacedTensor from, PlacedTensor to, int64_t rows,
                   int64_t columns);
  /// Where a sweep puts rows that heads share: in f32, to be added up.
  PlacedTensor getRowGrad(Value destination, int64_t columns);
  void finishRowGrad(PlacedTensor written, Value destination, int64_t columns);
  PlacedTensor getProducts(SweepKind kind);

  LinearAttentionOpInterface op;
  gpu::GPUModuleOp module;
  int64_t wantedSegments;
  AttentionPlan result;
  int64_t sequences = 0, length = 0, heads = 0, stateHeads = 0;
  int64_t features = 0, values = 0, segments = 1, segmentTokens = 0;
  PlacedTensor query, key, value, decay;
  PlacedTensor gradient, denominator, denominatorGrad, ends;
  /// Of segments.
  PlacedTensor starts, startSums, gradStarts, gradStartSums, left;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_PLAN_H
