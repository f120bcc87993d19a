//===- PartitionOptions.h - Options of act-partition -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_PARTITIONOPTIONS_H
#define ACT_DIALECT_ACT_TRANSFORMS_PARTITIONOPTIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::act {

/// Which of several minimum cuts is taken.
enum class CutSide {
  Sink,  ///< nearest to backward: fewer operations run again
  Source ///< nearest to where values are computed: fewer, earlier survivors
};

/// Which contractions of forward may be run again in backward.
enum class RecomputedContractions {
  None,
  Batch,   ///< batched products larger than both operands: attention scores
  Growing, ///< also products with arguments that are larger, together, than the
           ///< activation: query, key and value, the first layer of an MLP
           ///< block
  All,
  Auto,   ///< the last of these that is worth its floating-point operations
  Planned ///< those of `Growing` that a plan names
};

/// Name of `value` as in options and reports.
llvm::StringRef stringifyRecompute(RecomputedContractions value);

/// With `Auto` a byte less to save is worth this many floating-point
/// operations.
constexpr double kFlopsPerByte = 1000;

/// See the options of `act-partition`.
struct PartitionOptions {
  unsigned bits = 4;
  unsigned window = 1;
  CutSide cut = CutSide::Sink;
  RecomputedContractions recompute = RecomputedContractions::None;
  bool unremat = false;
  bool rederive = false;
  /// Structural keys of forward values that backward shall read as they are;
  /// where both run in loops, from a stack in full.
  llvm::StringSet<> kept;
  /// Structural keys of contractions that backward may run again, if
  /// `recompute` is `Planned`.
  llvm::StringSet<> recomputed;
};

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_TRANSFORMS_PARTITIONOPTIONS_H
