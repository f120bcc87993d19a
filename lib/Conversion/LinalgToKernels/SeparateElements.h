//===- SeparateElements.h - Reductions without other results -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINALGTOKERNELS_SEPARATEELEMENTS_H
#define ACT_LIB_CONVERSION_LINALGTOKERNELS_SEPARATEELEMENTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// Makes two operations of a reduction on buffers that also writes a result in
/// each iteration, which fusion has put there: the reduction, which then has
/// combiners alone and can be shared by threads and lanes, and after it one
/// without reduction, which may write in place. Leaves `op` alone if it is not
/// one, or if what an iteration writes depends on what was accumulated before.
void separateElements(linalg::GenericOp op);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINALGTOKERNELS_SEPARATEELEMENTS_H
