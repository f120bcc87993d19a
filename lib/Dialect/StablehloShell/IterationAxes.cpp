//===- IterationAxes.cpp - Axes of the StableHLO operations ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes are checked as far as they are used: an operation whose attributes
// do not fit its types has no axes.
//
//===----------------------------------------------------------------------===//

#include "StandInOp.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::shell;

using Dims = SmallVector<int64_t>;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static int64_t getRank(Value value) { return getType(value).getRank(); }

static bool hasStaticTypes(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> getIntegers(Operation *op, StringRef name) {
  auto values = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return values ? values.asArrayRef() : ArrayRef<int64_t>();
}

static bool areDims(ArrayRef<int64_t> dims, int64_t rank) {
  return llvm::all_of(dims,
                      [&](int64_t dim) { return dim >= 0 && dim < rank; });
}

/// The numbers below `rank` that none of `without` holds.
static Dims getOthers(int64_t rank, ArrayRef<ArrayRef<int64_t>> without) {
  Dims others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::none_of(without, [&](ArrayRef<int64_t> dims) {
          return llvm::is_contained(dims, dim);
        }))
      others.push_back(dim);
  return others;
}

static int64_t getIndex(ArrayRef<int64_t> dims, int64_t dim) {
  const int64_t *found = llvm::find(dims, dim);
  return found == dims.end() ? -1 : found - dims.begin();
}

/// What the region of a reduction or scatter combines elements by, "" if it is
/// not one operation on both arguments.
static StringRef getCombiner(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return "";
  Block &body = op->getRegion(0).front();
  if (body.getNumArguments() != 2 || body.getOperations().size() != 2)
    return "";
  Operation &combiner = body.front(), &end = body.back();
  bool combines = combiner.getNumOperands() == 2 &&
                  combiner.getNumResults() == 1 &&
                  llvm::all_of(combiner.getOperands(),
                               [&](Value operand) {
                                 return isa<BlockArgument>(operand);
                               }) &&
                  combiner.getOperand(0) != combiner.getOperand(1) &&
                  end.getOperands() == ValueRange(combiner.getResults());
  return combines ? combiner.getName().getStringRef() : "";
}

//===----------------------------------------------------------------------===//
// Axes
//===----------------------------------------------------------------------===//

namespace {
/// Collects the axes of one operation.
class AxisCollector {
public:
  explicit AxisCollector(Operation *op) : op(op) {}

  SmallVector<IterationAxis> collect(OpKind kind);

private:
  /// Adds an axis unless it has no or one iteration, or the lengths differ.
  void add(AxisKind kind, ArrayRef<int64_t> operandDims,
           ArrayRef<int64_t> resultDims, int64_t accumulator = -1);
  /// The same dimension of all that have `rank` dimensions.
  void addCommon(int64_t dim, int64_t rank);

  void addElementwise();
  void addBarrier();
  void addBroadcast();
  void addReshape();
  void addTranspose();
  void addReduce();
  void addDot();
  void addGather();
  void addScatter();
  /// Operations that leave the dimensions alone for which `isWhole` holds.
  void addUnlike(function_ref<bool(int64_t)> isWhole);
  /// Operations that move elements along the attribute `dimension`.
  void addAlongside();
  void addSlice();
  void addPad();
  void addDynamicSlice();
  void addReduceWindow();

  Operation *op;
  SmallVector<IterationAxis> axes;
};
} // namespace

void AxisCollector::add(AxisKind kind, ArrayRef<int64_t> operandDims,
                        ArrayRef<int64_t> resultDims, int64_t accumulator) {
  int64_t length = -1;
  auto fits = [&](Value value, int64_t dim) {
    if (dim < 0)
      return true;
    if (dim >= getRank(value))
      return false;
    int64_t size = getType(value).getDimSize(dim);
    bool isSame = length < 0 || length == size;
    length = size;
    return isSame;
  };
  for (auto [value, dim] : llvm::zip_equal(op->getOperands(), operandDims))
    if (!fits(value, dim))
      return;
  for (auto [value, dim] : llvm::zip_equal(op->getResults(), resultDims))
    if (!fits(value, dim))
      return;
  if (length <= 1)
    return;
  IterationAxis &axis = axes.emplace_back();
  axis.kind = kind;
  axis.operandDims.assign(operandDims.begin(), operandDims.end());
  axis.resultDims.assign(resultDims.begin(), resultDims.end());
  axis.accumulator = accumulator;
}

void AxisCollector::addCommon(int64_t dim, int64_t rank) {
  auto getDims = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) {
      return getRank(value) == rank ? dim : int64_t{-1};
    });
  };
  add(AxisKind::Parallel, getDims(op->getOperands()),
      getDims(op->getResults()));
}

void AxisCollector::addElementwise() {
  int64_t rank = getRank(op->getResult(0));
  ArrayRef<int64_t> shape = getType(op->getResult(0)).getShape();
  for (Value operand : op->getOperands())
    if (getRank(operand) != 0 && getType(operand).getShape() != shape)
      return;
  for (int64_t dim = 0; dim < rank; ++dim)
    addCommon(dim, rank);
}

void AxisCollector::addBarrier() {
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    for (int64_t dim = 0, rank = getRank(operand); dim < rank; ++dim) {
      Dims dims(op->getNumOperands(), -1);
      dims[i] = dim;
      add(AxisKind::Parallel, dims, dims);
    }
}

void AxisCollector::addBroadcast() {
  Value operand = op->getOperand(0), result = op->getResult(0);
  ArrayRef<int64_t> dims = getIntegers(op, "broadcast_dimensions");
  if (static_cast<int64_t>(dims.size()) != getRank(operand) ||
      !areDims(dims, getRank(result)))
    return;
  for (int64_t dim = 0, rank = getRank(result); dim < rank; ++dim) {
    int64_t from = getIndex(dims, dim);
    bool isRepeated = from >= 0 && getType(operand).getDimSize(from) == 1;
    add(AxisKind::Parallel, isRepeated ? -1 : from, dim);
  }
}

void AxisCollector::addReshape() {
  ArrayRef<int64_t> from = getType(op->getOperand(0)).getShape();
  ArrayRef<int64_t> to = getType(op->getResult(0)).getShape();
  int64_t outer = 1;
  for (auto [i, size] : llvm::enumerate(from)) {
    int64_t otherOuter = 1;
    for (auto [j, otherSize] : llvm::enumerate(to)) {
      if (outer == otherOuter && size == otherSize)
        add(AxisKind::Parallel, static_cast<int64_t>(i),
            static_cast<int64_t>(j));
      otherOuter *= otherSize;
    }
    outer *= size;
  }
}

void AxisCollector::addTranspose() {
  ArrayRef<int64_t> permutation = getIntegers(op, "permutation");
  int64_t rank = getRank(op->getOperand(0));
  if (static_cast<int64_t>(permutation.size()) != rank ||
      !areDims(permutation, rank))
    return;
  for (auto [to, from] : llvm::enumerate(permutation))
    add(AxisKind::Parallel, from, static_cast<int64_t>(to));
}

void AxisCollector::addReduce() {
  unsigned count = op->getNumResults();
  ArrayRef<int64_t> reduced = getIntegers(op, "dimensions");
  if (op->getNumOperands() != 2 * count)
    return;
  int64_t rank = getRank(op->getOperand(0));
  for (Value input : op->getOperands().take_front(count))
    if (getRank(input) != rank)
      return;
  Dims kept = getOthers(rank, reduced);
  auto getOperandDims = [&](int64_t dim) {
    Dims dims(2 * count, -1);
    std::fill_n(dims.begin(), count, dim);
    return dims;
  };
  for (auto [to, from] : llvm::enumerate(kept))
    add(AxisKind::Parallel, getOperandDims(from), Dims(count, to));
  if (count != 1 || !areDims(reduced, rank) ||
      getCombiner(op) != "stablehlo.add" || !isZeroConstant(op->getOperand(1)))
    return;
  for (int64_t dim : reduced)
    add(AxisKind::Reduction, getOperandDims(dim), Dims{-1});
}

void AxisCollector::addDot() {
  int64_t lhsRank = getRank(op->getOperand(0));
  int64_t rhsRank = getRank(op->getOperand(1));
  std::string text = getText(op, "dot_dimension_numbers");
  Dims lhsBatch = getDims(text, "lhs_batching_dimensions");
  Dims rhsBatch = getDims(text, "rhs_batching_dimensions");
  Dims lhsContracted = getDims(text, "lhs_contracting_dimensions");
  Dims rhsContracted = getDims(text, "rhs_contracting_dimensions");
  Dims lhsFree = getOthers(lhsRank, {lhsBatch, lhsContracted});
  Dims rhsFree = getOthers(rhsRank, {rhsBatch, rhsContracted});
  if (lhsBatch.size() != rhsBatch.size() ||
      lhsContracted.size() != rhsContracted.size() ||
      !areDims(lhsBatch, lhsRank) || !areDims(rhsBatch, rhsRank) ||
      !areDims(lhsContracted, lhsRank) || !areDims(rhsContracted, rhsRank))
    return;
  int64_t to = 0;
  for (auto [lhs, rhs] : llvm::zip_equal(lhsBatch, rhsBatch))
    add(AxisKind::Parallel, {lhs, rhs}, to++);
  for (int64_t dim : lhsFree)
    add(AxisKind::Parallel, {dim, -1}, to++);
  for (int64_t dim : rhsFree)
    add(AxisKind::Parallel, {-1, dim}, to++);
  for (auto [lhs, rhs] : llvm::zip_equal(lhsContracted, rhsContracted))
    add(AxisKind::Reduction, {lhs, rhs}, -1);
}

void AxisCollector::addGather() {
  Value operand = op->getOperand(0), indices = op->getOperand(1);
  Value result = op->getResult(0);
  std::string text = getText(op, "dimension_numbers");
  Dims offset = getDims(text, "offset_dims");
  Dims collapsed = getDims(text, "collapsed_slice_dims");
  Dims batch = getDims(text, "operand_batching_dims");
  Dims indexBatch = getDims(text, "start_indices_batching_dims");
  Dims indexed = getDims(text, "start_index_map");
  int64_t vectorDim = getDim(text, "index_vector_dim");
  ArrayRef<int64_t> sizes = getIntegers(op, "slice_sizes");
  Dims resultBatch = getOthers(getRank(result), {offset});
  Dims indexDims = getOthers(getRank(indices), {vectorDim});
  Dims windowDims = getOthers(getRank(operand), {collapsed, batch});
  if (resultBatch.size() != indexDims.size() ||
      windowDims.size() != offset.size() || batch.size() != indexBatch.size() ||
      static_cast<int64_t>(sizes.size()) != getRank(operand))
    return;
  for (auto [from, to] : llvm::zip_equal(indexDims, resultBatch)) {
    int64_t number = getIndex(indexBatch, from);
    add(AxisKind::Parallel, {number < 0 ? -1 : batch[number], from}, to);
  }
  for (auto [from, to] : llvm::zip_equal(windowDims, offset))
    if (!llvm::is_contained(indexed, from) &&
        sizes[from] == getType(operand).getDimSize(from))
      add(AxisKind::Parallel, {from, -1}, to);
}

void AxisCollector::addScatter() {
  if (op->getNumOperands() != 3)
    return;
  Value input = op->getOperand(0), indices = op->getOperand(1);
  Value updates = op->getOperand(2);
  std::string text = getText(op, "scatter_dimension_numbers");
  Dims window = getDims(text, "update_window_dims");
  Dims inserted = getDims(text, "inserted_window_dims");
  Dims batch = getDims(text, "input_batching_dims");
  Dims indexBatch = getDims(text, "scatter_indices_batching_dims");
  Dims indexed = getDims(text, "scatter_dims_to_operand_dims");
  int64_t vectorDim = getDim(text, "index_vector_dim");
  Dims updateDims = getOthers(getRank(updates), {window});
  Dims indexDims = getOthers(getRank(indices), {vectorDim});
  Dims windowDims = getOthers(getRank(input), {inserted, batch});
  if (updateDims.size() != indexDims.size() ||
      windowDims.size() != window.size() || batch.size() != indexBatch.size())
    return;
  bool adds = getCombiner(op) == "stablehlo.add";
  for (auto [from, to] : llvm::zip_equal(indexDims, updateDims)) {
    int64_t number = getIndex(indexBatch, from);
    if (number >= 0)
      add(AxisKind::Parallel, {batch[number], from, to}, batch[number]);
    else if (adds)
      add(AxisKind::Reduction, {-1, from, to}, -1, /*accumulator=*/0);
  }
  for (auto [from, to] : llvm::zip_equal(windowDims, window))
    if (!llvm::is_contained(indexed, from) && areDims(to, getRank(updates)) &&
        getType(updates).getDimSize(to) == getType(input).getDimSize(from))
      add(AxisKind::Parallel, {from, -1, to}, from);
}

void AxisCollector::addUnlike(function_ref<bool(int64_t)> isWhole) {
  int64_t rank = getRank(op->getResult(0));
  for (int64_t dim = 0; dim < rank; ++dim)
    if (isWhole(dim))
      addCommon(dim, rank);
}

void AxisCollector::addAlongside() {
  auto attribute = op->getAttrOfType<IntegerAttr>("dimension");
  int64_t rank = getRank(op->getResult(0));
  if (!attribute || attribute.getInt() < -rank || attribute.getInt() >= rank)
    return;
  // Negative ones count from the last.
  int64_t moved = (attribute.getInt() + rank) % rank;
  addUnlike([&](int64_t dim) { return dim != moved; });
}

void AxisCollector::addSlice() {
  RankedTensorType type = getType(op->getOperand(0));
  ArrayRef<int64_t> starts = getIntegers(op, "start_indices");
  ArrayRef<int64_t> limits = getIntegers(op, "limit_indices");
  ArrayRef<int64_t> strides = getIntegers(op, "strides");
  size_t rank = type.getRank();
  if (starts.size() != rank || limits.size() != rank || strides.size() != rank)
    return;
  addUnlike([&](int64_t dim) {
    return starts[dim] == 0 && limits[dim] == type.getDimSize(dim) &&
           strides[dim] == 1;
  });
}

void AxisCollector::addPad() {
  SmallVector<ArrayRef<int64_t>> paddings{getIntegers(op, "edge_padding_low"),
                                          getIntegers(op, "edge_padding_high"),
                                          getIntegers(op, "interior_padding")};
  addUnlike([&](int64_t dim) {
    return llvm::all_of(paddings, [&](ArrayRef<int64_t> padding) {
      return dim < static_cast<int64_t>(padding.size()) && padding[dim] == 0;
    });
  });
}

void AxisCollector::addDynamicSlice() {
  bool isRead = op->getName().stripDialect() == "dynamic_slice";
  unsigned numBlocks = isRead ? 1 : 2;
  Value result = op->getResult(0);
  int64_t rank = getRank(result);
  if (isRead &&
      static_cast<int64_t>(getIntegers(op, "slice_sizes").size()) != rank)
    return;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (getRank(operand) != (i < numBlocks ? rank : 0))
      return;
  // Start indices are scalars; what is written may be shorter.
  addUnlike([&](int64_t dim) {
    return llvm::all_of(op->getOperands(), [&](Value value) {
      return getRank(value) == 0 ||
             getType(value).getDimSize(dim) == getType(result).getDimSize(dim);
    });
  });
}

void AxisCollector::addReduceWindow() {
  if (op->getNumOperands() != 2 * op->getNumResults() ||
      getRank(op->getOperand(0)) == 0)
    return;
  ArrayRef<int64_t> window = getIntegers(op, "window_dimensions");
  auto padding = op->getAttrOfType<DenseIntElementsAttr>("padding");
  auto isOne = [&](StringRef name, int64_t dim) {
    ArrayRef<int64_t> values = getIntegers(op, name);
    return values.empty() ||
           (dim < static_cast<int64_t>(values.size()) && values[dim] == 1);
  };
  addUnlike([&](int64_t dim) {
    if (dim >= static_cast<int64_t>(window.size()) || window[dim] != 1 ||
        !isOne("window_strides", dim) || !isOne("base_dilations", dim))
      return false;
    return !padding || (padding.getNumElements() > 2 * dim + 1 &&
                        padding.getValues<APInt>()[2 * dim].isZero() &&
                        padding.getValues<APInt>()[2 * dim + 1].isZero());
  });
}

SmallVector<IterationAxis> AxisCollector::collect(OpKind kind) {
  StringRef name = op->getName().stripDialect();
  bool hasMany = kind == OpKind::Barrier || name == "reduce" ||
                 name == "reduce_window" || name == "sort";
  if (!hasStaticTypes(op) || op->getNumResults() == 0 ||
      (op->getNumResults() > 1 && !hasMany))
    return {};
  unsigned operands = op->getNumOperands();
  if (kind == OpKind::Constant) {
    if (name == "iota" ||
        isa_and_nonnull<SplatElementsAttr>(getConstantElements(op)))
      addElementwise();
  } else if (kind == OpKind::Elementwise && op->getNumRegions() == 0) {
    addElementwise();
  } else if (kind == OpKind::Barrier &&
             op->getOperandTypes() == op->getResultTypes()) {
    addBarrier();
  } else if (name == "broadcast_in_dim" && operands == 1) {
    addBroadcast();
  } else if (name == "reshape" && operands == 1) {
    addReshape();
  } else if (name == "transpose" && operands == 1) {
    addTranspose();
  } else if (name == "reduce") {
    addReduce();
  } else if (name == "dot_general" && operands == 2) {
    addDot();
  } else if (name == "gather" && operands == 2) {
    addGather();
  } else if (name == "scatter") {
    addScatter();
  } else if (name == "slice" && operands == 1) {
    addSlice();
  } else if (name == "pad" && operands == 2) {
    addPad();
  } else if (name == "dynamic_slice" || name == "dynamic_update_slice") {
    addDynamicSlice();
  } else if (name == "reduce_window") {
    addReduceWindow();
  } else if (name == "concatenate" || name == "sort") {
    addAlongside();
  } else if (name == "reverse" && operands == 1) {
    addUnlike([&](int64_t dim) {
      return !llvm::is_contained(getIntegers(op, "dimensions"), dim);
    });
  }
  return std::move(axes);
}

SmallVector<IterationAxis>
StandInOpModel::getIterationAxes(Operation *op) const {
  return AxisCollector(op).collect(getOpKind(op));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// `attribute` of `op` with the entry for `dim` set to `length`.
static void setEntry(Operation *op, StringRef attribute, int64_t dim,
                     int64_t length) {
  Dims values(getIntegers(op, attribute));
  if (dim < 0 || dim >= static_cast<int64_t>(values.size()))
    return;
  values[dim] = length;
  op->setAttr(attribute, DenseI64ArrayAttr::get(op->getContext(), values));
}

/// An iota that counts from `offset` on. Numbers of other types than integers
/// are converted at last, since sums of rounded ones are others.
static Operation *buildIotaPart(Operation *op, OpBuilder &builder, int64_t dim,
                                int64_t length, Value offset) {
  auto dimension = op->getAttrOfType<IntegerAttr>("iota_dimension");
  if (!dimension || dimension.getInt() != dim)
    return cloneWithLength(op, builder, {}, dim, length);
  StablehloBuilder b(builder, op->getLoc());
  Dims shape(getType(op->getResult(0)).getShape());
  shape[dim] = length;
  Type element = getType(op->getResult(0)).getElementType();
  Type integer = isa<IntegerType>(element) ? element : builder.getI32Type();
  Value first = b.broadcastInDim(b.convert(offset, integer), shape, {});
  Value iota = b.iota(RankedTensorType::get(shape, integer), dim);
  return b.convert(b.add(iota, first), element).getDefiningOp();
}

Operation *StandInOpModel::buildPart(Operation *op, OpBuilder &builder,
                                     ValueRange operands,
                                     const IterationAxis &axis, int64_t length,
                                     Value offset) const {
  StringRef name = op->getName().stripDialect();
  if (name == "iota")
    return buildIotaPart(op, builder, axis.resultDims[0], length, offset);
  if (auto elements =
          dyn_cast_or_null<SplatElementsAttr>(getConstantElements(op))) {
    Dims shape(getType(op->getResult(0)).getShape());
    shape[axis.resultDims[0]] = length;
    return StablehloBuilder(builder, op->getLoc())
        .constant(elements.resizeSplat(getType(op->getResult(0)).clone(shape)))
        .getDefiningOp();
  }
  // The function that a composite refers to has the type of the whole.
  if (name == "composite") {
    OperationState state(op->getLoc(),
                         op->getAttrOfType<StringAttr>("name").getValue());
    state.addOperands(operands);
    RankedTensorType type = getType(op->getResult(0));
    Dims shape(type.getShape());
    shape[axis.resultDims[0]] = length;
    state.addTypes(type.clone(shape));
    return builder.create(state);
  }
  Operation *part =
      cloneWithLength(op, builder, operands, axis.resultDims, length);
  if (name == "gather" || name == "dynamic_slice") {
    // A window that spans the whole dimension.
    if (int64_t dim = axis.operandDims[0];
        dim >= 0 && getIntegers(op, "slice_sizes")[dim] ==
                        getType(op->getOperand(0)).getDimSize(dim))
      setEntry(part, "slice_sizes", dim, length);
  } else if (name == "slice") {
    setEntry(part, "limit_indices", axis.operandDims[0], length);
  }
  return part;
}
