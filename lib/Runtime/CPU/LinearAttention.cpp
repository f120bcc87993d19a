//===- LinearAttention.cpp - Linear attention by kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/LinearAttention.h"
#include "act/Runtime/CPU/HeadLayout.h"
#include "act/Runtime/CPU/LargePages.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

using Signature = ActLinearAttentionSignature;

namespace {
/// The outputs and states of a block of heads.
struct ForwardTask {
  void run(int64_t sequence, int64_t firstHead, int64_t endHead,
           int64_t tokensPerTurn) const;

  const CompiledKernel &kernel;
  const HeadLayout &layout;
  const ActLinearAttentionBuffers &buffers;
  bool hasQueries;

private:
  void runPart(const HeadPart &part, const State &before, const State &after,
               char *workspace) const;
};
} // namespace

void ForwardTask::runPart(const HeadPart &part, const State &before,
                          const State &after, char *workspace) const {
  const Signature &signature = layout.signature;
  KernelArguments arguments;
  if (hasQueries)
    arguments.addRows(layout.getQueries(buffers.q, part));
  arguments.addRows(layout.getKeys(buffers.k, part));
  arguments.addRows(layout.getValues(buffers.v, part));
  if (signature.decay != ActDecayNone)
    arguments.addNumbers(layout.getDecay(buffers.decay, part));
  before.addTo(arguments, signature);
  if (hasQueries) {
    arguments.addRows(layout.getOutputs(buffers.o, part));
    if (signature.normalize)
      arguments.addNumbers(layout.getDenominators(buffers.d, part));
  }
  after.addTo(arguments, signature);
  arguments.addWorkspace(workspace, kernel.workspaceBytes);
  kernel.call(arguments.get());
}

void ForwardTask::run(int64_t sequence, int64_t firstHead, int64_t endHead,
                      int64_t tokensPerTurn) const {
  const Signature &signature = layout.signature;
  int64_t stateSize = layout.getStateSize();
  Workspace workspace(kernel.workspaceBytes +
                      (endHead - firstHead) * stateSize * sizeof(float));
  auto *states =
      reinterpret_cast<float *>(workspace.get() + kernel.workspaceBytes);
  int64_t token = 0;
  do {
    int64_t tokens = std::min(tokensPerTurn, signature.tokens - token);
    for (int64_t head = firstHead; head < endHead; ++head) {
      HeadPart part{sequence, head, token, tokens};
      // Of heads that share a state, the first has it in the result.
      State after;
      if (layout.isFirst(head)) {
        after = {layout.getState(buffers.finalState, part),
                 layout.getSums(buffers.finalSums, part)};
      } else {
        float *own = states + (head - firstHead) * stateSize;
        after = {own, own + signature.features * signature.values};
      }
      State before = after;
      if (token == 0)
        before = {layout.getState(buffers.state, part),
                  layout.getSums(buffers.sums, part)};
      runPart(part, before, after, workspace.get());
    }
    token += tokens;
  } while (token < signature.tokens);
}

static llvm::Error runForwardKernel(const Signature &signature,
                                    const ActLinearAttentionBuffers &buffers,
                                    bool hasQueries, Workers &workers) {
  auto kernel = getKernel(hasQueries ? LinearAttentionKernelKind::Forward
                                     : LinearAttentionKernelKind::State,
                          signature);
  if (!kernel)
    return kernel.takeError();
  HeadLayout layout(signature, hasQueries);
  Schedule schedule(layout, /*unit=*/1, workers.getNumThreads(),
                    (*kernel)->chunk);
  if (hasQueries)
    requestLargePages(buffers.o,
                      layout.getBytes(layout.heads, signature.values));
  ForwardTask task{**kernel, layout, buffers, hasQueries};
  workers.run(schedule.getTaskCount(), [&](int64_t number) {
    task.run(schedule.getSequence(number), schedule.getFirstHead(number),
             schedule.getEndHead(number), schedule.tokensPerTurn);
  });
  return llvm::Error::success();
}

llvm::Error runtime::runForward(const Signature &signature,
                                const ActLinearAttentionBuffers &buffers,
                                Workers &workers) {
  return runForwardKernel(signature, buffers, /*hasQueries=*/true, workers);
}

llvm::Error runtime::runState(const Signature &signature,
                              const ActLinearAttentionBuffers &buffers,
                              Workers &workers) {
  return runForwardKernel(signature, buffers, /*hasQueries=*/false, workers);
}
