//===- SplitReductions.cpp - Large reductions in slabs -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitReductions.h"
#include "act/Conversion/KernelUtils/Combiners.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::act;

/// A reduction with fewer elements is one piece.
static constexpr int64_t leastElements = 65536;
/// Elements of a slab, at least.
static constexpr int64_t slabElements = 8192;
/// Most results of a reduction that is split.
static constexpr int64_t mostResults = 64;
static constexpr int64_t mostSlabs = 64;

/// The loop to cut and the number of slabs, 1 if none.
static std::pair<unsigned, int64_t> chooseSlabs(linalg::GenericOp op) {
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  int64_t elements = 1, results = 1;
  for (auto [extent, iterator] : llvm::zip_equal(extents, iterators)) {
    elements *= extent;
    if (iterator == utils::IteratorType::parallel)
      results *= extent;
  }
  if (elements < leastElements || results > mostResults)
    return {0, 1};
  int64_t wanted = std::min(mostSlabs, elements / slabElements);
  unsigned best = 0;
  int64_t slabs = 1;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (iterators[loop] == utils::IteratorType::parallel)
      continue;
    for (int64_t count = std::min(wanted, extents[loop]); count > slabs;
         --count)
      if (extents[loop] % count == 0) {
        best = loop;
        slabs = count;
        break;
      }
    if (slabs >= wanted / 2)
      break;
  }
  return {best, slabs};
}

/// `map` over loops with a new first one, of slabs.
static AffineMap getSlabMap(AffineMap map, unsigned loop) {
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

/// `buffer` with the dimension of `loop`, if `map` has it, in slabs.
static Value expandSlabs(OpBuilder &builder, Location loc, Value buffer,
                         AffineMap map, unsigned loop, int64_t slabs) {
  auto type = dyn_cast<MemRefType>(buffer.getType());
  std::optional<unsigned> dim =
      map.getResultPosition(builder.getAffineDimExpr(loop));
  if (!type || !dim)
    return buffer;
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    groups.push_back({next++});
    if (i == *dim)
      groups.back().push_back(next++);
  }
  shape[*dim] /= slabs;
  shape.insert(shape.begin() + *dim, slabs);
  return memref::ExpandShapeOp::create(builder, loc, shape, buffer, groups);
}

/// A buffer of one `type` per slab, filled with `neutral`.
static Value createPartial(OpBuilder &builder, Location loc, MemRefType type,
                           int64_t slabs, TypedAttr neutral) {
  SmallVector<int64_t> shape{slabs};
  llvm::append_range(shape, type.getShape());
  Value buffer = memref::AllocOp::create(
      builder, loc, MemRefType::get(shape, type.getElementType()),
      builder.getI64IntegerAttr(64));
  Value value = arith::ConstantOp::create(builder, loc, neutral);
  linalg::FillOp::create(builder, loc, value, buffer);
  return buffer;
}

/// Adds the results of slabs in `partial` to `result` by `combiner`.
static void combineSlabs(OpBuilder &builder, Location loc, Value partial,
                         Value result, Operation *combiner) {
  int64_t rank = cast<MemRefType>(partial.getType()).getRank();
  AffineMap in = builder.getMultiDimIdentityMap(rank);
  SmallVector<AffineExpr> out(in.getResults().drop_front());
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators[0] = utils::IteratorType::reduction;
  linalg::GenericOp::create(
      builder, loc, ValueRange{partial}, ValueRange{result},
      ArrayRef{in, AffineMap::get(rank, 0, out, builder.getContext())},
      iterators, [&](OpBuilder &inner, Location loc, ValueRange args) {
        Operation *sum = inner.clone(*combiner);
        sum->setOperands({args[1], args[0]});
        linalg::YieldOp::create(inner, loc, sum->getResults());
      });
}

void mlir::act::splitReduction(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || isContraction(op) ||
      op.hasIndexSemantics() || op.hasDynamicShape() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  auto [loop, slabs] = chooseSlabs(op);
  std::optional<SmallVector<Combiner>> combiners = getCombiners(op);
  if (slabs == 1 || !combiners)
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> partials;
  for (auto [out, combiner] : llvm::zip_equal(op.getOutputs(), *combiners))
    partials.push_back(createPartial(builder, loc,
                                     cast<MemRefType>(out.getType()), slabs,
                                     combiner.neutral));
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    AffineMap slabMap = getSlabMap(map, loop);
    if (op.isDpsInit(&operand)) // one result per slab
      slabMap = slabMap.insertResult(builder.getAffineDimExpr(0), 0);
    else
      inputs.push_back(
          expandSlabs(builder, loc, operand.get(), map, loop, slabs));
    maps.push_back(slabMap);
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin(), utils::IteratorType::parallel);
  auto slab = linalg::GenericOp::create(builder, loc, inputs, partials, maps,
                                        iterators);
  slab.getRegion().takeBody(op.getRegion());
  for (auto [partial, out, combiner] :
       llvm::zip_equal(partials, op.getOutputs(), *combiners))
    combineSlabs(builder, loc, partial, out, combiner.op);
  op.erase();
}
