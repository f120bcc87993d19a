/*===-- act-c/LinearAttention.h - Linear attention on the CPU -----*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Causal linear attention, as the operations `act.linear_attention`,         *|
|* `act.linear_attention_grad` and `act.linear_attention_state` define it,    *|
|* compiled for the processor that runs. A kernel is compiled when it is      *|
|* first called and kept until the process ends.                              *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_LINEARATTENTION_H
#define ACT_C_LINEARATTENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ACT_RUNTIME_EXPORTED
#else
#define ACT_RUNTIME_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  ActElementTypeF32 = 0,
  ActElementTypeF16 = 1,
  ActElementTypeBF16 = 2,
  ActElementTypeF64 = 3
} ActElementType;

typedef enum {
  ActDecayNone = 0,
  /** Shape [Hs]. */
  ActDecayHead = 1,
  /** Shape [B, T, Hs]. */
  ActDecayToken = 2,
  /** Shape [B, T, Hs, M]. */
  ActDecayChannel = 3
} ActDecay;

typedef enum {
  ActOperationForward = 0,
  ActOperationState = 1,
  ActOperationGrad = 2
} ActLinearAttentionOperation;

/** Shapes and attributes. H is the largest number of heads, Hs the larger one
 * of keyHeads and valueHeads; each number of heads divides H. */
typedef struct {
  int64_t batch;
  int64_t tokens;
  /** Not read by the state operation. */
  int64_t queryHeads;
  int64_t keyHeads;
  int64_t valueHeads;
  /** M, the size of a row of queries or keys. */
  int64_t features;
  /** D, the size of a row of values. */
  int64_t values;
  /** Of q, k, v, o and gradients of them. All else is f32. */
  ActElementType elementType;
  /** "identity", "relu", "elu_plus_one", "square" or "exp". */
  const char *featureMap;
  double scale;
  double epsilon;
  ActDecay decay;
  /** Tokens taken together; 0 for what suits the processor. */
  int64_t chunk;
  bool normalize;
  /** The state operation takes the tokens off the state. */
  bool subtract;
  /** Gradients start from the state after the last token, not before the
   * first. */
  bool reverse;
} ActLinearAttentionSignature;

/** Dense row-major arrays. Those that do not apply are null: d and z without
 * normalize, decay without decay. */
typedef struct {
  /** [B, T, Hq, M], [B, T, Hk, M], [B, T, Hv, D]. */
  const void *q, *k, *v;
  const float *decay;
  /** The state before the first token: [B, Hs, M, D], [B, Hs, M]. */
  const float *state, *sums;
  /** Results: [B, T, H, D], [B, T, H], and the state after the last token. A
   * state may be written over the one it comes from if H = Hs. */
  void *o;
  float *d;
  float *finalState, *finalSums;
} ActLinearAttentionBuffers;

typedef struct {
  const void *q, *k, *v;
  const float *decay;
  /** What forward returned, with normalize. */
  const void *o;
  const float *d;
  /** Gradient of o. */
  const void *outputGrad;
  const float *state, *sums;
  /** Gradients of the state after the last token. */
  const float *finalStateGrad, *finalSumsGrad;
  /** Results, shaped like what they are gradients of. */
  void *queryGrad, *keyGrad, *valueGrad;
  float *decayGrad;
  float *stateGrad, *sumsGrad;
} ActLinearAttentionGradBuffers;

/** True if there are kernels for `operation` with `signature`. If not, writes
 * why, ending in 0, to the first `reasonSize` bytes of `reason`. */
ACT_RUNTIME_EXPORTED bool
actLinearAttentionIsSupported(ActLinearAttentionOperation operation,
                              const ActLinearAttentionSignature *signature,
                              char *reason, size_t reasonSize);

/** Computes outputs and the state after the last token, or that state alone, on
 * `threads` threads. Returns false and writes why to `reason` if it cannot;
 * nothing is computed then. */
ACT_RUNTIME_EXPORTED bool
actLinearAttentionForward(const ActLinearAttentionSignature *signature,
                          const ActLinearAttentionBuffers *buffers,
                          int64_t threads, char *reason, size_t reasonSize);
ACT_RUNTIME_EXPORTED bool
actLinearAttentionState(const ActLinearAttentionSignature *signature,
                        const ActLinearAttentionBuffers *buffers,
                        int64_t threads, char *reason, size_t reasonSize);
/** Computes the gradients. */
ACT_RUNTIME_EXPORTED bool
actLinearAttentionGrad(const ActLinearAttentionSignature *signature,
                       const ActLinearAttentionGradBuffers *buffers,
                       int64_t threads, char *reason, size_t reasonSize);

/** Multiplications and additions of f32 per second that one thread does at
 * best, measured for about `milliseconds`. */
ACT_RUNTIME_EXPORTED double actMeasurePeak(int64_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_LINEARATTENTION_H */
