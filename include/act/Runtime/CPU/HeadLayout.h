//===- HeadLayout.h - Where the data of heads are -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_HEADLAYOUT_H
#define ACT_RUNTIME_CPU_HEADLAYOUT_H

#include "act-c/LinearAttention.h"
#include "act/Runtime/CPU/KernelArguments.h"
#include <algorithm>

namespace mlir::act::runtime {

/// Some consecutive tokens of one head of one sequence.
struct HeadPart {
  int64_t sequence;
  int64_t head;
  int64_t firstToken;
  int64_t tokens;
};

/// Finds the data of heads in the arrays that the C functions are given.
class HeadLayout {
public:
  HeadLayout(const ActLinearAttentionSignature &signature, bool hasQueries)
      : signature(signature),
        stateHeads(std::max(signature.keyHeads, signature.valueHeads)),
        heads(hasQueries ? std::max(signature.queryHeads, stateHeads)
                         : stateHeads),
        elementBytes(signature.elementType == ActElementTypeF32 ? 4 : 2) {}

  Rows getQueries(const void *data, const HeadPart &part) const {
    return getRows(data, part, signature.queryHeads, signature.features);
  }
  Rows getKeys(const void *data, const HeadPart &part) const {
    return getRows(data, part, signature.keyHeads, signature.features);
  }
  Rows getValues(const void *data, const HeadPart &part) const {
    return getRows(data, part, signature.valueHeads, signature.values);
  }
  Rows getOutputs(const void *data, const HeadPart &part) const {
    return getRows(data, part, heads, signature.values);
  }
  Numbers getDenominators(const float *data, const HeadPart &part) const {
    return getNumbers(data, part, heads);
  }
  /// The decay of each token, or of all.
  Numbers getDecay(const float *data, const HeadPart &part) const {
    if (signature.decay == ActDecayHead)
      return {const_cast<float *>(data) + getStateHead(part.head), 1, 1};
    return getNumbers(data, part, stateHeads);
  }

  /// Bytes of the rows of all tokens for `count` heads.
  int64_t getBytes(int64_t count, int64_t columns) const {
    return signature.batch * signature.tokens * count * columns * elementBytes;
  }

  /// S and z of a head.
  float *getState(const float *data, const HeadPart &part) const {
    return const_cast<float *>(data) +
           getStateNumber(part) * signature.features * signature.values;
  }
  float *getSums(const float *data, const HeadPart &part) const {
    return const_cast<float *>(data) +
           getStateNumber(part) * signature.features;
  }
  /// Floats of S and z together.
  int64_t getStateSize() const {
    return signature.features * (signature.values + 1);
  }
  int64_t getStateHead(int64_t head) const {
    return head / (heads / stateHeads);
  }
  int64_t getStateNumber(const HeadPart &part) const {
    return part.sequence * stateHeads + getStateHead(part.head);
  }
  /// Whether `head` is the first of those that share its state.
  bool isFirst(int64_t head) const { return head % (heads / stateHeads) == 0; }

  const ActLinearAttentionSignature &signature;
  const int64_t stateHeads;
  const int64_t heads;
  const int64_t elementBytes;

private:
  Rows getRows(const void *data, const HeadPart &part, int64_t count,
               int64_t columns) const {
    int64_t stride = count * columns;
    int64_t row = part.sequence * signature.tokens + part.firstToken;
    int64_t offset = row * stride + part.head / (heads / count) * columns;
    auto *base = static_cast<const char *>(data) + offset * elementBytes;
    return {const_cast<char *>(base), part.tokens, columns, stride};
  }
  Numbers getNumbers(const float *data, const HeadPart &part,
                     int64_t count) const {
    int64_t row = part.sequence * signature.tokens + part.firstToken;
    int64_t offset = row * count + part.head / (heads / count);
    return {const_cast<float *>(data) + offset, part.tokens, count};
  }
};

/// S and z of one head.
struct State {
  float *state;
  float *sums;

  void addTo(KernelArguments &arguments,
             const ActLinearAttentionSignature &signature) const {
    arguments.addMatrix(state, signature.features, signature.values);
    if (signature.normalize)
      arguments.addMatrix(sums, 1, signature.features);
  }
};

/// How heads and tokens are given to threads.
struct Schedule {
  /// `unit` heads, which share results, stay together; `kernels` is how many
  /// tokens a kernel takes together.
  Schedule(const HeadLayout &layout, int64_t unit, int64_t threads,
           int64_t chunk);

  int64_t getTaskCount() const { return sequences * blocks; }
  int64_t getSequence(int64_t task) const { return task / blocks; }
  int64_t getFirstHead(int64_t task) const {
    return task % blocks * headsPerBlock;
  }
  int64_t getEndHead(int64_t task) const {
    return std::min(getFirstHead(task) + headsPerBlock, heads);
  }

  int64_t sequences;
  int64_t heads;
  int64_t headsPerBlock;
  int64_t blocks;
  /// Tokens after which the next head of the block has its turn.
  int64_t tokensPerTurn;
};

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_HEADLAYOUT_H
