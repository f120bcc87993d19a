/*===-- act-c/Codec.h - Encoding and decoding on the CPU ----------*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Saved tensors in the encodings of the act dialect, as `act.encode` and     *|
|* `act.decode` define it, compiled for the processor that runs. A kernel is  *|
|* compiled when it is first called and kept until the process ends.          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_CODEC_H
#define ACT_C_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(ACT_RUNTIME_EXPORTED)
#if defined(_WIN32)
#define ACT_RUNTIME_EXPORTED
#else
#define ACT_RUNTIME_EXPORTED __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A tensor and how it is stored, as MLIR writes them. */
typedef struct {
  /** "#act.group_quant<bits = 4, group = 64>" */
  const char *encoding;
  /** "tensor<8x64xf32>" */
  const char *type;
} ActCodecSignature;

/** Encodes `tensor` on `threads` threads. `storage` points to the buffers that
 * the encoding stores, in its order; all are dense and row-major, elements of
 * type i1 are bytes. `salt` is what the noise of stochastic rounding starts
 * from. Returns false and writes why, ending in 0, to the first `reasonSize`
 * bytes of `reason` if it cannot; nothing is computed then. */
ACT_RUNTIME_EXPORTED bool actCodecEncode(const ActCodecSignature *signature,
                                         const void *tensor, uint32_t salt,
                                         void *const *storage, int64_t threads,
                                         char *reason, size_t reasonSize);

/** Decodes `storage` into `tensor`. */
ACT_RUNTIME_EXPORTED bool actCodecDecode(const ActCodecSignature *signature,
                                         const void *const *storage,
                                         void *tensor, int64_t threads,
                                         char *reason, size_t reasonSize);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_CODEC_H */
