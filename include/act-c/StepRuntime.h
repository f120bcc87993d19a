/*===-- act-c/StepRuntime.h - What compiled steps call ------------*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The functions that a training step compiled for the CPU calls: launches of *|
|* its kernels on several threads, matrix products and convolutions. They     *|
|* live in libActStepRuntime, which needs neither MLIR nor LLVM.              *|
|*                                                                            *|
|* A compiled step is a function of type `act_cpu_step`. Whoever calls it     *|
|* creates a context first, and afterwards asks act_cpu_context_error why it  *|
|* returned something other than 0:                                           *|
|*                                                                            *|
|*   void *context = act_cpu_context_create(2);                               *|
|*   if (step(arguments, results, arena, context) != 0)                       *|
|*     fprintf(stderr, "%s\n", act_cpu_context_error(context));               *|
|*   act_cpu_context_destroy(context);                                        *|
|*                                                                            *|
|* Results never depend on the number of threads: work is split between       *|
|* independent elements, and sums are split by shapes alone.                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_STEPRUNTIME_H
#define ACT_C_STEPRUNTIME_H

#include <stdint.h>

#if defined(_WIN32)
#define ACT_STEP_RUNTIME_EXPORTED
#else
#define ACT_STEP_RUNTIME_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A compiled step. `arguments` and `results` point to one dense row-major
 * buffer each, aligned to an element; `arena` to as many bytes as the step
 * promises, aligned to ACT_CPU_ARENA_ALIGNMENT; `context` comes from
 * act_cpu_context_create. Returns 0 on success, else act_cpu_context_error says
 * what failed. */
typedef int32_t (*act_cpu_step)(const void *const *arguments,
                                void *const *results, void *arena,
                                void *context);

/** Computes the units `begin` to `end` (exclusive) of a kernel's work. Units
 * are independent: they may run in any order and on any thread. */
typedef void (*act_cpu_kernel)(void *const *buffers, int64_t begin,
                               int64_t end);

enum { ACT_CPU_ARENA_ALIGNMENT = 64 };

/** Element types in descriptors. */
enum { ACT_CPU_F32 = 0, ACT_CPU_F64 = 1, ACT_CPU_BF16 = 2, ACT_CPU_F16 = 3 };

/*===----------------------------------------------------------------------===*\
|* Contexts
\*===----------------------------------------------------------------------===*/

/** Threads and what is kept between steps. `threads` counts the calling thread;
 * below 1 it means one per processor this process may run on. A context serves
 * one step at a time. Null if there is no memory or no thread to be had. */
ACT_STEP_RUNTIME_EXPORTED void *act_cpu_context_create(int64_t threads);
ACT_STEP_RUNTIME_EXPORTED void act_cpu_context_destroy(void *context);
ACT_STEP_RUNTIME_EXPORTED int64_t act_cpu_context_threads(const void *context);

/** The first error since the context was made or cleared, or null. The text
 * ends in 0 and stays valid until the context is cleared or destroyed. Once
 * there is an error, launches, products and convolutions return at once. */
ACT_STEP_RUNTIME_EXPORTED const char *
act_cpu_context_error(const void *context);
/** 0 without an error, else 1: what a step returns. */
ACT_STEP_RUNTIME_EXPORTED int32_t act_cpu_context_status(const void *context);
ACT_STEP_RUNTIME_EXPORTED void act_cpu_context_clear_error(void *context);
/** Records `message`, copied, if there is no error yet. A kernel may call it
 * from any thread. */
ACT_STEP_RUNTIME_EXPORTED void act_cpu_report_error(void *context,
                                                    const char *message);

/** With `enabled` not 0, results of products, of convolutions and whatever is
 * passed to act_cpu_check_values are searched for infinities and NaN, which are
 * errors then. Off at first. */
ACT_STEP_RUNTIME_EXPORTED void act_cpu_set_check(void *context,
                                                 int32_t enabled);
/** Does nothing unless checking is on. Else an infinity or NaN among the
 * `count` contiguous elements of type `dtype` is the error
 * "'name' has the non-finite value V at element I". */
ACT_STEP_RUNTIME_EXPORTED void
act_cpu_check_values(void *context, const char *name, int64_t dtype,
                     const void *values, int64_t count);

/** Starts to record, dropping what was recorded before. */
ACT_STEP_RUNTIME_EXPORTED void act_cpu_trace_begin(void *context);
/** Stops to record and writes a Chrome trace (JSON; chrome://tracing or
 * Perfetto): one complete event per launch, product and convolution, category
 * "launch", "gemm" or "convolution", on the thread 0 that called it, with its
 * start and duration in microseconds and, where known, `flops` and `bytes`; and
 * one event of category "part" for the share of each other thread. Returns 0,
 * or 1 with an error if `path` cannot be written. */
ACT_STEP_RUNTIME_EXPORTED int32_t act_cpu_trace_write(void *context,
                                                      const char *path);

/*===----------------------------------------------------------------------===*\
|* Work
\*===----------------------------------------------------------------------===*/

/** Runs `kernel` over the units [0, count), in pieces of at least `grain` units
 * (but for the last), on the threads of the context, and returns when all are
 * done. Work of up to `grain` units runs on the calling thread alone. `name`
 * labels the launch in traces; it must outlive the trace. */
ACT_STEP_RUNTIME_EXPORTED void act_cpu_launch(void *context, const char *name,
                                              act_cpu_kernel kernel,
                                              void *const *buffers,
                                              int64_t count, int64_t grain);

/** Positions in the descriptor of a product; strides are in elements, may be
 * zero or negative for a and b, and point from the first element. */
enum {
  /** ACT_CPU_GEMM_VERSION */
  ACT_CPU_GEMM_DESC_VERSION = 0,
  /** Element type of a and b. */
  ACT_CPU_GEMM_DESC_DTYPE_AB = 1,
  /** Element type of c: that of a and b, or f32 for bf16 and f16. */
  ACT_CPU_GEMM_DESC_DTYPE_C = 2,
  ACT_CPU_GEMM_DESC_M = 3,
  ACT_CPU_GEMM_DESC_N = 4,
  ACT_CPU_GEMM_DESC_K = 5,
  ACT_CPU_GEMM_DESC_A_M = 6,
  ACT_CPU_GEMM_DESC_A_K = 7,
  ACT_CPU_GEMM_DESC_B_K = 8,
  ACT_CPU_GEMM_DESC_B_N = 9,
  ACT_CPU_GEMM_DESC_C_M = 10,
  ACT_CPU_GEMM_DESC_C_N = 11,
  /** 1 adds to c, 0 overwrites it (without reading it). */
  ACT_CPU_GEMM_DESC_ACCUMULATE = 12,
  /** Number of batch dimensions, up to ACT_CPU_MAX_BATCH_RANK; each has four
   * entries from ACT_CPU_GEMM_DESC_BATCH on: extent, strides of a, b and c. */
  ACT_CPU_GEMM_DESC_BATCH_RANK = 13,
  ACT_CPU_GEMM_DESC_BATCH = 14
};
enum { ACT_CPU_GEMM_VERSION = 1, ACT_CPU_MAX_BATCH_RANK = 16 };

/** c[batch, m, n] (+)= sum over k of a[batch, m, k] * b[batch, k, n], for every
 * index of the batch dimensions. bf16 and f16 are summed in f32, and rounded
 * once if c has that type too. c must not overlap a or b, nor itself. With
 * k = 0 the sum is zero. Infinities and NaN propagate as IEEE arithmetic says
 * (0 * NaN is NaN). A descriptor that makes no sense is an error of the
 * context. */
ACT_STEP_RUNTIME_EXPORTED void act_cpu_gemm(void *context, const char *name,
                                            const int64_t *desc, const void *a,
                                            const void *b, void *c);

/** Positions in the descriptor of a convolution. It holds shapes by role
 * instead of dimension numbers, with the stride of each role in elements, so
 * that every permutation of dimensions is one form. */
enum {
  /** ACT_CPU_CONVOLUTION_VERSION */
  ACT_CPU_CONVOLUTION_DESC_VERSION = 0,
  /** Element type of lhs and rhs. */
  ACT_CPU_CONVOLUTION_DESC_DTYPE = 1,
  /** Element type of out: that of lhs and rhs, or f32 for bf16 and f16. */
  ACT_CPU_CONVOLUTION_DESC_DTYPE_OUT = 2,
  /** Number of spatial dimensions S, 0 to ACT_CPU_MAX_SPATIAL_RANK. */
  ACT_CPU_CONVOLUTION_DESC_SPATIAL_RANK = 3,
  /** Extents of lhs; the output's batch is BATCH / BATCH_GROUPS. */
  ACT_CPU_CONVOLUTION_DESC_BATCH = 4,
  ACT_CPU_CONVOLUTION_DESC_FEATURES = 5,
  /** Output features of rhs and out; rhs has FEATURES / FEATURE_GROUPS input
   * features. */
  ACT_CPU_CONVOLUTION_DESC_OUTPUT_FEATURES = 6,
  ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS = 7,
  ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS = 8,
  ACT_CPU_CONVOLUTION_DESC_LHS_BATCH = 9,
  ACT_CPU_CONVOLUTION_DESC_LHS_FEATURE = 10,
  ACT_CPU_CONVOLUTION_DESC_RHS_INPUT = 11,
  ACT_CPU_CONVOLUTION_DESC_RHS_OUTPUT = 12,
  ACT_CPU_CONVOLUTION_DESC_OUT_BATCH = 13,
  ACT_CPU_CONVOLUTION_DESC_OUT_FEATURE = 14,
  /** Bytes at `scratch` of act_cpu_convolution; not read by
   * act_cpu_convolution_scratch. */
  ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES = 15,
  /** From here on ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE entries for every
   * spatial dimension. */
  ACT_CPU_CONVOLUTION_DESC_SPATIAL = 16
};
/** Entries of one spatial dimension. */
enum {
  ACT_CPU_CONVOLUTION_SPATIAL_LHS_SIZE = 0,
  ACT_CPU_CONVOLUTION_SPATIAL_RHS_SIZE = 1,
  ACT_CPU_CONVOLUTION_SPATIAL_OUT_SIZE = 2,
  ACT_CPU_CONVOLUTION_SPATIAL_STRIDE = 3,
  /** May be negative, which crops. */
  ACT_CPU_CONVOLUTION_SPATIAL_PADDING_LOW = 4,
  ACT_CPU_CONVOLUTION_SPATIAL_PADDING_HIGH = 5,
  ACT_CPU_CONVOLUTION_SPATIAL_LHS_DILATION = 6,
  ACT_CPU_CONVOLUTION_SPATIAL_RHS_DILATION = 7,
  /** 1 if the window is walked backwards. */
  ACT_CPU_CONVOLUTION_SPATIAL_REVERSAL = 8,
  ACT_CPU_CONVOLUTION_SPATIAL_LHS = 9,
  ACT_CPU_CONVOLUTION_SPATIAL_RHS = 10,
  ACT_CPU_CONVOLUTION_SPATIAL_OUT = 11,
  ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE = 12
};
enum { ACT_CPU_CONVOLUTION_VERSION = 1, ACT_CPU_MAX_SPATIAL_RANK = 3 };

/** Bytes of scratch that act_cpu_convolution wants for `desc` on `threads`
 * threads of the processor this function runs on, or -1 if `desc` makes no
 * sense (act_cpu_convolution_verify says why). */
ACT_STEP_RUNTIME_EXPORTED int64_t
act_cpu_convolution_scratch(const int64_t *desc, int64_t threads);

/** Null if `desc` is sound, else what is wrong with it, valid until the same
 * thread asks again. */
ACT_STEP_RUNTIME_EXPORTED const char *
act_cpu_convolution_verify(const int64_t *desc);
ACT_STEP_RUNTIME_EXPORTED const char *act_cpu_gemm_verify(const int64_t *desc);

/** Convolution as StableHLO defines `convolution`. With P = lhs dilated by
 * lhs_dilation and padded, O' = OUTPUT_FEATURES / (feature or batch groups), g
 * the group of output feature o:
 *   out[n, o, y] = sum over i, z of P[n', i', y * stride + z * rhs_dilation]
 *                                   * rhs[i, o, z]
 * with n' = n, i' = g * (FEATURES / FEATURE_GROUPS) + i for feature groups;
 * n' = g * (BATCH / BATCH_GROUPS) + n, i' = i for batch groups; z counted from
 * the other end where REVERSAL is 1. Where P is zero because of padding or
 * dilation, an infinity or NaN of rhs may make the sum NaN or not. Sums are in
 * f32 for bf16 and f16, rounded once. out must not overlap lhs, rhs or scratch.
 * `scratch` is aligned to ACT_CPU_ARENA_ALIGNMENT and holds what
 * DESC_SCRATCH_BYTES says: what act_cpu_convolution_scratch asks for `threads`
 * threads serves that many, if the context has more. A descriptor that makes no
 * sense, and too little scratch, are errors of the context. */
ACT_STEP_RUNTIME_EXPORTED void
act_cpu_convolution(void *context, const char *name, const int64_t *desc,
                    const void *lhs, const void *rhs, void *out, void *scratch);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_STEPRUNTIME_H */
