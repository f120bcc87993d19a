//===- any_step.c - Executes whatever step it is linked with -*- C -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every array has a piece of the heap of its own, without a byte to spare, so
// that AddressSanitizer and Valgrind see what goes beyond. Floats are f32.
//
//===----------------------------------------------------------------------===//

#include "step.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/// Values between -1/4 and 1/4; zeros for other types.
static void *makeArgument(const act_step_value *value) {
  void *data = calloc(1, value->bytes);
  if (value->type == ACT_STEP_F32)
    for (int64_t i = 0; i < value->bytes / 4; ++i)
      ((float *)data)[i] = 0.25f * sinf((float)i);
  return data;
}

/// Reads every byte in a way that shows those that nobody wrote.
static void checkResult(const act_step_value *value, const void *data) {
  unsigned sum = 0;
  for (int64_t i = 0; i < value->bytes; ++i)
    sum = sum * 31 + ((const unsigned char *)data)[i];
  if (sum == 0x12345678)
    puts("what a coincidence");
}

int main(void) {
  const act_step_info *info = &step_info;
  void **arguments = calloc(info->num_arguments, sizeof(void *));
  void **results = calloc(info->num_results, sizeof(void *));
  for (int32_t i = 0; i < info->num_arguments; ++i)
    arguments[i] = makeArgument(&info->arguments[i]);
  for (int32_t i = 0; i < info->num_results; ++i)
    results[i] = malloc(info->results[i].bytes);
  void *arena = NULL;
  if (posix_memalign(&arena, ACT_CPU_ARENA_ALIGNMENT, info->arena_bytes))
    return 1;

  void *context = act_cpu_context_create(2);
  int status =
      info->function((const void *const *)arguments, results, arena, context);
  if (status != 0)
    fprintf(stderr, "%s\n", act_cpu_context_error(context));
  act_cpu_context_destroy(context);

  for (int32_t i = 0; i < info->num_results; ++i) {
    if (status == 0)
      checkResult(&info->results[i], results[i]);
    free(results[i]);
  }
  for (int32_t i = 0; i < info->num_arguments; ++i)
    free(arguments[i]);
  free(arguments);
  free(results);
  free(arena);
  if (status == 0)
    puts("done");
  return status;
}
