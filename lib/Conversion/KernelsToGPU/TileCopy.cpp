//===- TileCopy.cpp - Parts of factors in shared memory -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileCopy.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

/// Most pieces of a thread that are copied without a loop, each with an address
/// of its own; fewer where threads multiply, whose sums leave few registers.
static constexpr int64_t mostUnrolledPieces = 8;
static constexpr int64_t mostUnrolledPiecesOfThreads = 2;

//===----------------------------------------------------------------------===//
// LinearFactor
//===----------------------------------------------------------------------===//

LinearFactor::LinearFactor(Value pointer, Type elementType, Axis outer,
                           Axis sums, int64_t alignment, const Axis &others)
    : outer(std::move(outer)), sums(std::move(sums)) {
  this->pointer = pointer;
  this->elementType = elementType;
  outerExtent = this->outer.getExtent();
  sumExtent = this->sums.getExtent();
  int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  int64_t most = std::max<int64_t>(
      1, std::min<int64_t>(chunkBytes, alignment & -alignment) / bytes);
  auto getVector = [&](const Axis &along, const Axis &across) {
    int64_t elements = along.getVector(most);
    while (elements > 1 && !(along.isMultiple(elements, /*exceptLast=*/true) &&
                             across.isMultiple(elements, false) &&
                             others.isMultiple(elements, false)))
      elements /= 2;
    return elements;
  };
  outerVector = getVector(this->outer, this->sums);
  sumVector = getVector(this->sums, this->outer);
  auto getClosest = [](const Axis &axis) {
    return axis.loops.empty() ? INT64_MAX : std::abs(axis.loops.back().stride);
  };
  sumsAreClose = getClosest(this->sums) <= getClosest(this->outer);
}

Value LinearFactor::getOffset(GpuKernelBuilder &kernel, Value outerPosition,
                              Value sum) {
  // In 64 bits: what is constant in an address becomes part of the instruction.
  return PositionMath(kernel).add(
      outer.getOffset(kernel, outerPosition, /*wide=*/true),
      sums.getOffset(kernel, sum, /*wide=*/true));
}

//===----------------------------------------------------------------------===//
// TileCopy
//===----------------------------------------------------------------------===//

TileCopy::TileCopy(GpuKernelBuilder &kernel, FactorAccess &factor,
                   FactorTile tile)
    : kernel(kernel), math(kernel), factor(factor), tile(tile) {
  // Several elements at once where both memories have them next to each other.
  int64_t possible = tile.rowsAlongSums ? factor.sumVector : factor.outerVector;
  bool sameType = factor.elementType == tile.storedType;
  alongSums = factor.sumsAreClose;
  if (sameType && possible > 1) {
    vector = possible;
    alongSums = tile.rowsAlongSums;
  }
  async = sameType && vector * tile.getElementBytes() >= 4;
}

void TileCopy::emit(Value pointer, Value outer, Value sum) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  int64_t threads = kernel.getNumThreads();
  // Neighbouring threads copy neighbouring pieces of a line.
  int64_t pieces = (alongSums ? tile.sums : tile.outer) / vector;
  int64_t lines = alongSums ? tile.outer : tile.sums;
  int64_t linesAtOnce = threads / pieces;
  assert(linesAtOnce > 0 && threads % pieces == 0 && "tiles fit blocks");
  Value thread = kernel.getThread();
  Value piece = math.multiply(math.remainder(thread, pieces), vector);
  Value firstLine = math.divide(thread, pieces);
  auto copyLine = [&](Value line) {
    copyPiece(pointer, outer, sum, alongSums ? line : piece,
              alongSums ? piece : line);
  };
  if (linesAtOnce > lines) {
    auto guard = scf::IfOp::create(b, math.isLess(firstLine, lines), false);
    OpBuilder::InsertionGuard insertion(b);
    b.setInsertionPointToStart(guard.thenBlock());
    copyLine(firstLine);
    return;
  }
  assert(lines % linesAtOnce == 0 && "extents are powers of two");
  if (lines / linesAtOnce <=
      (tile.swizzled ? mostUnrolledPieces : mostUnrolledPiecesOfThreads)) {
    for (int64_t line = 0; line < lines; line += linesAtOnce)
      copyLine(math.add(firstLine, line));
    return;
  }
  auto loop = scf::ForOp::create(b, firstLine, kernel.i32(lines),
                                 kernel.i32(linesAtOnce));
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(loop.getBody());
  copyLine(loop.getInductionVar());
}

Value TileCopy::getSharedAddress(Value pointer, Value localOuter,
                                 Value localSum) {
  SharedMatrix matrix{pointer, tile.storedType, tile.getRowBytes(),
                      tile.swizzled};
  Value row = tile.rowsAlongSums ? localOuter : localSum;
  Value column = tile.rowsAlongSums ? localSum : localOuter;
  int64_t chunk = matrix.getChunkElements();
  Value address =
      getChunkAddress(kernel, matrix, row, math.divide(column, chunk));
  if (vector == chunk)
    return address;
  return kernel.getAddress(address, tile.storedType,
                           math.remainder(column, chunk));
}

void TileCopy::copyThroughRegisters(Value shared, Value global, Value present) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value element = kernel.load(factor.elementType, global);
  if (factor.elementType != tile.storedType)
    element = arith::ExtFOp::create(b, tile.storedType, element);
  if (present) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(tile.storedType));
    element = arith::SelectOp::create(b, present, element, zero);
  }
  kernel.store(element, shared);
}

void TileCopy::copyPiece(Value pointer, Value outer, Value sum,
                         Value localOuter, Value localSum) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value shared = getSharedAddress(pointer, localOuter, localSum);
  outer = math.add(outer, localOuter);
  sum = math.add(sum, localSum);
  Value present;
  if (factor.outerExtent % tile.outer != 0)
    present = math.isLess(outer, factor.outerExtent);
  if (factor.sumExtent % tile.sums != 0)
    present = math.both(present, math.isLess(sum, factor.sumExtent));
  present = math.both(present, factor.isPresent(kernel, outer, sum));
  Value offset = factor.getOffset(kernel, outer, sum);
  // Element 0 always is there to be addressed.
  if (present)
    offset =
        arith::SelectOp::create(b, present, offset, kernel.intLike(offset, 0));
  Value global = kernel.getAddress(factor.pointer, factor.elementType, offset);
  if (!async)
    return copyThroughRegisters(shared, global, present);
  int64_t bytes = vector * tile.getElementBytes();
  Value valid;
  if (present)
    valid =
        arith::SelectOp::create(b, present, kernel.i32(bytes), kernel.i32(0));
  copyAsync(kernel, shared, global, bytes, valid);
}
