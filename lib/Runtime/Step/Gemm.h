//===- Gemm.h - Matrix products on one thread and on several ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_GEMM_H
#define ACT_RUNTIME_STEP_GEMM_H

#include "GemmProblem.h"
#include "VectorKernels.h"

namespace act::step {

class Context;

/// Who computes a product.
enum class GemmMethod {
  /// The kernels of VectorKernels.h, packing a and b.
  Packed,
  /// The same kernels, reading a and b in place.
  InPlace,
  /// dnnl_sgemm.
  OneDnn,
  /// oneDNN's matmul primitive, for bf16 on processors with instructions for
  /// it.
  OneDnnShort,
  /// cblas_sgemm, cblas_dgemm.
  OpenBlas
};

/// How a product divides: into blocks of batches, rows and columns, by its
/// shape alone. A block's sums do not depend on who computes it.
struct GemmPlan {
  GemmMethod method;
  int64_t batchBlock, mBlock, nBlock;

  int64_t countPieces(const GemmProblem &problem) const;
};

GemmPlan planGemm(const GemmProblem &problem);

/// Which method is fastest for a block, by its shape and strides alone.
GemmMethod chooseMethod(const GemmBlock &block);

/// What normalizeGemm does, for a block.
void normalizeBlock(GemmBlock &block);

/// Computes `block` on the calling thread of number `thread`.
void computeBlock(Context &context, GemmMethod method, const GemmBlock &block,
                  int64_t thread);

/// Computes a normalized product on the threads of `context`.
void runGemm(Context &context, const char *name, const GemmProblem &problem,
             const void *a, const void *b, void *c);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_GEMM_H
