//===- ProductShape.cpp - Loops of a sum of products ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductShape.h"
#include "act/Conversion/KernelUtils/ProductLoops.h"

using namespace mlir;
using namespace mlir::act;

/// As few loops as possible for the loops `group`. The last one has neighbours
/// in memory, if any has: in the result, or else in a factor.
static SmallVector<ProductLoop> merge(ArrayRef<unsigned> group,
                                      ArrayRef<ProductLoop> loops) {
  SmallVector<ProductLoop> merged = mergeProductLoops(group, loops);
  for (int operand :
       {ProductShape::Out, ProductShape::Left, ProductShape::Right}) {
    auto *neighbours = llvm::find_if(merged, [&](const ProductLoop &loop) {
      return loop.strides[operand] == 1;
    });
    if (neighbours == merged.end())
      continue;
    std::rotate(neighbours, neighbours + 1, merged.end());
    break;
  }
  return merged;
}

/// One axis for every operand.
static std::array<Axis, 3> getAxes(ArrayRef<ProductLoop> loops) {
  std::array<Axis, 3> axes;
  for (const ProductLoop &loop : loops)
    for (auto [axis, stride] : llvm::zip_equal(axes, loop.strides))
      axis.loops.push_back({loop.extent, stride});
  return axes;
}

/// Exchanges the factors.
static void transpose(ProductShape &shape) {
  std::swap(shape.operands[0], shape.operands[1]);
  std::swap(shape.elementTypes[0], shape.elementTypes[1]);
  std::swap(shape.rows, shape.columns);
  for (std::array<Axis, 3> *axes :
       {&shape.batch, &shape.rows, &shape.columns, &shape.sums})
    std::swap((*axes)[0], (*axes)[1]);
}

std::optional<ProductShape> mlir::act::getProductShape(linalg::GenericOp op) {
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  std::optional<SmallVector<ProductLoop>> loops = getProductLoops(op);
  if (failed(dims) || !loops)
    return std::nullopt;
  ProductShape shape;
  for (auto [i, type] : llvm::enumerate(shape.elementTypes))
    type = getElementTypeOrSelf(op->getOperand(i));
  shape.batch = getAxes(merge(dims->batch, *loops));
  shape.rows = getAxes(merge(dims->m, *loops));
  shape.columns = getAxes(merge(dims->n, *loops));
  shape.sums = getAxes(merge(dims->k, *loops));
  for (const auto *axes :
       {&shape.batch, &shape.rows, &shape.columns, &shape.sums})
    if ((*axes)[0].getExtent() > (1 << 30))
      return std::nullopt;
  auto hasNeighbours = [](const Axis &axis) {
    return !axis.loops.empty() && axis.loops.back().stride == 1;
  };
  if (hasNeighbours(shape.rows[ProductShape::Out]) &&
      !hasNeighbours(shape.columns[ProductShape::Out]))
    transpose(shape);
  return shape;
}
