//===- CApi.cpp - C functions of the CPU runtime ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/Codec.h"
#include "act/Runtime/CPU/LinearAttention.h"
#include "act/Runtime/CPU/PeakKernel.h"
#include <algorithm>
#include <cstring>

using namespace mlir::act;
using namespace mlir::act::runtime;

/// True on success, else writes the message to `reason`.
static bool report(llvm::Error error, char *reason, size_t reasonSize) {
  if (!error)
    return true;
  std::string message = llvm::toString(std::move(error));
  if (reason && reasonSize > 0) {
    size_t length = std::min(message.size(), reasonSize - 1);
    std::memcpy(reason, message.data(), length);
    reason[length] = 0;
  }
  return false;
}

bool actLinearAttentionIsSupported(ActLinearAttentionOperation operation,
                                   const ActLinearAttentionSignature *signature,
                                   char *reason, size_t reasonSize) {
  return report(verifySupported(operation, *signature), reason, reasonSize);
}

bool actLinearAttentionForward(const ActLinearAttentionSignature *signature,
                               const ActLinearAttentionBuffers *buffers,
                               int64_t threads, char *reason,
                               size_t reasonSize) {
  if (!report(verifySignature(ActOperationForward, *signature), reason,
              reasonSize))
    return false;
  PoolWorkers workers(threads);
  return report(runForward(*signature, *buffers, workers), reason, reasonSize);
}

bool actLinearAttentionState(const ActLinearAttentionSignature *signature,
                             const ActLinearAttentionBuffers *buffers,
                             int64_t threads, char *reason, size_t reasonSize) {
  if (!report(verifySignature(ActOperationState, *signature), reason,
              reasonSize))
    return false;
  PoolWorkers workers(threads);
  return report(runState(*signature, *buffers, workers), reason, reasonSize);
}

bool actLinearAttentionGrad(const ActLinearAttentionSignature *signature,
                            const ActLinearAttentionGradBuffers *buffers,
                            int64_t threads, char *reason, size_t reasonSize) {
  if (!report(verifySignature(ActOperationGrad, *signature), reason,
              reasonSize))
    return false;
  PoolWorkers workers(threads);
  return report(runGrad(*signature, *buffers, workers), reason, reasonSize);
}

double actMeasurePeak(int64_t milliseconds) {
  llvm::Expected<double> peak = measurePeak(milliseconds);
  if (peak)
    return *peak;
  llvm::consumeError(peak.takeError());
  return 0;
}

bool actCodecEncode(const ActCodecSignature *signature, const void *tensor,
                    uint32_t salt, void *const *storage, int64_t threads,
                    char *reason, size_t reasonSize) {
  PoolWorkers workers(threads);
  return report(runCodec(CodecDirection::Encode, *signature,
                         const_cast<void *>(tensor), salt, storage, workers),
                reason, reasonSize);
}

bool actCodecDecode(const ActCodecSignature *signature,
                    const void *const *storage, void *tensor, int64_t threads,
                    char *reason, size_t reasonSize) {
  PoolWorkers workers(threads);
  return report(runCodec(CodecDirection::Decode, *signature, tensor,
                         /*salt=*/0, const_cast<void *const *>(storage),
                         workers),
                reason, reasonSize);
}
