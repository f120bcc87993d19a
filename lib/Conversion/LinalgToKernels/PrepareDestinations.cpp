//===- PrepareDestinations.cpp - Where results are written ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTPREPAREDESTINATIONSPASS
#include "act/Conversion/LinalgToKernels/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Gives every destination of `op` an empty or filled tensor of its own, right
/// before it, and adds what it had before to `replaced`. Shared ones would be
/// copied and live longer.
static void separateDestinations(DestinationStyleOpInterface op,
                                 llvm::SetVector<Operation *> &replaced) {
  OpBuilder builder(op);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Operation *producer = init.get().getDefiningOp();
    if (!producer)
      continue;
    builder.setInsertionPoint(op);
    if (isa<tensor::EmptyOp>(producer)) {
      init.set(builder.clone(*producer)->getResult(0));
      replaced.insert(producer);
      continue;
    }
    auto fill = dyn_cast<linalg::FillOp>(producer);
    if (!fill)
      continue;
    auto own = cast<linalg::FillOp>(builder.clone(*producer));
    if (auto empty = fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>()) {
      builder.setInsertionPoint(own);
      own.getOutputsMutable()[0].set(builder.clone(*empty)->getResult(0));
    }
    init.set(own.getResult(0));
    replaced.insert(fill);
    if (Operation *empty = fill.getOutputs()[0].getDefiningOp())
      replaced.insert(empty);
  }
}

/// Whether nothing reads `value` after `op`, which reads it in one operand, and
/// nothing looks at parts of it.
static bool diesIn(Value value, Operation *op) {
  int64_t uses = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (user == op) {
      if (++uses > 1 || use.getOwner() != op)
        return false;
    } else if (!user || !user->isBeforeInBlock(op) ||
               !isa<DestinationStyleOpInterface>(user)) {
      return false;
    }
  }
  return true;
}

static bool readsAnyElement(linalg::GenericOp op) {
  return op.walk([](tensor::ExtractOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Whether `value` is memory that an operation of the same block may write to.
static bool isOwnMemory(Value value, Operation *op) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<scf::ForOp>(argument.getOwner()->getParentOp()) &&
           argument.getOwner() == op->getBlock();
  auto producer = value.getDefiningOp<DestinationStyleOpInterface>();
  return producer && producer->getBlock() == op->getBlock() &&
         !isa<linalg::FillOp>(producer.getOperation());
}

/// Lets an operation without reductions write to an input that nothing reads
/// afterwards.
static void reuseInput(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0 || op.getNumDpsInits() != 1 ||
      readsAnyElement(op))
    return;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (value.getType() != init->get().getType() || !isOwnMemory(value, op) ||
        op.getMatchingIndexingMap(input) != op.getMatchingIndexingMap(init) ||
        !op.getMatchingIndexingMap(input).isPermutation() || !diesIn(value, op))
      continue;
    init->set(value);
    return;
  }
}

/// Whether `value` is `argument` after writes in place.
static bool isInPlace(Value value, BlockArgument argument) {
  while (value != argument) {
    auto result = dyn_cast<OpResult>(value);
    if (!result)
      return false;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(result.getOwner()))
      value = insert.getDest();
    else if (auto op = dyn_cast<DestinationStyleOpInterface>(result.getOwner()))
      value = op.getTiedOpOperand(result)->get();
    else if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
      value = loop.getTiedLoopInit(result)->get();
    else
      return false;
  }
  return true;
}

/// Copies what an iteration yields to where the next one reads it, unless it is
/// there already.
static void writeBack(Operation *terminator, MutableArrayRef<OpOperand> yielded,
                      ArrayRef<BlockArgument> arguments) {
  OpBuilder builder(terminator);
  for (auto [yield, argument] : llvm::zip_equal(yielded, arguments)) {
    if (!isa<RankedTensorType>(argument.getType()) ||
        isInPlace(yield.get(), argument))
      continue;
    yield.set(linalg::CopyOp::create(builder, terminator->getLoc(), yield.get(),
                                     Value(argument))
                  .getResult(0));
  }
}

/// Whether two slices of one tensor have no element in common: in some
/// dimension one ends before the other begins.
static bool areDisjoint(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  for (auto [offset, size, stride, otherOffset, otherSize, otherStride] :
       llvm::zip_equal(a.getStaticOffsets(), a.getStaticSizes(),
                       a.getStaticStrides(), b.getStaticOffsets(),
                       b.getStaticSizes(), b.getStaticStrides())) {
    if (llvm::is_contained(
            {offset, size, stride, otherOffset, otherSize, otherStride},
            ShapedType::kDynamic))
      continue;
    if (offset + (size - 1) * stride < otherOffset ||
        otherOffset + (otherSize - 1) * otherStride < offset)
      return true;
  }
  return false;
}

/// The insertions that end in `last`, first one first: each is the only user of
/// the one before.
static SmallVector<tensor::InsertSliceOp>
getInsertions(tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> chain{last};
  for (;;) {
    auto before = chain.back().getDest().getDefiningOp<tensor::InsertSliceOp>();
    if (!before || !before->hasOneUse() ||
        before->getBlock() != last->getBlock())
      break;
    chain.push_back(before);
  }
  return SmallVector<tensor::InsertSliceOp>(llvm::reverse(chain));
}

/// Puts the insertions of a concatenation into the order in which their sources
/// are computed. Otherwise what is computed first but inserted last would wait
/// for the others, with all that it reads.
static void orderInsertions(tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> chain = getInsertions(last);
  for (size_t i = 0; i < chain.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!areDisjoint(chain[i], chain[j]))
        return;
  auto isEarlier = [&](tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
    Operation *first = a.getSource().getDefiningOp();
    Operation *second = b.getSource().getDefiningOp();
    bool firstIsInside = first && first->getBlock() == last->getBlock();
    bool secondIsInside = second && second->getBlock() == last->getBlock();
    if (!firstIsInside || !secondIsInside)
      return !firstIsInside && secondIsInside;
    return first->isBeforeInBlock(second);
  };
  SmallVector<tensor::InsertSliceOp> ordered = chain;
  llvm::stable_sort(ordered, isEarlier);
  if (ordered == chain)
    return;
  Value dest = chain.front().getDest();
  OpBuilder builder(last);
  for (tensor::InsertSliceOp insertion : ordered) {
    auto moved = cast<tensor::InsertSliceOp>(builder.clone(*insertion));
    moved.getDestMutable().set(dest);
    dest = moved;
  }
  last.replaceAllUsesWith(dest);
  for (tensor::InsertSliceOp insertion : llvm::reverse(chain))
    insertion.erase();
}

/// Copies what a branch yields and has not computed itself, so that all
/// branches yield whole buffers of their own.
static void separateYields(Operation *branch) {
  for (Region &region : branch->getRegions()) {
    if (region.empty())
      continue;
    Operation *yield = region.front().getTerminator();
    OpBuilder builder(yield);
    for (OpOperand &operand : yield->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      auto producer =
          operand.get().getDefiningOp<DestinationStyleOpInterface>();
      if (!type || (producer && producer->getBlock() == yield->getBlock()))
        continue;
      Value empty = tensor::EmptyOp::create(
          builder, yield->getLoc(), type.getShape(), type.getElementType());
      operand.set(
          linalg::CopyOp::create(builder, yield->getLoc(), operand.get(), empty)
              .getResult(0));
    }
  }
}

namespace {
struct PrepareDestinationsPass
    : act::impl::ActPrepareDestinationsPassBase<PrepareDestinationsPass> {
  void runOnOperation() override {
    SmallVector<tensor::InsertSliceOp> concatenations;
    getOperation()->walk([&](tensor::InsertSliceOp op) {
      bool goesOn =
          op->hasOneUse() && llvm::all_of(op->getUses(), [](OpOperand &use) {
            auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
            return next && next.getDest() == use.get();
          });
      if (!goesOn)
        concatenations.push_back(op);
    });
    llvm::for_each(concatenations, orderInsertions);

    getOperation()->walk([](Operation *op) {
      if (isa<scf::IfOp, scf::IndexSwitchOp>(op))
        separateYields(op);
    });
    SmallVector<DestinationStyleOpInterface> ops;
    getOperation()->walk([&](DestinationStyleOpInterface op) {
      if (op.hasPureTensorSemantics())
        ops.push_back(op);
    });
    llvm::SetVector<Operation *> replaced, empties;
    for (DestinationStyleOpInterface op : ops)
      separateDestinations(op, replaced);
    for (DestinationStyleOpInterface op : ops)
      if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation()))
        reuseInput(generic);
    // Fills first, then the empty tensors that they filled.
    for (Operation *op : replaced)
      if (op->use_empty() && isa<linalg::FillOp>(op))
        op->erase();
      else if (!isa<linalg::FillOp>(op))
        empties.insert(op);
    for (Operation *op : empties)
      if (op->use_empty())
        op->erase();
    // Arguments belong to the caller.
    getOperation()->walk([](func::FuncOp function) {
      for (BlockArgument argument : function.getArguments())
        if (isa<RankedTensorType>(argument.getType()))
          function.setArgAttr(
              argument.getArgNumber(),
              bufferization::BufferizationDialect::kWritableAttrName,
              BoolAttr::get(function.getContext(), false));
    });
    getOperation()->walk([](scf::ForOp loop) {
      Operation *yield = loop.getBody()->getTerminator();
      writeBack(yield, yield->getOpOperands(),
                llvm::to_vector(loop.getRegionIterArgs()));
    });
    getOperation()->walk([](scf::WhileOp loop) {
      Operation *yield = loop.getAfterBody()->getTerminator();
      writeBack(yield, yield->getOpOperands(),
                llvm::to_vector(loop.getAfterArguments()));
    });
  }
};
} // namespace
