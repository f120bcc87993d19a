//===- TileEmitter.cpp - Register tiles over workspaces ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

/// Steps of the inner dimension of a product that one loop iteration takes.
static constexpr int64_t depthUnroll = 4;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value TileEmitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value TileEmitter::scalar(double value) {
  return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
}

Value TileEmitter::splat(double value) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(vectorType, b.getFloatAttr(type, value)));
}

Value TileEmitter::add(Value a, int64_t offset) {
  return offset == 0 ? a : add(a, index(offset));
}

Value TileEmitter::add(Value a, Value offset) {
  return arith::AddIOp::create(b, a, offset, arith::IntegerOverflowFlags::nsw);
}

Value TileEmitter::broadcast(Value scalar) {
  return vector::BroadcastOp::create(b, vectorType, scalar);
}

Value TileEmitter::load(Value memref, ValueRange indices) {
  return vector::LoadOp::create(b, vectorType, memref, indices);
}

void TileEmitter::store(Value vector, Value memref, ValueRange indices) {
  vector::StoreOp::create(b, vector, memref, indices);
}

Value TileEmitter::loadBroadcast(Value memref, ValueRange indices) {
  return broadcast(memref::LoadOp::create(b, memref, indices));
}

Value TileEmitter::multiply(Value x, Value y) {
  return arith::MulFOp::create(b, x, y);
}

Value TileEmitter::sum(Value x, Value y) {
  return arith::AddFOp::create(b, x, y);
}

Value TileEmitter::fma(Value x, Value y, Value z) {
  return vector::FMAOp::create(b, x, y, z);
}

Value TileEmitter::reduce(Value vector) {
  // The order of a horizontal sum does not matter here; without the flag it
  // is one addition after another.
  return vector::ReductionOp::create(b, vector::CombiningKind::ADD, vector,
                                     arith::FastMathFlags::reassoc);
}

//===----------------------------------------------------------------------===//
// Loops and workspaces
//===----------------------------------------------------------------------===//

Value TileEmitter::allocate(int64_t rows, int64_t columns) {
  return allocate(rows, roundUp(columns), type);
}

Value TileEmitter::allocate(int64_t rows, int64_t columns,
                            FloatType elementType) {
  auto tileType = MemRefType::get({rows, columns}, elementType);
  Value tile = memref::ViewOp::create(b, tileType, workspace,
                                      index(workspaceBytes), ValueRange{});
  // Each starts at a cache line.
  workspaceBytes +=
      llvm::alignTo(rows * columns * elementType.getWidth() / 8, 64);
  return tile;
}

void TileEmitter::fillZero(Value tile) {
  auto tileType = cast<MemRefType>(tile.getType());
  Value zero = splat(0.0);
  loop(0, tileType.getDimSize(0), 1, [&](Value row) {
    loop(0, tileType.getDimSize(1), lanes,
         [&](Value column) { store(zero, tile, {row, column}); });
  });
}

void TileEmitter::loop(Value low, Value high, int64_t step,
                       function_ref<void(Value)> body) {
  auto forOp = scf::ForOp::create(b, low, high, index(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

SmallVector<Value>
TileEmitter::loop(Value low, Value high, int64_t step, ValueRange inits,
                  function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(b, low, high, index(step), inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> results =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  scf::YieldOp::create(b, results);
  return llvm::to_vector_of<Value>(forOp.getResults());
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

TileShape TileEmitter::chooseShape(int64_t rows, int64_t vectors) const {
  // Half of the registers hold the result: enough independent sums to hide the
  // latency of a multiplication, and the rest holds the factors. Two vectors
  // per row need the fewest loads of whole vectors, which cost more than those
  // of elements that are broadcast.
  int64_t width = std::min<int64_t>(vectors, 2);
  int64_t height = target.vectorRegisters / 2 / width;
  return {std::min(rows, height), width};
}

void TileEmitter::forColumnTiles(int64_t columns,
                                 function_ref<void(int64_t, Value)> body) {
  int64_t vectors = roundUp(columns) / lanes;
  for (int64_t low = 0; low < vectors;) {
    int64_t width = chooseShape(lanes, vectors - low).vectors;
    int64_t high = low + (vectors - low) / width * width;
    loop(low * lanes, high * lanes, width * lanes,
         [&](Value column) { body(width, column); });
    low = high;
  }
}

void TileEmitter::forRowTiles(int64_t rows, int64_t vectors,
                              function_ref<void(TileShape, Value)> body) {
  TileShape shape = chooseShape(rows, vectors);
  int64_t full = rows / shape.rows * shape.rows;
  loop(0, full, shape.rows, [&](Value row) { body(shape, row); });
  if (full < rows)
    body({rows - full, vectors}, index(full));
}

void TileEmitter::forTiles(int64_t rows, int64_t columns,
                           function_ref<void(TileShape, Value, Value)> body) {
  forColumnTiles(columns, [&](int64_t vectors, Value column) {
    forRowTiles(rows, vectors,
                [&](TileShape shape, Value row) { body(shape, row, column); });
  });
}

void TileEmitter::forUpperTiles(
    int64_t size, function_ref<void(TileShape, Value, Value)> body) {
  // The rows of a square block on the diagonal need the vectors from there on.
  for (int64_t block = 0; block < size; block += lanes)
    for (int64_t column = block; column < size;) {
      TileShape shape = chooseShape(lanes, (size - column) / lanes);
      loop(block, block + lanes, shape.rows,
           [&](Value row) { body(shape, row, index(column)); });
      column += shape.vectors * lanes;
    }
}

Tile TileEmitter::zeroTile(TileShape shape) {
  return Tile(shape.rows * shape.vectors, splat(0.0));
}

Tile TileEmitter::loadTile(TileShape shape, Value memref, Value row,
                           Value column) {
  Tile tile;
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t c = 0; c < shape.vectors; ++c)
      tile.push_back(load(memref, {add(row, r), add(column, c * lanes)}));
  return tile;
}

void TileEmitter::storeTile(TileShape shape, const Tile &tile, Value memref,
                            Value row, Value column) {
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t c = 0; c < shape.vectors; ++c)
      store(tile[r * shape.vectors + c], memref,
            {add(row, r), add(column, c * lanes)});
}

void TileEmitter::scaleRows(TileShape shape, Tile &tile, Value factors,
                            Value row) {
  for (int64_t r = 0; r < shape.rows; ++r) {
    Value factor = loadBroadcast(factors, {index(0), add(row, r)});
    for (int64_t c = 0; c < shape.vectors; ++c) {
      Value &element = tile[r * shape.vectors + c];
      element = multiply(element, factor);
    }
  }
}

void TileEmitter::scaleTile(Tile &tile, Value factor) {
  for (Value &element : tile)
    element = multiply(element, factor);
}

void TileEmitter::accumulateStep(TileShape shape, Tile &tile, LeftFactor left,
                                 Value row, Value right, Value column, Value k,
                                 function_ref<bool(int64_t)> takesRow) {
  SmallVector<Value> factors;
  for (int64_t c = 0; c < shape.vectors; ++c)
    factors.push_back(load(right, {k, add(column, c * lanes)}));
  for (int64_t r = 0; r < shape.rows; ++r) {
    if (!takesRow(r))
      continue;
    Value at = add(row, r);
    Value factor = left.transposed ? loadBroadcast(left.memref, {k, at})
                                   : loadBroadcast(left.memref, {at, k});
    for (int64_t c = 0; c < shape.vectors; ++c) {
      Value &element = tile[r * shape.vectors + c];
      element = fma(factor, factors[c], element);
    }
  }
}

void TileEmitter::accumulate(TileShape shape, Tile &tile, LeftFactor left,
                             Value row, Value right, Value column, Value low,
                             Value high) {
  auto body = [&](Value k, ValueRange sums) {
    Tile next(sums);
    for (int64_t i = 0; i < depthUnroll; ++i)
      accumulateStep(shape, next, left, row, right, column, add(k, i),
                     [](int64_t) { return true; });
    return next;
  };
  tile = loop(low, high, depthUnroll, tile, body);
}

void TileEmitter::accumulate(TileShape shape, Tile &tile, LeftFactor left,
                             Value row, Value right, Value column,
                             int64_t depth) {
  int64_t full = depth / depthUnroll * depthUnroll;
  if (full > 0)
    accumulate(shape, tile, left, row, right, column, index(0), index(full));
  for (int64_t k = full; k < depth; ++k)
    accumulateStep(shape, tile, left, row, right, column, index(k),
                   [](int64_t) { return true; });
}

void TileEmitter::accumulateTriangle(TileShape shape, Tile &tile,
                                     LeftFactor left, Value row, Value right,
                                     Value column, Triangle part,
                                     int64_t size) {
  // Rows start at a multiple of the tile's height, which is a power of two, so
  // that what is left or right of the diagonal block is whole loop iterations
  // when the height is one too.
  if (part == Triangle::Lower)
    accumulate(shape, tile, left, row, right, column, index(0), row);
  for (int64_t k = 0; k < shape.rows; ++k)
    accumulateStep(
        shape, tile, left, row, right, column, add(row, k),
        [&](int64_t r) { return part == Triangle::Lower ? k <= r : k >= r; });
  if (part == Triangle::Upper)
    accumulate(shape, tile, left, row, right, column, add(row, shape.rows),
               index(size));
}

//===----------------------------------------------------------------------===//
// Transposition
//===----------------------------------------------------------------------===//

/// Shuffles of two vectors, taken lane by lane of 128 bits, as processors with
/// wide vectors do.
static SmallVector<int64_t> getUnpackMask(int64_t lanes, int64_t perLane,
                                          int64_t width, bool high) {
  // Interleaves groups of `width` elements of one half of each lane.
  SmallVector<int64_t> mask;
  for (int64_t lane = 0; lane < lanes; lane += perLane)
    for (int64_t i = 0; i < perLane / 2; i += width)
      for (int64_t source : {int64_t(0), lanes})
        for (int64_t e = 0; e < width; ++e)
          mask.push_back(source + lane + (high ? perLane / 2 : 0) + i + e);
  return mask;
}

/// The even or odd lanes of the first vector, then those of the second.
static SmallVector<int64_t> getLaneMask(int64_t lanes, int64_t perLane,
                                        bool odd) {
  SmallVector<int64_t> mask;
  for (int64_t lane = odd ? perLane : 0; lane < 2 * lanes; lane += 2 * perLane)
    for (int64_t e = 0; e < perLane; ++e)
      mask.push_back(lane + e);
  return mask;
}

SmallVector<Value> TileEmitter::transpose(ArrayRef<Value> rows) {
  SmallVector<Value> now(rows), next(rows.size());
  auto shuffle = [&](Value x, Value y, ArrayRef<int64_t> mask) -> Value {
    return vector::ShuffleOp::create(b, x, y, mask);
  };
  // Transposes the blocks within lanes: each stage interleaves pairs of rows
  // `distance` apart.
  int64_t perLane = std::min<int64_t>(lanes, 128 / type.getWidth());
  for (int64_t width = 1; width < perLane; width *= 2) {
    auto low = getUnpackMask(lanes, perLane, width, /*high=*/false);
    auto high = getUnpackMask(lanes, perLane, width, /*high=*/true);
    for (int64_t group = 0; group < lanes; group += 2 * width)
      for (int64_t i = 0; i < width; ++i) {
        // After a stage, column c of a group's block is at row c.
        next[group + 2 * i] =
            shuffle(now[group + i], now[group + i + width], low);
        next[group + 2 * i + 1] =
            shuffle(now[group + i], now[group + i + width], high);
      }
    std::swap(now, next);
  }
  // Then the blocks, that is, whole lanes.
  for (int64_t width = perLane; width < lanes; width *= 2) {
    auto even = getLaneMask(lanes, perLane, /*odd=*/false);
    auto odd = getLaneMask(lanes, perLane, /*odd=*/true);
    for (int64_t group = 0; group < lanes; group += 2 * width)
      for (int64_t i = 0; i < width; ++i) {
        next[group + i] = shuffle(now[group + i], now[group + i + width], even);
        next[group + i + width] =
            shuffle(now[group + i], now[group + i + width], odd);
      }
    std::swap(now, next);
  }
  return now;
}

void TileEmitter::transposeColumns(Value source, Value destination,
                                   Value column) {
  int64_t rows = cast<MemRefType>(source.getType()).getDimSize(0);
  loop(0, roundUp(rows), lanes, [&](Value row) {
    TileShape shape{lanes, 1};
    storeTile(shape, transpose(loadTile(shape, source, row, column)),
              destination, column, row);
  });
}

void TileEmitter::transposeTile(Value source, Value destination) {
  int64_t columns = cast<MemRefType>(source.getType()).getDimSize(1);
  loop(0, columns, lanes,
       [&](Value column) { transposeColumns(source, destination, column); });
}
