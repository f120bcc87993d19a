//===- application.c - A program that links a compiled step -*- C -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes step.mlir and prints its results. Run by object.test.
//
//===----------------------------------------------------------------------===//

#include "step.h"
#include <stdio.h>
#include <stdlib.h>

static void printValues(const char *kind, int32_t count,
                        const act_step_value *values) {
  for (int32_t i = 0; i < count; ++i) {
    printf("%s %d %s: type %d, %d bytes, [", kind, i, values[i].name,
           values[i].type, (int)values[i].bytes);
    for (int32_t d = 0; d < values[i].rank; ++d)
      printf(d ? ", %d" : "%d", (int)values[i].shape[d]);
    printf("]\n");
  }
}

int main(void) {
  printf("%s: version %d, %d kernels, %d bytes\n", step_info.name,
         step_info.version, step_info.num_kernels, (int)step_info.arena_bytes);
  printValues("argument", step_info.num_arguments, step_info.arguments);
  printValues("result", step_info.num_results, step_info.results);
  if (step_info.function != step || step_info.arena_bytes != STEP_ARENA_BYTES)
    return 1;

  // Each on the heap and not a byte too large, so that tools see what is left.
  float *x = malloc(12 * sizeof(float)), *offset = malloc(sizeof(float));
  float *loss = malloc(sizeof(float)), *y = malloc(12 * sizeof(float));
  for (int i = 0; i < 12; ++i)
    x[i] = (float)i / 10;
  *offset = 0.5f;
  const void *arguments[STEP_NUM_ARGUMENTS] = {x, offset};
  void *results[STEP_NUM_RESULTS] = {loss, y};
  void *arena = aligned_alloc(STEP_ARENA_ALIGNMENT, STEP_ARENA_ALLOCATION);
  void *context = act_cpu_context_create(2);
  int status = step(arguments, results, arena, context);
  if (status != 0)
    fprintf(stderr, "%s\n", act_cpu_context_error(context));
  else
    printf("loss %.4f, last %.4f\n", *loss, y[11]);
  act_cpu_context_destroy(context);
  free(arena);
  free(x);
  free(offset);
  free(loss);
  free(y);
  return status;
}
