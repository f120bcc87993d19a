//===- AttentionChunk.cpp - Tokens taken together in StableHLO ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionChunk.h"

using namespace mlir;
using namespace mlir::act;

using Combiner = StablehloBuilder::Combiner;

static Value sum(StablehloBuilder &b, Value value, int64_t axis) {
  return b.reduce(value, {axis}, Combiner::Add);
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

void AttentionChunk::buildQueries() {
  queryRows = load(inputs.query);
  mappedQueries = sizes.map.buildMap(b, queryRows, inputs.features);
  Value features = mappedQueries;
  if (sizes.map.isLogarithmic()) {
    Value greatest = b.reduce(features, {3}, Combiner::Maximum);
    features = b.exponential(
        b.subtract(features, spread(greatest, features, {0, 1, 2})));
    queryMaximum = toGroups(toHeads(greatest, sizes.heads));
  }
  queries = toGroups(toHeads(features, sizes.heads));
  scaledQueries = queries;
  if (sizes.scale != 1)
    scaledQueries = b.multiply(queries, b.splatLike(queries, sizes.scale));
}

Value AttentionChunk::getQueries() {
  if (!queries)
    buildQueries();
  return scaledQueries;
}

void AttentionChunk::buildKeys() {
  keyRows = load(inputs.key);
  mappedKeys = sizes.map.buildMap(b, keyRows, inputs.features);
}

Value AttentionChunk::getKeys() {
  if (keys)
    return keys;
  if (!mappedKeys)
    buildKeys();
  keys = toHeads(mappedKeys, sizes.stateHeads);
  if (sizes.map.isLogarithmic())
    keys = b.exponential(b.subtract(keys, spread(maximum, keys, {0, 1})));
  return keys;
}

Value AttentionChunk::getValues() {
  if (!values)
    values = toHeads(load(inputs.value), sizes.stateHeads);
  return values;
}

Value AttentionChunk::getMaximum(Value before) {
  if (!mappedKeys)
    buildKeys();
  Value logarithms = toHeads(mappedKeys, sizes.stateHeads);
  return b.maximum(before, b.reduce(logarithms, {2, 3}, Combiner::Maximum));
}

Value AttentionChunk::getWeight() {
  if (weight || !sizes.map.isLogarithmic())
    return weight;
  getQueries();
  weight =
      b.exponential(b.add(queryMaximum, spread(maximum, queryMaximum, {0, 1})));
  return weight;
}

//===----------------------------------------------------------------------===//
// Products of pairs of tokens
//===----------------------------------------------------------------------===//

/// A sum over features of products with a factor for each pair and feature
/// would overflow as a product of sums; the chunk is small then.
Value AttentionChunk::getProducts() {
  if (products)
    return products;
  Value lhs = getQueries(), rhs = getKeys();
  const Decay &decay = getDecay();
  if (sizes.decay == DecayKind::Channel) {
    SmallVector<int64_t> shape{sizes.batch, sizes.stateHeads, sizes.group, size,
                               size,        sizes.features};
    Value rows = b.reshape(lhs, {shape[0], shape[1], shape[2], size, shape[5]});
    Value terms = b.multiply(b.broadcastInDim(rows, shape, {0, 1, 2, 3, 5}),
                             b.broadcastInDim(rhs, shape, {0, 1, 4, 5}));
    terms = b.multiply(terms,
                       b.broadcastInDim(decay.pairs, shape, {0, 1, 3, 4, 5}));
    products = b.reshape(sum(b, terms, 5),
                         {shape[0], shape[1], sizes.group * size, size});
    return products;
  }
  products = dot(lhs, rhs, 3, 3);
  if (decay.pairs)
    products = b.multiply(products, repeatGroups(decay.pairs));
  else
    products = b.select(spread(getCausalMask(sizes.group), products, {2, 3}),
                        products, b.splatLike(products, 0));
  return products;
}

Value AttentionChunk::getProductGradients() {
  if (productGradients)
    return productGradients;
  auto [numerator, denominator] = getOutputGradients();
  Value gradients = dot(numerator, getValues(), 3, 3);
  if (denominator)
    gradients = b.add(gradients, spread(denominator, gradients, {0, 1, 2}));
  Value mask = spread(getCausalMask(sizes.group), gradients, {2, 3});
  productGradients = b.select(mask, gradients, b.splatLike(gradients, 0));
  if (sizes.decay != DecayKind::Channel && getDecay().pairs)
    productGradients =
        b.multiply(productGradients, repeatGroups(getDecay().pairs));
  return productGradients;
}

/// Sums over keys of pairs times keys, for each query.
Value AttentionChunk::pairWithKeys(Value pairs, Value keys) {
  if (sizes.decay != DecayKind::Channel)
    return dot(pairs, keys, 3, 2);
  SmallVector<int64_t> shape{sizes.batch, sizes.stateHeads, sizes.group, size,
                             size,        sizes.features};
  Value split = b.reshape(pairs, ArrayRef(shape).drop_back());
  Value terms = b.multiply(b.broadcastInDim(split, shape, {0, 1, 2, 3, 4}),
                           b.broadcastInDim(keys, shape, {0, 1, 4, 5}));
  terms = b.multiply(
      terms, b.broadcastInDim(getDecay().pairs, shape, {0, 1, 3, 4, 5}));
  return b.reshape(sum(b, terms, 4),
                   {shape[0], shape[1], sizes.group * size, shape[5]});
}

/// Sums over queries of pairs times queries, for each key.
Value AttentionChunk::pairWithQueries(Value pairs, Value queries) {
  if (sizes.decay != DecayKind::Channel)
    return dot(pairs, queries, 2, 2);
  SmallVector<int64_t> shape{sizes.batch, sizes.stateHeads, sizes.group, size,
                             size,        sizes.features};
  Value split = b.reshape(pairs, ArrayRef(shape).drop_back());
  Value rows =
      b.reshape(queries, {shape[0], shape[1], shape[2], size, shape[5]});
  Value terms = b.multiply(b.broadcastInDim(split, shape, {0, 1, 2, 3, 4}),
                           b.broadcastInDim(rows, shape, {0, 1, 2, 3, 5}));
  terms = b.multiply(
      terms, b.broadcastInDim(getDecay().pairs, shape, {0, 1, 3, 4, 5}));
  return b.reduce(terms, {2, 3}, Combiner::Add);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttentionChunk::attend(const AttentionState &state) {
  Value seen = decayQueries(getQueries());
  Value numerator =
      b.add(dot(getProducts(), getValues(), 3, 2), dot(seen, state.sums, 3, 2));
  Value weight = getWeight();
  if (!sizes.normalize) {
    if (weight)
      numerator = scaleRows(numerator, weight);
    return {fromGroups(numerator), Value()};
  }
  Value keySum = spread(state.keySum, seen, {0, 1, 3});
  Value denominator =
      b.add(sum(b, getProducts(), 3), sum(b, b.multiply(seen, keySum), 3));
  Value divisor = denominator;
  if (weight)
    denominator = b.multiply(denominator, weight);
  if (sizes.epsilon != 0) {
    Value epsilon = b.splatLike(denominator, sizes.epsilon);
    // Not the divisor times the weight: that is infinite where the weight is 0.
    denominator = b.add(denominator, epsilon);
    divisor = weight ? b.add(divisor, b.divide(epsilon, weight)) : denominator;
  }
  Value output = b.divide(numerator, spread(divisor, numerator, {0, 1, 2}));
  return {fromGroups(output), fromGroups(denominator)};
}

AttentionState AttentionChunk::advance(const AttentionState &state) {
  Value seen = decayKeys(getKeys());
  AttentionState result = state;
  result.sums = b.add(decayState(state.sums), dot(seen, getValues(), 2, 2));
  if (state.keySum)
    result.keySum = b.add(decayState(state.keySum), sum(b, seen, 2));
  return result;
}

AttentionState AttentionChunk::retreat(const AttentionState &state) {
  AttentionState result = state;
  result.sums = b.subtract(state.sums, dot(getKeys(), getValues(), 2, 2));
  if (state.keySum)
    result.keySum = b.subtract(state.keySum, sum(b, getKeys(), 2));
  return result;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

std::pair<Value, Value> AttentionChunk::getOutputGradients() {
  auto &[numerator, denominator] = outputGradients;
  if (numerator)
    return outputGradients;
  numerator = toGroups(load(inputs.gradient));
  if (sizes.normalize) {
    Value output = toGroups(load(inputs.output));
    Value divisor = toGroups(load(inputs.denominator));
    Value product = sum(b, b.multiply(numerator, output), 3);
    denominator = b.divide(b.negate(product), divisor);
    numerator = b.divide(numerator, spread(divisor, numerator, {0, 1, 2}));
  }
  if (Value weight = getWeight()) {
    numerator = scaleRows(numerator, weight);
    if (denominator)
      denominator = b.multiply(denominator, weight);
  }
  return outputGradients;
}

Value AttentionChunk::buildQueryGradient(const AttentionState &state) {
  getQueries();
  auto [numerator, denominator] = getOutputGradients();
  Value gradient = dot(numerator, state.sums, 3, 3);
  if (denominator)
    gradient =
        b.add(gradient, b.multiply(spread(denominator, gradient, {0, 1, 2}),
                                   spread(state.keySum, gradient, {0, 1, 3})));
  gradient = b.add(pairWithKeys(getProductGradients(), getKeys()),
                   decayQueries(gradient));
  if (sizes.scale != 1)
    gradient = b.multiply(gradient, b.splatLike(gradient, sizes.scale));
  return gradient;
}

std::pair<Value, Value>
AttentionChunk::buildKeyValueGradients(const AttentionState &gradient) {
  Value later = dot(getValues(), gradient.sums, 3, 3);
  if (gradient.keySum)
    later = b.add(later, spread(gradient.keySum, later, {0, 1, 3}));
  Value ofKeys = b.add(pairWithQueries(getProductGradients(), getQueries()),
                       decayKeys(later));
  Value ofValues = b.add(dot(getProducts(), getOutputGradients().first, 2, 2),
                         dot(decayKeys(getKeys()), gradient.sums, 3, 2));
  return {ofKeys, sumHeads(ofValues, sizes.valueHeads)};
}

AttentionState AttentionChunk::retreatGradient(const AttentionState &gradient) {
  Value seen = decayQueries(getQueries());
  auto [numerator, denominator] = getOutputGradients();
  AttentionState result = gradient;
  result.sums = b.add(decayState(gradient.sums), dot(seen, numerator, 2, 2));
  if (gradient.keySum) {
    Value added = sum(b, scaleRows(seen, denominator), 2);
    result.keySum = b.add(decayState(gradient.keySum), added);
  }
  return result;
}

Value AttentionChunk::buildQueryRowGradient(Value featureGradient) {
  bool isLogarithmic = sizes.map.isLogarithmic();
  if (isLogarithmic)
    featureGradient = b.multiply(queries, featureGradient);
  Value gradient = sumHeads(fromGroups(featureGradient), sizes.queryHeads);
  return sizes.map.buildGradient(b, queryRows, inputs.features, mappedQueries,
                                 gradient);
}

Value AttentionChunk::buildKeyRowGradient(Value featureGradient) {
  if (sizes.map.isLogarithmic())
    featureGradient = b.multiply(getKeys(), featureGradient);
  Value gradient = sumHeads(featureGradient, sizes.keyHeads);
  return sizes.map.buildGradient(b, keyRows, inputs.features, mappedKeys,
                                 gradient);
}

//===----------------------------------------------------------------------===//
// The gradient of decay
//===----------------------------------------------------------------------===//

Value AttentionChunk::buildQueryShare(Value featureGradient) {
  getQueries();
  Value terms = b.reshape(
      b.multiply(queries, featureGradient),
      {sizes.batch, sizes.stateHeads, sizes.group, size, sizes.features});
  if (sizes.decay == DecayKind::Channel)
    return sum(b, terms, 2);
  return b.reduce(terms, {2, 4}, Combiner::Add);
}

Value AttentionChunk::buildKeyShare(Value featureGradient) {
  Value terms = b.multiply(getKeys(), featureGradient);
  return sizes.decay == DecayKind::Channel ? terms : sum(b, terms, 3);
}

Value AttentionChunk::sumSuffixes(Value values) {
  return sumAlong(getTriangle(StablehloBuilder::Comparison::LE), values);
}
