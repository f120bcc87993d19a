//===- Memory.cpp - Write a model of a step's memory ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepOutput.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/MemoryLiveness.h"
#include "act/Dialect/Act/Transforms/Passes.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTMEMORYPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

static void writeBuffer(llvm::json::OStream &json, const LiveBuffer &buffer) {
  json.object([&] {
    json.attribute("bytes", buffer.bytes);
    json.attribute("begin", buffer.begin);
    json.attribute("end", buffer.end);
    json.attribute("kind",
                   buffer.kind == LiveBuffer::Save ? "save" : "temporary");
    Operation *def = buffer.value ? buffer.value.getDefiningOp() : nullptr;
    json.attribute("operation", def ? def->getName().getStringRef() : "");
    json.attribute("location",
                   buffer.value ? getLocationName(buffer.value.getLoc()) : "");
  });
}

static void writeList(llvm::json::OStream &json, StringRef key,
                      ArrayRef<int64_t> numbers) {
  json.attributeArray(key, [&] {
    for (int64_t number : numbers)
      json.value(number);
  });
}

static void writeMemory(llvm::json::OStream &json, FunctionOpInterface step,
                        const MemoryLiveness &liveness) {
  unsigned peak = liveness.getPeakPosition();
  SmallVector<LiveBuffer> alive;
  for (const LiveBuffer &buffer : liveness.getBuffers())
    if (buffer.kind != LiveBuffer::Argument &&
        buffer.kind != LiveBuffer::Result && !buffer.isInResult &&
        buffer.begin <= peak && peak <= buffer.end)
      alive.push_back(buffer);
  llvm::stable_sort(alive, [](const LiveBuffer &a, const LiveBuffer &b) {
    return a.bytes > b.bytes;
  });
  json.object([&] {
    json.attribute("function", step.getName());
    json.attribute("packed", liveness.getPackedBytes());
    json.attribute("peak", liveness.getPeak());
    json.attribute("lower_bound", liveness.getLowerBound());
    json.attribute("positions", liveness.getNumPositions());
    json.attribute("peak_position", peak);
    writeList(json, "timeline", liveness.getTimeline());
    writeList(json, "transients", liveness.getTransients());
    json.attributeArray("at_peak", [&] {
      for (const LiveBuffer &buffer : alive)
        writeBuffer(json, buffer);
    });
  });
}

namespace {
struct ActMemoryPass : mlir::act::impl::ActMemoryPassBase<ActMemoryPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registerMemoryLivenessModels(registry);
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FunctionOpInterface step = findStep(getOperation(), "act-memory");
    if (!step)
      return signalPassFailure();
    FailureOr<MemoryLiveness> liveness = MemoryLiveness::build(
        step, unfused ? MemoryModel::unfused() : MemoryModel::xlaCpu());
    if (failed(liveness))
      return signalPassFailure();
    auto write = [&](llvm::json::OStream &json) {
      writeMemory(json, step, *liveness);
    };
    if (failed(writeJson(getOperation(), "act-memory", output, write)))
      signalPassFailure();
  }
};
} // namespace
