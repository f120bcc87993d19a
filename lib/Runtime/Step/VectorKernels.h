//===- VectorKernels.h - Kernels for one width of vectors ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_VECTORKERNELS_H
#define ACT_RUNTIME_STEP_VECTORKERNELS_H

#include <cstdint>

namespace act::step {

/// One matrix product: c (+)= a * b, with any strides, in elements. The element
/// type of a and b is `dtype`; c has the type that sums have, f64 for f64 and
/// f32 for all others.
struct GemmBlock {
  int64_t dtype;
  int64_t m, n, k;
  const void *a;
  int64_t aM, aK;
  const void *b;
  int64_t bK, bN;
  void *c;
  int64_t cM, cN;
  bool accumulate;
};

/// The functions that exist once for each set of instructions. Every element of
/// c is a sum in an order that depends on k and the strides alone, not on m or
/// n: a product in parts is the same as a product in one go.
struct VectorKernels {
  const char *name;
  /// Packs panels of a and b into `workspace`.
  void (*gemm)(const GemmBlock &block, void *workspace);
  int64_t gemmWorkspaceBytes;
  /// For f32 and f64 with few rows of a, or few terms k, where packing b would
  /// cost more than the product: reads b in place.
  void (*gemmInPlace)(const GemmBlock &block);
  /// Rounds to nearest even; strides in elements.
  void (*storeShort)(int64_t dtype, const float *from, void *to,
                     int64_t toStride, int64_t count);
  void (*loadShort)(int64_t dtype, const void *from, int64_t fromStride,
                    float *to, int64_t count);
};

/// The kernels of place `index` among those that the processor that runs can
/// execute, the widest first; null behind the last.
const VectorKernels *getExecutableKernels(int64_t index);

/// The widest of them.
const VectorKernels &getVectorKernels();

} // namespace act::step

#endif // ACT_RUNTIME_STEP_VECTORKERNELS_H
