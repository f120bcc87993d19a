//===- OpenBlas.cpp - Products computed by OpenBLAS ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"
#include "act-c/StepRuntime.h"
#include <algorithm>
#include <limits>
#if ACT_STEP_HAS_OPENBLAS
#include <cblas.h>
#endif

using namespace act::step;

bool act::step::isBlasForm(const GemmBlock &block) {
  bool hasA = (block.aK == 1 && block.aM >= std::max<int64_t>(block.k, 1)) ||
              (block.aM == 1 && block.aK >= block.m);
  bool hasB = (block.bN == 1 && block.bK >= block.n) ||
              (block.bK == 1 && block.bN >= std::max<int64_t>(block.k, 1));
  // The integers of cblas have 32 bits.
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  int64_t largest = std::max({block.m, block.n, block.k, block.aM, block.aK,
                              block.bK, block.bN, block.cM});
  return hasA && hasB && block.cN == 1 && block.cM >= block.n &&
         largest <= limit;
}

#if ACT_STEP_HAS_OPENBLAS
bool act::step::hasOpenBlas() { return true; }

bool act::step::computeOpenBlas(const GemmBlock &block) {
  bool transposesA = block.aK != 1, transposesB = block.bN != 1;
  auto toInt = [](int64_t value) { return static_cast<int>(value); };
  CBLAS_TRANSPOSE formA = transposesA ? CblasTrans : CblasNoTrans;
  CBLAS_TRANSPOSE formB = transposesB ? CblasTrans : CblasNoTrans;
  int m = toInt(block.m), n = toInt(block.n), k = toInt(block.k);
  int lda = toInt(transposesA ? block.aK : block.aM);
  int ldb = toInt(transposesB ? block.bN : block.bK);
  int ldc = toInt(block.cM);
  if (block.dtype == ACT_CPU_F64)
    cblas_dgemm(CblasRowMajor, formA, formB, m, n, k, 1.0,
                static_cast<const double *>(block.a), lda,
                static_cast<const double *>(block.b), ldb,
                block.accumulate ? 1.0 : 0.0, static_cast<double *>(block.c),
                ldc);
  else
    cblas_sgemm(CblasRowMajor, formA, formB, m, n, k, 1.0f,
                static_cast<const float *>(block.a), lda,
                static_cast<const float *>(block.b), ldb,
                block.accumulate ? 1.0f : 0.0f, static_cast<float *>(block.c),
                ldc);
  return true;
}
#else
bool act::step::hasOpenBlas() { return false; }
bool act::step::computeOpenBlas(const GemmBlock &) { return false; }
#endif
