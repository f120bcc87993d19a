//===- Products.cpp - Kernels of sums of products -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitters.h"
#include "ProductShape.h"
#include "StoreProduct.h"
#include "TiledProduct.h"
#include "act/Conversion/KernelUtils/Contractions.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// A product as it is divided into blocks.
struct ProductGrid {
  int64_t rowTiles, columnTiles, blocks;
};

/// Emits one kernel.
class ProductEmitter {
public:
  ProductEmitter(const KernelRequest &request, const ProductShape &product,
                 linalg::GenericOp op, bool fromZero);

  std::optional<GpuKernel> emit();

private:
  LinearFactor getMatrix(unsigned operand, Value batch, const Axis &outer,
                         const Axis &inner);

  const KernelRequest &request;
  const ProductShape &product;
  linalg::GenericOp op;
  bool fromZero;
  TileShape tile;
  ProductGrid grid;
  GpuKernelBuilder *kernel = nullptr;
};
} // namespace

/// Whether the sums have a type that products of these factors are rounded from
/// once.
static bool areTypesSupported(const std::array<Type, 3> &types) {
  auto [left, right, out] = types;
  if (left != right)
    return false;
  if (left.isF64())
    return out.isF64();
  return (left.isF32() || left.isBF16() || left.isF16()) &&
         (out == left || out.isF32());
}

ProductEmitter::ProductEmitter(const KernelRequest &request,
                               const ProductShape &product,
                               linalg::GenericOp op, bool fromZero)
    : request(request), product(product), op(op), fromZero(fromZero) {
  Type type = product.elementTypes[ProductShape::Left];
  bool matrixUnits =
      hasMatrixUnit(type) && (!type.isF32() || request.allowTf32);
  int64_t batch = product.batch[0].getExtent();
  int64_t rows = product.rows[0].getExtent();
  int64_t columns = product.columns[0].getExtent();
  tile = chooseTileShape(batch, rows, columns, type, matrixUnits);
  grid.rowTiles = llvm::divideCeil(rows, tile.rows);
  grid.columnTiles = llvm::divideCeil(columns, tile.columns);
  grid.blocks = batch * grid.rowTiles * grid.columnTiles;
}

/// The matrix of an operand for the position `batch` (i32).
LinearFactor ProductEmitter::getMatrix(unsigned operand, Value batch,
                                       const Axis &outer, const Axis &inner) {
  unsigned number =
      cast<BlockArgument>(op->getOperand(product.operands[operand]))
          .getArgNumber();
  Type type = product.elementTypes[operand];
  const Axis &others = product.batch[operand];
  Value pointer = kernel->getParameter(number);
  if (!others.loops.empty())
    pointer = kernel->getAddress(
        pointer, type, others.getOffset(*kernel, batch, /*wide=*/true));
  return LinearFactor(pointer, type, outer, inner,
                      request.parameters[number].alignment, others);
}

std::optional<GpuKernel> ProductEmitter::emit() {
  if (grid.blocks > INT32_MAX)
    return std::nullopt;
  GpuKernelBuilder builder(request.module, op.getLoc(), request.name,
                           request.parameters, tile.getThreads());
  kernel = &builder;
  if (grid.blocks == 0) // nothing to do
    return builder.finish({1, 1, 1});
  PositionMath math(builder);
  SmallVector<Value> position =
      getDigits(builder, builder.getBlock(),
                {grid.blocks, grid.rowTiles, grid.columnTiles});
  using Shape = ProductShape;
  LinearFactor left =
      getMatrix(Shape::Left, position[0], product.rows[Shape::Left],
                product.sums[Shape::Left]);
  LinearFactor right =
      getMatrix(Shape::Right, position[0], product.columns[Shape::Right],
                product.sums[Shape::Right]);
  LinearFactor out =
      getMatrix(Shape::Out, position[0], product.rows[Shape::Out],
                product.columns[Shape::Out]);
  emitTiledProduct(builder, tile, left, right,
                   math.multiply(position[1], tile.rows),
                   math.multiply(position[2], tile.columns),
                   getStoreEpilogue(builder, out, /*adds=*/!fromZero));
  return builder.finish({grid.blocks, 1, 1});
}

std::optional<GpuKernel>
mlir::act::emitProductKernel(const KernelRequest &request, linalg::GenericOp op,
                             bool fromZero) {
  if (!isContraction(op))
    return std::nullopt;
  std::optional<ProductShape> product = getProductShape(op);
  if (!product || !areTypesSupported(product->elementTypes) ||
      !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
    return std::nullopt;
  return ProductEmitter(request, *product, op, fromZero).emit();
}
