//===- Reference.cpp - Linear attention token by token ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mlir::act::test;

int64_t Problem::getStateHeads() const {
  return std::max(signature.keyHeads, signature.valueHeads);
}

int64_t Problem::getHeads() const {
  return std::max(signature.queryHeads, getStateHeads());
}

Problem
mlir::act::test::makeProblem(const ActLinearAttentionSignature &signature) {
  Problem p;
  p.signature = signature;
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  auto random = [&](Array &array, int64_t size, float factor) {
    array.resize(size);
    for (float &element : array)
      element = factor * normal(generator);
  };
  int64_t rows = signature.batch * signature.tokens;
  int64_t states = signature.batch * p.getStateHeads();
  int64_t m = signature.features, n = signature.values;
  random(p.q, rows * signature.queryHeads * m, 1);
  random(p.k, rows * signature.keyHeads * m, 1);
  random(p.v, rows * signature.valueHeads * n, 1);
  random(p.state, states * m * n, 0.1f);
  random(p.outputGrad, rows * p.getHeads() * n, 1);
  random(p.finalStateGrad, states * m * n, 0.1f);
  if (signature.decay != ActDecayNone) {
    int64_t perHead = signature.decay == ActDecayHead;
    random(p.decay, (perHead ? 1 : rows) * p.getStateHeads(), 0.1f);
    for (float &element : p.decay)
      element = -std::fabs(element);
  }
  float nan = std::numeric_limits<float>::quiet_NaN();
  p.o.assign(rows * p.getHeads() * n, nan);
  p.finalState.assign(p.state.size(), nan);
  p.queryGrad.assign(p.q.size(), nan);
  p.keyGrad.assign(p.k.size(), nan);
  p.valueGrad.assign(p.v.size(), nan);
  p.decayGrad.assign(p.decay.size(), nan);
  p.stateGrad.assign(p.state.size(), nan);
  if (!signature.normalize)
    return p;
  random(p.sums, states * m, 1);
  // Positive, so that denominators stay away from 0.
  for (float &element : p.sums)
    element = std::fabs(element);
  random(p.finalSumsGrad, states * m, 0.1f);
  p.d.assign(rows * p.getHeads(), nan);
  p.finalSums.assign(p.sums.size(), nan);
  p.sumsGrad.assign(p.sums.size(), nan);
  return p;
}

namespace {
using Wide = std::vector<double>;

/// One head of one sequence in f64.
struct Head {
  int64_t tokens, m, n;
  double scale, epsilon;
  bool normalize;
  std::string map;
  Wide q, k, v, decay, outputGrad;
  Wide o, d;
  /// States before each token and after the last, M times (N + 1): the last
  /// column is z. And gradients of the same.
  std::vector<Wide> states, stateGrads;
  Wide queryGrad, keyGrad, valueGrad, decayGrad;

  double apply(double x) const {
    if (map == "square")
      return x * x;
    if (map == "relu")
      return std::max(x, 0.0);
    if (map == "exp")
      return std::exp(x);
    if (map == "elu_plus_one")
      return x > 0 ? x + 1 : std::exp(x);
    return x;
  }
  double applyGrad(double x) const {
    if (map == "square")
      return 2 * x;
    if (map == "relu")
      return x > 0;
    if (map == "exp")
      return std::exp(x);
    if (map == "elu_plus_one")
      return x > 0 ? 1 : std::exp(x);
    return 1;
  }
  /// What column `e` of the state has as value at token t.
  double getValue(int64_t t, int64_t e) const {
    return e < n ? v[t * n + e] : 1;
  }

  void runForward();
  void runBackward();
};
} // namespace

void Head::runForward() {
  o.assign(tokens * n, 0);
  d.assign(tokens, 1);
  for (int64_t t = 0; t < tokens; ++t) {
    Wide state = states.back();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t e = 0; e <= n; ++e) {
        double &element = state[i * (n + 1) + e];
        element =
            std::exp(decay[t]) * element + apply(k[t * m + i]) * getValue(t, e);
      }
    Wide sums(n + 1);
    for (int64_t i = 0; i < m; ++i)
      for (int64_t e = 0; e <= n; ++e)
        sums[e] += scale * apply(q[t * m + i]) * state[i * (n + 1) + e];
    if (normalize)
      d[t] = sums[n] + epsilon;
    for (int64_t e = 0; e < n; ++e)
      o[t * n + e] = sums[e] / d[t];
    states.push_back(state);
  }
}

void Head::runBackward() {
  Wide grad = stateGrads.back();
  queryGrad.assign(tokens * m, 0);
  keyGrad.assign(tokens * m, 0);
  valueGrad.assign(tokens * n, 0);
  decayGrad.assign(tokens, 0);
  for (int64_t t = tokens - 1; t >= 0; --t) {
    Wide sumGrads(n + 1);
    for (int64_t e = 0; e < n; ++e) {
      sumGrads[e] = outputGrad[t * n + e] / d[t];
      if (normalize)
        sumGrads[n] -= outputGrad[t * n + e] * o[t * n + e] / d[t];
    }
    const Wide &before = states[t], &after = states[t + 1];
    for (int64_t i = 0; i < m; ++i) {
      double query = 0, key = 0;
      for (int64_t e = 0; e <= n; ++e) {
        int64_t at = i * (n + 1) + e;
        query += scale * after[at] * sumGrads[e];
        grad[at] += scale * apply(q[t * m + i]) * sumGrads[e];
        key += grad[at] * getValue(t, e);
        if (e < n)
          valueGrad[t * n + e] += grad[at] * apply(k[t * m + i]);
        decayGrad[t] += std::exp(decay[t]) * grad[at] * before[at];
      }
      queryGrad[t * m + i] = query * applyGrad(q[t * m + i]);
      keyGrad[t * m + i] = key * applyGrad(k[t * m + i]);
    }
    for (double &element : grad)
      element *= std::exp(decay[t]);
  }
  stateGrads.push_back(grad);
}

namespace {
/// Cuts heads out of a problem's arrays and adds them back.
struct HeadMapper {
  const Problem &p;
  int64_t sequence, head;

  int64_t getStateHead() const {
    return head / (p.getHeads() / p.getStateHeads());
  }
  bool isFirst() const {
    return head % (p.getHeads() / p.getStateHeads()) == 0;
  }
  template <typename Body>
  void forRows(int64_t heads, int64_t columns, Body body) const {
    for (int64_t t = 0; t < p.signature.tokens; ++t)
      for (int64_t c = 0; c < columns; ++c)
        body(((sequence * p.signature.tokens + t) * heads +
              head / (p.getHeads() / heads)) *
                     columns +
                 c,
             t * columns + c);
  }
  Wide get(const Array &array, int64_t heads, int64_t columns) const {
    Wide part(p.signature.tokens * columns);
    forRows(heads, columns,
            [&](int64_t from, int64_t to) { part[to] = array[from]; });
    return part;
  }
  void add(Array &array, const Wide &part, int64_t heads,
           int64_t columns) const {
    forRows(heads, columns, [&](int64_t to, int64_t from) {
      array[to] += static_cast<float>(part[from]);
    });
  }
  template <typename Body>
  void forState(Body body) const {
    int64_t m = p.signature.features, n = p.signature.values;
    int64_t state = sequence * p.getStateHeads() + getStateHead();
    for (int64_t i = 0; i < m; ++i)
      for (int64_t e = 0; e <= n; ++e)
        body(e < n, e < n ? (state * m + i) * n + e : state * m + i,
             i * (n + 1) + e);
  }
  Wide getState(const Array &state, const Array &sums) const {
    Wide part(p.signature.features * (p.signature.values + 1));
    forState([&](bool isState, int64_t from, int64_t to) {
      part[to] = isState ? state[from] : sums.empty() ? 0 : sums[from];
    });
    return part;
  }
  void addState(Array &state, Array &sums, const Wide &part) const {
    forState([&](bool isState, int64_t to, int64_t from) {
      if (isState)
        state[to] += static_cast<float>(part[from]);
      else if (!sums.empty())
        sums[to] += static_cast<float>(part[from]);
    });
  }
};
} // namespace

static void solveHead(const Problem &p, Problem &result, int64_t sequence,
                      int64_t number) {
  const ActLinearAttentionSignature &s = p.signature;
  HeadMapper mapper{p, sequence, number};
  Head head;
  head.tokens = s.tokens;
  head.m = s.features;
  head.n = s.values;
  head.scale = s.scale;
  head.epsilon = s.epsilon;
  head.normalize = s.normalize;
  head.map = s.featureMap;
  head.q = mapper.get(p.q, s.queryHeads, s.features);
  head.k = mapper.get(p.k, s.keyHeads, s.features);
  head.v = mapper.get(p.v, s.valueHeads, s.values);
  head.outputGrad = mapper.get(p.outputGrad, p.getHeads(), s.values);
  head.decay.assign(s.tokens, 0);
  if (s.decay == ActDecayHead)
    head.decay.assign(s.tokens, p.decay[mapper.getStateHead()]);
  else if (s.decay == ActDecayToken)
    head.decay = mapper.get(p.decay, p.getStateHeads(), 1);
  head.states.push_back(mapper.getState(p.state, p.sums));
  head.runForward();
  mapper.add(result.o, head.o, p.getHeads(), s.values);
  if (s.normalize)
    mapper.add(result.d, head.d, p.getHeads(), 1);
  if (mapper.isFirst())
    mapper.addState(result.finalState, result.finalSums, head.states.back());

  head.stateGrads.push_back(mapper.getState(p.finalStateGrad, p.finalSumsGrad));
  if (!mapper.isFirst())
    head.stateGrads.back().assign(head.stateGrads.back().size(), 0);
  head.runBackward();
  mapper.add(result.queryGrad, head.queryGrad, s.queryHeads, s.features);
  mapper.add(result.keyGrad, head.keyGrad, s.keyHeads, s.features);
  mapper.add(result.valueGrad, head.valueGrad, s.valueHeads, s.values);
  mapper.addState(result.stateGrad, result.sumsGrad, head.stateGrads.back());
  if (s.decay == ActDecayToken)
    mapper.add(result.decayGrad, head.decayGrad, p.getStateHeads(), 1);
  if (s.decay == ActDecayHead)
    for (double grad : head.decayGrad)
      result.decayGrad[mapper.getStateHead()] += static_cast<float>(grad);
}

Problem mlir::act::test::solve(const Problem &problem) {
  Problem result = problem;
  for (Array *array :
       {&result.o, &result.d, &result.finalState, &result.finalSums,
        &result.queryGrad, &result.keyGrad, &result.valueGrad,
        &result.decayGrad, &result.stateGrad, &result.sumsGrad})
    std::fill(array->begin(), array->end(), 0.0f);
  for (int64_t b = 0; b < problem.signature.batch; ++b)
    for (int64_t h = 0; h < problem.getHeads(); ++h)
      solveHead(problem, result, b, h);
  return result;
}

double mlir::act::test::getError(const Array &actual, const Array &expected) {
  double difference = 0, total = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    double delta = static_cast<double>(actual[i]) - expected[i];
    difference += delta * delta;
    total += static_cast<double>(expected[i]) * expected[i];
  }
  return total == 0 ? std::sqrt(difference) : std::sqrt(difference / total);
}
