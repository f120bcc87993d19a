//===- Instrument.cpp - Let a running step choose how much it rounds ------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/SavedValues.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTINSTRUMENTPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Lets `save` store what `encoding` would restore, as it is.
static void instrument(CompressedSaveOp save, Value levels, Value seed) {
  EncodingAttrInterface encoding = save.getResult().getType().getEncoding();
  OpBuilder builder(save);
  auto rounded = RoundTripOp::create(builder, save.getLoc(),
                                     save.getInput().getType(), save.getInput(),
                                     levels, seed, encoding, save.getId());
  save.getInputMutable().assign(rounded);
  setEncoding(save, RawAttr::get(save.getContext()));
}

/// Adds arguments for the levels of `saves` and for the seed.
static LogicalResult instrument(FunctionOpInterface function,
                                ArrayRef<CompressedSaveOp> saves) {
  MLIRContext *context = function.getContext();
  auto levelsType = RankedTensorType::get({static_cast<int64_t>(saves.size())},
                                          Float32Type::get(context));
  auto seedType = RankedTensorType::get(
      {}, IntegerType::get(context, 32, IntegerType::Unsigned));
  unsigned position = function.getNumArguments();
  for (Type type : {levelsType, seedType})
    if (failed(function.insertArgument(function.getNumArguments(), type,
                                       /*argAttrs=*/{}, function.getLoc())))
      return function.emitOpError("expects a signature that can be extended");
  Value allLevels = function.getArgument(position);
  Value seed = function.getArgument(position + 1);
  OpBuilder builder =
      OpBuilder::atBlockBegin(&function.getFunctionBody().front());
  int64_t number = 0;
  for (CompressedSaveOp save : saves) {
    StablehloBuilder b(builder, save.getLoc());
    Value levels = b.slice(allLevels, number, number + 1);
    instrument(save, b.reshape(levels, {}), seed);
    ++number;
  }
  return success();
}

namespace {
struct ActInstrumentPass
    : mlir::act::impl::ActInstrumentPassBase<ActInstrumentPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface step;
    SmallVector<CompressedSaveOp> saves;
    WalkResult result = getOperation().walk([&](CompressedSaveOp save) {
      EncodingAttrInterface encoding = save.getResult().getType().getEncoding();
      if (encoding.isLossless())
        return WalkResult::advance();
      if (encoding.getRunningAxis())
        return WalkResult(save.emitOpError("expects a range of its own to be "
                                           "instrumented, got a running one"));
      auto function = save->getParentOfType<FunctionOpInterface>();
      if (step && function != step)
        return WalkResult(save.emitOpError("expects all lossy saves in one "
                                           "function, got some in @")
                          << step.getName() << " and @" << function.getName()
                          << "; act-inline joins them");
      step = function;
      saves.push_back(save);
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || (step && failed(instrument(step, saves))))
      signalPassFailure();
  }
};
} // namespace
