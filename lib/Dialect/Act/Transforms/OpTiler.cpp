//===- OpTiler.cpp - Computing operations tile by tile --------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTiler.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Which operations are tileable
//===----------------------------------------------------------------------===//

namespace {
enum class TileForm {
  None,
  Elementwise,
  Splat,
  Iota,
  Broadcast,
  Reshape,
  Bitcast, ///< to another width
  Slice,
  Concatenate
};
} // namespace

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

static ArrayRef<int64_t> getIntegers(Operation *op, StringRef name) {
  auto values = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return values ? values.asArrayRef() : ArrayRef<int64_t>();
}

static int64_t getInteger(Operation *op, StringRef name) {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : -1;
}

static bool hasDimension(RankedTensorType type, int64_t dim) {
  return dim >= 0 && dim < type.getRank();
}

/// Operands have the shape of the result or are scalars.
static bool isPlainElementwise(Operation *op) {
  ArrayRef<int64_t> shape = getType(op->getResult(0)).getShape();
  return getOpKind(op) == OpKind::Elementwise && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           RankedTensorType type = getType(operand);
           return type.getRank() == 0 || type.getShape() == shape;
         });
}

static bool isPlainBroadcast(Operation *op) {
  RankedTensorType type = getType(op->getResult(0));
  RankedTensorType operandType = getType(op->getOperand(0));
  ArrayRef<int64_t> dims = getIntegers(op, "broadcast_dimensions");
  if (static_cast<int64_t>(dims.size()) != operandType.getRank())
    return false;
  for (auto [size, dim] : llvm::zip_equal(operandType.getShape(), dims))
    if (!hasDimension(type, dim) || (size != 1 && size != type.getDimSize(dim)))
      return false;
  return true;
}

static bool isPlainSlice(Operation *op) {
  RankedTensorType type = getType(op->getOperand(0));
  ArrayRef<int64_t> starts = getIntegers(op, "start_indices");
  ArrayRef<int64_t> limits = getIntegers(op, "limit_indices");
  ArrayRef<int64_t> strides = getIntegers(op, "strides");
  size_t rank = type.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return false;
  SmallVector<int64_t> shape;
  for (size_t i = 0; i < rank; ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] ||
        limits[i] > type.getDimSize(i) || strides[i] < 1)
      return false;
    shape.push_back(llvm::divideCeil(limits[i] - starts[i], strides[i]));
  }
  return getType(op->getResult(0)).getShape() == ArrayRef(shape);
}

static bool isPlainConcatenate(Operation *op) {
  RankedTensorType type = getType(op->getResult(0));
  int64_t dim = getInteger(op, "dimension");
  if (!hasDimension(type, dim))
    return false;
  int64_t size = 0;
  for (Value operand : op->getOperands()) {
    if (getType(operand).getRank() != type.getRank())
      return false;
    size += getType(operand).getDimSize(dim);
    SmallVector<int64_t> shape(getType(operand).getShape());
    shape[dim] = type.getDimSize(dim);
    if (type.getShape() != ArrayRef(shape))
      return false;
  }
  return size == type.getDimSize(dim);
}

/// One of the types has another dimension at the end.
static bool isPlainBitcast(Operation *op) {
  ArrayRef<int64_t> shape = getType(op->getResult(0)).getShape();
  ArrayRef<int64_t> operandShape = getType(op->getOperand(0)).getShape();
  return shape.size() < operandShape.size()
             ? shape == operandShape.drop_back()
             : shape.size() > operandShape.size() &&
                   shape.drop_back() == operandShape;
}

static TileForm getForm(Operation *op) {
  if (op->getName().getDialectNamespace() != "stablehlo" ||
      op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !isStaticTensor(op->getResult(0)) ||
      !llvm::all_of(op->getOperands(), isStaticTensor))
    return TileForm::None;
  StringRef name = op->getName().stripDialect();
  RankedTensorType type = getType(op->getResult(0));
  auto formIf = [](bool isPlain, TileForm form) {
    return isPlain ? form : TileForm::None;
  };
  if (op->getNumOperands() == 0) {
    if (name == "iota")
      return formIf(hasDimension(type, getInteger(op, "iota_dimension")),
                    TileForm::Iota);
    return formIf(isa_and_nonnull<SplatElementsAttr>(getConstantElements(op)),
                  TileForm::Splat);
  }
  if (name == "concatenate")
    return formIf(isPlainConcatenate(op), TileForm::Concatenate);
  if (op->getNumOperands() == 1) {
    RankedTensorType operandType = getType(op->getOperand(0));
    if (name == "broadcast_in_dim")
      return formIf(isPlainBroadcast(op), TileForm::Broadcast);
    if (name == "reshape")
      return formIf(type.getNumElements() == operandType.getNumElements() &&
                        type.getNumElements() != 0,
                    TileForm::Reshape);
    if (name == "slice")
      return formIf(isPlainSlice(op), TileForm::Slice);
    if (name == "bitcast_convert" && type.getRank() != operandType.getRank())
      return formIf(isPlainBitcast(op), TileForm::Bitcast);
  }
  return formIf(isPlainElementwise(op), TileForm::Elementwise);
}

bool mlir::act::isTileable(Operation *op) {
  return getForm(op) != TileForm::None;
}

static bool isInteger(Value value) {
  return isStaticTensor(value) &&
         isa<IntegerType>(getType(value).getElementType());
}

bool mlir::act::isTileableLoop(Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.while" ||
      op->getNumRegions() != 2 || op->getNumOperands() == 0 ||
      op->getOperandTypes() != op->getResultTypes() ||
      !llvm::all_of(op->getOperands(), isInteger))
    return false;
  for (Region &region : op->getRegions()) {
    if (!region.hasOneBlock() ||
        region.getArgumentTypes() != op->getResultTypes() ||
        region.front().empty() ||
        region.front().back().getName().getStringRef() != "stablehlo.return")
      return false;
    for (Operation &inner : region.front().without_terminator())
      if (!isTileable(&inner) && getOpKind(&inner) != OpKind::Constant)
        return false;
  }
  return op->getRegion(0).front().back().getNumOperands() == 1 &&
         op->getRegion(1).front().back().getOperandTypes() ==
             op->getResultTypes();
}

//===----------------------------------------------------------------------===//
// Tiles of operands
//===----------------------------------------------------------------------===//

/// Elements from dimension `dim` on.
static int64_t getInnerSize(RankedTensorType type, int64_t dim) {
  return llvm::product_of(type.getShape().drop_front(dim));
}

/// The same elements before a reshape: whole slices of a dimension of
/// `operandType` that has as many outer elements.
static FailureOr<Tile> getReshapedTile(Tile tile, RankedTensorType type,
                                       RankedTensorType operandType) {
  int64_t size = getInnerSize(type, tile.dim);
  int64_t dim = 0;
  while (dim < operandType.getRank() &&
         (getInnerSize(operandType, dim) > size ||
          operandType.getDimSize(dim) == 1))
    ++dim;
  if (dim == operandType.getRank() || getInnerSize(operandType, dim) != size)
    return failure();
  int64_t from = getInnerSize(type, tile.dim + 1);
  int64_t to = getInnerSize(operandType, dim + 1);
  auto rescale = [&](int64_t &count) {
    bool isExact = count * from % to == 0;
    count = count * from / to;
    return isExact;
  };
  if (!rescale(tile.step) || !rescale(tile.length) || !rescale(tile.offset) ||
      !rescale(tile.extent))
    return failure();
  tile.dim = dim;
  return tile;
}

static FailureOr<Tile> getBroadcastTile(Operation *op, const Tile &tile) {
  RankedTensorType type = getType(op->getOperand(0));
  ArrayRef<int64_t> dims = getIntegers(op, "broadcast_dimensions");
  const int64_t *found = llvm::find(dims, tile.dim);
  if (found == dims.end() || type.getDimSize(found - dims.begin()) == 1)
    return Tile();
  Tile operandTile = tile;
  operandTile.dim = found - dims.begin();
  return operandTile;
}

static FailureOr<Tile> getSliceTile(Operation *op, Tile tile) {
  if (getIntegers(op, "strides")[tile.dim] != 1)
    return failure();
  tile.offset += getIntegers(op, "start_indices")[tile.dim];
  return tile;
}

/// Along the dimension of the tile all iterations must read the same operand.
static FailureOr<SmallVector<std::optional<Tile>>>
getConcatenateTiles(Operation *op, const Tile &tile) {
  SmallVector<std::optional<Tile>> tiles(op->getNumOperands());
  if (tile.dim != getInteger(op, "dimension")) {
    llvm::fill(tiles, tile);
    return tiles;
  }
  int64_t start = 0;
  for (auto [operand, operandTile] :
       llvm::zip_equal(op->getOperands(), tiles)) {
    int64_t size = getType(operand).getDimSize(tile.dim);
    if (tile.offset >= start && tile.offset + tile.extent <= start + size) {
      operandTile = tile;
      operandTile->offset -= start;
      return tiles;
    }
    start += size;
  }
  return failure();
}

FailureOr<SmallVector<std::optional<Tile>>>
mlir::act::getOperandTiles(Operation *op, const Tile &tile) {
  SmallVector<std::optional<Tile>> tiles(op->getNumOperands(), Tile());
  if (tile.isWhole())
    return tiles;
  FailureOr<Tile> operandTile = tile;
  switch (getForm(op)) {
  case TileForm::None:
    return failure();
  case TileForm::Splat:
  case TileForm::Iota:
    return tiles;
  case TileForm::Elementwise:
    for (auto [operand, entry] : llvm::zip_equal(op->getOperands(), tiles))
      if (getType(operand).getRank() != 0)
        entry = tile;
    return tiles;
  case TileForm::Concatenate:
    return getConcatenateTiles(op, tile);
  case TileForm::Broadcast:
    operandTile = getBroadcastTile(op, tile);
    break;
  case TileForm::Slice:
    operandTile = getSliceTile(op, tile);
    break;
  case TileForm::Reshape:
    operandTile = getReshapedTile(tile, getType(op->getResult(0)),
                                  getType(op->getOperand(0)));
    break;
  case TileForm::Bitcast:
    if (!hasDimension(getType(op->getOperand(0)), tile.dim))
      return failure();
    break;
  }
  if (failed(operandTile))
    return failure();
  tiles.front() = *operandTile;
  return tiles;
}

//===----------------------------------------------------------------------===//
// BlockTiler: planning
//===----------------------------------------------------------------------===//

bool BlockTiler::isSmall(Value value) const {
  return getNumElements(value.getType())
             .value_or(std::numeric_limits<int64_t>::max()) <= maxLeafElements;
}

bool BlockTiler::isLeaf(Value value, const Tile &tile, bool isAnySize) const {
  if (value.getParentBlock() != &block)
    return true;
  Operation *def = value.getDefiningOp();
  if (isLoopBody || !def)
    return !isLoopBody;
  if (replaced.contains(def))
    return false;
  return tile.isWhole() || isSmall(value) || (isAnySize && !isTileable(def));
}

void BlockTiler::request(Value value, const Tile &tile, bool isAnySize) {
  if (isLeaf(value, tile, isAnySize)) {
    Operation *def = value.getDefiningOp();
    if ((def && replaced.contains(def)) ||
        !(tile.isWhole() || isAnySize || isSmall(value)))
      hasFailed = true;
    leaves.insert(value);
    return;
  }
  SmallVector<Tile, 1> &tiles = requests[value];
  if (!llvm::is_contained(tiles, tile))
    tiles.push_back(tile);
  if (Operation *def = value.getDefiningOp())
    if (reached.insert(def).second)
      queue.push(def);
}

LogicalResult BlockTiler::plan() {
  // Last operations first: what reads a value asked for its tiles before.
  while (!queue.empty() && !hasFailed) {
    Operation *op = queue.top();
    queue.pop();
    order.push_back(op);
    if (failed(planOp(op)))
      return failure();
  }
  return success(!hasFailed);
}

LogicalResult BlockTiler::planOp(Operation *op) {
  if (op->getNumRegions() != 0)
    return planLoop(op);
  bool isAnySize = op->getName().stripDialect() == "compare";
  // `requests` may grow meanwhile.
  SmallVector<Tile, 1> tiles = requests.lookup(op->getResult(0));
  for (const Tile &tile : tiles) {
    auto operandTiles = getOperandTiles(op, tile);
    if (failed(operandTiles))
      return failure();
    for (auto [operand, operandTile] :
         llvm::zip_equal(op->getOperands(), *operandTiles))
      if (operandTile)
        request(operand, *operandTile, isAnySize);
  }
  return success();
}

FailureOr<bool> BlockTiler::refineCarries(Block &body, Loop &loop) {
  bool hasChanged = false;
  for (auto [argument, carry] :
       llvm::zip_equal(body.getArguments(), loop.carries))
    for (const Tile &tile : loop.body->requests.lookup(argument))
      if (carry.isWhole() && !tile.isWhole()) {
        carry = tile;
        hasChanged = true;
      }
  if (hasChanged)
    return true;
  for (auto [argument, carry] :
       llvm::zip_equal(body.getArguments(), loop.carries))
    for (const Tile &tile : loop.body->requests.lookup(argument))
      if (carry != tile)
        return failure();
  return false;
}

LogicalResult BlockTiler::planLoop(Operation *op) {
  if (isLoopBody || !isTileableLoop(op))
    return failure();
  Loop &loop = loops[op];
  for (Value result : op->getResults()) {
    SmallVector<Tile, 1> tiles = requests.lookup(result);
    if (tiles.size() > 1)
      return failure();
    loop.carries.push_back(tiles.empty() ? Tile() : tiles.front());
  }
  Block &body = op->getRegion(1).front();
  FailureOr<bool> hasChanged = true;
  while (*hasChanged) { // at most once per carry
    loop.body = std::make_unique<BlockTiler>(body, maxLeafElements, replaced,
                                             /*isLoopBody=*/true);
    for (auto [returned, carry] :
         llvm::zip_equal(body.getTerminator()->getOperands(), loop.carries))
      loop.body->request(returned, carry);
    if (failed(loop.body->plan()))
      return failure();
    hasChanged = refineCarries(body, loop);
    if (failed(hasChanged))
      return failure();
  }

  for (auto [operand, carry, tested] :
       llvm::zip_equal(op->getOperands(), loop.carries,
                       op->getRegion(0).front().getArguments())) {
    if (!carry.isWhole() && !tested.use_empty())
      return failure();
    request(operand, carry);
  }
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegion(0), captured);
  for (Value value : captured)
    request(value, Tile());
  for (Value leaf : loop.body->leaves) {
    Operation *def = leaf.getDefiningOp();
    if (def && replaced.contains(def))
      return failure();
    leaves.insert(leaf);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// BlockTiler: building
//===----------------------------------------------------------------------===//

static RankedTensorType getTileType(Value value, const Tile &tile) {
  RankedTensorType type = getType(value);
  if (tile.isWhole())
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape[tile.dim] = tile.length;
  return type.clone(shape);
}

Value BlockTiler::get(Value value, const Tile &tile) const {
  auto found = built.find(value);
  if (found != built.end())
    for (const auto &[otherTile, result] : found->second)
      if (otherTile == tile)
        return result;
  return {};
}

Value BlockTiler::getStart(StablehloBuilder &b, const Tile &tile) {
  Type type = getType(unit).getElementType();
  Value start = unit;
  if (tile.step != 1)
    start = b.multiply(start, b.scalar(type, tile.step));
  if (tile.offset != 0)
    start = b.add(start, b.scalar(type, tile.offset));
  return start;
}

Value BlockTiler::getOrSlice(OpBuilder &builder, Value value,
                             const Tile &tile) {
  if (Value result = get(value, tile))
    return result;
  if (tile.isWhole())
    return value;
  StablehloBuilder b(builder, value.getLoc());
  RankedTensorType type = getTileType(value, tile);
  Value zero = b.scalar(builder.getI32Type(), 0);
  SmallVector<Value> starts(type.getRank(), zero);
  starts[tile.dim] = getStart(b, tile);
  Value result = b.dynamicSlice(value, starts, type.getShape());
  built[value].emplace_back(tile, result);
  return result;
}

/// A part of an iota, from `start` on.
static Value buildIota(StablehloBuilder &b, RankedTensorType type, int64_t dim,
                       Value start) {
  Value offset = b.convert(start, type.getElementType());
  return b.add(b.iota(type, dim),
               b.broadcastInDim(offset, type.getShape(), {}));
}

static Value buildSlice(StablehloBuilder &b, Operation *op, const Tile &tile,
                        Value operand) {
  SmallVector<int64_t> starts(getIntegers(op, "start_indices"));
  SmallVector<int64_t> limits(getIntegers(op, "limit_indices"));
  starts[tile.dim] = 0;
  limits[tile.dim] = tile.length;
  return b.slice(operand, starts, limits, getIntegers(op, "strides"));
}

Value BlockTiler::buildOp(OpBuilder &builder, Operation *op, const Tile &tile) {
  IRMapping mapping;
  Value onlyOperand;
  SmallVector<std::optional<Tile>> operandTiles = *getOperandTiles(op, tile);
  for (auto [operand, operandTile] :
       llvm::zip_equal(op->getOperands(), operandTiles))
    if (operandTile) {
      onlyOperand = getOrSlice(builder, operand, *operandTile);
      mapping.map(operand, onlyOperand);
    }
  RankedTensorType type = getTileType(op->getResult(0), tile);
  if (!tile.isWhole()) {
    StablehloBuilder b(builder, op->getLoc());
    switch (getForm(op)) {
    case TileForm::Splat:
      return b.constant(
          cast<SplatElementsAttr>(getConstantElements(op)).resizeSplat(type));
    case TileForm::Iota:
      if (getInteger(op, "iota_dimension") != tile.dim)
        break;
      return buildIota(b, type, tile.dim, getStart(b, tile));
    case TileForm::Slice:
      return buildSlice(b, op, tile, onlyOperand);
    case TileForm::Concatenate:
      if (getInteger(op, "dimension") == tile.dim)
        return onlyOperand;
      break;
    default:
      break;
    }
  }
  Operation *copy = builder.clone(*op, mapping);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

void BlockTiler::buildLoopBody(OpBuilder &builder, Operation *op,
                               Operation *newLoop) {
  const Loop &loop = loops.find(op)->second;
  Block &body = op->getRegion(1).front();
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Location> locs(newLoop->getNumResults(), op->getLoc());
  Block *newBody = builder.createBlock(&newLoop->getRegion(1), {},
                                       newLoop->getResultTypes(), locs);
  for (auto [argument, carry, newArgument] : llvm::zip_equal(
           body.getArguments(), loop.carries, newBody->getArguments()))
    loop.body->built[argument].emplace_back(carry, newArgument);
  loop.body->build(builder, unit);
  SmallVector<Value> returned;
  for (auto [value, carry] :
       llvm::zip_equal(body.getTerminator()->getOperands(), loop.carries))
    returned.push_back(loop.body->getOrSlice(builder, value, carry));
  StablehloBuilder(builder, body.getTerminator()->getLoc())
      .create("return", {}, returned);
}

void BlockTiler::buildLoop(OpBuilder &builder, Operation *op) {
  const Loop &loop = loops.find(op)->second;
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (auto [operand, carry] :
       llvm::zip_equal(op->getOperands(), loop.carries)) {
    operands.push_back(getOrSlice(builder, operand, carry));
    types.push_back(operands.back().getType());
  }
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       llvm::to_vector(op->getDiscardableAttrs()));
  state.addRegion();
  state.addRegion();
  Operation *newLoop = builder.create(state);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&newLoop->getRegion(0), mapping);
  for (auto [argument, type] :
       llvm::zip_equal(newLoop->getRegion(0).getArguments(), types))
    argument.setType(type);
  buildLoopBody(builder, op, newLoop);
  for (auto [result, carry, newResult] :
       llvm::zip_equal(op->getResults(), loop.carries, newLoop->getResults()))
    built[result].emplace_back(carry, newResult);
}

void BlockTiler::build(OpBuilder &builder, Value newUnit) {
  unit = newUnit;
  for (Operation *op : llvm::reverse(order)) {
    if (op->getNumRegions() != 0) {
      buildLoop(builder, op);
      continue;
    }
    for (const Tile &tile : requests.lookup(op->getResult(0)))
      built[op->getResult(0)].emplace_back(tile, buildOp(builder, op, tile));
  }
}
