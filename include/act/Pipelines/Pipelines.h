//===- Pipelines.h - The pipelines of act -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PIPELINES_PIPELINES_H
#define ACT_PIPELINES_PIPELINES_H

#include "act/Dialect/Act/Transforms/PartitionOptions.h"
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
  Option<uint64_t> seed{*this, "seed",
                        llvm::cl::desc("Mixed into the noise of rounding"),
                        llvm::cl::init(0)};
  Option<std::string> report{*this, "report",
                             llvm::cl::desc("File for the report in JSON"),
                             llvm::cl::init("")};
};

/// Inlines the step, tiles its random bits, exposes its masks, partitions it,
/// chooses encodings, checks the result and lowers it to StableHLO.
void buildCompressPipeline(OpPassManager &manager,
                           const CompressOptions &options);

/// Registers all pipelines by name.
void registerActPipelines();

} // namespace mlir::act

#endif // ACT_PIPELINES_PIPELINES_H
