//===- Building.cpp - Building operations on tensors ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

//===----------------------------------------------------------------------===//
// Filling and loops
//===----------------------------------------------------------------------===//

Value Lowering::createEmpty(RankedTensorType type) {
  return tensor::EmptyOp::create(builder, type.getShape(),
                                 type.getElementType());
}

Value Lowering::createFill(RankedTensorType type, Value element) {
  return linalg::FillOp::create(builder, element, createEmpty(type))
      .getResult(0);
}

Value Lowering::getWritable(Value value) {
  Value tensor = get(value);
  Attribute element = getSplatElement(tensor);
  return element ? createFill(getTensorType(tensor),
                              getConstant(cast<TypedAttr>(element)))
                 : tensor;
}

Value Lowering::createSplatOf(RankedTensorType type, Value value) {
  if (Value element = findScalar(value))
    return createFill(type, element);
  auto scalarMap = AffineMap::get(type.getRank(), 0, builder.getContext());
  return createParallel(type, get(value), scalarMap,
                        [](ImplicitLocOpBuilder &, ValueRange arguments) {
                          return SmallVector<Value>{arguments.front()};
                        });
}

SmallVector<Value> Lowering::createGeneric(
    ValueRange inputs, ValueRange outputs, ArrayRef<AffineMap> maps,
    ArrayRef<utils::IteratorType> iterators, EmitBody emitBody) {
  auto op = linalg::GenericOp::create(
      builder, outputs.getTypes(), inputs, outputs, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        ImplicitLocOpBuilder b(loc, nested);
        linalg::YieldOp::create(b, emitBody(b, arguments));
      });
  return llvm::to_vector_of<Value>(op.getResults());
}

Value Lowering::createParallel(RankedTensorType type, ValueRange inputs,
                               ArrayRef<AffineMap> inputMaps,
                               EmitBody emitBody) {
  auto maps = llvm::to_vector(inputMaps);
  maps.push_back(builder.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return createGeneric(inputs, createEmpty(type), maps, iterators, emitBody)
      .front();
}

Value Lowering::createFloatCast(Value value, Type elementType) {
  RankedTensorType type = getTensorType(value);
  auto from = cast<FloatType>(type.getElementType());
  auto to = cast<FloatType>(elementType);
  if (from == to)
    return value;
  if (Attribute splat = getSplatElement(value)) {
    APFloat number = cast<FloatAttr>(splat).getValue();
    bool losesInfo;
    number.convert(to.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                   &losesInfo);
    return getSplat(type.clone(to), FloatAttr::get(to, number));
  }
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    Value x = arguments.front();
    x = from.getWidth() < to.getWidth()
            ? arith::ExtFOp::create(b, to, x).getResult()
            : arith::TruncFOp::create(b, to, x).getResult();
    return SmallVector<Value>{x};
  };
  return createParallel(type.clone(to), value,
                        builder.getMultiDimIdentityMap(type.getRank()),
                        emitBody);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Groups of dimensions of `from` and `to`, in order, with as many elements;
/// the shapes have as many in all, which are not none.
static void groupDims(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                      SmallVectorImpl<ReassociationIndices> &fromGroups,
                      SmallVectorImpl<ReassociationIndices> &toGroups) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    ReassociationIndices &fromGroup = fromGroups.emplace_back();
    ReassociationIndices &toGroup = toGroups.emplace_back();
    int64_t left = from[i], right = to[j];
    fromGroup.push_back(i++);
    toGroup.push_back(j++);
    while (left != right) {
      if (left < right) {
        left *= from[i];
        fromGroup.push_back(i++);
      } else {
        right *= to[j];
        toGroup.push_back(j++);
      }
    }
  }
  // What is left over are dimensions of size 1.
  for (; i < from.size() && !fromGroups.empty(); ++i)
    fromGroups.back().push_back(i);
  for (; j < to.size() && !toGroups.empty(); ++j)
    toGroups.back().push_back(j);
}

Value Lowering::createReshape(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(value), to = type.clone(shape);
  if (type.getShape() == shape)
    return value;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return getConstant(cast<TypedAttr>(elements.reshape(to)));
  if (to.getNumElements() == 0)
    return createEmpty(to);
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  groupDims(type.getShape(), shape, fromGroups, toGroups);
  Dims middle;
  for (ArrayRef<int64_t> group : fromGroups) {
    int64_t &size = middle.emplace_back(1);
    for (int64_t dim : group)
      size *= type.getDimSize(dim);
  }
  if (static_cast<int64_t>(middle.size()) != type.getRank())
    value = tensor::CollapseShapeOp::create(builder, type.clone(middle), value,
                                            fromGroups);
  if (middle.size() != shape.size())
    value = tensor::ExpandShapeOp::create(builder, to, value, toGroups);
  return value;
}

/// The part of a small constant, null for other values.
static DenseElementsAttr getConstantSlice(Value value, RankedTensorType type,
                                          ArrayRef<int64_t> offsets,
                                          ArrayRef<int64_t> strides) {
  constexpr int64_t limit = 64;
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
  if (!elements)
    return {};
  if (elements.isSplat())
    return elements.resizeSplat(type);
  if (elements.getNumElements() > limit)
    return {};
  Dims fromStrides = computeStrides(getTensorType(value).getShape());
  Dims toStrides = computeStrides(type.getShape());
  auto values = elements.getValues<Attribute>();
  SmallVector<Attribute> part;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    Dims position = delinearize(i, toStrides);
    for (auto [at, offset, stride] :
         llvm::zip_equal(position, offsets, strides))
      at = offset + at * stride;
    part.push_back(values[linearize(position, fromStrides)]);
  }
  return DenseElementsAttr::get(type, part);
}

Value Lowering::createSlice(Value value, ArrayRef<int64_t> offsets,
                            ArrayRef<int64_t> sizes,
                            ArrayRef<int64_t> strides) {
  RankedTensorType type = getTensorType(value);
  if (type.getShape() == sizes)
    return value;
  if (DenseElementsAttr part =
          getConstantSlice(value, type.clone(sizes), offsets, strides))
    return getConstant(cast<TypedAttr>(part));
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return builder.createOrFold<tensor::ExtractSliceOp>(
      type.clone(sizes), value, attributes(offsets), attributes(sizes),
      attributes(strides));
}

Value Lowering::createTranspose(Value value, ArrayRef<int64_t> permutation) {
  RankedTensorType type = getTensorType(value);
  Dims shape, moved;
  for (int64_t dim : permutation) {
    shape.push_back(type.getDimSize(dim));
    if (shape.back() != 1)
      moved.push_back(dim);
  }
  if (llvm::is_sorted(moved))
    return createReshape(value, shape);
  SmallVector<AffineExpr> from(permutation.size());
  for (auto [to, dim] : llvm::enumerate(permutation))
    from[dim] = builder.getAffineDimExpr(to);
  auto map = AffineMap::get(permutation.size(), 0, from, builder.getContext());
  return createParallel(type.clone(shape), value, map,
                        [](ImplicitLocOpBuilder &, ValueRange arguments) {
                          return SmallVector<Value>{arguments.front()};
                        });
}

//===----------------------------------------------------------------------===//
// Padding and positions
//===----------------------------------------------------------------------===//

Value Lowering::createPad(Value value, Value padding, ArrayRef<int64_t> low,
                          ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  RankedTensorType type = getTensorType(value);
  Dims shape, starts, sizes, offsets, strides, ones(type.getRank(), 1);
  bool isCovered = true;
  for (auto [size, before, after, between] :
       llvm::zip_equal(type.getShape(), low, high, interior)) {
    // Element i comes to place before + i * stride.
    int64_t stride = between + 1;
    int64_t length =
        before + after + size + std::max<int64_t>(size - 1, 0) * between;
    int64_t first = before < 0 ? llvm::divideCeil(-before, stride) : 0;
    int64_t space = length - 1 - before;
    int64_t last = space < 0 ? -1 : std::min(size - 1, space / stride);
    int64_t count = std::max<int64_t>(last - first + 1, 0);
    shape.push_back(length);
    starts.push_back(first);
    sizes.push_back(count);
    offsets.push_back(before + first * stride);
    strides.push_back(count <= 1 ? 1 : stride);
    isCovered &= count == length;
  }
  RankedTensorType to = type.clone(shape);
  if (isCovered)
    return createSlice(value, starts, sizes, ones);
  Value filled = createSplatOf(to, padding);
  if (llvm::is_contained(sizes, 0))
    return filled;
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  return tensor::InsertSliceOp::create(
      builder, createSlice(value, starts, sizes, ones), filled,
      attributes(offsets), attributes(sizes), attributes(strides));
}

Value Lowering::createClampedStart(Value start, int64_t limit, int64_t size) {
  if (limit == size)
    return getIndexConstant(0);
  Value index = getIndex(start), last = getIndexConstant(limit - size);
  if (!isSigned(getElementTypeOrSelf(start.getType())))
    return builder.createOrFold<arith::MinUIOp>(index, last);
  Value clamped =
      builder.createOrFold<arith::MaxSIOp>(index, getIndexConstant(0));
  return builder.createOrFold<arith::MinSIOp>(clamped, last);
}
