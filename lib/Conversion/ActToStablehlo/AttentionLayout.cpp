//===- AttentionLayout.cpp - Layout and decay within a chunk --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionChunk.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

using Comparison = StablehloBuilder::Comparison;

static SmallVector<int64_t> shapeOf(Value value) {
  return llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
}

//===----------------------------------------------------------------------===//
// Rows of tensors
//===----------------------------------------------------------------------===//

/// [0, start, 0, ...]
static SmallVector<Value> getStarts(StablehloBuilder &b, Value start,
                                    size_t rank) {
  SmallVector<Value> starts(rank, b.scalar(b.getBuilder().getI32Type(), 0));
  starts[1] = start;
  return starts;
}

/// Swaps the axes 1 and 2.
static Value swapTokensAndHeads(StablehloBuilder &b, Value value) {
  int64_t rank = shapeOf(value).size();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(permutation[1], permutation[2]);
  return b.transpose(value, permutation);
}

Value AttentionChunk::load(Value tensor) {
  SmallVector<int64_t> shape = shapeOf(tensor);
  shape[1] = size;
  Value slice =
      b.dynamicSlice(tensor, getStarts(b, start, shape.size()), shape);
  return swapTokensAndHeads(b, b.convert(slice, sizes.sums));
}

Value AttentionChunk::store(Value whole, Value rows) {
  Type type = cast<RankedTensorType>(whole.getType()).getElementType();
  Value update = swapTokensAndHeads(b, b.convert(rows, type));
  return b.dynamicUpdateSlice(whole, update,
                              getStarts(b, start, shapeOf(whole).size()));
}

Value AttentionChunk::dot(Value lhs, Value rhs, int64_t lhsAxis,
                          int64_t rhsAxis) {
  return b.dotGeneral(lhs, rhs, {0, 1}, {0, 1}, {lhsAxis}, {rhsAxis});
}

Value AttentionChunk::spread(Value value, Value like,
                             ArrayRef<int64_t> dimensions) {
  return b.broadcastInDim(value, shapeOf(like), dimensions);
}

Value AttentionChunk::scaleRows(Value rows, Value factors) {
  return b.multiply(rows, spread(factors, rows, {0, 1, 2}));
}

/// Repeats each head so often that there are `heads`.
Value AttentionChunk::toHeads(Value rows, int64_t heads) {
  SmallVector<int64_t> shape = shapeOf(rows), repeated = shape;
  if (shape[1] == heads)
    return rows;
  repeated.insert(repeated.begin() + 2, heads / shape[1]);
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(repeated.size()));
  dimensions.erase(dimensions.begin() + 2);
  shape[1] = heads;
  return b.reshape(b.broadcastInDim(rows, repeated, dimensions), shape);
}

/// Adds up what `toHeads` repeats.
Value AttentionChunk::sumHeads(Value rows, int64_t heads) {
  SmallVector<int64_t> shape = shapeOf(rows);
  if (shape[1] == heads)
    return rows;
  shape.insert(shape.begin() + 2, shape[1] / heads);
  shape[1] = heads;
  return b.reduce(b.reshape(rows, shape), {2}, StablehloBuilder::Combiner::Add);
}

/// [B, H, n, ...] as [B, Hs, R n, ...].
Value AttentionChunk::toGroups(Value rows) {
  SmallVector<int64_t> shape = shapeOf(rows);
  shape[1] = sizes.stateHeads;
  shape[2] = sizes.group * size;
  return b.reshape(rows, shape);
}

Value AttentionChunk::fromGroups(Value rows) {
  SmallVector<int64_t> shape = shapeOf(rows);
  shape[1] = sizes.heads;
  shape[2] = size;
  return b.reshape(rows, shape);
}

/// [B, Hs, n, ...] as [B, Hs, R n, ...], R times the same.
Value AttentionChunk::repeatGroups(Value value) {
  if (sizes.group == 1)
    return value;
  SmallVector<int64_t> shape = shapeOf(value), repeated = shape;
  repeated.insert(repeated.begin() + 2, sizes.group);
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(repeated.size()));
  dimensions.erase(dimensions.begin() + 2);
  shape[2] *= sizes.group;
  return b.reshape(b.broadcastInDim(value, repeated, dimensions), shape);
}

/// [blocks n, n]: where the row's token is the column's or comes later.
Value AttentionChunk::getCausalMask(int64_t blocks) {
  auto type =
      RankedTensorType::get({blocks, size, size}, b.getBuilder().getI32Type());
  Value mask = b.compare(Comparison::GE, b.iota(type, 1), b.iota(type, 2));
  return b.reshape(mask, {blocks * size, size});
}

/// [n, n]: 1 where the row's number compares so with the column's, else 0.
Value AttentionChunk::getTriangle(Comparison rowToColumn) {
  auto type = RankedTensorType::get({size, size}, b.getBuilder().getI32Type());
  return b.convert(b.compare(rowToColumn, b.iota(type, 0), b.iota(type, 1)),
                   sizes.sums);
}

/// `matrix` [n, n] times `values` along axis 2.
Value AttentionChunk::sumAlong(Value matrix, Value values) {
  Value sums = b.dotGeneral(values, matrix, {}, {}, {2}, {1});
  int64_t rank = shapeOf(values).size();
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(rank - 1));
  permutation.insert(permutation.begin() + 2, rank - 1);
  return rank == 3 ? sums : b.transpose(sums, permutation);
}

//===----------------------------------------------------------------------===//
// Decay
//===----------------------------------------------------------------------===//

const AttentionChunk::Decay &AttentionChunk::getDecay() {
  if (hasDecay)
    return decay;
  hasDecay = true;
  switch (sizes.decay) {
  case DecayKind::None:
    break;
  case DecayKind::Head:
    buildHeadDecay();
    break;
  case DecayKind::Token:
  case DecayKind::Channel:
    buildTokenDecay();
    break;
  }
  return decay;
}

/// Logarithms without infinities, whose differences and multiples by 0 are no
/// numbers.
static Value bound(StablehloBuilder &b, Value logarithms) {
  return b.maximum(logarithms, b.splatLike(logarithms, -1e30));
}

/// b_t - b_s = (t - s) a.
void AttentionChunk::buildHeadDecay() {
  Value factor = bound(b, inputs.decay);
  auto pairs = RankedTensorType::get(
      {sizes.batch, sizes.stateHeads, size, size}, sizes.sums);
  auto tokens =
      RankedTensorType::get({sizes.batch, sizes.stateHeads, size}, sizes.sums);
  auto whole =
      RankedTensorType::get({sizes.batch, sizes.stateHeads}, sizes.sums);
  auto times = [&](Value count) {
    return b.multiply(count, spread(factor, count, {1}));
  };
  Value number = b.iota(tokens, 2);
  Value distance = b.subtract(b.iota(pairs, 2), b.iota(pairs, 3));
  buildScalarFactors(times(b.maximum(distance, b.splatLike(distance, 0))),
                     times(b.add(number, b.splatLike(number, 1))),
                     times(b.subtract(b.splatLike(number, size - 1), number)),
                     times(b.splat(whole, size)));
}

/// Sums of the numbers between two tokens are taken for each pair: as
/// differences of prefix sums they would lose what comes after a reset.
void AttentionChunk::buildTokenDecay() {
  Value logarithms = bound(b, load(inputs.decay));
  SmallVector<int64_t> shape = shapeOf(logarithms);
  // x[r, s] = a_r for r > s, else 0; summed over r <= t.
  SmallVector<int64_t> dimensions{0, 1, 2}, pairShape = shape;
  pairShape.insert(pairShape.begin() + 3, size);
  if (sizes.decay == DecayKind::Channel)
    dimensions.push_back(4);
  Value later =
      b.broadcastInDim(getTriangle(Comparison::GT), pairShape, {2, 3});
  Value terms =
      b.multiply(b.broadcastInDim(logarithms, pairShape, dimensions), later);
  buildScalarFactors(
      sumAlong(getTriangle(Comparison::GE), terms),
      sumAlong(getTriangle(Comparison::GE), logarithms),
      sumAlong(getTriangle(Comparison::LT), logarithms),
      b.reduce(logarithms, {2}, StablehloBuilder::Combiner::Add));
}

/// Masks and takes exponentials, of numbers that are not positive.
void AttentionChunk::buildScalarFactors(Value pairs, Value before, Value after,
                                        Value whole) {
  Value never = b.splatLike(pairs, -std::numeric_limits<double>::infinity());
  Value mask = spread(getCausalMask(1), pairs, {2, 3});
  decay.pairs = b.exponential(b.select(mask, pairs, never));
  decay.before = b.exponential(before);
  decay.after = b.exponential(after);
  decay.whole = b.exponential(whole);
}

Value AttentionChunk::decayQueries(Value queries) {
  const Decay &decay = getDecay();
  if (!decay.before)
    return queries;
  Value factors = repeatGroups(decay.before);
  return sizes.decay == DecayKind::Channel ? b.multiply(queries, factors)
                                           : scaleRows(queries, factors);
}

Value AttentionChunk::decayKeys(Value keys) {
  const Decay &decay = getDecay();
  if (!decay.after)
    return keys;
  return sizes.decay == DecayKind::Channel ? b.multiply(keys, decay.after)
                                           : scaleRows(keys, decay.after);
}

Value AttentionChunk::decayState(Value state) {
  const Decay &decay = getDecay();
  if (!decay.whole)
    return state;
  auto axes = llvm::seq<int64_t>(shapeOf(decay.whole).size());
  return b.multiply(state, spread(decay.whole, state, llvm::to_vector(axes)));
}
