//===- FormKernels.cpp - Structured operations in kernels ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "ResultBuffers.h"
#include "SeparateElements.h"
#include "SplitReductions.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTFORMKERNELSPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// A copy as a generic operation.
static void generalizeCopy(memref::CopyOp copy) {
  OpBuilder builder(copy);
  int64_t rank = cast<MemRefType>(copy.getSource().getType()).getRank();
  SmallVector<AffineMap> maps(2, builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, copy.getLoc(), ValueRange{copy.getSource()},
      ValueRange{copy.getTarget()}, maps, iterators,
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
  copy.erase();
}

/// Makes every structured operation generic.
static void generalize(Operation *root) {
  SmallVector<linalg::LinalgOp> named;
  SmallVector<memref::CopyOp> copies;
  root->walk([&](Operation *op) {
    if (auto copy = dyn_cast<memref::CopyOp>(op))
      copies.push_back(copy);
    else if (isa<linalg::LinalgOp>(op) && !isa<linalg::GenericOp>(op))
      named.push_back(cast<linalg::LinalgOp>(op));
  });
  IRRewriter rewriter(root->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
  llvm::for_each(copies, generalizeCopy);
}

/// Gives a codec, which goes through memory without gaps, copies of operands
/// that have some.
static void closeGaps(DestinationStyleOpInterface op) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || memref::isStaticShapeAndContiguousRowMajor(type))
      continue;
    Value original = operand.get();
    builder.setInsertionPoint(op);
    Value dense = memref::AllocOp::create(
        builder, op.getLoc(),
        MemRefType::get(type.getShape(), type.getElementType()),
        builder.getI64IntegerAttr(64));
    if (op.isDpsInit(&operand)) {
      builder.setInsertionPointAfter(op);
      memref::CopyOp::create(builder, op.getLoc(), dense, original);
    } else {
      memref::CopyOp::create(builder, op.getLoc(), original, dense);
    }
    operand.set(dense);
  }
}

/// Makes the loops that are rows the outermost.
static linalg::GenericOp putRowsFirst(linalg::GenericOp op, unsigned numRows) {
  SmallVector<unsigned> order(ArrayRef(getRowLoops(op)).take_front(numRows));
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(order, loop))
      order.push_back(loop);
  if (llvm::is_sorted(order))
    return op;
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> interchanged =
      linalg::interchangeGenericOp(rewriter, op, order);
  assert(succeeded(interchanged) && "a permutation of loops");
  return *interchanged;
}

namespace {
/// Turns one group into a kernel.
class KernelBuilder {
public:
  KernelBuilder(KernelGroup &group, int64_t privateBytes)
      : group(group), privateBytes(privateBytes) {}
  void build();

private:
  void findPrivateBuffers(unsigned numRows);
  void findOperands();

  KernelGroup &group;
  int64_t privateBytes;
  /// Allocations that only this kernel uses, within rows.
  llvm::SetVector<Operation *> privateBuffers;
  /// Scalar constants, which the body repeats.
  llvm::SetVector<Operation *> constants;
  llvm::SetVector<Value> operands;
};
} // namespace

void KernelBuilder::findPrivateBuffers(unsigned numRows) {
  if (numRows == 0)
    return;
  int64_t units = 1;
  for (int64_t extent : ArrayRef(group.rows).take_front(numRows))
    units *= extent;
  DenseSet<Operation *> members(group.ops.begin(), group.ops.end());
  int64_t bytes = 0;
  for (const BufferAccess &access : group.accesses) {
    auto alloc = access.buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc || privateBuffers.contains(alloc))
      continue;
    bool isPrivate =
        llvm::all_of(alloc->getUsers(),
                     [&](Operation *user) { return members.contains(user); }) &&
        llvm::all_of(group.accesses, [&](const BufferAccess &other) {
          return other.buffer != access.buffer || other.rowDepth >= numRows;
        });
    MemRefType type = alloc.getType();
    int64_t size =
        type.getNumElements() / units * getElementBytes(type.getElementType());
    if (!isPrivate || bytes + size > privateBytes)
      continue;
    bytes += size;
    privateBuffers.insert(alloc);
  }
}

void KernelBuilder::findOperands() {
  for (Operation *op : group.ops)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (op->isAncestor(operand.getParentBlock()->getParentOp()))
          continue;
        Operation *producer = operand.getDefiningOp();
        if (producer && producer->hasTrait<OpTrait::ConstantLike>())
          constants.insert(producer);
        else if (!producer || !privateBuffers.contains(producer))
          operands.insert(operand);
      }
    });
}

void KernelBuilder::build() {
  unsigned numRows = group.ops.size() > 1 ? group.getNumRows() : 0;
  if (group.kind == KernelKind::Contraction)
    numRows = 0;
  findPrivateBuffers(numRows);
  for (Operation *&op : group.ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && numRows)
      op = putRowsFirst(generic, numRows);
  findOperands();

  OpBuilder builder(group.ops.back());
  Location loc = group.ops.back()->getLoc();
  auto kernel = KernelOp::create(builder, loc, group.kind,
                                 ArrayRef(group.rows).take_front(numRows),
                                 operands.getArrayRef());
  Block &body = kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value operand : operands)
    mapping.map(operand, body.addArgument(operand.getType(), loc));
  builder.setInsertionPointToStart(&body);
  for (Operation *constant : constants)
    builder.clone(*constant, mapping);
  for (Operation *buffer : privateBuffers)
    builder.clone(*buffer, mapping);
  for (Operation *op : group.ops) {
    builder.clone(*op, mapping);
    op->erase();
  }
  for (Operation *buffer : privateBuffers)
    buffer->erase();
}

namespace {
struct FormKernelsPass : act::impl::ActFormKernelsPassBase<FormKernelsPass> {
  using Base::Base;

  void runOnOperation() override {
    getOperation()->walk([](func::FuncOp function) {
      if (!function.isExternal())
        separateResults(function);
    });
    getOperation()->walk([](Operation *op) {
      if (isa<EncodeOp, DecodeOp>(op))
        closeGaps(cast<DestinationStyleOpInterface>(op));
    });
    generalize(getOperation());
    getOperation()->walk([](linalg::GenericOp op) {
      if (op.hasPureBufferSemantics())
        separateElements(op);
    });
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (!op.hasPureBufferSemantics())
        return;
      // Without iterations nothing is written.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0))
        op.erase();
      else
        ops.push_back(op);
    });
    llvm::for_each(ops, splitReduction);
    generalize(getOperation());

    SmallVector<Block *> blocks;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<linalg::LinalgOp>(op))
        return WalkResult::skip();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (block.mightHaveTerminator() && !isa<ModuleOp>(op))
            blocks.push_back(&block);
      return WalkResult::advance();
    });
    for (Block *block : blocks)
      for (KernelGroup &group : formKernelGroups(*block))
        if (isa<DestinationStyleOpInterface>(group.ops.front()))
          KernelBuilder(group, privateBytes).build();
  }
};
} // namespace
