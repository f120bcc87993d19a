//===- LinearAttentionTest.cpp - Kernels of linear attention ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir::act::test;
using testing::HasSubstr;

static ActLinearAttentionSignature makeSignature() {
  ActLinearAttentionSignature signature = {};
  signature.batch = 1;
  signature.tokens = 65;
  signature.queryHeads = signature.keyHeads = signature.valueHeads = 2;
  signature.features = 64;
  signature.values = 64;
  signature.featureMap = "square";
  signature.scale = 1.0;
  signature.epsilon = 1e-6;
  signature.normalize = true;
  return signature;
}

static float *getData(Array &array) {
  return array.empty() ? nullptr : array.data();
}

static ActLinearAttentionBuffers getBuffers(Problem &p) {
  return {p.q.data(),          p.k.data(),     p.v.data(),
          getData(p.decay),    p.state.data(), getData(p.sums),
          p.o.data(),          getData(p.d),   p.finalState.data(),
          getData(p.finalSums)};
}

static void runForward(Problem &p, int64_t threads = 1) {
  std::array<char, 200> reason = {};
  ActLinearAttentionBuffers buffers = getBuffers(p);
  ASSERT_TRUE(actLinearAttentionForward(&p.signature, &buffers, threads,
                                        reason.data(), reason.size()))
      << reason.data();
}

static void runGrad(Problem &p, int64_t threads = 1) {
  std::array<char, 200> reason = {};
  ActLinearAttentionGradBuffers buffers = {p.q.data(),
                                           p.k.data(),
                                           p.v.data(),
                                           getData(p.decay),
                                           p.o.data(),
                                           getData(p.d),
                                           p.outputGrad.data(),
                                           p.state.data(),
                                           getData(p.sums),
                                           p.finalStateGrad.data(),
                                           getData(p.finalSumsGrad),
                                           p.queryGrad.data(),
                                           p.keyGrad.data(),
                                           p.valueGrad.data(),
                                           getData(p.decayGrad),
                                           p.stateGrad.data(),
                                           getData(p.sumsGrad)};
  ASSERT_TRUE(actLinearAttentionGrad(&p.signature, &buffers, threads,
                                     reason.data(), reason.size()))
      << reason.data();
}

/// Compares everything with the reference. Gradients of decays are differences
/// of sums, of which much cancels.
static void expectSolved(const ActLinearAttentionSignature &signature,
                         int64_t threads = 1) {
  Problem actual = makeProblem(signature);
  Problem expected = solve(actual);
  runForward(actual, threads);
  runGrad(actual, threads);
  double tolerance = 1e-6;
  EXPECT_LE(getError(actual.o, expected.o), tolerance);
  EXPECT_LE(getError(actual.d, expected.d), tolerance);
  EXPECT_LE(getError(actual.finalState, expected.finalState), tolerance);
  EXPECT_LE(getError(actual.finalSums, expected.finalSums), tolerance);
  EXPECT_LE(getError(actual.queryGrad, expected.queryGrad), tolerance);
  EXPECT_LE(getError(actual.keyGrad, expected.keyGrad), tolerance);
  EXPECT_LE(getError(actual.valueGrad, expected.valueGrad), tolerance);
  EXPECT_LE(getError(actual.stateGrad, expected.stateGrad), tolerance);
  EXPECT_LE(getError(actual.sumsGrad, expected.sumsGrad), tolerance);
  EXPECT_LE(getError(actual.decayGrad, expected.decayGrad), 1e-5);
}

TEST(LinearAttention, NumbersOfTokens) {
  for (int64_t tokens : {1, 15, 16, 17, 63, 65, 500}) {
    SCOPED_TRACE(tokens);
    ActLinearAttentionSignature signature = makeSignature();
    signature.tokens = tokens;
    expectSolved(signature);
  }
}

TEST(LinearAttention, NoTokens) {
  ActLinearAttentionSignature signature = makeSignature();
  signature.tokens = 0;
  Problem p = makeProblem(signature);
  runForward(p);
  runGrad(p);
  EXPECT_EQ(p.finalState, p.state);
  EXPECT_EQ(p.stateGrad, p.finalStateGrad);
}

TEST(LinearAttention, SizesOfRows) {
  for (auto [features, values] :
       {std::pair(5, 3), std::pair(17, 33), std::pair(60, 100), std::pair(1, 1),
        std::pair(130, 70)}) {
    SCOPED_TRACE(features);
    ActLinearAttentionSignature signature = makeSignature();
    // A normaliser cancels a single feature.
    signature.normalize = features > 1;
    signature.epsilon = 0.0;
    signature.features = features;
    signature.values = values;
    expectSolved(signature);
  }
}

TEST(LinearAttention, FeatureMaps) {
  for (const char *map :
       {"identity", "relu", "elu_plus_one", "square", "exp"}) {
    SCOPED_TRACE(map);
    ActLinearAttentionSignature signature = makeSignature();
    signature.featureMap = map;
    signature.scale = 0.3;
    signature.normalize = map != std::string("identity");
    signature.epsilon = signature.normalize ? 0.1 : 0.0;
    expectSolved(signature);
  }
}

TEST(LinearAttention, Decays) {
  for (ActDecay decay : {ActDecayHead, ActDecayToken})
    for (bool normalize : {false, true}) {
      SCOPED_TRACE(decay);
      ActLinearAttentionSignature signature = makeSignature();
      signature.batch = 2;
      signature.tokens = 150;
      signature.decay = decay;
      signature.scale = 0.5;
      signature.normalize = normalize;
      signature.epsilon = 0.0;
      expectSolved(signature);
    }
}

TEST(LinearAttention, DecaysThatReset) {
  for (float reset : {-1e4f, -std::numeric_limits<float>::infinity()}) {
    ActLinearAttentionSignature signature = makeSignature();
    signature.tokens = 100;
    signature.decay = ActDecayToken;
    Problem actual = makeProblem(signature);
    for (size_t i = 0; i < actual.decay.size(); i += 7)
      actual.decay[i] = reset;
    Problem expected = solve(actual);
    runForward(actual);
    runGrad(actual);
    EXPECT_LE(getError(actual.o, expected.o), 1e-6);
    EXPECT_LE(getError(actual.queryGrad, expected.queryGrad), 1e-6);
    EXPECT_LE(getError(actual.keyGrad, expected.keyGrad), 1e-6);
    EXPECT_LE(getError(actual.valueGrad, expected.valueGrad), 1e-6);
    EXPECT_LE(getError(actual.decayGrad, expected.decayGrad), 1e-5);
  }
}

TEST(LinearAttention, SharedHeads) {
  for (auto [queries, keys, values] :
       {std::tuple(4, 2, 2), std::tuple(2, 2, 4), std::tuple(4, 1, 2),
        std::tuple(2, 4, 4), std::tuple(1, 4, 1)})
    for (ActDecay decay : {ActDecayNone, ActDecayHead, ActDecayToken}) {
      SCOPED_TRACE(queries * 100 + keys * 10 + values);
      ActLinearAttentionSignature signature = makeSignature();
      signature.batch = 2;
      signature.tokens = 140;
      signature.queryHeads = queries;
      signature.keyHeads = keys;
      signature.valueHeads = values;
      signature.features = 24;
      signature.values = 16;
      signature.decay = decay;
      expectSolved(signature, /*threads=*/2);
    }
}

TEST(LinearAttention, ChunksDifferByRounding) {
  ActLinearAttentionSignature signature = makeSignature();
  signature.tokens = 200;
  signature.decay = ActDecayToken;
  for (int64_t chunk : {1, 32, 48, 64, 128}) {
    SCOPED_TRACE(chunk);
    signature.chunk = chunk;
    expectSolved(signature);
  }
}

TEST(LinearAttention, ThreadsDoNotChangeBits) {
  ActLinearAttentionSignature signature = makeSignature();
  signature.batch = 3;
  signature.tokens = 300;
  signature.queryHeads = signature.keyHeads = signature.valueHeads = 4;
  Problem one = makeProblem(signature), three = one;
  runForward(one, 1);
  runGrad(one, 1);
  runForward(three, 3);
  runGrad(three, 3);
  EXPECT_EQ(one.o, three.o);
  EXPECT_EQ(one.queryGrad, three.queryGrad);
  EXPECT_EQ(one.keyGrad, three.keyGrad);
  EXPECT_EQ(one.stateGrad, three.stateGrad);
}

/// Number of the first row of `columns` elements that is not finite.
static int64_t findFirst(const Array &array, int64_t columns) {
  for (size_t i = 0; i < array.size(); ++i)
    if (!std::isfinite(array[i]))
      return i / columns;
  return array.size() / columns;
}

static int64_t findLast(const Array &array, int64_t columns) {
  for (int64_t i = array.size() - 1; i >= 0; --i)
    if (!std::isfinite(array[i]))
      return i / columns;
  return -1;
}

TEST(LinearAttention, NaNReachesLaterTokensOnly) {
  constexpr int64_t bad = 21;
  for (int which : {0, 1, 2}) {
    for (float value : {std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()}) {
      SCOPED_TRACE(which);
      ActLinearAttentionSignature signature = makeSignature();
      signature.queryHeads = signature.keyHeads = signature.valueHeads = 1;
      Problem p = makeProblem(signature);
      (which == 0 ? p.q : which == 1 ? p.k : p.v)[bad * 64 + 3] = value;
      runForward(p);
      EXPECT_EQ(findFirst(p.o, 64), bad);
      // A query affects its own output, a key or value all later ones.
      EXPECT_EQ(findLast(p.o, 64), which == 0 ? bad : signature.tokens - 1);
    }
  }
}

TEST(LinearAttention, NaNInGradientReachesEarlierTokensOnly) {
  constexpr int64_t bad = 21;
  ActLinearAttentionSignature signature = makeSignature();
  signature.queryHeads = signature.keyHeads = signature.valueHeads = 1;
  Problem p = makeProblem(signature);
  runForward(p);
  p.outputGrad[bad * 64 + 3] = std::numeric_limits<float>::quiet_NaN();
  runGrad(p);
  EXPECT_EQ(findFirst(p.queryGrad, 64), bad);
  EXPECT_EQ(findLast(p.queryGrad, 64), bad);
  EXPECT_EQ(findFirst(p.keyGrad, 64), 0);
  EXPECT_EQ(findLast(p.keyGrad, 64), bad);
  EXPECT_EQ(findLast(p.valueGrad, 64), bad);
}

TEST(LinearAttention, StateOfParts) {
  // Two calls, the second with the state of the first, are one call.
  ActLinearAttentionSignature signature = makeSignature();
  signature.queryHeads = signature.keyHeads = signature.valueHeads = 1;
  signature.tokens = 100;
  Problem whole = makeProblem(signature);
  runForward(whole);
  Problem part = whole;
  part.signature.tokens = 37;
  runForward(part);
  part.state = part.finalState;
  part.sums = part.finalSums;
  part.signature.tokens = 63;
  for (Array *array : {&part.q, &part.k, &part.v})
    array->erase(array->begin(), array->begin() + 37 * 64);
  runForward(part);
  EXPECT_LE(getError(part.finalState, whole.finalState), 1e-6);
  Array rest(whole.o.begin() + 37 * 64, whole.o.end());
  part.o.resize(rest.size());
  EXPECT_LE(getError(part.o, rest), 1e-6);
}

TEST(LinearAttention, StateForwardsAndBack) {
  ActLinearAttentionSignature signature = makeSignature();
  Problem p = makeProblem(signature);
  Problem expected = solve(p);
  ActLinearAttentionBuffers buffers = getBuffers(p);
  ASSERT_TRUE(actLinearAttentionState(&p.signature, &buffers, 1, nullptr, 0));
  EXPECT_LE(getError(p.finalState, expected.finalState), 1e-6);
  EXPECT_LE(getError(p.finalSums, expected.finalSums), 1e-6);
  // In place.
  p.signature.subtract = true;
  buffers.state = p.finalState.data();
  buffers.sums = p.finalSums.data();
  ASSERT_TRUE(actLinearAttentionState(&p.signature, &buffers, 1, nullptr, 0));
  EXPECT_LE(getError(p.finalState, p.state), 1e-4);
  EXPECT_LE(getError(p.finalSums, p.sums), 1e-4);
}

TEST(LinearAttention, GradientsFromTheLastState) {
  ActLinearAttentionSignature signature = makeSignature();
  Problem p = makeProblem(signature);
  Problem expected = solve(p);
  runForward(p);
  p.signature.reverse = true;
  p.state = p.finalState;
  p.sums = p.finalSums;
  runGrad(p);
  EXPECT_LE(getError(p.queryGrad, expected.queryGrad), 1e-5);
  EXPECT_LE(getError(p.keyGrad, expected.keyGrad), 1e-6);
}

/// bfloat16 and back.
static std::vector<uint16_t> toBF16(Array &array) {
  std::vector<uint16_t> narrow;
  for (float &element : array) {
    uint32_t bits;
    std::memcpy(&bits, &element, 4);
    narrow.push_back((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
    bits = static_cast<uint32_t>(narrow.back()) << 16;
    std::memcpy(&element, &bits, 4);
  }
  return narrow;
}

TEST(LinearAttention, SixteenBits) {
  ActLinearAttentionSignature signature = makeSignature();
  signature.features = 20;
  Problem p = makeProblem(signature);
  std::vector<uint16_t> q = toBF16(p.q), k = toBF16(p.k), v = toBF16(p.v);
  Problem expected = solve(p);
  p.signature.elementType = ActElementTypeBF16;
  std::vector<uint16_t> o(p.o.size());
  ActLinearAttentionBuffers buffers = getBuffers(p);
  buffers.q = q.data();
  buffers.k = k.data();
  buffers.v = v.data();
  buffers.o = o.data();
  ASSERT_TRUE(actLinearAttentionForward(&p.signature, &buffers, 1, nullptr, 0));
  for (size_t i = 0; i < o.size(); ++i) {
    uint32_t bits = static_cast<uint32_t>(o[i]) << 16;
    std::memcpy(&p.o[i], &bits, 4);
  }
  // Sums are f32: only the results are rounded.
  EXPECT_LE(getError(p.o, expected.o), 3e-3);
  EXPECT_LE(getError(p.d, expected.d), 1e-6);
  EXPECT_LE(getError(p.finalState, expected.finalState), 1e-6);
}

static std::string getReason(const ActLinearAttentionSignature &signature) {
  std::array<char, 200> reason = {};
  EXPECT_FALSE(actLinearAttentionIsSupported(ActOperationGrad, &signature,
                                             reason.data(), reason.size()));
  return reason.data();
}

TEST(LinearAttention, SaysWhatIsNotSupported) {
  ActLinearAttentionSignature signature = makeSignature();
  EXPECT_TRUE(
      actLinearAttentionIsSupported(ActOperationGrad, &signature, nullptr, 0));
  signature.featureMap = "favor_plus";
  EXPECT_THAT(getReason(signature), HasSubstr("got favor_plus"));
  signature.featureMap = "cube";
  EXPECT_THAT(getReason(signature), HasSubstr("got \"cube\""));
  signature.featureMap = nullptr;
  EXPECT_THAT(getReason(signature), HasSubstr("expects the name"));
  signature = makeSignature();
  signature.decay = ActDecayChannel;
  EXPECT_THAT(getReason(signature), HasSubstr("per channel"));
  signature = makeSignature();
  signature.elementType = ActElementTypeF64;
  EXPECT_THAT(getReason(signature), HasSubstr("got f64"));
  signature = makeSignature();
  signature.keyHeads = 3;
  EXPECT_THAT(getReason(signature), HasSubstr("query heads that divides 3"));
  signature = makeSignature();
  signature.features = 0;
  EXPECT_THAT(getReason(signature), HasSubstr("1 to 1024 features, got 0"));
  signature = makeSignature();
  signature.scale = std::numeric_limits<double>::infinity();
  EXPECT_THAT(getReason(signature), HasSubstr("finite scale"));
  signature = makeSignature();
  signature.decay = ActDecayHead;
  signature.reverse = true;
  EXPECT_THAT(getReason(signature), HasSubstr("no decay"));
}

TEST(LinearAttention, PeakIsPositive) { EXPECT_GT(actMeasurePeak(1), 1e6); }
