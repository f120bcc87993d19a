//===- SplitProducts.cpp - Long sums of products in slices ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product with few elements and long sums, such as the gradient of weights,
// gives work to few blocks. Its sums are cut into slices, each of which is a
// product of its own into a partial result, and the partial results are added
// in the order of the slices.
//
//===----------------------------------------------------------------------===//

#include "ProductShape.h"
#include "TiledProduct.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/KernelsToGPU/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTSPLITPRODUCTSPASS
#include "act/Conversion/KernelsToGPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Blocks that there should be.
static constexpr int64_t wantedBlocks = 128;
static constexpr int64_t mostSlices = 16;
/// Terms of the sums of a slice, at least.
static constexpr int64_t leastTerms = 128;
/// Alignment of new buffers in bytes.
static constexpr int64_t partialAlignment = 64;

namespace {
/// A product whose sums are to be cut.
struct SplitProduct {
  KernelOp kernel;
  linalg::GenericOp op;
  bool fromZero = false;
  /// The loop that is cut.
  unsigned loop = 0;
  int64_t slices = 1;
  Type sumType;
};
} // namespace

/// The number of slices of a sum of `extent` terms: a divisor.
static int64_t getSlices(const ProductShape &shape, int64_t extent) {
  Type type = shape.elementTypes[ProductShape::Left];
  int64_t batch = shape.batch[0].getExtent();
  int64_t rows = shape.rows[0].getExtent();
  int64_t columns = shape.columns[0].getExtent();
  TileShape tile = chooseTileShape(batch, rows, columns, type,
                                   type.getIntOrFloatBitWidth() == 16);
  int64_t blocks = batch * llvm::divideCeil(rows, tile.rows) *
                   llvm::divideCeil(columns, tile.columns);
  if (blocks == 0)
    return 1;
  int64_t terms = shape.sums[0].getExtent();
  int64_t most =
      std::min({mostSlices, wantedBlocks / blocks, terms / leastTerms});
  for (int64_t slices = most; slices > 1; --slices)
    if (extent % slices == 0)
      return slices;
  return 1;
}

static std::optional<SplitProduct> getSplitProduct(KernelOp kernel) {
  SplitProduct split;
  Block &body = kernel.getBody().front();
  split.kernel = kernel;
  split.op = dyn_cast<linalg::GenericOp>(body.back());
  if (!split.op || !isContraction(split.op) ||
      !llvm::all_of(split.op->getOperands(), llvm::IsaPred<BlockArgument>))
    return std::nullopt;
  split.fromZero = startsFromZero(split.op);
  bool alone = llvm::hasSingleElement(body.getOps<linalg::GenericOp>());
  std::optional<ProductShape> shape = getProductShape(split.op);
  if ((!split.fromZero && !alone) || !shape)
    return std::nullopt;
  SmallVector<int64_t> extents = split.op.getStaticLoopRanges();
  SmallVector<unsigned> reductions;
  split.op.getReductionDims(reductions);
  split.loop = *llvm::max_element(reductions, [&](unsigned a, unsigned b) {
    return extents[a] < extents[b];
  });
  split.slices = getSlices(*shape, extents[split.loop]);
  if (split.slices == 1)
    return std::nullopt;
  Type type = shape->elementTypes[ProductShape::Left];
  split.sumType = type.isF64() ? type : Float32Type::get(kernel.getContext());
  return split;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// `map` of a factor over loops with a new first one, of slices.
static AffineMap getSliceMap(AffineMap map, unsigned loop) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (dim == loop)
      results.push_back(getAffineDimExpr(0, context));
    results.push_back(getAffineDimExpr(dim + 1, context));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, context);
}

/// The buffer of a factor with the dimension of the cut loop in slices.
static Value expandSlices(OpBuilder &builder, const SplitProduct &split,
                          Value buffer, AffineMap map) {
  auto type = cast<MemRefType>(buffer.getType());
  unsigned dim = *map.getResultPosition(builder.getAffineDimExpr(split.loop));
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    groups.push_back({next++});
    if (i == dim)
      groups.back().push_back(next++);
  }
  shape[dim] /= split.slices;
  shape.insert(shape.begin() + dim, split.slices);
  return memref::ExpandShapeOp::create(builder, buffer.getLoc(), shape, buffer,
                                       groups);
}

/// A kernel with a body of its own over `buffers`.
static KernelOp createKernel(OpBuilder &builder, Location loc, KernelKind kind,
                             ValueRange buffers) {
  auto kernel =
      KernelOp::create(builder, loc, kind, ArrayRef<int64_t>(), buffers);
  Block &body = kernel.getBody().emplaceBlock();
  for (Value buffer : buffers)
    body.addArgument(buffer.getType(), loc);
  return kernel;
}

/// Stores 0 to all of `buffer`.
static void fillZero(OpBuilder &builder, Location loc, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  Value zero = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  int64_t rank = type.getRank();
  linalg::GenericOp::create(
      builder, loc, ValueRange{zero}, ValueRange{buffer},
      ArrayRef{AffineMap::get(rank, 0, builder.getContext()),
               builder.getMultiDimIdentityMap(rank)},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &inner, Location loc, ValueRange args) {
        linalg::YieldOp::create(inner, loc, args[0]);
      });
}

/// The kernel that adds up each slice on its own, into `partial`.
static void multiplySlices(OpBuilder &builder, const SplitProduct &split,
                           Value partial) {
  linalg::GenericOp op = split.op;
  KernelOp kernel = split.kernel;
  Location loc = op.getLoc();
  SmallVector<Value> buffers;
  SmallVector<AffineMap> maps;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    unsigned number = cast<BlockArgument>(operand->get()).getArgNumber();
    buffers.push_back(
        expandSlices(builder, split, kernel.getBuffers()[number], map));
    maps.push_back(getSliceMap(map, split.loop));
  }
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  maps.push_back(getSliceMap(out, split.loop)
                     .insertResult(builder.getAffineDimExpr(0), 0));
  buffers.push_back(partial);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin(), utils::IteratorType::parallel);
  KernelOp slices =
      createKernel(builder, loc, KernelKind::Contraction, buffers);
  OpBuilder inner = OpBuilder::atBlockBegin(&slices.getBody().front());
  auto arguments = slices.getBody().getArguments();
  fillZero(inner, loc, arguments.back());
  linalg::GenericOp::create(
      inner, loc, arguments.drop_back(), ValueRange{arguments.back()}, maps,
      iterators, [&](OpBuilder &body, Location loc, ValueRange args) {
        SmallVector<Value> factors(args.drop_back());
        for (Value &factor : factors)
          if (factor.getType() != split.sumType)
            factor = arith::ExtFOp::create(body, loc, split.sumType, factor);
        Value product =
            arith::MulFOp::create(body, loc, factors[0], factors[1]);
        Value sum = arith::AddFOp::create(body, loc, args.back(), product);
        linalg::YieldOp::create(body, loc, sum);
      });
}

/// The kernel that adds the slices of `partial` and rounds the sum once.
static void addSlices(OpBuilder &builder, const SplitProduct &split,
                      Value partial) {
  linalg::GenericOp op = split.op;
  KernelOp kernel = split.kernel;
  Location loc = op.getLoc();
  auto destination = cast<BlockArgument>(op.getOutputs()[0]);
  Value out = kernel.getBuffers()[destination.getArgNumber()];
  Type type = cast<MemRefType>(out.getType()).getElementType();
  int64_t rank = cast<MemRefType>(out.getType()).getRank();
  SmallVector<AffineMap> maps;
  AffineMap identity = builder.getMultiDimIdentityMap(rank);
  for (int64_t slice = 0; slice < split.slices; ++slice)
    maps.push_back(
        identity.insertResult(builder.getAffineConstantExpr(slice), 0));
  maps.push_back(identity);
  KernelOp sum =
      createKernel(builder, loc, KernelKind::Elementwise, {partial, out});
  OpBuilder inner = OpBuilder::atBlockBegin(&sum.getBody().front());
  auto arguments = sum.getBody().getArguments();
  linalg::GenericOp::create(
      inner, loc, SmallVector<Value>(split.slices, arguments[0]),
      ValueRange{arguments[1]}, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange args) {
        Value total = args[0];
        for (Value part : args.drop_front().drop_back())
          total = arith::AddFOp::create(body, loc, total, part);
        if (!split.fromZero) {
          Value before = args.back();
          if (type != split.sumType)
            before = arith::ExtFOp::create(body, loc, split.sumType, before);
          total = arith::AddFOp::create(body, loc, before, total);
        }
        if (type != split.sumType)
          total = arith::TruncFOp::create(body, loc, type, total);
        linalg::YieldOp::create(body, loc, total);
      });
}

static void splitProduct(const SplitProduct &split) {
  KernelOp kernel = split.kernel;
  linalg::GenericOp op = split.op;
  OpBuilder builder(kernel);
  SmallVector<int64_t> shape{split.slices};
  llvm::append_range(shape,
                     cast<MemRefType>(op.getOutputs()[0].getType()).getShape());
  Value partial = memref::AllocOp::create(
      builder, kernel.getLoc(), MemRefType::get(shape, split.sumType),
      builder.getI64IntegerAttr(partialAlignment));
  multiplySlices(builder, split, partial);
  addSlices(builder, split, partial);
  kernel.erase();
}

namespace {
struct SplitProductsPass
    : act::impl::ActSplitProductsPassBase<SplitProductsPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<SplitProduct> splits;
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getKind() != KernelKind::Contraction)
        return;
      if (std::optional<SplitProduct> split = getSplitProduct(kernel))
        splits.push_back(*split);
    });
    for (const SplitProduct &split : splits)
      splitProduct(split);
  }
};
} // namespace
