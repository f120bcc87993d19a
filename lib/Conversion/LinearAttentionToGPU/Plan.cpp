//===- Plan.cpp - Kernels of an attention --------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

/// Blocks that fill a device, and the fewest tokens that are worth a segment.
static constexpr int64_t wantedBlocks = 264;
static constexpr int64_t fewestSegmentTokens = 256;

//===----------------------------------------------------------------------===//
// What is supported
//===----------------------------------------------------------------------===//

LogicalResult AttentionPlanner::verify() {
  if (!isa<MemRefType>(op.getKey().getType()))
    return op->emitOpError("expects buffers, got ") << op.getKey().getType();
  if (op.getBatchSize() == 0 || op.getLength() == 0)
    return op->emitOpError("expects sequences of tokens to lower it to a GPU, "
                           "got ")
           << op.getBatchSize() << " of " << op.getLength();
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type.hasStaticShape())
      return op->emitOpError("expects static shapes to lower it to a GPU, got ")
             << type;
    if (failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::is_contained(strides, ShapedType::kDynamic) ||
        !type.isLastDimUnitStride())
      return op->emitOpError("expects static strides and rows without gaps to "
                             "lower it to a GPU, got ")
             << type;
  }
  Type type = op.getRowElementType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return op->emitOpError(
               "expects f32, f16 or bf16 rows to lower it to a GPU, "
               "got ")
           << type;
  if (!isa<VectorFeatureMapInterface>(op.getFeatureMap()))
    return op->emitOpError(
               "expects a feature map that works element by element "
               "to lower it to a GPU, got ")
           << op.getFeatureMap();
  constexpr int64_t most = 1024;
  for (auto [size, name] : {std::pair(op.getNumFeatures(), "features"),
                            std::pair(op.getValueSize(), "values")})
    if (size < 1 || size > most)
      return op->emitOpError("expects 1 to ")
             << most << " " << name << " to lower it to a GPU, got " << size;
  if (op.getLength() >= (int64_t(1) << 31) - segmentUnit)
    return op->emitOpError(
               "expects fewer than 2^31 - 64 tokens to lower it to a "
               "GPU, got ")
           << op.getLength();
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The alignment in bytes of an element 0; buffers are aligned to 16.
static int64_t getAlignment(MemRefType type) {
  constexpr int64_t most = 16;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (ShapedType::isDynamic(offset))
    return bytes;
  return std::gcd(most, offset * bytes);
}

static AttentionArgument getArgument(Operation *op, Value buffer) {
  for (OpOperand &operand : op->getOpOperands())
    if (operand.get() == buffer)
      return {operand.getOperandNumber(), 0};
  llvm_unreachable("not an operand");
}

/// [B, T, H], [B, T, H, X] or [H].
PlacedTensor AttentionPlanner::describe(Value buffer) {
  if (!buffer)
    return {};
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  AttentionTensor tensor;
  tensor.type = type.getElementType();
  tensor.alignment = getAlignment(type);
  bool isHead = type.getRank() == 1;
  tensor.heads = type.getDimSize(isHead ? 0 : 2);
  tensor.headStride = strides[isHead ? 0 : 2];
  if (!isHead) {
    tensor.sequenceStride = strides[0];
    tensor.tokenStride = strides[1];
  }
  return {tensor, getArgument(op, buffer)};
}

/// [B, H, M, D] or [B, H, M].
PlacedTensor AttentionPlanner::describeState(Value buffer) {
  if (!buffer)
    return {};
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  AttentionTensor tensor;
  tensor.type = type.getElementType();
  tensor.alignment = getAlignment(type);
  tensor.heads = type.getDimSize(1);
  tensor.sequenceStride = strides[0];
  tensor.headStride = strides[1];
  tensor.rowStride = strides[2];
  return {tensor, getArgument(op, buffer)};
}

AttentionArgument AttentionPlanner::allocate(int64_t elements) {
  constexpr int64_t alignment = 256;
  int64_t offset = result.scratchBytes;
  result.scratchBytes += llvm::alignTo(elements * 4, alignment);
  return {std::nullopt, offset};
}

PlacedTensor AttentionPlanner::allocateRows(int64_t heads, int64_t columns) {
  AttentionTensor tensor;
  tensor.type = Float32Type::get(op->getContext());
  tensor.heads = heads;
  tensor.headStride = columns;
  tensor.tokenStride = heads * columns;
  tensor.sequenceStride = length * heads * columns;
  tensor.alignment = 16;
  return {tensor, allocate(sequences * tensor.sequenceStride)};
}

PlacedTensor AttentionPlanner::allocateState(int64_t heads, int64_t columns,
                                             int64_t segmentCount) {
  AttentionTensor tensor;
  tensor.type = Float32Type::get(op->getContext());
  tensor.heads = heads;
  tensor.rowStride = columns;
  tensor.tokenStride = features * columns;
  tensor.headStride = segmentCount * tensor.tokenStride;
  tensor.sequenceStride = heads * tensor.headStride;
  tensor.alignment = 16;
  return {tensor, allocate(sequences * tensor.sequenceStride)};
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::string AttentionPlanner::getName(StringRef base) {
  std::string name = base.str();
  for (unsigned number = 0; module.lookupSymbol(name); ++number)
    name = (base + "_" + Twine(number)).str();
  return name;
}

void AttentionPlanner::launch(GpuKernel kernel,
                              ArrayRef<PlacedTensor> tensors) {
  AttentionLaunch launch{kernel, {}};
  for (const PlacedTensor &tensor : tensors)
    if (tensor)
      launch.arguments.push_back(tensor.argument);
  result.launches.push_back(std::move(launch));
}

SweepOptions AttentionPlanner::getOptions(SweepKind kind, int64_t heads) {
  SweepOptions options;
  options.kind = kind;
  options.featureMap = op.getFeatureMap();
  options.normalize = op.getNormalize();
  options.decay = op.getDecayKind();
  options.sequences = sequences;
  options.heads = heads;
  options.length = length;
  options.features = features;
  options.values = values;
  options.segments = segments;
  options.segmentTokens = segmentTokens;
  // Its type decides on the shape.
  options[SweepBuffer::Value] = value.tensor;
  if (auto attention = dyn_cast<LinearAttentionOp>(op.getOperation())) {
    options.scale = attention.getScale().convertToDouble();
    options.epsilon = attention.getEpsilon().convertToDouble();
  } else if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation())) {
    options.scale = grad.getScale().convertToDouble();
    // Its gradient is a sum over all tokens whose terms cancel, times their
    // numbers: rounded factors would leave little of it.
    options.exact = op.getDecayKind() == DecayKind::Head;
  }
  return options;
}

void AttentionPlanner::addSweep(StringRef name, SweepOptions options,
                                Buffers buffers) {
  bool isState = options.kind == SweepKind::State;
  SmallVector<PlacedTensor> all(numSweepBuffers);
  auto set = [&](SweepBuffer buffer, const PlacedTensor &tensor) {
    all[static_cast<unsigned>(buffer)] = tensor;
    options[buffer] = tensor.tensor;
  };
  set(SweepBuffer::Value, value);
  set(SweepBuffer::Decay, decay);
  if (!isState)
    set(SweepBuffer::Query, query);
  if (options.kind != SweepKind::StateGrad)
    set(SweepBuffer::Key, key);
  for (const auto &[buffer, tensor] : buffers)
    set(buffer, tensor);
  if (gradient && !isState) {
    set(SweepBuffer::Gradient, gradient);
    set(SweepBuffer::Denominator, denominator);
    if (options.kind != SweepKind::ValueGrad)
      set(SweepBuffer::DenominatorGrad, denominatorGrad);
  }
  launch(buildSweep(module, op->getLoc(), getName(name), options), all);
}

void AttentionPlanner::addSumHeads(PlacedTensor from, PlacedTensor to,
                                   int64_t rows, int64_t columns) {
  SumHeadsOptions options{sequences, rows, columns, from.tensor, to.tensor};
  launch(buildSumHeads(getPlace("linear_attention_sum_heads"), options),
         {from, to});
}

void AttentionPlanner::addCarry(bool reverse, PlacedTensor initial,
                                PlacedTensor ends, PlacedTensor final,
                                int64_t columns) {
  int64_t count = ends.tensor.heads;
  CarryOptions options{sequences,      count,
                       segments,       features,
                       columns,        reverse ? count / stateHeads : 1,
                       reverse,        op.getDecayKind() == DecayKind::Channel,
                       initial.tensor, ends.tensor,
                       left.tensor,    final.tensor};
  launch(buildCarry(getPlace("linear_attention_carry"), options),
         {initial, ends, left, final});
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

void AttentionPlanner::carryStates(PlacedTensor initial,
                                   PlacedTensor initialSums, PlacedTensor final,
                                   PlacedTensor finalSums) {
  starts = allocateState(stateHeads, values, segments);
  if (op.getNormalize())
    startSums = allocateState(stateHeads, 1, segments);
  if (decay && segments > 1)
    left = allocateState(stateHeads, 1, segments);
  SweepOptions options = getOptions(SweepKind::State, stateHeads);
  options.startsOnce = true;
  if (auto state = dyn_cast<LinearAttentionStateOp>(op.getOperation()))
    options.subtract = state.getSubtract();
  addSweep("linear_attention_segment_state", options,
           {{SweepBuffer::Start, initial},
            {SweepBuffer::StartSums, initialSums},
            {SweepBuffer::Final, starts},
            {SweepBuffer::FinalSums, startSums},
            {SweepBuffer::Left, left}});
  addCarry(/*reverse=*/false, initial, starts, final, values);
  if (op.getNormalize())
    addCarry(/*reverse=*/false, initialSums, startSums, finalSums, 1);
}

void AttentionPlanner::planState(LinearAttentionStateOp state) {
  PlacedTensor initial = describeState(op.getState());
  PlacedTensor initialSums = describeState(op.getKeySum());
  if (segments > 1)
    return carryStates(initial, initialSums, initial, initialSums);
  SweepOptions options = getOptions(SweepKind::State, stateHeads);
  options.subtract = state.getSubtract();
  // Blocks of other columns read the sums of keys.
  PlacedTensor finalSums = initialSums;
  bool isShared = op.getNormalize() && getTiles(options) > 1;
  if (isShared)
    finalSums = allocateState(stateHeads, 1);
  addSweep("linear_attention_state", options,
           {{SweepBuffer::Start, initial},
            {SweepBuffer::StartSums, initialSums},
            {SweepBuffer::Final, initial},
            {SweepBuffer::FinalSums, finalSums}});
  if (isShared)
    addSumHeads(finalSums, initialSums, 1, features);
}

void AttentionPlanner::planForward(LinearAttentionOp attention) {
  PlacedTensor output = describe(attention.getOutput());
  denominator = describe(attention.getDenominator());
  PlacedTensor initial = describeState(op.getState());
  PlacedTensor initialSums = describeState(op.getKeySum());
  SweepOptions options = getOptions(SweepKind::Output, heads);
  if (!isDirect()) {
    carryStates(initial, initialSums, initial, initialSums);
    addSweep("linear_attention_forward", options,
             {{SweepBuffer::Start, starts},
              {SweepBuffer::StartSums, startSums},
              {SweepBuffer::Output, output},
              {SweepBuffer::Denominator, denominator}});
    return;
  }
  PlacedTensor finalSums = initialSums;
  bool isShared = op.getNormalize() && getTiles(options) > 1;
  if (isShared)
    finalSums = allocateState(stateHeads, 1);
  addSweep("linear_attention_forward", options,
           {{SweepBuffer::Start, initial},
            {SweepBuffer::StartSums, initialSums},
            {SweepBuffer::Output, output},
            {SweepBuffer::Denominator, denominator},
            {SweepBuffer::Final, initial},
            {SweepBuffer::FinalSums, finalSums}});
  if (isShared)
    addSumHeads(finalSums, initialSums, 1, features);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

void AttentionPlanner::chooseSegments() {
  SweepOptions options = getOptions(SweepKind::Output, heads);
  segments = wantedSegments;
  if (segments == 0) {
    int64_t blocks = sequences * heads * getTiles(options);
    segments = std::min(llvm::divideCeil(wantedBlocks, blocks),
                        llvm::divideCeil(length, fewestSegmentTokens));
  }
  segments = std::max<int64_t>(segments, 1);
  segmentTokens =
      llvm::alignTo(llvm::divideCeil(length, segments), segmentUnit);
  segments = llvm::divideCeil(length, segmentTokens);
}

void AttentionPlanner::initialize() {
  sequences = op.getBatchSize();
  length = op.getLength();
  heads = op.getNumHeads();
  stateHeads = op.getNumStateHeads();
  features = op.getNumFeatures();
  values = op.getValueSize();
  query = describe(op.getQuery());
  key = describe(op.getKey());
  value = describe(op.getValue());
  decay = describe(op.getDecay());
  chooseSegments();
}

FailureOr<AttentionPlan> AttentionPlanner::plan() {
  if (failed(verify()))
    return failure();
  initialize();
  if (auto attention = dyn_cast<LinearAttentionOp>(op.getOperation()))
    planForward(attention);
  else if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation()))
    planGrad(grad);
  else
    planState(cast<LinearAttentionStateOp>(op.getOperation()));
  return std::move(result);
}

static bool haveSameKernels(Operation *left, Operation *right) {
  return left->getName() == right->getName() &&
         left->getDiscardableAttrDictionary() ==
             right->getDiscardableAttrDictionary() &&
         left->getPropertiesAsAttribute() ==
             right->getPropertiesAsAttribute() &&
         llvm::equal(left->getOperandTypes(), right->getOperandTypes()) &&
         left->getNumOperands() == right->getNumOperands();
}

FailureOr<const AttentionPlan *>
LinearAttentionPlanner::plan(LinearAttentionOpInterface op) {
  for (auto &[known, plan] : plans)
    if (haveSameKernels(known, op))
      return &plan;
  FailureOr<AttentionPlan> plan = AttentionPlanner(op, module, segments).plan();
  if (failed(plan))
    return failure();
  plans.emplace_back(op, std::move(*plan));
  return &plans.back().second;
}
