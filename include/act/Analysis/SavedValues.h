//===- SavedValues.h - Where saves go -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_SAVEDVALUES_H
#define ACT_ANALYSIS_SAVEDVALUES_H

#include "act/Dialect/Act/IR/ActOps.h"

namespace mlir::act {

/// The result of `save` and the values that it is passed on as: results of
/// barriers, and stacks that hold it or hold such stacks.
SmallVector<Value> findSavedValues(CompressedSaveOp save);

/// How many copies of what `save` saves are alive at the turning point: the
/// elements of the stack that it is collected in, 1 if in none.
int64_t getNumCopies(CompressedSaveOp save);

/// Gives `save` the encoding, with the range that it may need, and carries the
/// type through barriers, stacks and loops.
void setEncoding(CompressedSaveOp save, EncodingAttrInterface encoding);

} // namespace mlir::act

#endif // ACT_ANALYSIS_SAVEDVALUES_H
