//===- KernelGroups.h - Which operations share a kernel -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINALGTOKERNELS_KERNELGROUPS_H
#define ACT_LIB_CONVERSION_LINALGTOKERNELS_KERNELGROUPS_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// The memory that `buffer` is a view of: an allocation, an argument, a global,
/// a result of a loop or branch.
Value getBaseBuffer(Value buffer);

/// Whether two base buffers may overlap.
bool mayOverlap(Value base, Value other);

/// What an operation does with a buffer.
struct BufferAccess {
  Value buffer;
  bool writes;
  /// Number of leading dimensions that follow the rows of the operation: its
  /// first results in the order of its destination.
  unsigned rowDepth;
};

/// The accesses of any operation, of those in its regions too.
SmallVector<BufferAccess> getAccesses(Operation *op);

/// The loops of `op` that can be rows, outermost first.
SmallVector<unsigned> getRowLoops(linalg::GenericOp op);

/// The loop of `op` whose elements are next to each other in most operands that
/// have an element per iteration, or the last one.
unsigned getContiguousLoop(linalg::GenericOp op);

/// Operations that become one kernel, in order.
struct KernelGroup {
  SmallVector<Operation *> ops;
  KernelKind kind;
  /// Most loops that can be rows, and their extents.
  SmallVector<int64_t> rows;
  SmallVector<BufferAccess> accesses;
  /// Not a kernel: a loop, a branch or another operation with effects.
  bool opaque = false;

  /// Number of loops that are rows: all common ones, but one loop is left in
  /// the operation that has most.
  unsigned getNumRows() const;
};

/// Forms the groups of `block`, in an order in which they can run.
SmallVector<KernelGroup> formKernelGroups(Block &block);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINALGTOKERNELS_KERNELGROUPS_H
