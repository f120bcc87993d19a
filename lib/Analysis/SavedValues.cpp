//===- SavedValues.cpp - Where saves go ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/SavedValues.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/LoopModel.h"

using namespace mlir;
using namespace mlir::act;

/// All names of carried value `number` of a loop.
static void addCarried(LoopModelInterface loop, unsigned number,
                       SmallVectorImpl<Value> &names) {
  names.push_back(loop.getInitialValues()[number]);
  names.push_back(loop.getCarriedArguments()[number]);
  names.push_back(loop.getNextValues()[number]);
  names.push_back(loop->getResult(number));
  // Where the condition is a region of its own, it has arguments too.
  for (Region &region : loop->getRegions())
    if (region.getNumArguments() == loop->getNumResults() &&
        isSaved(region.getArgument(number).getType()))
      names.push_back(region.getArgument(number));
}

/// The names that `use` gives to a saved value or a stack of such.
static SmallVector<Value> getNames(OpOperand &use) {
  Operation *user = use.getOwner();
  SmallVector<Value> names;
  if (isa<BarrierOp>(user)) {
    names.push_back(user->getResult(use.getOperandNumber()));
  } else if (auto push = dyn_cast<StackPushOp>(user)) {
    names.append({push.getValue(), push.getStack(), push.getResult()});
  } else if (auto read = dyn_cast<StackReadOp>(user)) {
    names.push_back(read.getResult());
  }
  auto addWhere = [&](LoopModelInterface loop, ArrayRef<Value> values) {
    for (auto [number, value] : llvm::enumerate(values))
      if (value == use.get())
        addCarried(loop, number, names);
  };
  if (auto loop = dyn_cast<LoopModelInterface>(user))
    addWhere(loop, loop.getInitialValues());
  if (auto loop = dyn_cast_or_null<LoopModelInterface>(user->getParentOp()))
    if (user->hasTrait<OpTrait::IsTerminator>())
      addWhere(loop, loop.getNextValues());
  return names;
}

SmallVector<Value> mlir::act::findSavedValues(CompressedSaveOp save) {
  llvm::SetVector<Value> found;
  found.insert(save.getResult());
  for (size_t i = 0; i < found.size(); ++i) { // grows meanwhile
    Value value = found[i];
    for (OpOperand &use : value.getUses())
      found.insert_range(getNames(use));
  }
  return found.takeVector();
}

int64_t mlir::act::getNumCopies(CompressedSaveOp save) {
  int64_t most = 1;
  for (Value value : findSavedValues(save))
    if (auto stack = dyn_cast<StackType>(value.getType())) {
      int64_t copies = 1;
      for (int64_t size : stack.getSizes())
        copies *= size;
      most = std::max(most, copies);
    }
  return most;
}

/// What is kept of running ranges from one step to the next: Mesa's value.
static constexpr double kRangeDecay = 0.9;

void mlir::act::setEncoding(CompressedSaveOp save,
                            EncodingAttrInterface encoding) {
  auto type = CompressedType::get(
      save.getContext(), cast<RankedTensorType>(save.getInput().getType()),
      encoding);
  for (Value value : findSavedValues(save)) {
    auto stack = dyn_cast<StackType>(value.getType());
    value.setType(stack ? Type(stack.withCompressedType(type)) : type);
  }
  std::optional<int64_t> axis = encoding.getRunningAxis();
  if (!axis)
    return;
  // What makes the state outlive the step is up to `act-running-ranges`.
  OpBuilder builder(save);
  auto state = EmptyRangeOp::create(builder, save.getLoc(),
                                    getRangeType(type.getTensorType(), *axis));
  auto update = UpdateRangeOp::create(builder, save.getLoc(), save.getInput(),
                                      state, builder.getI64IntegerAttr(*axis),
                                      builder.getF64FloatAttr(kRangeDecay));
  save.getRangeMutable().assign(update.getRange());
}
