/*===-- act-c/Step.h - Loading and executing compiled steps -------*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* Loads a step that act-run compiled to an object file into this process and *|
|* executes it. A program that links the object file needs none of this.      *|
|*                                                                            *|
|* Functions that can fail return null or false and write why, ending in 0,   *|
|* to the first `reason_size` bytes of `reason`, which may be null.           *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_STEP_H
#define ACT_C_STEP_H

#include "act-c/StepInfo.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ACT_STEP_EXPORTED
#else
#define ACT_STEP_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A loaded step with its arena and its threads. It executes one call at a
 * time. */
typedef struct act_step act_step;

/** Loads the step called `name` from an object file or an archive of them.
 * `threads` below 1 is one per processor this process may run on. */
ACT_STEP_EXPORTED act_step *act_step_load(const char *path, const char *name,
                                          int64_t threads, char *reason,
                                          size_t reason_size);
ACT_STEP_EXPORTED void act_step_destroy(act_step *step);

/** Lives as long as the step. */
ACT_STEP_EXPORTED const act_step_info *act_step_get_info(const act_step *step);
ACT_STEP_EXPORTED int64_t act_step_get_threads(const act_step *step);

/** Lets the step work in `bytes` bytes at `arena`, aligned to
 * ACT_CPU_ARENA_ALIGNMENT, which must outlive it. Otherwise it allocates an
 * arena when it is first executed and keeps it. */
ACT_STEP_EXPORTED bool act_step_set_arena(act_step *step, void *arena,
                                          int64_t bytes, char *reason,
                                          size_t reason_size);

/** With `enabled`, an infinity or NaN that a product, a convolution or the step
 * returns is an error. */
ACT_STEP_EXPORTED void act_step_set_check(act_step *step, bool enabled);

/** Executes the step. `arguments` and `results` point to one buffer each, as
 * the tables of act_step_info say, aligned to an element; results overlap
 * nothing else. */
ACT_STEP_EXPORTED bool act_step_execute(act_step *step,
                                        const void *const *arguments,
                                        void *const *results, char *reason,
                                        size_t reason_size);

/** Executes the step twice, in an arena that is filled with one pattern and
 * with its complement before, and writes to `bytes` how many bytes of it,
 * counted from its start, were written to. Writing behind the arena is an
 * error. */
ACT_STEP_EXPORTED bool act_step_measure_peak(act_step *step,
                                             const void *const *arguments,
                                             void *const *results,
                                             int64_t *bytes, char *reason,
                                             size_t reason_size);

/** Executes the step and writes what it did when, as a Chrome trace (JSON), to
 * the file `path`. */
ACT_STEP_EXPORTED bool act_step_trace(act_step *step,
                                      const void *const *arguments,
                                      void *const *results, const char *path,
                                      char *reason, size_t reason_size);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_STEP_H */
