//===- MemoryLiveness.cpp - What a step keeps in memory, and when ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/MemoryLiveness.h"
#include "Buffers.h"
#include "act/Analysis/SavedValues.h"
#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActDialect.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

SmallVector<int64_t> MemoryLiveness::getTimeline() const {
  SmallVector<int64_t> change(transients.size() + 1, 0);
  for (const LiveBuffer &buffer : buffers) {
    if (buffer.kind == LiveBuffer::Argument ||
        buffer.kind == LiveBuffer::Result || buffer.isInResult)
      continue;
    change[buffer.begin] += buffer.bytes;
    change[buffer.end + 1] -= buffer.bytes;
  }
  SmallVector<int64_t> timeline;
  int64_t live = 0;
  for (auto [position, transient] : llvm::enumerate(transients)) {
    live += change[position];
    timeline.push_back(live + transient);
  }
  return timeline;
}

int64_t MemoryLiveness::getPeak() const {
  SmallVector<int64_t> timeline = getTimeline();
  return timeline.empty() ? 0 : *llvm::max_element(timeline);
}

unsigned MemoryLiveness::getPeakPosition() const {
  SmallVector<int64_t> timeline = getTimeline();
  return std::distance(timeline.begin(), llvm::max_element(timeline));
}

SmallVector<unsigned> MemoryLiveness::getDominantPositions() const {
  // What is alive at a position is part of what is at the next unless something
  // ends there, and part of what was at the one before unless something begins.
  SmallVector<bool> begins(transients.size(), false),
      ends(transients.size(), false);
  for (const LiveBuffer &buffer : buffers) {
    begins[buffer.begin] = true;
    ends[buffer.end] = true;
  }
  SmallVector<unsigned> positions;
  bool hasGrown = true;
  for (unsigned i = 0, e = transients.size(); i != e; ++i) {
    hasGrown |= begins[i];
    if ((ends[i] && hasGrown) || transients[i] != 0) {
      positions.push_back(i);
      hasGrown = false;
    }
  }
  return positions;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace mlir::act {
/// Turns the plan of a step into what users of the analysis see.
class LivenessBuilder {
public:
  /// `stacks` are the values that hold all copies of a save.
  LivenessBuilder(BufferPlan plan, int64_t alignment,
                  DenseMap<Value, CompressedSaveOp> stacks)
      : plan(std::move(plan)), alignment(alignment), stacks(std::move(stacks)) {
  }
  MemoryLiveness run();

private:
  unsigned getPosition(unsigned time) const;
  void addBuffers();
  void addTransients();
  void addLowerBound();

  BufferPlan plan;
  int64_t alignment;
  DenseMap<Value, CompressedSaveOp> stacks;
  MemoryLiveness liveness;
};
} // namespace mlir::act

/// The outermost kernel that runs at `time`.
unsigned LivenessBuilder::getPosition(unsigned time) const {
  return llvm::lower_bound(plan.ends, time) - plan.ends.begin();
}

void LivenessBuilder::addBuffers() {
  for (const Buffer &buffer : plan.buffers) {
    if (!buffer.isOuter || buffer.bytes == 0)
      continue;
    CompressedSaveOp save =
        buffer.save ? buffer.save : stacks.lookup(buffer.origin);
    LiveBuffer::Kind kind =
        save                              ? LiveBuffer::Save
        : buffer.kind == Buffer::Argument ? LiveBuffer::Argument
        : buffer.kind == Buffer::Result   ? LiveBuffer::Result
                                          : LiveBuffer::Temporary;
    if (buffer.kind != Buffer::Temporary && kind == LiveBuffer::Save)
      kind = LiveBuffer::Result; // what a result holds costs no temporary
    liveness.buffers.push_back(
        {buffer.origin, buffer.bytes,
         getPosition(buffer.intervals.front().begin),
         getPosition(buffer.intervals.back().end), kind,
         kind == LiveBuffer::Save ? save : CompressedSaveOp(),
         buffer.isInResult});
  }
  llvm::stable_sort(liveness.buffers,
                    [](const LiveBuffer &a, const LiveBuffer &b) {
                      return a.begin < b.begin;
                    });
}

void LivenessBuilder::addTransients() {
  std::vector<int64_t> change(plan.numTimes + 1, 0);
  for (const Buffer &buffer : plan.buffers) {
    if (buffer.kind != Buffer::Temporary || buffer.isInResult)
      continue;
    for (Interval interval : buffer.intervals) {
      change[interval.begin] += buffer.bytes;
      change[interval.end + 1] -= buffer.bytes;
    }
  }
  SmallVector<int64_t> most(plan.ends.size() + 1, 0);
  int64_t live = 0;
  for (unsigned time = 0; time < plan.numTimes; ++time) {
    live += change[time];
    int64_t &load = most[getPosition(time)];
    load = std::max(load, live);
  }
  // What is known of the outermost buffers is not transient.
  liveness.transients.assign(most.size(), 0);
  SmallVector<int64_t> known = liveness.getTimeline();
  for (auto [position, load] : llvm::enumerate(most))
    liveness.transients[position] = load - known[position];
}

void LivenessBuilder::addLowerBound() {
  SmallVector<int64_t> change(liveness.transients.size() + 1, 0);
  for (const LiveBuffer &buffer : liveness.buffers)
    if (buffer.kind == LiveBuffer::Save && !buffer.isInResult) {
      change[buffer.begin] += buffer.bytes;
      change[buffer.end + 1] -= buffer.bytes;
    }
  int64_t saves = 0, most = 0;
  for (int64_t step : change) {
    saves += step;
    most = std::max(most, saves);
  }
  for (const Buffer &buffer : plan.buffers)
    if (buffer.kind == Buffer::Temporary && !buffer.isInResult)
      most = std::max(most, buffer.bytes);
  liveness.lowerBound = most;
}

MemoryLiveness LivenessBuilder::run() {
  placeInResults(plan.buffers);
  addBuffers();
  addTransients();
  addLowerBound();
  liveness.packedBytes = packBuffers(plan.buffers, alignment);
  return std::move(liveness);
}

/// Marks results that are written over arguments, by JAX's attributes: those
/// that `tf.aliasing_output` names, and for each `jax.buffer_donor` one of its
/// type.
static void markDonated(FunctionOpInterface function, BufferPlan &plan) {
  auto mark = [&](size_t result) {
    if (result >= plan.results.size() || !plan.results[result])
      return false;
    Buffer &buffer = plan.buffers[*plan.results[result]];
    return !std::exchange(buffer.isDonated, true);
  };
  Block &body = function.getFunctionBody().front();
  OperandRange results = body.getTerminator()->getOperands();
  for (BlockArgument argument : body.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (auto result = function.getArgAttrOfType<IntegerAttr>(
            number, "tf.aliasing_output")) {
      mark(result.getInt());
      continue;
    }
    if (!function.getArgAttr(number, "jax.buffer_donor"))
      continue;
    for (auto [i, result] : llvm::enumerate(results))
      if (result.getType() == argument.getType() && mark(i))
        break;
  }
}

/// Runs `pass` on `computation` and on all bodies in it.
static void forEachComputation(Computation &computation,
                               llvm::function_ref<void(Computation &)> pass) {
  pass(computation);
  for (Node &node : computation.nodes)
    for (auto &body : node.bodies)
      forEachComputation(*body, pass);
}

FailureOr<MemoryLiveness> MemoryLiveness::build(FunctionOpInterface function,
                                                const MemoryModel &model) {
  FailureOr<std::unique_ptr<Computation>> step = buildStepGraph(function);
  if (failed(step))
    return failure();
  forEachComputation(**step, [&](Computation &computation) {
    connect(computation);
    if (model.fuses) {
      fuseLibraryCalls(computation);
      fuseLoops(computation);
    }
    copyInitialValues(computation);
  });
  BufferPlan plan = planBuffers(**step, model.schedules, model.sharesBuffers);
  markDonated(function, plan);
  DenseMap<Value, CompressedSaveOp> stacks;
  function.walk([&](CompressedSaveOp save) {
    for (Value value : findSavedValues(save))
      if (isa<StackType>(value.getType()))
        stacks[value] = save;
  });
  return LivenessBuilder(std::move(plan), model.alignment, std::move(stacks))
      .run();
}

void mlir::act::registerMemoryLivenessModels(DialectRegistry &registry) {
  registry.insert<ActDialect>();
  registerStablehloEncodingModels(registry);
}
