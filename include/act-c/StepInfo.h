/*===-- act-c/StepInfo.h - What a compiled step takes and returns -*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The table that lies in the object file of every step that act compiles,    *|
|* under the name of the step and `_info`. The header that act-run writes     *|
|* beside an object file declares both.                                       *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_STEPINFO_H
#define ACT_C_STEPINFO_H

#include "act-c/StepRuntime.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Types of elements. A bool is a byte that is 0 or 1. */
enum {
  ACT_STEP_BOOL = 0,
  ACT_STEP_S8 = 1,
  ACT_STEP_S16 = 2,
  ACT_STEP_S32 = 3,
  ACT_STEP_S64 = 4,
  ACT_STEP_U8 = 5,
  ACT_STEP_U16 = 6,
  ACT_STEP_U32 = 7,
  ACT_STEP_U64 = 8,
  ACT_STEP_F16 = 9,
  ACT_STEP_BF16 = 10,
  ACT_STEP_F32 = 11,
  ACT_STEP_F64 = 12,
  ACT_STEP_F8E4M3FN = 13,
  ACT_STEP_F8E5M2 = 14
};

/** An argument or a result: a dense row-major array. */
typedef struct {
  /** As the program named it, "" if it did not. */
  const char *name;
  /** One of the ACT_STEP types. */
  int32_t type;
  int32_t rank;
  /** Null if the rank is 0. */
  const int64_t *shape;
  int64_t bytes;
} act_step_value;

/** A compiled step. */
typedef struct {
  /** ACT_STEP_INFO_VERSION of what wrote the table. */
  int32_t version;
  int32_t num_arguments;
  int32_t num_results;
  /** Number of pieces of code that the step launches. */
  int32_t num_kernels;
  const char *name;
  act_cpu_step function;
  /** Bytes of temporary memory that the step uses, exactly. */
  int64_t arena_bytes;
  /** The most bytes that are in use at once: no plan can do with less. */
  int64_t bound_bytes;
  const act_step_value *arguments;
  const act_step_value *results;
} act_step_info;

enum { ACT_STEP_INFO_VERSION = 1 };

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_STEPINFO_H */
