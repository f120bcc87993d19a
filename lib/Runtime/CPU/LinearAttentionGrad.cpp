//===- LinearAttentionGrad.cpp - Gradients by kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/HeadLayout.h"
#include "act/Runtime/CPU/LargePages.h"
#include "act/Runtime/CPU/LinearAttention.h"
#include <cstring>
#include <numeric>
#include <vector>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

using Signature = ActLinearAttentionSignature;

namespace {
/// The gradients of a block of heads that share nothing with other blocks.
class GradTask {
public:
  GradTask(const CompiledKernel &queryKernel,
           const CompiledKernel &keyValueKernel, const HeadLayout &layout,
           const ActLinearAttentionGradBuffers &buffers, double *headDecayGrads,
           int64_t sequence, int64_t firstHead, int64_t endHead,
           int64_t tokensPerTurn)
      : queryKernel(queryKernel), keyValueKernel(keyValueKernel),
        layout(layout), signature(layout.signature), buffers(buffers),
        headDecayGrads(headDecayGrads), sequence(sequence),
        firstHead(firstHead), endHead(endHead), tokensPerTurn(tokensPerTurn),
        workspaceBytes(std::max(queryKernel.workspaceBytes,
                                keyValueKernel.workspaceBytes)),
        workspace(workspaceBytes + (endHead - firstHead) *
                                       layout.getStateSize() * sizeof(float)) {}

  void run();

private:
  HeadPart getWhole(int64_t head) const {
    return {sequence, head, 0, signature.tokens};
  }
  /// The state, or its gradient, that a head has come to.
  State getState(int64_t head) const {
    auto *states = reinterpret_cast<float *>(workspace.get() + workspaceBytes);
    float *own = states + (head - firstHead) * layout.getStateSize();
    return {own, own + signature.features * signature.values};
  }
  State getFinalGrad(int64_t head) const {
    return {layout.getState(buffers.finalStateGrad, getWhole(head)),
            layout.getSums(buffers.finalSumsGrad, getWhole(head))};
  }

  void clearResults();
  void runQueries(const HeadPart &part);
  void runKeysAndValues(const HeadPart &part);
  void addInputs(KernelArguments &arguments, const HeadPart &part);
  void callKernel(const CompiledKernel &kernel, KernelArguments &arguments,
                  const HeadPart &part);
  void storeStateGrad(int64_t head);
  void addFinalDecayGrad(int64_t head);
  void finishDecayGrad(int64_t head);

  const CompiledKernel &queryKernel;
  const CompiledKernel &keyValueKernel;
  const HeadLayout &layout;
  const Signature &signature;
  const ActLinearAttentionGradBuffers &buffers;
  /// Of the decay of each state.
  double *headDecayGrads;
  int64_t sequence, firstHead, endHead, tokensPerTurn;
  int64_t workspaceBytes;
  Workspace workspace;
};
} // namespace

void GradTask::addInputs(KernelArguments &arguments, const HeadPart &part) {
  arguments.addRows(layout.getQueries(buffers.q, part));
  arguments.addRows(layout.getKeys(buffers.k, part));
  arguments.addRows(layout.getValues(buffers.v, part));
  if (signature.decay != ActDecayNone)
    arguments.addNumbers(layout.getDecay(buffers.decay, part));
  if (signature.normalize) {
    arguments.addRows(layout.getOutputs(buffers.o, part));
    arguments.addNumbers(layout.getDenominators(buffers.d, part));
  }
  arguments.addRows(layout.getOutputs(buffers.outputGrad, part));
}

void GradTask::callKernel(const CompiledKernel &kernel,
                          KernelArguments &arguments, const HeadPart &part) {
  std::array<double, 2> sums = {0, 0};
  if (signature.decay == ActDecayHead)
    arguments.addNumbers({sums.data(), 2, 1});
  else if (signature.decay == ActDecayToken)
    arguments.addNumbers(layout.getDecay(buffers.decayGrad, part));
  getState(part.head).addTo(arguments, signature);
  arguments.addWorkspace(workspace.get(), kernel.workspaceBytes);
  kernel.call(arguments.get());
  if (signature.decay == ActDecayHead)
    headDecayGrads[layout.getStateNumber(part)] +=
        sums[0] + static_cast<double>(part.firstToken) * sums[1];
}

void GradTask::runQueries(const HeadPart &part) {
  KernelArguments arguments;
  addInputs(arguments, part);
  State before = getState(part.head);
  if (part.firstToken == 0)
    before = {layout.getState(buffers.state, part),
              layout.getSums(buffers.sums, part)};
  before.addTo(arguments, signature);
  arguments.addRows(layout.getQueries(buffers.queryGrad, part));
  callKernel(queryKernel, arguments, part);
}

void GradTask::runKeysAndValues(const HeadPart &part) {
  KernelArguments arguments;
  addInputs(arguments, part);
  State after = getState(part.head);
  if (part.firstToken + part.tokens == signature.tokens) {
    // Heads that share a state add up: one of them has its gradient.
    if (layout.isFirst(part.head))
      after = getFinalGrad(part.head);
    else
      std::memset(after.state, 0, layout.getStateSize() * sizeof(float));
  }
  after.addTo(arguments, signature);
  arguments.addRows(layout.getKeys(buffers.keyGrad, part));
  arguments.addRows(layout.getValues(buffers.valueGrad, part));
  callKernel(keyValueKernel, arguments, part);
}

static void fillZero(const Rows &rows, int64_t elementBytes) {
  for (int64_t row = 0; row < rows.count; ++row)
    std::memset(static_cast<char *>(rows.data) +
                    row * rows.stride * elementBytes,
                0, rows.columns * elementBytes);
}

void GradTask::clearResults() {
  // Kernels add to gradients that several heads contribute to.
  for (int64_t head = firstHead; head < endHead; ++head) {
    HeadPart whole = getWhole(head);
    if (signature.queryHeads < layout.heads)
      fillZero(layout.getQueries(buffers.queryGrad, whole),
               layout.elementBytes);
    if (signature.keyHeads < layout.heads)
      fillZero(layout.getKeys(buffers.keyGrad, whole), layout.elementBytes);
    if (signature.valueHeads < layout.heads)
      fillZero(layout.getValues(buffers.valueGrad, whole), layout.elementBytes);
    if (signature.decay == ActDecayToken) {
      Numbers decay = layout.getDecay(buffers.decayGrad, whole);
      fillZero({decay.data, decay.count, 1, decay.stride}, sizeof(float));
    }
  }
}

void GradTask::addFinalDecayGrad(int64_t head) {
  // The last state depends on the decay of every token.
  State last = getState(head), grad = getFinalGrad(head);
  double product = 0;
  for (int64_t i = 0; i < signature.features * signature.values; ++i)
    product += static_cast<double>(last.state[i]) * grad.state[i];
  if (signature.normalize)
    for (int64_t i = 0; i < signature.features; ++i)
      product += static_cast<double>(last.sums[i]) * grad.sums[i];
  headDecayGrads[layout.getStateNumber(getWhole(head))] +=
      signature.decay == ActDecayHead ? product * signature.tokens : product;
}

void GradTask::finishDecayGrad(int64_t head) {
  // Much cancels in sums over later tokens: in f64.
  Numbers decay = layout.getDecay(buffers.decayGrad, getWhole(head));
  double sum = headDecayGrads[layout.getStateNumber(getWhole(head))];
  for (int64_t token = decay.count - 1; token >= 0; --token) {
    float &element = static_cast<float *>(decay.data)[token * decay.stride];
    sum += element;
    element = static_cast<float>(sum);
  }
}

void GradTask::storeStateGrad(int64_t head) {
  State grad = getState(head);
  float *state = layout.getState(buffers.stateGrad, getWhole(head));
  float *sums = layout.getSums(buffers.sumsGrad, getWhole(head));
  bool isFirst = layout.isFirst(head);
  for (int64_t i = 0; i < signature.features * signature.values; ++i)
    state[i] = isFirst ? grad.state[i] : state[i] + grad.state[i];
  if (signature.normalize)
    for (int64_t i = 0; i < signature.features; ++i)
      sums[i] = isFirst ? grad.sums[i] : sums[i] + grad.sums[i];
}

void GradTask::run() {
  clearResults();
  int64_t token = 0;
  do {
    int64_t tokens = std::min(tokensPerTurn, signature.tokens - token);
    for (int64_t head = firstHead; head < endHead; ++head)
      runQueries({sequence, head, token, tokens});
    token += tokens;
  } while (token < signature.tokens);
  if (signature.decay != ActDecayNone)
    for (int64_t head = firstHead; head < endHead; ++head)
      if (layout.isFirst(head))
        addFinalDecayGrad(head);
  do {
    int64_t start =
        token == 0 ? 0 : (token - 1) / tokensPerTurn * tokensPerTurn;
    for (int64_t head = firstHead; head < endHead; ++head)
      runKeysAndValues({sequence, head, start, token - start});
    token = start;
  } while (token > 0);
  for (int64_t head = firstHead; head < endHead; ++head)
    storeStateGrad(head);
  if (signature.decay == ActDecayToken)
    for (int64_t head = firstHead; head < endHead; ++head)
      if (layout.isFirst(head))
        finishDecayGrad(head);
}

/// With the state after the last token given, finds the one before the first.
static llvm::Error findInitialState(const Signature &signature,
                                    ActLinearAttentionGradBuffers &buffers,
                                    std::vector<float> &storage,
                                    Workers &workers) {
  HeadLayout layout(signature, /*hasQueries=*/true);
  int64_t states = signature.batch * layout.stateHeads;
  int64_t elements = states * signature.features * signature.values;
  storage.resize(states * layout.getStateSize());
  ActLinearAttentionBuffers sweep = {};
  sweep.k = buffers.k;
  sweep.v = buffers.v;
  sweep.state = buffers.state;
  sweep.sums = buffers.sums;
  sweep.finalState = storage.data();
  sweep.finalSums = storage.data() + elements;
  buffers.state = sweep.finalState;
  buffers.sums = sweep.finalSums;
  return runState(signature, sweep, workers);
}

/// Adds up the gradients of decays over sequences.
static void storeHeadDecayGrads(const HeadLayout &layout,
                                const std::vector<double> &grads,
                                float *result) {
  for (int64_t head = 0; head < layout.stateHeads; ++head) {
    double sum = 0;
    for (int64_t b = 0; b < layout.signature.batch; ++b)
      sum += grads[b * layout.stateHeads + head];
    result[head] = static_cast<float>(sum);
  }
}

llvm::Error
runtime::runGrad(const Signature &signature,
                 const ActLinearAttentionGradBuffers &originalBuffers,
                 Workers &workers) {
  ActLinearAttentionGradBuffers buffers = originalBuffers;
  auto queryKernel = getKernel(LinearAttentionKernelKind::QueryGrad, signature);
  if (!queryKernel)
    return queryKernel.takeError();
  auto keyValueKernel =
      getKernel(LinearAttentionKernelKind::KeyValueGrad, signature);
  if (!keyValueKernel)
    return keyValueKernel.takeError();
  std::vector<float> initialState;
  if (signature.reverse)
    if (llvm::Error error =
            findInitialState(signature, buffers, initialState, workers))
      return error;

  HeadLayout layout(signature, /*hasQueries=*/true);
  std::vector<double> decayGrads;
  if (signature.decay != ActDecayNone)
    decayGrads.resize(signature.batch * layout.stateHeads);
  int64_t groups = std::gcd(signature.queryHeads,
                            std::gcd(signature.keyHeads, signature.valueHeads));
  Schedule schedule(layout, layout.heads / groups, workers.getNumThreads(),
                    (*keyValueKernel)->chunk);
  requestLargePages(buffers.queryGrad,
                    layout.getBytes(signature.queryHeads, signature.features));
  requestLargePages(buffers.keyGrad,
                    layout.getBytes(signature.keyHeads, signature.features));
  requestLargePages(buffers.valueGrad,
                    layout.getBytes(signature.valueHeads, signature.values));
  workers.run(schedule.getTaskCount(), [&](int64_t task) {
    GradTask(**queryKernel, **keyValueKernel, layout, buffers,
             decayGrads.data(), schedule.getSequence(task),
             schedule.getFirstHead(task), schedule.getEndHead(task),
             schedule.tokensPerTurn)
        .run();
  });
  if (signature.decay == ActDecayHead)
    storeHeadDecayGrads(layout, decayGrads, buffers.decayGrad);
  return llvm::Error::success();
}
