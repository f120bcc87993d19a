//===- ExposeMasksPool.cpp - Gradients of pools from window indices -------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExposeMasks.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

/// Indices are ui8. These stand for no element of any window.
static constexpr int64_t kNoWindow = 255;
static constexpr int64_t kNoElement = 254;

namespace {
/// A `select_and_scatter` that sends each element of `source` to the element of
/// its window that `compare` prefers, the first of equal ones.
struct Pool {
  Operation *op;
  Operation *compare;
  Value operand;
  Value source;
  SmallVector<int64_t> window;
  SmallVector<int64_t> strides;
  SmallVector<int64_t> padLow;
  SmallVector<int64_t> padHigh;

  RankedTensorType getSourceType() const {
    return cast<RankedTensorType>(source.getType());
  }
  int64_t getWindowSize() const { return llvm::product_of(window); }
  bool isPadded() const {
    return llvm::any_of(padLow, [](int64_t n) { return n != 0; }) ||
           llvm::any_of(padHigh, [](int64_t n) { return n != 0; });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The only operation of `region`'s block besides a `return` of its result, if
/// it is `name` of the two arguments, in order unless it is an addition.
static Operation *matchBody(Region &region, StringRef name) {
  if (!region.hasOneBlock() || region.getNumArguments() != 2)
    return nullptr;
  Block &block = region.front();
  Operation &op = block.front();
  if (block.getOperations().size() != 2 ||
      op.getName().getStringRef() != name || op.getNumOperands() != 2 ||
      op.getNumResults() != 1 ||
      block.getTerminator()->getOperands() != op.getResults())
    return nullptr;
  bool inOrder = llvm::equal(op.getOperands(), block.getArguments());
  bool reversed =
      llvm::equal(llvm::reverse(op.getOperands()), block.getArguments());
  return inOrder || (reversed && name == "stablehlo.add") ? &op : nullptr;
}

static bool isZero(Value value) {
  Operation *def = value.getDefiningOp();
  auto elements =
      def ? dyn_cast_or_null<DenseFPElementsAttr>(act::getConstantElements(def))
          : DenseFPElementsAttr();
  return elements && elements.isSplat() &&
         elements.getSplatValue<APFloat>().isZero();
}

static SmallVector<int64_t> getIntegers(Operation *op, StringRef name,
                                        size_t size, int64_t fallback) {
  if (auto values = op->getAttrOfType<DenseI64ArrayAttr>(name))
    return llvm::to_vector(values.asArrayRef());
  return SmallVector<int64_t>(size, fallback);
}

/// True if the comparison prefers greater elements, false if lesser ones;
/// nothing if neither.
static std::optional<bool> prefersGreater(Operation *compare) {
  std::string text;
  llvm::raw_string_ostream(text) << compare->getAttr("comparison_direction");
  if (StringRef(text).contains(" GE") || StringRef(text).contains(" GT"))
    return true;
  if (StringRef(text).contains(" LE") || StringRef(text).contains(" LT"))
    return false;
  return std::nullopt;
}

static std::optional<Pool> matchPool(Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.select_and_scatter" ||
      op->getNumOperands() != 3 || op->getNumRegions() != 2)
    return std::nullopt;
  Pool pool{op,
            matchBody(op->getRegion(0), "stablehlo.compare"),
            op->getOperand(0),
            op->getOperand(1),
            {},
            {},
            {},
            {}};
  auto type = dyn_cast<RankedTensorType>(pool.operand.getType());
  auto sourceType = dyn_cast<RankedTensorType>(pool.source.getType());
  if (!pool.compare || !prefersGreater(pool.compare) ||
      !matchBody(op->getRegion(1), "stablehlo.add") ||
      !isZero(op->getOperand(2)) || !type || !type.hasStaticShape() ||
      !isa<FloatType>(type.getElementType()) || !sourceType ||
      !sourceType.hasStaticShape() || sourceType.getNumElements() == 0)
    return std::nullopt;
  size_t rank = type.getRank();
  pool.window = getIntegers(op, "window_dimensions", rank, 1);
  pool.strides = getIntegers(op, "window_strides", rank, 1);
  pool.padLow.assign(rank, 0);
  pool.padHigh.assign(rank, 0);
  if (auto padding = op->getAttrOfType<DenseIntElementsAttr>("padding"))
    for (auto [i, amount] : llvm::enumerate(padding.getValues<int64_t>()))
      (i % 2 ? pool.padHigh : pool.padLow)[i / 2] = amount;
  if (llvm::any_of(pool.padLow, [](int64_t n) { return n < 0; }) ||
      llvm::any_of(pool.padHigh, [](int64_t n) { return n < 0; }) ||
      pool.getWindowSize() < 2 || pool.getWindowSize() >= kNoElement)
    return std::nullopt;
  return pool;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

/// Calls `visit` with every index below `shape`, the last one running fastest.
static void forEachIndex(ArrayRef<int64_t> shape,
                         function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t n = llvm::product_of(shape); n > 0; --n) {
    visit(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index[i] < shape[i])
        break;
      index[i] = 0;
    }
  }
}

static Value padOperand(StablehloBuilder &b, const Pool &pool, Value operand) {
  if (!pool.isPadded())
    return operand;
  auto type = cast<RankedTensorType>(operand.getType());
  auto floatType = cast<FloatType>(type.getElementType());
  APFloat worst = APFloat::getInf(floatType.getFloatSemantics(),
                                  *prefersGreater(pool.compare));
  Value fill = b.constant(
      DenseElementsAttr::get(RankedTensorType::get({}, floatType), worst));
  return b.pad(operand, fill, pool.padLow, pool.padHigh);
}

/// The position of the selected element in each window. Selects as
/// `select_and_scatter` does, by comparing what is selected so far with the
/// next.
static Value buildIndex(StablehloBuilder &b, const Pool &pool, Value operand,
                        unsigned bits) {
  operand = padOperand(b, pool, operand);
  RankedTensorType sourceType = pool.getSourceType();
  auto indexType = sourceType.clone(b.getBuilder().getIntegerType(8, false));
  auto predicateType = sourceType.clone(b.getBuilder().getI1Type());
  SmallVector<NamedAttribute> direction(pool.compare->getAttrs());
  if (auto inherent = dyn_cast_or_null<DictionaryAttr>(
          pool.compare->getPropertiesAsAttribute()))
    direction.assign(inherent.begin(), inherent.end());
  Value selected, index;
  int64_t position = 0;
  forEachIndex(pool.window, [&](ArrayRef<int64_t> offset) {
    SmallVector<int64_t> limits;
    for (auto [start, size, stride] :
         llvm::zip_equal(offset, sourceType.getShape(), pool.strides))
      limits.push_back(start + (size - 1) * stride + 1);
    Value next = b.slice(operand, offset, limits, pool.strides);
    Value nextIndex = b.splat(indexType, position++);
    if (!selected) {
      selected = next;
      index = nextIndex;
      return;
    }
    Value keep = b.create("compare", predicateType, {selected, next}, direction)
                     ->getResult(0);
    selected = b.select(keep, selected, next);
    index = b.select(keep, index, nextIndex);
  });
  // Proves that `bits` bits are enough.
  return b.bitAnd(index, b.splat(indexType, (1 << bits) - 1));
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

namespace {
/// The gradient in blocks: dimension `i` of the operand, padded to a multiple
/// of its stride, is [blocks, stride], one block beginning with each window.
/// Windows that reach into later blocks are added block by block.
class GradientBuilder {
public:
  GradientBuilder(StablehloBuilder &b, const Pool &pool, Value index)
      : b(b), pool(pool), index(index) {
    auto type = cast<RankedTensorType>(pool.op->getResult(0).getType());
    for (size_t i = 0; i < pool.window.size(); ++i) {
      int64_t stride = pool.strides[i];
      int64_t size = type.getDimSize(i) + pool.padLow[i] + pool.padHigh[i];
      blocks.push_back(llvm::divideCeil(size, stride));
      reach.push_back(llvm::divideCeil(pool.window[i], stride));
      blockDims.push_back(shape.size());
      shape.push_back(blocks[i]);
      if (stride == 1)
        continue;
      strideDims.push_back(shape.size());
      strideSizes.push_back(stride);
      shape.push_back(stride);
    }
  }

  Value build() {
    // Padded once, for XLA to materialise no more than these.
    index = padForShifts(index, kNoWindow);
    gradient = padForShifts(pool.source, 0);
    Value sum;
    forEachIndex(reach, [&](ArrayRef<int64_t> block) {
      Value term = buildTerm(block);
      sum = sum ? b.add(sum, term) : term;
    });
    return crop(sum);
  }

private:
  /// Makes room for `shift`.
  Value padForShifts(Value value, int64_t fill) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> low, high;
    for (auto [count, size, touched] :
         llvm::zip_equal(blocks, type.getShape(), reach)) {
      low.push_back(touched - 1);
      high.push_back(count - size);
    }
    if (llvm::all_of(low, [](int64_t n) { return n == 0; }) &&
        llvm::all_of(high, [](int64_t n) { return n == 0; }))
      return value;
    return b.pad(value, b.scalar(type.getElementType(), fill), low, high);
  }

  /// What is `block` blocks before each block.
  Value shift(Value value, ArrayRef<int64_t> block) {
    SmallVector<int64_t> starts, limits;
    for (auto [count, touched, number] :
         llvm::zip_equal(blocks, reach, block)) {
      starts.push_back(touched - 1 - number);
      limits.push_back(starts.back() + count);
    }
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == ArrayRef<int64_t>(blocks))
      return value;
    return b.slice(value, starts, limits);
  }

  /// What windows send to the block `block` blocks behind their first.
  Value buildTerm(ArrayRef<int64_t> block) {
    Value position = b.broadcastInDim(shift(index, block), shape, blockDims);
    Value hit = b.compare(StablehloBuilder::Comparison::EQ, position,
                          buildPositions(block));
    Value spread = b.broadcastInDim(shift(gradient, block), shape, blockDims);
    return b.select(hit, spread, b.splatLike(spread, 0));
  }

  /// The position in its window of each element of block `block`.
  Value buildPositions(ArrayRef<int64_t> block) {
    SmallVector<uint8_t> positions;
    forEachIndex(pool.strides, [&](ArrayRef<int64_t> offset) {
      int64_t position = 0;
      for (auto [size, stride, number, within] :
           llvm::zip_equal(pool.window, pool.strides, block, offset)) {
        int64_t element = number * stride + within;
        position = element < size && position != kNoElement
                       ? position * size + element
                       : kNoElement;
      }
      positions.push_back(position);
    });
    auto type = RankedTensorType::get(
        strideSizes, b.getBuilder().getIntegerType(8, /*isSigned=*/false));
    return b.broadcastInDim(
        b.constant(DenseElementsAttr::get(type, ArrayRef<uint8_t>(positions))),
        shape, strideDims);
  }

  /// From blocks back to the shape of the operand.
  Value crop(Value value) {
    SmallVector<int64_t> whole, limits;
    auto type = cast<RankedTensorType>(pool.op->getResult(0).getType());
    for (auto [count, stride, low, size] :
         llvm::zip_equal(blocks, pool.strides, pool.padLow, type.getShape())) {
      whole.push_back(count * stride);
      limits.push_back(low + size);
    }
    value = b.reshape(value, whole);
    if (ArrayRef<int64_t>(whole) == type.getShape())
      return value;
    return b.slice(value, pool.padLow, limits);
  }

  StablehloBuilder &b;
  const Pool &pool;
  Value index;                      ///< padded by `build`
  Value gradient;                   ///< the source, padded
  SmallVector<int64_t> blocks;      ///< blocks along each dimension
  SmallVector<int64_t> reach;       ///< blocks that a window touches
  SmallVector<int64_t> shape;       ///< blocks and strides
  SmallVector<int64_t> blockDims;   ///< where `blocks` are in `shape`
  SmallVector<int64_t> strideDims;  ///< where strides above 1 are in `shape`
  SmallVector<int64_t> strideSizes; ///< strides above 1
};
} // namespace

std::optional<unsigned>
mlir::act::exposeSelectedIndex(Operation *op, const ForwardPlacer &placer) {
  std::optional<Pool> pool = matchPool(op);
  if (!pool)
    return std::nullopt;
  Operation *definition = placer.findLastDefinition(pool->operand);
  if (!definition)
    return std::nullopt;

  unsigned bits = llvm::PowerOf2Ceil(llvm::Log2_64_Ceil(pool->getWindowSize()));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(definition);
  IRMapping copies;
  Value operand = placer.place(builder, definition, pool->operand, copies);
  StablehloBuilder forward(builder, definition->getLoc());
  Value index = buildIndex(forward, *pool, operand, bits);

  builder.setInsertionPoint(op);
  StablehloBuilder backward(builder, op->getLoc());
  op->getResult(0).replaceAllUsesWith(
      GradientBuilder(backward, *pool, index).build());
  op->erase();
  // What only the gradient read, such as a padded copy of the operand.
  SmallVector<Value> unused{pool->operand};
  while (!unused.empty()) {
    Operation *def = unused.pop_back_val().getDefiningOp();
    if (!def || placer.isForward(def) || !isOpTriviallyDead(def))
      continue;
    llvm::append_range(unused, def->getOperands());
    def->erase();
  }
  return bits;
}
