//===- MatrixFragments.h - Matrices spread over a warp -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_MATRIXFRAGMENTS_H
#define ACT_LIB_RUNTIME_EMULATOR_MATRIXFRAGMENTS_H

#include "Thread.h"

namespace act::emulator {

/// mma.sync.m16n8kK on the operands of 32 lanes; PTX ISA, "Matrix fragments for
/// mma.m16n8k*". All shapes share one pattern: with E elements in a register,
/// lane 4g+t holds in register r of A row g+8(r&1), columns E·t+4E·(r>>1)+e, of
/// B rows E·t+4E·r+e of column g. Sums are rounded once.
void multiplyMatrices(const MatrixShape &shape, Thread **lanes);

/// ldmatrix and stmatrix of 8 × 8 matrices of 16 bits. Lane 8m+i gives the
/// offset of row i of matrix m in `shared`.
void loadMatrices(unsigned numMatrices, bool isTransposed, const char *shared,
                  Thread **lanes);
void storeMatrices(unsigned numMatrices, bool isTransposed, char *shared,
                   Thread **lanes);

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_MATRIXFRAGMENTS_H
