//===- Libraries.h - What oneDNN and OpenBLAS compute ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_LIBRARIES_H
#define ACT_RUNTIME_STEP_LIBRARIES_H

#include "VectorKernels.h"

namespace act::step {

class Context;

/// Whether the library is built in, and fit for the processor that runs.
bool hasOneDnn();
bool hasOpenBlas();
/// Whether oneDNN multiplies bf16 with instructions for it (AVX512-BF16, AMX).
bool hasFastBFloat16();
/// Whether oneDNN has products for vectors of 64 bytes.
bool hasAvx512();

/// True if a and b are dense along one dimension each, and c along n: the form
/// that BLAS takes.
bool isBlasForm(const GemmBlock &block);

/// Products in the form that BLAS takes, of f32 or f64, on the calling thread
/// alone. False if the library fails.
bool computeOneDnn(const GemmBlock &block);
bool computeOpenBlas(const GemmBlock &block);
/// Of bf16, with sums in f32.
bool computeOneDnnShort(Context &context, const GemmBlock &block,
                        int64_t thread);

/// Keeps oneDNN, which is built with OpenMP, from using or starting other
/// threads on this one while it lives.
class SingleThreaded {
public:
  SingleThreaded();
  ~SingleThreaded();
  SingleThreaded(const SingleThreaded &) = delete;
  SingleThreaded &operator=(const SingleThreaded &) = delete;

private:
  int before;
};

} // namespace act::step

#endif // ACT_RUNTIME_STEP_LIBRARIES_H
