//===- TilingInterfaceImpl.cpp - Tiles of linear attention ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/TilingInterfaceImpl.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/TilingInterface.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// The iteration domain
//===----------------------------------------------------------------------===//

namespace {
/// What an axis of an operand or result runs over. All but the last are the
/// dimensions of the iteration domain, of which an operation may lack some at
/// the end.
enum class Axis : unsigned { Heads, Sequences, Tokens, ValueSize, Whole };

/// The axes of an operand or result.
struct Layout {
  SmallVector<Axis, 4> axes;
  int64_t heads;
};

/// A part of an operand or result.
struct Slice {
  SmallVector<OpFoldResult> offsets, sizes;
};
} // namespace

static unsigned getNumDimensions(LinearAttentionOpInterface op) {
  if (isa<LinearAttentionGradOp>(op))
    return op.getDecayKind() == DecayKind::Head ? 1 : 2;
  return op.getNormalize() ? 3 : 4;
}

/// The number of groups of heads. A tensor of one head is read by all groups,
/// but its gradient is a sum over them.
static int64_t getNumGroups(LinearAttentionOpInterface op) {
  bool isGrad = isa<LinearAttentionGradOp>(op);
  int64_t groups = op.getNumStateHeads();
  if (isGrad || (op.getQuery() && op.getNumQueryHeads() != 1))
    groups = std::gcd(groups, op.getNumQueryHeads());
  for (int64_t heads : {op.getNumKeyHeads(), op.getNumValueHeads()})
    if (isGrad || heads != 1)
      groups = std::gcd(groups, heads);
  return groups;
}

/// [B, T, heads, `last`]
static Layout getRows(int64_t heads, Axis last) {
  return {{Axis::Sequences, Axis::Tokens, Axis::Heads, last}, heads};
}

static Layout getDecayLayout(LinearAttentionOpInterface op) {
  Layout layout = getRows(op.getNumStateHeads(), Axis::Whole);
  if (op.getDecayKind() == DecayKind::Token)
    layout.axes.pop_back();
  else if (op.getDecayKind() == DecayKind::Head)
    layout.axes = {Axis::Heads};
  return layout;
}

static void appendStates(LinearAttentionOpInterface op,
                         SmallVectorImpl<Layout> &layouts) {
  int64_t heads = op.getNumStateHeads();
  layouts.push_back(
      {{Axis::Sequences, Axis::Heads, Axis::Whole, Axis::ValueSize}, heads});
  if (op.getNormalize())
    layouts.push_back({{Axis::Sequences, Axis::Heads, Axis::Whole}, heads});
}

/// o, and with `normalize` d.
static void appendOutput(LinearAttentionOpInterface op,
                         SmallVectorImpl<Layout> &layouts) {
  layouts.push_back(getRows(op.getNumHeads(), Axis::ValueSize));
  if (!op.getNormalize())
    return;
  layouts.push_back(layouts.back());
  layouts.back().axes.pop_back();
}

/// The layouts of all operands.
static SmallVector<Layout> getLayouts(LinearAttentionOpInterface op) {
  SmallVector<Layout> layouts;
  auto appendRows = [&] {
    if (op.getQuery())
      layouts.push_back(getRows(op.getNumQueryHeads(), Axis::Whole));
    layouts.push_back(getRows(op.getNumKeyHeads(), Axis::Whole));
    layouts.push_back(getRows(op.getNumValueHeads(), Axis::ValueSize));
    if (op.getDecay())
      layouts.push_back(getDecayLayout(op));
  };
  appendRows();
  if (op.getFeatures())
    layouts.push_back({{Axis::Whole, Axis::Whole}, 0});
  if (isa<LinearAttentionGradOp>(op)) {
    if (op.getNormalize())
      appendOutput(op, layouts);
    layouts.push_back(getRows(op.getNumHeads(), Axis::ValueSize));
    appendStates(op, layouts);
    appendRows();
  } else if (isa<LinearAttentionOp>(op)) {
    appendOutput(op, layouts);
  }
  appendStates(op, layouts);
  return layouts;
}

static Layout getResultLayout(LinearAttentionOpInterface op, unsigned number) {
  return getLayouts(op)[op.getOuts().getBeginOperandIndex() + number];
}

static OpFoldResult getSize(OpBuilder &builder, Location loc, Value value,
                            int64_t axis) {
  return isa<TensorType>(value.getType())
             ? tensor::getMixedSize(builder, loc, value, axis)
             : memref::getMixedSize(builder, loc, value, axis);
}

/// The size of a dimension of the domain, from the type of an operand if one
/// tells it.
static OpFoldResult getDomainSize(OpBuilder &builder,
                                  LinearAttentionOpInterface op,
                                  Axis dimension) {
  if (dimension == Axis::Heads)
    return builder.getIndexAttr(getNumGroups(op));
  std::pair<Value, int64_t> dynamic;
  for (auto [layout, operand] :
       llvm::zip_equal(getLayouts(op), op->getOperands()))
    for (auto [i, axis] : llvm::enumerate(layout.axes)) {
      if (axis != dimension)
        continue;
      if (!cast<ShapedType>(operand.getType()).isDynamicDim(i))
        return getSize(builder, op.getLoc(), operand, i);
      if (!dynamic.first)
        dynamic = {operand, i};
    }
  return getSize(builder, op.getLoc(), dynamic.first, dynamic.second);
}

//===----------------------------------------------------------------------===//
// From tiles of the domain to slices of operands and results, and back
//===----------------------------------------------------------------------===//

/// The part of `value` that belongs to a tile of the domain.
static Slice getSlice(OpBuilder &builder, LinearAttentionOpInterface op,
                      const Layout &layout, Value value,
                      ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes) {
  Slice slice;
  int64_t factor = layout.heads / getNumGroups(op);
  AffineExpr headsOfGroups = builder.getAffineDimExpr(0) * factor;
  for (auto [i, axis] : llvm::enumerate(layout.axes)) {
    auto dimension = static_cast<unsigned>(axis);
    bool isShared = axis == Axis::Heads && factor == 0;
    if (dimension >= offsets.size() || isShared) {
      slice.offsets.push_back(builder.getIndexAttr(0));
      slice.sizes.push_back(getSize(builder, op.getLoc(), value, i));
      continue;
    }
    OpFoldResult offset = offsets[dimension], size = sizes[dimension];
    if (axis == Axis::Heads && factor != 1) {
      offset = affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                                     headsOfGroups, {offset});
      size = affine::makeComposedFoldedAffineApply(builder, op.getLoc(),
                                                   headsOfGroups, {size});
    }
    slice.offsets.push_back(offset);
    slice.sizes.push_back(size);
  }
  return slice;
}

static Operation *buildSlice(OpBuilder &builder, Location loc, Value value,
                             const Slice &slice) {
  SmallVector<OpFoldResult> strides(slice.sizes.size(),
                                    builder.getIndexAttr(1));
  if (isa<TensorType>(value.getType()))
    return tensor::ExtractSliceOp::create(builder, loc, value, slice.offsets,
                                          slice.sizes, strides);
  return memref::SubViewOp::create(builder, loc, value, slice.offsets,
                                   slice.sizes, strides);
}

/// The tile of the domain that computes `slice` of a result, in which
/// dimensions that do not occur are null. None if there is no such tile: all
/// tokens must be there, as each needs those before it, and heads of whole
/// groups.
static std::optional<Slice> getResultTile(LinearAttentionOpInterface op,
                                          unsigned number,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  Layout layout = getResultLayout(op, number);
  auto type = cast<ShapedType>(op->getResult(number).getType());
  int64_t factor = layout.heads / getNumGroups(op);
  unsigned numDimensions = getNumDimensions(op);
  Slice tile{SmallVector<OpFoldResult>(numDimensions),
             SmallVector<OpFoldResult>(numDimensions)};
  for (auto [i, axis] : llvm::enumerate(layout.axes)) {
    auto dimension = static_cast<unsigned>(axis);
    if (axis == Axis::Tokens || dimension >= numDimensions) {
      if (!isConstantIntValue(offsets[i], 0) || type.isDynamicDim(i) ||
          !isConstantIntValue(sizes[i], type.getDimSize(i)))
        return std::nullopt;
      continue;
    }
    tile.offsets[dimension] = offsets[i];
    tile.sizes[dimension] = sizes[i];
    if (axis != Axis::Heads)
      continue;
    std::optional<int64_t> size = getConstantIntValue(sizes[i]);
    if (!size || *size % factor != 0)
      return std::nullopt;
    Builder builder(op.getContext());
    tile.sizes[dimension] = builder.getIndexAttr(*size / factor);
    if (factor == 1)
      continue;
    std::optional<int64_t> offset = getConstantIntValue(offsets[i]);
    if (!offset || *offset % factor != 0)
      return std::nullopt;
    tile.offsets[dimension] = builder.getIndexAttr(*offset / factor);
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct LinearAttentionTiling
    : TilingInterface::ExternalModel<LinearAttentionTiling<OpTy>, OpTy> {
  SmallVector<utils::IteratorType> getLoopIteratorTypes(Operation *op) const {
    SmallVector<utils::IteratorType> types(getNumDimensions(cast<OpTy>(op)),
                                           utils::IteratorType::parallel);
    constexpr auto tokens = static_cast<unsigned>(Axis::Tokens);
    if (types.size() > tokens)
      types[tokens] = utils::IteratorType::reduction;
    return types;
  }

  SmallVector<mlir::Range> getIterationDomain(Operation *op,
                                              OpBuilder &builder) const {
    auto attention = cast<OpTy>(op);
    SmallVector<mlir::Range> domain;
    for (unsigned i : llvm::seq(getNumDimensions(attention)))
      domain.push_back({builder.getIndexAttr(0),
                        getDomainSize(builder, attention, static_cast<Axis>(i)),
                        builder.getIndexAttr(1)});
    return domain;
  }

  FailureOr<TilingResult>
  getTiledImplementation(Operation *op, OpBuilder &builder,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) const {
    auto attention = cast<OpTy>(op);
    if (!getConstantIntValue(sizes.front()))
      return op->emitOpError("expects tiles of a number of groups of heads "
                             "that divides ")
             << getNumGroups(attention) << ", got tiles of different sizes";
    TilingResult result;
    SmallVector<Value> operands;
    for (auto [layout, operand] :
         llvm::zip_equal(getLayouts(attention), op->getOperands())) {
      if (llvm::all_of(layout.axes,
                       [](Axis axis) { return axis == Axis::Whole; })) {
        operands.push_back(operand);
        continue;
      }
      Slice slice =
          getSlice(builder, attention, layout, operand, offsets, sizes);
      result.generatedSlices.push_back(
          buildSlice(builder, op->getLoc(), operand, slice));
      operands.push_back(result.generatedSlices.back()->getResult(0));
    }
    ValueRange outs = ValueRange(operands).drop_front(
        attention.getOuts().getBeginOperandIndex());
    TypeRange types = op->getNumResults() ? TypeRange(outs) : TypeRange();
    Operation *tiled = mlir::clone(builder, op, types, operands);
    result.tiledOps.push_back(tiled);
    result.tiledValues = llvm::to_vector_of<Value>(tiled->getResults());
    return result;
  }

  LogicalResult
  getResultTilePosition(Operation *op, OpBuilder &builder, unsigned number,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes,
                        SmallVector<OpFoldResult> &resultOffsets,
                        SmallVector<OpFoldResult> &resultSizes) const {
    auto attention = cast<OpTy>(op);
    Slice slice =
        getSlice(builder, attention, getResultLayout(attention, number),
                 attention.getOuts()[number], offsets, sizes);
    resultOffsets = std::move(slice.offsets);
    resultSizes = std::move(slice.sizes);
    return success();
  }

  LogicalResult getIterationDomainTileFromResultTile(
      Operation *op, OpBuilder &builder, unsigned number,
      ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
      SmallVectorImpl<OpFoldResult> &domainOffsets,
      SmallVectorImpl<OpFoldResult> &domainSizes) const {
    std::optional<Slice> tile =
        getResultTile(cast<OpTy>(op), number, offsets, sizes);
    if (!tile)
      return failure();
    for (auto [range, offset, size] : llvm::zip_equal(
             getIterationDomain(op, builder), tile->offsets, tile->sizes)) {
      domainOffsets.push_back(offset ? offset : range.offset);
      domainSizes.push_back(size ? size : range.size);
    }
    return success();
  }

  FailureOr<TilingResult>
  generateResultTileValue(Operation *op, OpBuilder &builder, unsigned number,
                          ArrayRef<OpFoldResult> offsets,
                          ArrayRef<OpFoldResult> sizes) const {
    SmallVector<OpFoldResult> domainOffsets, domainSizes;
    if (failed(getIterationDomainTileFromResultTile(
            op, builder, number, offsets, sizes, domainOffsets, domainSizes)))
      return failure();
    FailureOr<TilingResult> result =
        getTiledImplementation(op, builder, domainOffsets, domainSizes);
    if (succeeded(result))
      result->tiledValues = {result->tiledValues[number]};
    return result;
  }

  bool isOpFusableWithConsumerSlice(Operation *op, unsigned number,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) const {
    return getResultTile(cast<OpTy>(op), number, offsets, sizes).has_value();
  }
};
} // namespace

void mlir::act::registerTilingInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    // What slices are built of.
    context->loadDialect<affine::AffineDialect, memref::MemRefDialect>();
    LinearAttentionOp::attachInterface<
        LinearAttentionTiling<LinearAttentionOp>>(*context);
    LinearAttentionGradOp::attachInterface<
        LinearAttentionTiling<LinearAttentionGradOp>>(*context);
    LinearAttentionStateOp::attachInterface<
        LinearAttentionTiling<LinearAttentionStateOp>>(*context);
  });
}
