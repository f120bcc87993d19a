//===- LinearAttentionOps.cpp - Causal linear attention -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Dialect/Act/IR/LinearAttentionInterface.cpp.inc"

DecayKind mlir::act::detail::getDecayKind(Value decay) {
  if (!decay)
    return DecayKind::None;
  switch (cast<ShapedType>(decay.getType()).getRank()) {
  case 1:
    return DecayKind::Head;
  case 3:
    return DecayKind::Token;
  default:
    return DecayKind::Channel;
  }
}

Type mlir::act::detail::getStateElementType(Type rows) {
  return rows.isF64() ? rows : Float32Type::get(rows.getContext());
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

LogicalResult
mlir::act::detail::reifyDestinations(OpBuilder &builder,
                                     DestinationStyleOpInterface op,
                                     ReifiedRankedShapedTypeDims &shapes) {
  for (OpResult result : op->getResults())
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(),
                                           op.getTiedOpOperand(result)->get()));
  return success();
}

void mlir::act::detail::getLinearAttentionEffects(
    LinearAttentionOpInterface op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  unsigned firstOut = op.getOuts().getBeginOperandIndex();
  unsigned firstState = op->getNumOperands() - op.getStates().size();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<BaseMemRefType>(operand.get().getType()))
      continue;
    unsigned number = operand.getOperandNumber();
    if (number < firstOut || number >= firstState)
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (number >= firstOut)
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

//===----------------------------------------------------------------------===//
// Constraints shared by the operations
//===----------------------------------------------------------------------===//

static int64_t getRank(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

static LogicalResult verifyRank(Operation *op, StringRef name, Value value,
                                int64_t rank) {
  if (!value || getRank(value) == rank)
    return success();
  return op->emitOpError("expects ")
         << name << " of rank " << rank << ", got " << value.getType();
}

static LogicalResult verifyElementType(Operation *op, StringRef name,
                                       Value value, Type type) {
  if (!value || getElementTypeOrSelf(value) == type)
    return success();
  return op->emitOpError("expects ") << name << " with elements of type "
                                     << type << ", got " << value.getType();
}

/// `value` has the sizes `shape`, as far as both are static.
static LogicalResult verifyShape(Operation *op, StringRef name, Value value,
                                 ArrayRef<int64_t> shape) {
  auto type = cast<ShapedType>(value.getType());
  if (succeeded(verifyCompatibleShape(type.getShape(), shape)))
    return success();
  std::string expected;
  llvm::raw_string_ostream os(expected);
  llvm::interleave(
      shape, os,
      [&](int64_t size) {
        if (ShapedType::isDynamic(size))
          os << '?';
        else
          os << size;
      },
      "x");
  return op->emitOpError("expects ")
         << name << " of shape " << expected << ", got " << type;
}

/// L1
static LogicalResult verifyRanks(LinearAttentionOpInterface op) {
  if (failed(verifyRank(op, "query", op.getQuery(), 4)) ||
      failed(verifyRank(op, "key", op.getKey(), 4)) ||
      failed(verifyRank(op, "value", op.getValue(), 4)) ||
      failed(verifyRank(op, "features", op.getFeatures(), 2)))
    return failure();
  if (Value decay = op.getDecay())
    if (int64_t rank = getRank(decay); rank != 1 && rank != 3 && rank != 4)
      return op.emitOpError("expects decay of rank 1, 3 or 4, got ")
             << decay.getType();
  return success();
}

/// L2
static LogicalResult verifyHeads(LinearAttentionOpInterface op) {
  std::pair<StringRef, int64_t> counts[] = {{"query", op.getNumQueryHeads()},
                                            {"key", op.getNumKeyHeads()},
                                            {"value", op.getNumValueHeads()}};
  for (auto [name, count] : counts)
    if (ShapedType::isDynamic(count) || count == 0)
      return op.emitOpError("expects a static, positive number of heads of ")
             << name;
  int64_t states = op.getNumStateHeads(), all = op.getNumHeads();
  for (auto [name, count] : counts) {
    bool isQuery = name == "query";
    if ((isQuery ? all : states) % count != 0)
      return op.emitOpError("expects a number of heads of ")
             << name << " that divides " << (isQuery ? all : states) << ", got "
             << count;
  }
  if (all % states != 0)
    return op.emitOpError("expects a number of heads of key and value that "
                          "divides ")
           << all << ", got " << states;
  return success();
}

/// L3
static LogicalResult verifyElementTypes(LinearAttentionOpInterface op) {
  Type rows = op.getRowElementType();
  return success(
      succeeded(verifyElementType(op, "query", op.getQuery(), rows)) &&
      succeeded(verifyElementType(op, "value", op.getValue(), rows)) &&
      succeeded(verifyElementType(op, "features", op.getFeatures(), rows)) &&
      succeeded(verifyElementType(op, "decay", op.getDecay(),
                                  op.getStateElementType())));
}

/// The first of `sizes` that is static, if there is one.
static int64_t getStatic(ArrayRef<int64_t> sizes) {
  const int64_t *found = llvm::find_if_not(sizes, ShapedType::isDynamic);
  return found == sizes.end() ? ShapedType::kDynamic : *found;
}

namespace {
/// The sizes that the operands of an operation have in common.
struct Sizes {
  explicit Sizes(LinearAttentionOpInterface op);

  int64_t batch, length, row, features, value;
  int64_t heads, stateHeads;
};
} // namespace

Sizes::Sizes(LinearAttentionOpInterface op) {
  SmallVector<int64_t> batches, lengths, rows;
  for (Value value : {op.getKey(), op.getValue(), op.getQuery()}) {
    if (!value)
      continue;
    ArrayRef<int64_t> shape = cast<ShapedType>(value.getType()).getShape();
    batches.push_back(shape[0]);
    lengths.push_back(shape[1]);
    if (value != op.getValue())
      rows.push_back(shape[3]);
  }
  batch = getStatic(batches);
  length = getStatic(lengths);
  row = getStatic(rows);
  features = op.getFeatures() ? op.getNumFeatures() : row;
  value = op.getValueSize();
  heads = op.getNumHeads();
  stateHeads = op.getNumStateHeads();
}

/// L5, but for states.
static LogicalResult verifyShapes(LinearAttentionOpInterface op,
                                  const Sizes &sizes) {
  auto [batch, length, row, features, value, heads, stateHeads] = sizes;
  if (Value query = op.getQuery())
    if (failed(verifyShape(op, "query", query,
                           {batch, length, op.getNumQueryHeads(), row})))
      return failure();
  if (failed(verifyShape(op, "key", op.getKey(),
                         {batch, length, op.getNumKeyHeads(), row})) ||
      failed(verifyShape(op, "value", op.getValue(),
                         {batch, length, op.getNumValueHeads(), value})))
    return failure();
  if (op.getFeatures() &&
      failed(verifyShape(op, "features", op.getFeatures(), {features, row})))
    return failure();
  SmallVector<int64_t> decay{batch, length, stateHeads, features};
  switch (op.getDecayKind()) {
  case DecayKind::None:
    return success();
  case DecayKind::Head:
    return verifyShape(op, "decay", op.getDecay(), stateHeads);
  case DecayKind::Token:
    return verifyShape(op, "decay", op.getDecay(), ArrayRef(decay).drop_back());
  case DecayKind::Channel:
    return verifyShape(op, "decay", op.getDecay(), decay);
  }
  llvm_unreachable("unknown kind of decay");
}

/// States, or gradients of them: L3, L5 and L7.
static LogicalResult verifyStates(LinearAttentionOpInterface op,
                                  const Sizes &sizes, StringRef what,
                                  ValueRange states) {
  size_t count = op.getNormalize() ? 2 : 1;
  if (states.size() != count) // L7
    return op.emitOpError("expects ")
           << count << " " << what << ", got " << states.size();
  Type type = op.getStateElementType();
  SmallVector<int64_t> shape{sizes.batch, sizes.stateHeads, sizes.features,
                             sizes.value};
  for (auto [i, state] : llvm::enumerate(states)) {
    std::string name = (what + " " + Twine(i)).str();
    if (failed(verifyShape(op, name, state, ArrayRef(shape).drop_back(i))) ||
        failed(verifyElementType(op, name, state, type)))
      return failure();
  }
  return success();
}

/// What can be said of all three operations, and of the states of `op`.
static LogicalResult verifyShared(LinearAttentionOpInterface op) {
  if (failed(verifyRanks(op)) || failed(verifyHeads(op)) ||
      failed(verifyElementTypes(op)))
    return failure();
  bool wantsFeatures = op.getFeatureMap().hasParameters();
  if (wantsFeatures != static_cast<bool>(op.getFeatures())) // L4
    return op.emitOpError("expects ")
           << (wantsFeatures ? "features" : "no features") << " with "
           << op.getFeatureMap();
  Sizes sizes(op);
  if (failed(verifyShapes(op, sizes)))
    return failure();
  auto chunk = static_cast<int64_t>(op.getChunk());
  if (chunk < 0) // L6
    return op.emitOpError("expects a chunk that is not negative, got ")
           << chunk;
  return verifyStates(op, sizes, "states", op.getStates());
}

static LogicalResult verifyOutCount(LinearAttentionOpInterface op,
                                    size_t count) {
  if (op.getOuts().size() == count)
    return success();
  return op.emitOpError("expects ")
         << count << " outs, got " << op.getOuts().size();
}

/// Attributes of the operations that have queries.
template <typename OpTy>
static LogicalResult verifyScaleAndEpsilon(OpTy op) {
  if (!op.getScale().isFinite())
    return op.emitOpError("expects a finite scale, got ")
           << op.getScale().convertToDouble();
  double epsilon = op.getEpsilon().convertToDouble();
  if (!op.getEpsilon().isFinite() || epsilon < 0)
    return op.emitOpError("expects an epsilon that is finite and not negative, "
                          "got ")
           << epsilon;
  if (epsilon != 0 && !op.getNormalize())
    return op.emitOpError("expects epsilon 0 without normalize, got ")
           << epsilon;
  return success();
}

/// Tokens that are taken together, as far as that decides on operations.
static double getUsualChunk(LinearAttentionOpInterface op) {
  return op.getChunk() ? static_cast<double>(op.getChunk()) : 64.0;
}

/// Operations of `rowProducts` products of a token with the chunk's others and
/// `stateProducts` products with the state, for each token and head. A product
/// with M x D numbers costs 2 M D, one with C tokens C (M + D) on average over
/// the products of features and those of values.
static double countFlops(LinearAttentionOpInterface op, int64_t heads,
                         double rowProducts, double stateProducts) {
  auto size = [](int64_t value) {
    return ShapedType::isDynamic(value) ? 1.0 : static_cast<double>(value);
  };
  double features = size(op.getNumFeatures()), value = size(op.getValueSize());
  double perToken = rowProducts * getUsualChunk(op) * (features + value) +
                    stateProducts * 2 * features * value;
  if (op.getFeatures())
    perToken += (op.getQuery() ? 2 : 1) * 2 * features * size(op.getRowSize());
  return size(op.getBatchSize()) * size(op.getLength()) * heads * perToken;
}

//===----------------------------------------------------------------------===//
// LinearAttentionOp
//===----------------------------------------------------------------------===//

double LinearAttentionOp::getFlops() {
  return countFlops(*this, getNumHeads(), 2, 2);
}

Operation::operand_range LinearAttentionOp::getStates() {
  return getOuts().drop_front(
      std::min<size_t>(getStateNumber(), getOuts().size()));
}

LogicalResult LinearAttentionOp::verify() {
  if (failed(verifyOutCount(*this, getNormalize() ? 4 : 2)) || // C1
      failed(verifyShared(*this)))
    return failure();
  Sizes sizes(*this);
  Value output = getOuts().front();
  int64_t shape[] = {sizes.batch, sizes.length, sizes.heads, sizes.value};
  if (failed(verifyShape(*this, "output", output, shape)) ||
      failed(verifyElementType(*this, "output", output, getRowElementType())))
    return failure();
  if (getNormalize())
    if (failed(verifyShape(*this, "denominator", getOuts()[1],
                           ArrayRef(shape).drop_back())) ||
        failed(verifyElementType(*this, "denominator", getOuts()[1],
                                 getStateElementType())))
      return failure();
  return verifyScaleAndEpsilon(*this); // C2, C3
}

//===----------------------------------------------------------------------===//
// LinearAttentionGradOp
//===----------------------------------------------------------------------===//

double LinearAttentionGradOp::getFlops() {
  return countFlops(*this, getNumHeads(), 6, 5);
}

SmallVector<Value> LinearAttentionGradOp::getSingularOperands() {
  return getNormalize() ? SmallVector<Value>{getDenominator()}
                        : SmallVector<Value>{};
}

static LogicalResult verifyGradients(LinearAttentionGradOp op) {
  std::tuple<StringRef, Value, Value> pairs[] = {
      {"gradient of query", op.getQuery(), op.getOuts()[0]},
      {"gradient of key", op.getKey(), op.getOuts()[1]},
      {"gradient of value", op.getValue(), op.getOuts()[2]},
      {"gradient of decay", op.getDecay(),
       op.getDecay() ? op.getOuts()[3] : Value()}};
  for (auto [name, value, gradient] : pairs) {
    if (!value)
      continue;
    auto type = cast<ShapedType>(value.getType());
    if (failed(verifyShape(op, name, gradient, type.getShape())) ||
        failed(verifyElementType(op, name, gradient, type.getElementType())))
      return failure();
  }
  return success();
}

/// `output`, `denominator` and `gradient`.
static LogicalResult verifySaved(LinearAttentionGradOp op, const Sizes &sizes) {
  int64_t shape[] = {sizes.batch, sizes.length, sizes.heads, sizes.value};
  std::pair<StringRef, Value> rows[] = {{"gradient", op.getGradient()},
                                        {"output", op.getOutput()}};
  for (auto [name, value] : rows)
    if (value &&
        (failed(verifyShape(op, name, value, shape)) ||
         failed(verifyElementType(op, name, value, op.getRowElementType()))))
      return failure();
  Value denominator = op.getDenominator();
  if (!denominator)
    return success();
  if (failed(verifyShape(op, "denominator", denominator,
                         ArrayRef(shape).drop_back())))
    return failure();
  return verifyElementType(op, "denominator", denominator,
                           op.getStateElementType());
}

LogicalResult LinearAttentionGradOp::verify() {
  size_t count = getStateNumber() + (getNormalize() ? 2 : 1);
  if (failed(verifyOutCount(*this, count)) || // C1
      failed(verifyShared(*this)) || failed(verifyGradients(*this)))
    return failure();
  Sizes sizes(*this);
  if (failed(verifyStates(*this, sizes, "gradients of states",
                          getStateGradients())))
    return failure();
  std::pair<StringRef, Value> saved[] = {{"output", getOutput()},
                                         {"denominator", getDenominator()}};
  for (auto [name, value] : saved)
    if (static_cast<bool>(value) != getNormalize()) // C2
      return emitOpError("expects ")
             << (getNormalize() ? "" : "no ") << name
             << (getNormalize() ? " with" : " without") << " normalize";
  if (failed(verifySaved(*this, sizes)) ||
      failed(verifyScaleAndEpsilon(*this))) // C3
    return failure();
  if (getDecay() && isa<ReverseAttr>(getStatePolicy())) // C4
    return emitOpError("expects no decay with ") << getStatePolicy();
  return success();
}

//===----------------------------------------------------------------------===//
// LinearAttentionStateOp
//===----------------------------------------------------------------------===//

double LinearAttentionStateOp::getFlops() {
  return countFlops(*this, getNumStateHeads(), 0, 1);
}

Operation::operand_range LinearAttentionStateOp::getStates() {
  return getOuts();
}

LogicalResult LinearAttentionStateOp::verify() {
  if (failed(verifyOutCount(*this, getNormalize() ? 2 : 1)) || // C1
      failed(verifyShared(*this)))
    return failure();
  if (getDecay() && getSubtract()) // C2
    return emitOpError("expects no decay with subtract");
  return success();
}
