//===- VectorKernels.cpp - Chooses kernels for the processor ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorKernels.h"

using namespace act::step;

namespace act::step {
#if defined(__x86_64__)
extern const VectorKernels vectorKernelsV2, vectorKernelsV3, vectorKernelsV4;
#else
extern const VectorKernels vectorKernelsBaseline;
#endif
} // namespace act::step

const VectorKernels *act::step::getExecutableKernels(int64_t index) {
  const VectorKernels *kernels[3] = {};
  int64_t count = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4"))
    kernels[count++] = &vectorKernelsV4;
  if (__builtin_cpu_supports("x86-64-v3"))
    kernels[count++] = &vectorKernelsV3;
  kernels[count++] = &vectorKernelsV2;
#else
  kernels[count++] = &vectorKernelsBaseline;
#endif
  return index >= 0 && index < count ? kernels[index] : nullptr;
}

const VectorKernels &act::step::getVectorKernels() {
  static const VectorKernels &kernels = *getExecutableKernels(0);
  return kernels;
}
