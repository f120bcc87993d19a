//===- LoopBuilder.h - Sweeps over the chunks of a sequence -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LOOPBUILDER_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LOOPBUILDER_H

#include "AttentionChunk.h"

namespace mlir::act {

/// Part of a sequence: `length` tokens from `start`, a rank-0 i32, on.
struct TokenRange {
  Value start;
  int64_t length;
};

/// What the sweep for queries leaves to that for keys.
struct Records {
  Value maxima; ///< of keys, [chunks, B, Hs], where features are logarithmic
  Value shares; ///< of queries in a decay per head: sums, [chunks, B, Hs],
  Value weightedShares; ///< and with numbers of tokens from 1 on as factors

  SmallVector<Value> getAll() const;
  Records with(ValueRange values) const;
};

/// The gradients that the sweep for keys carries.
struct KeySweep {
  AttentionState gradient;
  Value decayCarry; ///< sum over later tokens, [B, Hs] or [B, Hs, M]
  Value keys, values, decay;

  SmallVector<Value> getAll() const;
  KeySweep with(ValueRange values) const;
};

/// `full` times `length` tokens, and `rest`.
struct Segments {
  int64_t length, full, rest;
};

class LoopBuilder {
public:
  LoopBuilder(StablehloBuilder &b, LinearAttentionOpInterface op,
              ValueRange operands);

  SmallVector<Value> build(LinearAttentionOp op);
  SmallVector<Value> build(LinearAttentionGradOp op);
  SmallVector<Value> build(LinearAttentionStateOp op);

private:
  /// What is done with a chunk: its number in the range and the values carried;
  /// returns those for the next.
  using Body =
      function_ref<SmallVector<Value>(AttentionChunk &, Value, ValueRange)>;
  SmallVector<Value> sweep(TokenRange range, bool reverse, ValueRange carried,
                           Body body);
  SmallVector<Value>
  loop(int64_t count, ValueRange carried,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);
  int64_t countChunks(TokenRange range) const {
    return llvm::divideCeil(range.length, sizes.chunk);
  }

  /// The states after `range` from those before, or the other way round.
  AttentionState sweepStates(TokenRange range, bool subtract,
                             AttentionState state);
  /// Computes gradients of queries; returns the state after `range`.
  AttentionState sweepQueries(TokenRange range, AttentionState state,
                              Value &queries, Value &decay, Records &records);
  /// Computes gradients of keys and values.
  void sweepKeys(TokenRange range, const Records &records, KeySweep &carried);
  void sweepBackwards(AttentionState state, Value &queries, KeySweep &carried);
  AttentionState keepStates(const Segments &segments, AttentionState state,
                            SmallVectorImpl<Value> &kept);
  void sweepSegments(const Segments &segments, const AttentionState &like,
                     ValueRange kept, Value &queries, KeySweep &carried);
  void startKeys(const AttentionState &last, KeySweep &carried);
  void sweepBoth(Attribute policy, AttentionState state, Value &queries,
                 KeySweep &carried);

  KeySweep stepKeys(AttentionChunk &chunk, Value number, const Records &records,
                    const KeySweep &carried);
  void stepDecay(AttentionChunk &chunk, Value number, const Records &records,
                 Value keyFeatureGradient, KeySweep &carried);
  Value startDecayCarry(const AttentionState &state,
                        const AttentionState &gradient);

  AttentionState getState(ValueRange values) const;
  AttentionState toUnits(AttentionState state);
  AttentionState withFiniteUnits(AttentionState state);
  /// True states, or with `inverse` true gradients.
  AttentionState fromUnits(AttentionState state, bool inverse);
  AttentionState rescale(AttentionState state, Value factor);
  AttentionState enter(AttentionChunk &chunk, AttentionState state);
  Records makeRecords(int64_t chunks);
  Value startOutput();

  Value zeros(ArrayRef<int64_t> shape, Type element) {
    return b.splat(RankedTensorType::get(shape, element), 0);
  }
  Value zerosLike(Value value) { return b.splatLike(value, 0); }
  Value i32(int64_t value) {
    return b.scalar(b.getBuilder().getI32Type(), value);
  }
  TokenRange getAll() { return {i32(0), sizes.length}; }
  /// Row `number` of a record.
  Value read(Value record, Value number);
  Value write(Value record, Value number, Value row);

  StablehloBuilder &b;
  AttentionSizes sizes;
  AttentionInputs inputs;
  SmallVector<Value> states; ///< and gradients of states
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LOOPBUILDER_H
