//===- AttentionChunk.h - Tokens taken together in StableHLO -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Within a chunk of n tokens everything is laid out by heads that have states,
// Hs of them: keys and values are [B, Hs, n, .], and as R = H / Hs heads of
// queries share a state, queries and outputs are [B, Hs, R n, .], R blocks of n
// rows. Heads of keys (or queries) that are shared are repeated within the
// chunk only. Formulas are those of the chunk-wise form (arXiv 2006.16236; with
// decay arXiv 2312.06635).
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ATTENTIONCHUNK_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ATTENTIONCHUNK_H

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActOps.h"

namespace mlir::act {

/// What is constant about an operation.
struct AttentionSizes {
  explicit AttentionSizes(LinearAttentionOpInterface op);

  int64_t batch, length;
  int64_t queryHeads, keyHeads, valueHeads, heads, stateHeads;
  int64_t group; ///< heads of queries that share a state
  int64_t features, value;
  int64_t chunk; ///< tokens of a full chunk
  Type rows, sums;
  DecayKind decay;
  bool normalize;
  double scale = 1, epsilon = 0;
  StablehloFeatureMapInterface map;
};

/// The tensors that chunks are cut from, as far as there are any.
struct AttentionInputs {
  Value query, key, value, decay, features, output, denominator, gradient;

  /// Those that are there.
  SmallVector<Value> getAll() const;
  /// The same with `values` in place of those that are there.
  AttentionInputs with(ValueRange values) const;
};

/// S, [B, Hs, M, D], with a normaliser z, [B, Hs, M], or the gradients of both.
/// Where features are exponentials all are in units of e^maximum (gradients:
/// e^-maximum), [B, Hs].
struct AttentionState {
  Value sums, keySum, maximum;

  SmallVector<Value> getAll() const;
  AttentionState with(ValueRange values) const;
};

/// `size` tokens from `start`, a rank-0 i32, on. What is built from them is
/// built once, at the builder's place at that time.
class AttentionChunk {
public:
  AttentionChunk(StablehloBuilder &b, const AttentionSizes &sizes,
                 const AttentionInputs &inputs, Value start, int64_t size)
      : b(b), sizes(sizes), inputs(inputs), start(start), size(size) {}

  /// The tokens of `tensor`, [B, T, heads...], as [B, heads, n...] in the type
  /// of the sums.
  Value load(Value tensor);
  /// `whole`, [B, T, heads...], with `rows`, [B, heads, n...], as these tokens.
  Value store(Value whole, Value rows);

  /// The greatest logarithm of a feature of keys up to these, where features
  /// are exponentials.
  Value getMaximum(Value before);
  /// Has to be called first: what features of keys are relative to, or null.
  void setMaximum(Value value) { maximum = value; }

  /// o, [B, H, n, D], and d, [B, H, n] (null without normaliser), given the
  /// state before these tokens.
  std::pair<Value, Value> attend(const AttentionState &state);
  /// The state after these tokens from that before.
  AttentionState advance(const AttentionState &state);
  /// The state before these tokens from that after; without decay.
  AttentionState retreat(const AttentionState &state);

  /// The gradient of features of queries given the state before.
  Value buildQueryGradient(const AttentionState &state);
  /// The gradients of features of keys, and of values, [B, Hv, n, D], given
  /// those of the state after.
  std::pair<Value, Value>
  buildKeyValueGradients(const AttentionState &gradient);
  /// The gradients of the state before from those of the state after.
  AttentionState retreatGradient(const AttentionState &gradient);
  /// Gradients of rows, [B, heads, n, P], from those of features.
  Value buildQueryRowGradient(Value featureGradient);
  Value buildKeyRowGradient(Value featureGradient);

  /// What each token's products f(q) . df(q) or f(k) . df(k) add to the
  /// gradient of decay: [B, Hs, n], or [B, Hs, n, M] for a decay per channel.
  Value buildQueryShare(Value featureGradient);
  Value buildKeyShare(Value featureGradient);
  /// Sums over the tokens from each on, along axis 2.
  Value sumSuffixes(Value values);

  int64_t getSize() const { return size; }

private:
  struct Decay {
    Value pairs;  ///< e^(b_t - b_s) for s <= t, else 0; null without decay
    Value before; ///< e^(b_t): of the state before, seen from a token
    Value after;  ///< e^(b_n - b_s): of a token, seen from the state after
    Value whole;  ///< e^(b_n): of the state before, seen from that after
  };

  const Decay &getDecay();
  void buildHeadDecay();
  void buildTokenDecay();
  void buildChannelDecay();
  void buildScalarFactors(Value pairs, Value before, Value after, Value whole);

  void buildQueries();
  void buildKeys();
  Value getQueries();
  Value getKeys();
  Value getValues();
  /// e^(m_q + maximum), [B, Hs, R n], or null: what true features are times.
  Value getWeight();
  /// Gradients of numerators and denominators (null) in the units of features.
  std::pair<Value, Value> getOutputGradients();

  /// f(q) . f(k) with decay for pairs of tokens, [B, Hs, R n, n].
  Value getProducts();
  /// The gradient of undecayed products, 0 where keys come later.
  Value getProductGradients();
  Value pairWithKeys(Value pairs, Value keys);
  Value pairWithQueries(Value pairs, Value queries);
  /// `queries` as seen by the state before, `keys` by the state after.
  Value decayQueries(Value queries);
  Value decayKeys(Value keys);
  Value decayState(Value state);

  // Layout.
  Value dot(Value lhs, Value rhs, int64_t lhsAxis, int64_t rhsAxis);
  Value spread(Value value, Value like, ArrayRef<int64_t> dimensions);
  Value scaleRows(Value rows, Value factors);
  Value toHeads(Value rows, int64_t heads);
  Value sumHeads(Value rows, int64_t heads);
  Value toGroups(Value rows);
  Value fromGroups(Value rows);
  Value repeatGroups(Value value);
  Value getCausalMask(int64_t blocks);
  Value getTriangle(StablehloBuilder::Comparison rowToColumn);
  Value sumAlong(Value matrix, Value values);

  StablehloBuilder &b;
  const AttentionSizes &sizes;
  AttentionInputs inputs;
  Value start;
  int64_t size;
  Value maximum;

  bool hasDecay = false;
  Decay decay;
  Value queryRows, mappedQueries, queries, scaledQueries, queryMaximum;
  Value keyRows, mappedKeys, keys;
  Value values, weight, products, productGradients;
  std::pair<Value, Value> outputGradients;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_ATTENTIONCHUNK_H
