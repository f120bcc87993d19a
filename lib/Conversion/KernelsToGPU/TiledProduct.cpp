//===- TiledProduct.cpp - Products of matrices by blocks ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of the factors come into shared memory by asynchronous copies, some
// parts ahead of the one that is multiplied. Without tensor cores, both factors
// are there with their positions along the product next to each other, so that
// a thread loads several at once and multiplies each with each. For tensor
// cores, rows of 128 bytes and more have permuted chunks, and the sums go
// through shared memory so that rows of the product are written in one piece.
//
//===----------------------------------------------------------------------===//

#include "TiledProduct.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

/// Columns of the product that a thread writes at once with tensor cores.
static constexpr int64_t epilogueColumns = 8;
/// Unused f32 at the end of rows of the product in shared memory.
static constexpr int64_t productPadding = 4;
/// Blocks that keep most devices busy.
static constexpr int64_t enoughBlocks = 96;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static TileShape getUnitShape(int64_t rows, int64_t columns, int64_t rowParts,
                              int64_t columnParts, Type elementType) {
  // Rows of 128 bytes along the sums.
  int64_t sums = 1024 / elementType.getIntOrFloatBitWidth();
  return {rows, columns, sums, rowParts, columnParts, 3, true};
}

/// The fewer terms are copied at once, the fewer addresses a thread keeps.
static TileShape getThreadShape(int64_t size, int64_t parts, int64_t sums) {
  return {size, size, sums, parts, parts, 2, false};
}

TileShape mlir::act::chooseTileShape(int64_t batch, int64_t rows,
                                     int64_t columns, Type elementType,
                                     bool matrixUnits) {
  auto hasEnough = [&](const TileShape &shape) {
    // At least half of a part is of use.
    return 2 * rows > shape.rows && 2 * columns > shape.columns &&
           batch * llvm::divideCeil(rows, shape.rows) *
                   llvm::divideCeil(columns, shape.columns) >=
               enoughBlocks;
  };
  SmallVector<TileShape> shapes;
  if (matrixUnits)
    shapes = {getUnitShape(128, 256, 2, 4, elementType),
              getUnitShape(128, 128, 2, 4, elementType),
              getUnitShape(64, 64, 2, 2, elementType),
              getUnitShape(32, 32, 2, 2, elementType)};
  else if (elementType.isF64())
    shapes = {getThreadShape(64, 16, 8), getThreadShape(32, 8, 8)};
  else
    shapes = {getThreadShape(128, 16, 8), getThreadShape(64, 16, 16),
              getThreadShape(32, 8, 16)};
  for (const TileShape &shape : shapes)
    if (hasEnough(shape))
      return shape;
  // Few blocks whatever the shape: such that they have work.
  bool isLarge =
      rows > 32 && columns > 32 && rows * columns * batch >= 64 * 256;
  return isLarge ? shapes.rbegin()[1] : shapes.back();
}

//===----------------------------------------------------------------------===//
// Emitter
//===----------------------------------------------------------------------===//

namespace {
class TiledProduct {
public:
  TiledProduct(GpuKernelBuilder &kernel, const TileShape &shape,
               FactorAccess &left, FactorAccess &right,
               const TileEpilogue &epilogue);

  void emit(Value firstRow, Value firstColumn);

private:
  void copyPart(Value part, Value stageOffset, Value firstRow,
                Value firstColumn);
  void commit();
  void wait(int64_t pending);
  Value getNextStage(Value offset);
  SmallVector<Value> emitLoop(Value firstRow, Value firstColumn);

  SmallVector<Value> multiplyByThreads(Value stageOffset, ValueRange sums);
  SmallVector<Value> loadThreadValues(const FactorTile &tile, Value pointer,
                                      int64_t sum, int64_t parts, Value part);
  void finishThreads(ValueRange sums, Value firstRow, Value firstColumn);

  void prepareUnits();
  SmallVector<Value> multiplyByUnits(Value stageOffset, ValueRange sums);
  SmallVector<Value> loadFactor(FactorLoader &loader, int64_t position,
                                int64_t depth, Value offset);
  void stageUnits(ValueRange sums);
  void finishUnits(ValueRange sums, Value firstRow, Value firstColumn);

  void emitGuarded(Value row, Value column, ArrayRef<Value> values);

  GpuKernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
  PositionMath math;
  TileShape shape;
  Type elementType, sumType;
  FactorTile leftTile, rightTile;
  TileCopy leftCopy, rightCopy;
  TileEpilogue epilogue;
  int64_t numParts, stageBytes;
  Value shared;
  /// Position among the parts of the block.
  Value rowPart, columnPart;
  std::optional<FactorLoader> leftLoader, rightLoader;
};
} // namespace

/// How a factor is kept in shared memory.
static FactorTile getTile(const TileShape &shape, const FactorAccess &factor,
                          int64_t outer, Type storedType) {
  FactorTile tile{outer, shape.sums, storedType};
  if (!shape.matrixUnits) {
    // A column of the tile is written at once if the sums are close in memory.
    tile.paddingBytes = chunkBytes;
    return tile;
  }
  // Only matrices of 16 bits can be transposed on their way to registers, and
  // only rows of 128 bytes can be permuted.
  bool transposable = storedType.getIntOrFloatBitWidth() == 16 && outer >= 64;
  bool outerIsBetter =
      factor.outerVector > factor.sumVector ||
      (factor.outerVector == factor.sumVector && !factor.sumsAreClose);
  tile.rowsAlongSums = !transposable || !outerIsBetter;
  tile.swizzled = true;
  return tile;
}

static Type getSumType(Type elementType) {
  return elementType.isF64() ? elementType
                             : Float32Type::get(elementType.getContext());
}

TiledProduct::TiledProduct(GpuKernelBuilder &kernel, const TileShape &shape,
                           FactorAccess &left, FactorAccess &right,
                           const TileEpilogue &epilogue)
    : kernel(kernel), b(kernel.getBuilder()), math(kernel), shape(shape),
      elementType(left.elementType), sumType(getSumType(elementType)),
      leftTile(getTile(shape, left, shape.rows,
                       shape.matrixUnits ? elementType : sumType)),
      rightTile(getTile(shape, right, shape.columns,
                        shape.matrixUnits ? elementType : sumType)),
      leftCopy(kernel, left, leftTile), rightCopy(kernel, right, rightTile),
      epilogue(epilogue),
      numParts(llvm::divideCeil(left.sumExtent, shape.sums)),
      stageBytes(leftTile.getBytes() + rightTile.getBytes()) {
  int64_t bytes = shape.stages * stageBytes;
  if (shape.matrixUnits)
    bytes = std::max(bytes, shape.rows * (shape.columns + productPadding) * 4);
  shared = kernel.allocateShared(bytes);
  // Half of the registers for each block of 256 threads, unless the sums alone
  // take that many.
  if (shape.getThreads() == 256 && shape.rows * shape.columns <= 128 * 128)
    kernel.setBlocksPerMultiprocessor(2);
  Value position = shape.matrixUnits ? kernel.getWarp() : kernel.getThread();
  rowPart = math.divide(position, shape.columnParts);
  columnPart = math.remainder(position, shape.columnParts);
  if (shape.matrixUnits)
    prepareUnits();
}

void TiledProduct::emit(Value firstRow, Value firstColumn) {
  SmallVector<Value> sums = emitLoop(firstRow, firstColumn);
  if (shape.matrixUnits)
    finishUnits(sums, firstRow, firstColumn);
  else
    finishThreads(sums, firstRow, firstColumn);
}

//===----------------------------------------------------------------------===//
// The loop over the sums
//===----------------------------------------------------------------------===//

void TiledProduct::copyPart(Value part, Value stageOffset, Value firstRow,
                            Value firstColumn) {
  Value stage = kernel.getAddress(shared, b.getI8Type(), stageOffset);
  Value sum = math.multiply(part, shape.sums);
  leftCopy.emit(stage, firstRow, sum);
  Value rightStage =
      kernel.getAddress(stage, b.getI8Type(), kernel.i32(leftTile.getBytes()));
  rightCopy.emit(rightStage, firstColumn, sum);
}

void TiledProduct::commit() {
  if (leftCopy.isAsync() || rightCopy.isAsync())
    commitCopies(kernel);
}

void TiledProduct::wait(int64_t pending) {
  if (leftCopy.isAsync() || rightCopy.isAsync())
    waitForCopies(kernel, pending);
}

/// The offset of the stage that follows that at `offset`.
Value TiledProduct::getNextStage(Value offset) {
  Value next = math.add(offset, stageBytes);
  Value end = kernel.i32(shape.stages * stageBytes);
  Value isEnd = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, next, end);
  return arith::SelectOp::create(b, isEnd, kernel.i32(0), next);
}

SmallVector<Value> TiledProduct::emitLoop(Value firstRow, Value firstColumn) {
  int64_t ahead = shape.stages - 1;
  for (int64_t part = 0; part < ahead; ++part) {
    if (part < numParts)
      copyPart(kernel.i32(part), kernel.i32(part * stageBytes), firstRow,
               firstColumn);
    commit();
  }
  int64_t count = shape.rows * shape.columns / shape.getThreads();
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(sumType));
  SmallVector<Value> initial(count, zero);
  initial.push_back(kernel.i32(0));
  initial.push_back(kernel.i32(ahead * stageBytes));
  auto loop = scf::ForOp::create(b, kernel.i32(0), kernel.i32(numParts),
                                 kernel.i32(1), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value readStage = loop.getRegionIterArg(count);
    Value writeStage = loop.getRegionIterArg(count + 1);
    // The part is there for all, and all have read the stage that is written.
    wait(shape.stages - 2);
    kernel.barrier();
    Value next = math.add(loop.getInductionVar(), ahead);
    auto isMore = scf::IfOp::create(b, math.isLess(next, numParts), false);
    {
      OpBuilder::InsertionGuard inner(b);
      b.setInsertionPointToStart(isMore.thenBlock());
      copyPart(next, writeStage, firstRow, firstColumn);
    }
    commit();
    ValueRange current = loop.getRegionIterArgs().take_front(count);
    SmallVector<Value> yielded = shape.matrixUnits
                                     ? multiplyByUnits(readStage, current)
                                     : multiplyByThreads(readStage, current);
    yielded.push_back(getNextStage(readStage));
    yielded.push_back(getNextStage(writeStage));
    scf::YieldOp::create(b, yielded);
  }
  return SmallVector<Value>(loop.getResults().take_front(count));
}

/// Hands over values of the product, if they are in it.
void TiledProduct::emitGuarded(Value row, Value column,
                               ArrayRef<Value> values) {
  Value inside;
  if (epilogue.rows % shape.rows != 0)
    inside = math.isLess(row, epilogue.rows);
  if (epilogue.columns % shape.columns != 0)
    inside = math.both(inside, math.isLess(column, epilogue.columns));
  if (!inside)
    return epilogue.emit(row, column, values);
  auto guard = scf::IfOp::create(b, inside, false);
  OpBuilder::InsertionGuard insertion(b);
  b.setInsertionPointToStart(guard.thenBlock());
  epilogue.emit(row, column, values);
}

//===----------------------------------------------------------------------===//
// Products by threads
//===----------------------------------------------------------------------===//
//
// Thread (i, j) has rows i * v to i * v + v - 1 of every group of rowParts * v
// rows, where v elements are a chunk, and such columns.

SmallVector<Value> TiledProduct::loadThreadValues(const FactorTile &tile,
                                                  Value pointer, int64_t sum,
                                                  int64_t parts, Value part) {
  int64_t vector = chunkBytes / tile.getElementBytes();
  auto type = VectorType::get(vector, sumType);
  Value own = kernel.getAddress(pointer, b.getI8Type(),
                                math.multiply(part, chunkBytes));
  SmallVector<Value> values;
  for (int64_t first = 0; first < tile.outer; first += parts * vector) {
    int64_t offset = sum * tile.getRowBytes() + first * tile.getElementBytes();
    Value chunk = kernel.load(
        type, kernel.getAddress(own, b.getI8Type(), kernel.i32(offset)));
    for (int64_t i = 0; i < vector; ++i)
      values.push_back(vector::ExtractOp::create(b, chunk, i));
  }
  return values;
}

SmallVector<Value> TiledProduct::multiplyByThreads(Value stageOffset,
                                                   ValueRange sums) {
  SmallVector<Value> current(sums);
  Value left = kernel.getAddress(shared, b.getI8Type(), stageOffset);
  Value right =
      kernel.getAddress(left, b.getI8Type(), kernel.i32(leftTile.getBytes()));
  for (int64_t sum = 0; sum < shape.sums; ++sum) {
    SmallVector<Value> rows =
        loadThreadValues(leftTile, left, sum, shape.rowParts, rowPart);
    SmallVector<Value> columns =
        loadThreadValues(rightTile, right, sum, shape.columnParts, columnPart);
    auto *next = current.begin();
    for (Value row : rows)
      for (Value column : columns) {
        *next = LLVM::FMAOp::create(b, row, column, *next);
        ++next;
      }
  }
  return current;
}

void TiledProduct::finishThreads(ValueRange sums, Value firstRow,
                                 Value firstColumn) {
  int64_t vector = chunkBytes * 8 / sumType.getIntOrFloatBitWidth();
  int64_t rowsOfThread = shape.rows / shape.rowParts;
  int64_t columnsOfThread = shape.columns / shape.columnParts;
  Value ownRow = math.add(firstRow, math.multiply(rowPart, vector));
  Value ownColumn = math.add(firstColumn, math.multiply(columnPart, vector));
  for (int64_t i = 0; i < rowsOfThread; ++i) {
    Value row =
        math.add(ownRow, i / vector * vector * shape.rowParts + i % vector);
    for (int64_t j = 0; j < columnsOfThread; j += vector) {
      Value column = math.add(ownColumn, j * shape.columnParts);
      SmallVector<Value> values(sums.slice(i * columnsOfThread + j, vector));
      emitGuarded(row, column, values);
    }
  }
}

//===----------------------------------------------------------------------===//
// Products by tensor cores
//===----------------------------------------------------------------------===//

void TiledProduct::prepareUnits() {
  auto getMatrix = [&](const FactorTile &tile) {
    return SharedMatrix{shared, tile.storedType, tile.getRowBytes(),
                        tile.swizzled};
  };
  leftLoader.emplace(kernel, getMatrix(leftTile),
                     leftTile.rowsAlongSums ? FactorLayout::LeftRows
                                            : FactorLayout::LeftColumns,
                     math.multiply(rowPart, shape.rows / shape.rowParts));
  rightLoader.emplace(
      kernel, getMatrix(rightTile),
      rightTile.rowsAlongSums ? FactorLayout::RightColumns
                              : FactorLayout::RightRows,
      math.multiply(columnPart, shape.columns / shape.columnParts));
}

SmallVector<Value> TiledProduct::loadFactor(FactorLoader &loader,
                                            int64_t position, int64_t depth,
                                            Value offset) {
  SmallVector<Value> registers = loader.load(position, depth, offset);
  if (elementType.isF32())
    for (Value &value : registers)
      value = roundToTf32(kernel,
                          arith::BitcastOp::create(b, b.getF32Type(), value));
  return registers;
}

SmallVector<Value> TiledProduct::multiplyByUnits(Value stageOffset,
                                                 ValueRange sums) {
  SmallVector<Value> current(sums);
  int64_t warpRows = shape.rows / shape.rowParts;
  int64_t warpColumns = shape.columns / shape.columnParts;
  Value rightOffset = math.add(stageOffset, leftTile.getBytes());
  for (int64_t depth = 0; depth < shape.sums;
       depth += getMatrixUnitDepth(elementType)) {
    SmallVector<SmallVector<Value>> lefts, rights;
    for (int64_t row = 0; row < warpRows; row += matrixUnitRows)
      lefts.push_back(loadFactor(*leftLoader, row, depth, stageOffset));
    for (int64_t column = 0; column < warpColumns;
         column += 2 * matrixUnitColumns) {
      SmallVector<Value> pair =
          loadFactor(*rightLoader, column, depth, rightOffset);
      rights.emplace_back(ArrayRef<Value>(pair).take_front(2));
      rights.emplace_back(ArrayRef<Value>(pair).drop_front(2));
    }
    size_t first = 0;
    for (ArrayRef<Value> left : lefts)
      for (ArrayRef<Value> right : rights) {
        SmallVector<Value> added =
            multiplyMatrices(kernel, elementType, left, right,
                             ArrayRef<Value>(current).slice(first, 4));
        llvm::copy(added, current.begin() + first);
        first += 4;
      }
  }
  return current;
}

/// Writes the sums to shared memory, as rows.
void TiledProduct::stageUnits(ValueRange sums) {
  int64_t warpRows = shape.rows / shape.rowParts;
  int64_t warpColumns = shape.columns / shape.columnParts;
  int64_t pitch = shape.columns + productPadding;
  Value lane = kernel.getLane();
  Value row = math.add(math.multiply(rowPart, warpRows), math.divide(lane, 4));
  Value column = math.add(math.multiply(columnPart, warpColumns),
                          math.multiply(math.remainder(lane, 4), 2));
  Value own = kernel.getAddress(shared, sumType,
                                math.add(math.multiply(row, pitch), column));
  size_t next = 0;
  for (int64_t i = 0; i < warpRows; i += matrixUnitRows)
    for (int64_t j = 0; j < warpColumns; j += matrixUnitColumns)
      for (int64_t half : {0, 8}) {
        Value pair = vector::FromElementsOp::create(
            b, VectorType::get(2, sumType), sums.slice(next, 2));
        next += 2;
        kernel.store(pair,
                     kernel.getAddress(own, sumType,
                                       kernel.i32((i + half) * pitch + j)));
      }
}

void TiledProduct::finishUnits(ValueRange sums, Value firstRow,
                               Value firstColumn) {
  wait(0);
  kernel.barrier();
  stageUnits(sums);
  kernel.barrier();
  int64_t pieces = shape.columns / epilogueColumns;
  int64_t pitch = shape.columns + productPadding;
  Value thread = kernel.getThread();
  Value localColumn =
      math.multiply(math.remainder(thread, pieces), epilogueColumns);
  auto loop =
      scf::ForOp::create(b, math.divide(thread, pieces), kernel.i32(shape.rows),
                         kernel.i32(shape.getThreads() / pieces));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value localRow = loop.getInductionVar();
  Value address = kernel.getAddress(
      shared, sumType, math.add(math.multiply(localRow, pitch), localColumn));
  SmallVector<Value> values;
  auto type = VectorType::get(4, sumType);
  for (int64_t first = 0; first < epilogueColumns; first += 4) {
    Value quad = kernel.load(
        type, kernel.getAddress(address, sumType, kernel.i32(first)));
    for (int64_t i = 0; i < 4; ++i)
      values.push_back(vector::ExtractOp::create(b, quad, i));
  }
  emitGuarded(math.add(firstRow, localRow), math.add(firstColumn, localColumn),
              values);
}

void mlir::act::emitTiledProduct(GpuKernelBuilder &kernel,
                                 const TileShape &shape, FactorAccess &left,
                                 FactorAccess &right, Value firstRow,
                                 Value firstColumn,
                                 const TileEpilogue &epilogue) {
  assert(left.sumExtent == right.sumExtent && "factors have the same sums");
  TiledProduct(kernel, shape, left, right, epilogue)
      .emit(firstRow, firstColumn);
}
