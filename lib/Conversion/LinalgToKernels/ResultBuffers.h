//===- ResultBuffers.h - Buffers of results -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINALGTOKERNELS_RESULTBUFFERS_H
#define ACT_LIB_CONVERSION_LINALGTOKERNELS_RESULTBUFFERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::act {

/// The allocation that holds all of `value` and nothing else, or null.
memref::AllocOp getWholeAllocation(Value value);

/// Copies results of `function`, which are buffers, that are no allocation of
/// their own: arguments, constants, parts of others, and what is returned
/// twice.
void separateResults(func::FuncOp function);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINALGTOKERNELS_RESULTBUFFERS_H
