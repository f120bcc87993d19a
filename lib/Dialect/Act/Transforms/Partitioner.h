//===- Partitioner.h - Partitions the boundaries of a step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_PARTITIONER_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_PARTITIONER_H

#include "act/Analysis/LoopPair.h"
#include "act/Analysis/StructuralKeys.h"
#include "act/Dialect/Act/Transforms/SurvivorSelection.h"

namespace mlir::act {

/// What is known at a boundary right before it is rewritten.
struct PartitionedBoundary {
  const AutodiffGraph &graph;
  const SurvivorSelection &selection;
  const StructuralKeys &keys;
  ArrayRef<Value> survivors;
};

/// Partitions a step, from the innermost loops outwards (docs/Partition.md).
class Partitioner {
public:
  /// `observe`, if given, is called for each boundary that gets saves.
  Partitioner(FunctionOpInterface function, const PartitionOptions &options,
              function_ref<void(const PartitionedBoundary &)> observe = nullptr)
      : function(function), policy(EncodingPolicy::get(function)),
        options(options), observe(observe) {}

  LogicalResult run(unsigned numPrimalResults);

private:
  using GraphBuilder = function_ref<FailureOr<AutodiffGraph>()>;

  /// Partitions what `loop` runs, if that is a step.
  FailureOr<bool> partitionLoop(LoopModelInterface loop);
  /// Partitions the block that `build` analyses: pairs of loops first, then
  /// what is around them.
  LogicalResult partitionBlock(GraphBuilder build);
  LogicalResult partitionPair(const AutodiffGraph &graph, LoopPair pair,
                              llvm::DenseSet<Operation *> &done);
  /// Makes a step that was rematerialised like one that was not.
  LogicalResult undoRemat(GraphBuilder build);
  /// The options with a choice for `recompute=auto`.
  PartitionOptions chooseRecompute(const AutodiffGraph &graph) const;
  /// What backward shall read as it is.
  SmallVector<Value> findKept(const AutodiffGraph &graph,
                              const StructuralKeys &keys) const;
  /// Partitions the step without looking into loops.
  LogicalResult partitionLine(GraphBuilder build);

  FunctionOpInterface function;
  EncodingPolicy policy;
  const PartitionOptions &options;
  function_ref<void(const PartitionedBoundary &)> observe;
  unsigned nextId = 0;
  uint64_t seed = 0; ///< of the keys in the block being partitioned
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_PARTITIONER_H
