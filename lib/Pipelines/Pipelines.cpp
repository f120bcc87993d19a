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
  manager.addPass(createActChooseEncodingsPass(encodings));
  manager.addNestedPass<func::FuncOp>(createActDelayRandomPass());
  if (options.slice)
    manager.addNestedPass<func::FuncOp>(createActSequenceUpdatesPass());

  manager.addNestedPass<func::FuncOp>(createActVerifyPartitionPass(
      ActVerifyPartitionPassOptions{options.primalResults}));
  if (!options.report.empty()) {
    ActReportPassOptions report;
    report.output = options.report;
    report.primalResults = options.primalResults;
    manager.addPass(createActReportPass(report));
  }
  manager.addPass(
      createConvertActToStablehloPass(ConvertActToStablehloPassOptions{
          options.seed, options.linearAttention, options.codecs}));
}

void mlir::act::registerActPipelines() {
  PassPipelineRegistration<CompressOptions>(
      "act-compress", "Compress the saved activations of a StableHLO step",
      buildCompressPipeline);
}
