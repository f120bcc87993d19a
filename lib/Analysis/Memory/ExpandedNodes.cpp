//===- ExpandedNodes.cpp - Operations that are several nodes --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraphBuilder.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The dimensions of `type` that are in neither list.
static SmallVector<int64_t> getFree(RankedTensorType type,
                                    ArrayRef<int64_t> batch,
                                    ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> free;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (!llvm::is_contained(batch, dim) &&
        !llvm::is_contained(contracting, dim))
      free.push_back(dim);
  return free;
}

static int64_t getProduct(RankedTensorType type, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= type.getDimSize(dim);
  return product;
}

/// `operand` with its batch dimensions in front and the others merged into two,
/// those that are contracted last if `contractsLast`. Where both are single
/// dimensions the product takes them in either order, and `contractsLast` says
/// in which; else they are moved.
static Ref mergeDims(NodeBuilder &builder, Ref operand, ArrayRef<int64_t> batch,
                     ArrayRef<int64_t> contracting, bool &contractsLast) {
  RankedTensorType type = getType(operand);
  SmallVector<int64_t> free = getFree(type, batch, contracting);
  auto getOrder = [&](bool last) {
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, last ? ArrayRef(free) : contracting);
    llvm::append_range(order, last ? contracting : ArrayRef(free));
    return order;
  };
  if (free.size() <= 1 && contracting.size() <= 1 &&
      llvm::is_sorted(getOrder(!contractsLast)))
    contractsLast = !contractsLast;
  Ref ordered = builder.transpose(operand, getOrder(contractsLast));
  SmallVector<int64_t> shape;
  for (int64_t dim : batch)
    shape.push_back(type.getDimSize(dim));
  int64_t rows = getProduct(type, free), depth = getProduct(type, contracting);
  shape.push_back(contractsLast ? rows : depth);
  shape.push_back(contractsLast ? depth : rows);
  return builder.bitcast(ordered, shape);
}

Ref memory::buildDot(NodeBuilder &builder, Ref lhs, Ref rhs,
                     const DotDimensions &dimensions, RankedTensorType type) {
  bool lhsLast = true, rhsLast = false;
  lhs = mergeDims(builder, lhs, dimensions.lhsBatch, dimensions.lhsContracting,
                  lhsLast);
  rhs = mergeDims(builder, rhs, dimensions.rhsBatch, dimensions.rhsContracting,
                  rhsLast);
  ArrayRef<int64_t> left = getType(lhs).getShape();
  ArrayRef<int64_t> right = getType(rhs).getShape();
  size_t rank = left.size();
  SmallVector<int64_t> shape(left.drop_back(2));
  int64_t rows = left[lhsLast ? rank - 2 : rank - 1];
  int64_t columns = right[rhsLast ? rank - 2 : rank - 1];
  int64_t depth = left[lhsLast ? rank - 1 : rank - 2];
  shape.push_back(rows);
  shape.push_back(columns);
  Builder attributes(type.getContext());
  Node &dot = builder.node(NodeKind::Dot, "dot", type.clone(shape), {lhs, rhs},
                           attributes.getBoolArrayAttr({lhsLast, rhsLast}));
  // What a library is asked for: neither a vector nor tiny, rows of the left
  // operand one behind the other.
  Type element = type.getElementType();
  dot.isLibraryCall =
      (element.isF32() || element.isF64() || element.isBF16()) && rows != 1 &&
      columns != 1 && std::max({rows, columns, depth}) >= 8 && lhsLast;
  return builder.bitcast({&dot, 0}, type.getShape());
}

//===----------------------------------------------------------------------===//
// Pooling backward
//===----------------------------------------------------------------------===//

Ref memory::buildSelectAndScatter(NodeBuilder &builder, Ref operand, Ref source,
                                  Ref initial, Attribute attributes) {
  RankedTensorType from = getType(operand), to = getType(source);
  Builder types(from.getContext());
  Type index = types.getI32Type();
  // One window reduction finds the greatest element of each window, and where
  // it is from tensors of positions, one per dimension.
  SmallVector<Ref> operands{operand};
  SmallVector<RankedTensorType> results{to};
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    Node &iota = builder.node(NodeKind::Iota, "iota", from.clone(index), {},
                              types.getI64IntegerAttr(dim));
    operands.push_back({&iota, 0});
    results.push_back(to.clone(index));
  }
  Node &windows = builder.node(NodeKind::Opaque, "reduce_window", results,
                               operands, attributes);
  SmallVector<Ref> positions;
  SmallVector<int64_t> shape(to.getShape());
  shape.push_back(1);
  for (int64_t dim = 0; dim < from.getRank(); ++dim)
    positions.push_back(
        builder.bitcast({&windows, static_cast<unsigned>(dim + 1)}, shape));
  shape.back() = from.getRank();
  Node &indices = builder.node(NodeKind::Concatenate, "concatenate",
                               to.clone(shape, index), positions);
  Ref zeros = builder.broadcast(initial, from, {});
  Node &scatter = builder.node(NodeKind::Scatter, "scatter", from,
                               {zeros, {&indices, 0}, source}, attributes);
  return {&scatter, 0};
}
