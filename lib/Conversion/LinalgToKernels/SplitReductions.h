//===- SplitReductions.h - Large reductions in slabs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINALGTOKERNELS_SPLITREDUCTIONS_H
#define ACT_LIB_CONVERSION_LINALGTOKERNELS_SPLITREDUCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// Splits a reduction over many elements with few results in two: one that
/// reduces slabs, which are independent, and one that reduces their results.
/// Leaves `op`, on buffers, alone if that is not worth it or not possible.
void splitReduction(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINALGTOKERNELS_SPLITREDUCTIONS_H
