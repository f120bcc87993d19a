//===- KernelOps.cpp - Units of native execution --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::act;

int64_t KernelOp::getUnits() {
  int64_t units = 1;
  for (int64_t extent : getRows())
    units *= extent;
  return units;
}

/// C3 of a kernel: the first loops of `op` are the rows.
static LogicalResult verifyRows(KernelOp kernel, linalg::LinalgOp op) {
  ArrayRef<int64_t> rows = kernel.getRows();
  if (op.getNumLoops() < rows.size())
    return op.emitOpError("expects at least ")
           << rows.size() << " loops in a kernel with as many rows, got "
           << op.getNumLoops();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [i, row] : llvm::enumerate(rows))
    if (extents[i] != row || iterators[i] != utils::IteratorType::parallel)
      return op.emitOpError("expects loop ")
             << i << " to be parallel over " << row
             << " elements, as the rows of its kernel are, got " << extents[i];
  return success();
}

LogicalResult KernelOp::verify() {
  Block &body = getBody().front();
  if (body.getArgumentTypes() != getBuffers().getTypes()) // C1
    return emitOpError("expects arguments of the body with the types of the "
                       "operands");
  for (int64_t extent : getRows()) // C2
    if (extent <= 0)
      return emitOpError("expects positive rows, got ") << extent;
  for (auto op : body.getOps<linalg::LinalgOp>()) // C3
    if (failed(verifyRows(*this, op)))
      return failure();
  return success();
}
