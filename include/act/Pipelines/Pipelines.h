//===- Pipelines.h - The pipelines of act -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PIPELINES_PIPELINES_H
#define ACT_PIPELINES_PIPELINES_H

#include "act/Conversion/ActToStablehlo/CodecForm.h"
#include "act/Conversion/ActToStablehlo/LinearAttentionForm.h"
#include "act/Dialect/Act/Transforms/PartitionOptions.h"
#include "act/Dialect/Act/Transforms/SliceOptions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::act {

/// Options of the pipeline `act-compress`. Those of single passes are described
/// in docs/Passes.md.
struct CompressOptions : PassPipelineOptions<CompressOptions> {
  Option<unsigned> primalResults{
      *this, "primal-results",
      llvm::cl::desc("Number of leading results that forward computes"),
      llvm::cl::init(1)};
  Option<unsigned> bits{
      *this, "bits",
      llvm::cl::desc("Bits per element of lossy saves: 1, 2, 4, 8; 0 for "
                     "recomputation only"),
      llvm::cl::init(4)};
  Option<unsigned> window{
      *this, "window",
      llvm::cl::desc("Contractions over which a load or clone is shared"),
      llvm::cl::init(1)};
  Option<CutSide> cut{
      *this, "cut", llvm::cl::desc("Which of several minimum cuts to take"),
      llvm::cl::init(CutSide::Sink),
      llvm::cl::values(clEnumValN(CutSide::Sink, "sink", "nearest to backward"),
                       clEnumValN(CutSide::Source, "source",
                                  "nearest to where values are computed"))};
  Option<RecomputedContractions> recompute{
      *this, "recompute",
      llvm::cl::desc("Which contractions may be computed again"),
      llvm::cl::init(RecomputedContractions::None),
      llvm::cl::values(clEnumValN(RecomputedContractions::None, "none", "none"),
                       clEnumValN(RecomputedContractions::Batch, "batch",
                                  "products of activations larger than both"),
                       clEnumValN(RecomputedContractions::Growing, "growing",
                                  "also products with arguments that grow"),
                       clEnumValN(RecomputedContractions::All, "all", "all"),
                       clEnumValN(RecomputedContractions::Auto, "auto",
                                  "those that are worth their operations"))};
  Option<bool> unremat{
      *this, "unremat",
      llvm::cl::desc("Undo rematerialisation of the source first"),
      llvm::cl::init(false)};
  Option<bool> rederive{*this, "rederive",
                        llvm::cl::desc("Draw random masks again in backward"),
                        llvm::cl::init(false)};
  Option<bool> slice{
      *this, "slice",
      llvm::cl::desc("Run the loss head, attention and models with linear "
                     "attention in parts"),
      llvm::cl::init(false)};
  Option<int64_t> sliceChunk{
      *this, "slice-chunk",
      llvm::cl::desc("Length of the parts of heads and sequences, 0 to choose"),
      llvm::cl::init(0)};
  Option<SliceStates> sliceStates{
      *this, "slice-states",
      llvm::cl::desc("Where states come from against the sequence"),
      llvm::cl::init(SliceStates::Stored),
      llvm::cl::values(clEnumValN(SliceStates::Stored, "stored",
                                  "a first sweep stores them"),
                       clEnumValN(SliceStates::Reverse, "reverse",
                                  "what a part added is subtracted again"))};
  Option<std::string> rules{
      *this, "rules", llvm::cl::desc("File with encodings per kind of value"),
      llvm::cl::init("")};
  Option<double> averageBits{
      *this, "average-bits",
      llvm::cl::desc("Budget of bits per element over all lossy saves"),
      llvm::cl::init(0)};
  Option<double> errorBudget{
      *this, "error-budget",
      llvm::cl::desc("Budget of the predicted relative gradient error"),
      llvm::cl::init(0)};
  Option<std::string> profile{
      *this, "profile",
      llvm::cl::desc("File with measured sensitivities, for the budgets"),
      llvm::cl::init("")};
  Option<int64_t> memoryBudget{
      *this, "memory-budget",
      llvm::cl::desc("Bytes of temporary memory to plan for; 0 for no plan"),
      llvm::cl::init(0)};
  Option<bool> least{
      *this, "least",
      llvm::cl::desc("Take the plan with the least peak if none is within the "
                     "budget"),
      llvm::cl::init(false)};
  Option<bool> runningRanges{
      *this, "running-ranges",
      llvm::cl::desc("Add states of running ranges to the step's signature"),
      llvm::cl::init(false)};
  Option<double> rangeDecay{
      *this, "range-decay",
      llvm::cl::desc("Part of running ranges that a step keeps"),
      llvm::cl::init(0.9)};
  Option<uint64_t> seed{*this, "seed",
                        llvm::cl::desc("Mixed into the noise of rounding"),
                        llvm::cl::init(0)};
  Option<LinearAttentionForm> linearAttention{
      *this, "linear-attention",
      llvm::cl::desc("What operations on linear attention become"),
      llvm::cl::init(LinearAttentionForm::Loop),
      llvm::cl::values(
          clEnumValN(LinearAttentionForm::Loop, "loop",
                     "loops over chunks, for every target"),
          clEnumValN(LinearAttentionForm::Call, "call",
                     "custom calls of act's kernels for the CPU"))};
  Option<CodecForm> codecs{
      *this, "codecs", llvm::cl::desc("What saves and loads become"),
      llvm::cl::init(CodecForm::Functions),
      llvm::cl::values(
          clEnumValN(CodecForm::Functions, "functions",
                     "calls of functions in StableHLO, for every target"),
          clEnumValN(CodecForm::Ops, "ops", "act.encode and act.decode"))};
  Option<bool> instrument{
      *this, "instrument",
      llvm::cl::desc("Round saved values as arguments of the step say, and "
                     "store them in full"),
      llvm::cl::init(false)};
  Option<std::string> report{*this, "report",
                             llvm::cl::desc("File for the report in JSON"),
                             llvm::cl::init("")};
};

/// Inlines the step, raises its linear attention, slices it if asked to, tiles
/// its random bits, exposes its masks, partitions it, chooses encodings, adds
/// the states that running ranges need if asked to, checks the result and
/// lowers it to StableHLO.
void buildCompressPipeline(OpPassManager &manager,
                           const CompressOptions &options);

/// Registers all pipelines by name.
void registerActPipelines();

} // namespace mlir::act

#endif // ACT_PIPELINES_PIPELINES_H
