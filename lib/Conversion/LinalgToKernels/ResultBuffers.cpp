//===- ResultBuffers.cpp - Buffers of results ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResultBuffers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

memref::AllocOp mlir::act::getWholeAllocation(Value value) {
  auto type = cast<MemRefType>(value.getType());
  for (;;) {
    if (auto alloc = value.getDefiningOp<memref::AllocOp>())
      return alloc.getType().getNumElements() == type.getNumElements()
                 ? alloc
                 : memref::AllocOp();
    Operation *op = value.getDefiningOp();
    if (op &&
        isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op))
      value = op->getOperand(0);
    else if (auto loop = value.getDefiningOp<scf::ForOp>())
      value = loop.getTiedLoopInit(cast<OpResult>(value))->get();
    else
      return {};
  }
}

void mlir::act::separateResults(func::FuncOp function) {
  Operation *terminator = function.getBody().back().getTerminator();
  OpBuilder builder(terminator);
  DenseSet<Operation *> seen;
  for (OpOperand &operand : terminator->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    memref::AllocOp alloc = getWholeAllocation(operand.get());
    if (alloc && alloc->getBlock() == terminator->getBlock() &&
        seen.insert(alloc).second)
      continue;
    Value own = memref::AllocOp::create(
        builder, terminator->getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()),
        builder.getI64IntegerAttr(64));
    memref::CopyOp::create(builder, terminator->getLoc(), operand.get(), own);
    operand.set(own);
  }
}
