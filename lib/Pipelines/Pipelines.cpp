//===- Pipelines.cpp - The pipelines of act ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Pipelines/Pipelines.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::act;

/// Partitions with the options as they are.
static void addPartition(OpPassManager &manager,
                         const CompressOptions &options) {
  ActPartitionPassOptions partition;
  partition.primalResults = options.primalResults;
  partition.bits = options.bits;
  partition.window = options.window;
  partition.cut = options.cut;
  partition.recompute = options.recompute;
  partition.unremat = options.unremat;
  partition.rederive = options.rederive;
  manager.addNestedPass<func::FuncOp>(createActPartitionPass(partition));

  ActChooseEncodingsPassOptions encodings;
  encodings.bits = options.bits;
  encodings.rules = options.rules;
  encodings.averageBits = options.averageBits;
  encodings.errorBudget = options.errorBudget;
  encodings.profile = options.profile;
  manager.addPass(createActChooseEncodingsPass(encodings));
}

/// Plans for a budget; what the options do not say is up to the plan.
static void addPlan(OpPassManager &manager, const CompressOptions &options) {
  ActPlanPassOptions plan;
  plan.primalResults = options.primalResults;
  plan.memoryBudget = options.memoryBudget;
  plan.least = options.least;
  plan.bits = options.bits;
  if (options.window.hasValue())
    plan.window = options.window;
  plan.cut = options.cut;
  if (options.recompute.hasValue())
    plan.recompute = options.recompute;
  plan.unremat = options.unremat;
  plan.rederive = options.rederive;
  plan.rules = options.rules;
  plan.profile = options.profile;
  plan.errorBudget = options.errorBudget;
  manager.addPass(createActPlanPass(plan));
}

void mlir::act::buildCompressPipeline(OpPassManager &manager,
                                      const CompressOptions &options) {
  manager.addPass(createActInlinePass());
  manager.addPass(createActRaiseLinearAttentionPass());
  if (options.slice) {
    ActSlicePassOptions slice;
    slice.primalResults = options.primalResults;
    slice.chunk = options.sliceChunk;
    slice.states = options.sliceStates;
    manager.addNestedPass<func::FuncOp>(createActSlicePass(slice));
  }
  manager.addNestedPass<func::FuncOp>(createActTileRandomPass());
  manager.addNestedPass<func::FuncOp>(createActExposeMasksPass(
      ActExposeMasksPassOptions{options.primalResults}));

  if (options.memoryBudget > 0)
    addPlan(manager, options);
  else
    addPartition(manager, options);
  manager.addNestedPass<func::FuncOp>(createActDelayRandomPass());
  if (options.slice)
    manager.addNestedPass<func::FuncOp>(createActSequenceUpdatesPass());
  if (options.runningRanges)
    manager.addPass(createActRunningRangesPass({options.rangeDecay}));

  manager.addNestedPass<func::FuncOp>(createActVerifyPartitionPass(
      ActVerifyPartitionPassOptions{options.primalResults}));
  if (!options.report.empty()) {
    ActReportPassOptions report;
    report.output = options.report;
    report.primalResults = options.primalResults;
    manager.addPass(createActReportPass(report));
  }
  if (options.instrument)
    manager.addPass(createActInstrumentPass());
  manager.addPass(
      createConvertActToStablehloPass(ConvertActToStablehloPassOptions{
          options.seed, options.linearAttention, options.codecs}));
}

void mlir::act::registerActPipelines() {
  PassPipelineRegistration<CompressOptions>(
      "act-compress", "Compress the saved activations of a StableHLO step",
      buildCompressPipeline);
}
