//===- GradPlan.cpp - Kernels of gradients -------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Plan.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

/// The state before the first token: with `#act.reverse`, what all tokens leave
/// of that after the last.
PlacedTensor AttentionPlanner::addInitialState(LinearAttentionGradOp grad,
                                               PlacedTensor &sums) {
  PlacedTensor given = describeState(op.getState());
  PlacedTensor givenSums = describeState(op.getKeySum());
  sums = givenSums;
  if (!isa<ReverseAttr>(grad.getStatePolicy()))
    return given;
  PlacedTensor initial = allocateState(stateHeads, values);
  if (op.getNormalize())
    sums = allocateState(stateHeads, 1);
  SweepOptions options = getOptions(SweepKind::State, stateHeads);
  options.subtract = true;
  options.segments = 1;
  options.segmentTokens = llvm::alignTo(length, segmentUnit);
  addSweep("linear_attention_initial_state", options,
           {{SweepBuffer::Start, given},
            {SweepBuffer::StartSums, givenSums},
            {SweepBuffer::Final, initial},
            {SweepBuffer::FinalSums, sums}});
  return initial;
}

void AttentionPlanner::addDenominatorGrad(LinearAttentionGradOp grad) {
  if (!op.getNormalize())
    return;
  PlacedTensor output = describe(grad.getOutput());
  denominatorGrad = allocateRows(heads, 1);
  DenominatorGradOptions options{sequences,
                                 length,
                                 heads,
                                 values,
                                 gradient.tensor,
                                 output.tensor,
                                 denominator.tensor,
                                 denominatorGrad.tensor};
  launch(buildDenominatorGrad(getPlace("linear_attention_denominator_grad"),
                              options),
         {gradient, output, denominator, denominatorGrad});
}

void AttentionPlanner::addStateProduct(LinearAttentionGradOp grad,
                                       PlacedTensor final,
                                       PlacedTensor finalSums) {
  if (!decay)
    return;
  ends = allocateState(stateHeads, 1);
  auto gradients = grad.getStateGradients();
  PlacedTensor stateGrad = describeState(gradients.front());
  PlacedTensor sumGrad =
      op.getNormalize() ? describeState(gradients.back()) : PlacedTensor();
  StateProductOptions options{
      sequences,        stateHeads,     features,
      values,           final.tensor,   finalSums.tensor,
      stateGrad.tensor, sumGrad.tensor, ends.tensor};
  launch(buildStateProduct(getPlace("linear_attention_state_product"), options),
         {final, stateGrad, ends, finalSums, sumGrad});
}

PlacedTensor AttentionPlanner::getRowGrad(Value destination, int64_t columns) {
  PlacedTensor tensor = describe(destination);
  return tensor.tensor.heads == heads ? tensor : allocateRows(heads, columns);
}

void AttentionPlanner::finishRowGrad(PlacedTensor written, Value destination,
                                     int64_t columns) {
  PlacedTensor tensor = describe(destination);
  if (tensor.tensor.heads != heads)
    addSumHeads(written, tensor, length, columns);
}

PlacedTensor AttentionPlanner::getProducts(SweepKind kind) {
  if (!decay)
    return {};
  if (op.getDecayKind() == DecayKind::Channel)
    return allocateRows(heads, features);
  SweepOptions options = getOptions(kind, heads);
  return allocateRows(heads, getProductParts(options));
}

void AttentionPlanner::carryStateGrads(LinearAttentionGradOp grad) {
  gradStarts = allocateState(heads, values, segments);
  if (op.getNormalize())
    gradStartSums = allocateState(heads, 1, segments);
  SweepOptions options = getOptions(SweepKind::StateGrad, heads);
  options.startsOnce = true;
  options.startHeads = heads / stateHeads;
  auto gradients = grad.getStateGradients();
  SmallVector<PlacedTensor> initial, finals;
  for (auto [number, gradient] : llvm::enumerate(gradients)) {
    int64_t columns = number ? 1 : values;
    initial.push_back(describeState(gradient));
    finals.push_back(heads == stateHeads ? initial.back()
                                         : allocateState(heads, columns));
  }
  initial.resize(2);
  addSweep("linear_attention_segment_state_grad", options,
           {{SweepBuffer::Start, initial[0]},
            {SweepBuffer::StartSums, initial[1]},
            {SweepBuffer::Final, gradStarts},
            {SweepBuffer::FinalSums, gradStartSums}});
  for (auto [number, final] : llvm::enumerate(finals)) {
    int64_t columns = number ? 1 : values;
    addCarry(/*reverse=*/true, initial[number],
             number ? gradStartSums : gradStarts, final, columns);
    if (heads == stateHeads)
      continue;
    // Rows of states take the place of tokens.
    PlacedTensor from = final, to = initial[number];
    from.tensor.tokenStride = from.tensor.rowStride;
    to.tensor.tokenStride = to.tensor.rowStride;
    addSumHeads(from, to, features, columns);
  }
}

void AttentionPlanner::planGrad(LinearAttentionGradOp grad) {
  gradient = describe(grad.getGradient());
  denominator = describe(grad.getDenominator());
  PlacedTensor initialSums, final, finalSums;
  PlacedTensor initial = addInitialState(grad, initialSums);
  addDenominatorGrad(grad);
  if (decay) {
    final = allocateState(stateHeads, values);
    if (op.getNormalize())
      finalSums = allocateState(stateHeads, 1);
  }
  PlacedTensor ofQueries = getProducts(SweepKind::QueryGrad);
  PlacedTensor ofKeys = getProducts(SweepKind::KeyGrad);
  PlacedTensor queryGrad = getRowGrad(grad.getQueryGradient(), features);
  PlacedTensor keyGrad = getRowGrad(grad.getKeyGradient(), features);
  PlacedTensor valueGrad = getRowGrad(grad.getValueGradient(), values);
  if (!isDirect())
    carryStates(initial, initialSums, final, finalSums);
  bool isDirect = this->isDirect();
  addSweep("linear_attention_query_grad",
           getOptions(SweepKind::QueryGrad, heads),
           {{SweepBuffer::Start, isDirect ? initial : starts},
            {SweepBuffer::StartSums, isDirect ? initialSums : startSums},
            {SweepBuffer::Output, queryGrad},
            {SweepBuffer::Products, ofQueries},
            {SweepBuffer::Final, isDirect ? final : PlacedTensor()},
            {SweepBuffer::FinalSums, isDirect ? finalSums : PlacedTensor()}});
  // From here on gradients of states are overwritten.
  addStateProduct(grad, final, finalSums);
  auto gradients = grad.getStateGradients();
  PlacedTensor stateGrad = describeState(gradients.front()), sumGrad;
  if (op.getNormalize())
    sumGrad = describeState(gradients.back());
  if (!isDirect)
    carryStateGrads(grad);
  addSweep("linear_attention_value_grad",
           getOptions(SweepKind::ValueGrad, heads),
           {{SweepBuffer::Start, isDirect ? stateGrad : gradStarts},
            {SweepBuffer::Output, valueGrad}});
  addSweep("linear_attention_key_grad", getOptions(SweepKind::KeyGrad, heads),
           {{SweepBuffer::Start, isDirect ? stateGrad : gradStarts},
            {SweepBuffer::StartSums, isDirect ? sumGrad : gradStartSums},
            {SweepBuffer::Output, keyGrad},
            {SweepBuffer::Products, ofKeys},
            {SweepBuffer::Final, isDirect ? stateGrad : PlacedTensor()},
            {SweepBuffer::FinalSums, isDirect ? sumGrad : PlacedTensor()}});
  finishRowGrad(queryGrad, grad.getQueryGradient(), features);
  finishRowGrad(keyGrad, grad.getKeyGradient(), features);
  finishRowGrad(valueGrad, grad.getValueGradient(), values);
  if (!decay)
    return;
  PlacedTensor decayGrad = describe(grad.getDecayGradient());
  DecayGradOptions options{op.getDecayKind(),
                           sequences,
                           length,
                           stateHeads,
                           features,
                           heads / stateHeads,
                           ofQueries.tensor.headStride,
                           ofQueries.tensor,
                           ofKeys.tensor,
                           ends.tensor,
                           decayGrad.tensor};
  launch(buildDecayGrad(getPlace("linear_attention_decay_grad"), options),
         {ofQueries, ofKeys, ends, decayGrad});
}
