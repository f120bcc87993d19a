//===- ScalarSweep.cpp - Sweeps without tensor cores ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"

using namespace mlir;
using namespace mlir::act;

/// Rows and columns of what a thread computes of a product.
static constexpr int64_t side = 4;

namespace {
/// A matrix in shared memory, f32. Rows are whole vectors of `side` numbers.
struct FloatMatrix {
  Value pointer;
  int64_t stride = 0;
};

/// Products of f32 by the threads' ordinary arithmetic. All factors are in
/// shared memory such that a step of a product reads a vector of either:
/// queries, and keys for pairs, are transposed.
class ScalarSweep : public SweepEmitter {
public:
  using SweepEmitter::SweepEmitter;

  void allocate() override;
  void loadState() override;
  SmallVector<Value> emitChunk(Value start, ValueRange carried) override;
  void storeState(ValueRange carried) override;

private:
  using Tile = SmallVector<Value>;

  FloatMatrix allocateMatrix(int64_t rows, int64_t columns) {
    return {allocateFloats(rows * columns), columns};
  }
  SmallVector<Value> loadVector(FloatMatrix matrix, Value row, Value column);
  void storeVector(ValueRange numbers, FloatMatrix matrix, Value row,
                   Value column);
  Value loadElement(FloatMatrix matrix, Value row, Value column);
  void storeElement(Value number, FloatMatrix matrix, Value row, Value column);
  Tile zeroTile() { return Tile(side * side, f32(0.0)); }
  void forTiles(int64_t rows, int64_t columns,
                function_ref<void(Value, Value)> body);
  /// tile[i, j] += sum over k < depth of left[k, row + i] right[k, column + j].
  Tile accumulate(Tile tile, FloatMatrix left, Value row, FloatMatrix right,
                  Value column, Value depth);

  void loadRows(Value start);
  void computePairs();
  void computeChannelPairs();
  void addPairGrads(Tile &tile, Value s, Value t);
  void computeDenominators(Value start);
  void computeOutputs(Value start);
  Tile addChannelPairs(Tile tile, Value t, Value r);
  void finishProducts(Value start);
  void updateState();
  void updateSums();
  bool isRowDecay() const { return isChannel() && options.contractsFeatures(); }
  bool isColumnDecay() const {
    return isChannel() && !options.contractsFeatures();
  }

  int64_t depth = 0;
  /// a and b transposed; a that is multiplied by decay, b and c that are.
  FloatMatrix queries, keys, seenQueries, fadedKeys, values, fadedValues;
  FloatMatrix state, pairs;
  FloatMatrix productParts;
  Value denominators;
};
} // namespace

std::unique_ptr<SweepEmitter>
mlir::act::createScalarSweep(GpuKernelBuilder &kernel,
                             const SweepOptions &options,
                             const SweepShape &shape) {
  return std::make_unique<ScalarSweep>(kernel, options, shape);
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

SmallVector<Value> ScalarSweep::loadVector(FloatMatrix matrix, Value row,
                                           Value column) {
  auto type = VectorType::get({side}, b.getF32Type());
  Value offset = add(multiply(row, matrix.stride), column);
  Value loaded = kernel.load(
      type, kernel.getAddress(matrix.pointer, b.getF32Type(), offset));
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < side; ++i)
    numbers.push_back(extract(loaded, i));
  return numbers;
}

void ScalarSweep::storeVector(ValueRange numbers, FloatMatrix matrix, Value row,
                              Value column) {
  Value offset = add(multiply(row, matrix.stride), column);
  kernel.store(combine(numbers),
               kernel.getAddress(matrix.pointer, b.getF32Type(), offset));
}

Value ScalarSweep::loadElement(FloatMatrix matrix, Value row, Value column) {
  return loadShared(matrix.pointer, add(multiply(row, matrix.stride), column));
}

void ScalarSweep::storeElement(Value number, FloatMatrix matrix, Value row,
                               Value column) {
  storeShared(number, matrix.pointer,
              add(multiply(row, matrix.stride), column));
}

void ScalarSweep::forTiles(int64_t rows, int64_t columns,
                           function_ref<void(Value, Value)> body) {
  int64_t perRow = columns / side, count = rows / side * perRow;
  auto emit = [&](Value number) {
    body(multiply(divide(number, perRow), side),
         multiply(remainder(number, perRow), side));
  };
  int64_t threads = kernel.getNumThreads();
  if (count == threads)
    emit(kernel.getThread());
  else
    loop(kernel.getThread(), kernel.i32(count), threads, emit);
}

ScalarSweep::Tile ScalarSweep::accumulate(Tile tile, FloatMatrix left,
                                          Value row, FloatMatrix right,
                                          Value column, Value depth) {
  return loop(kernel.i32(0), depth, 1, tile, [&](Value k, ValueRange now) {
    SmallVector<Value> factors = loadVector(left, k, row);
    SmallVector<Value> others = loadVector(right, k, column);
    Tile next;
    for (int64_t i = 0; i < side; ++i)
      for (int64_t j = 0; j < side; ++j)
        next.push_back(fma(factors[i], others[j], now[i * side + j]));
    return next;
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

void ScalarSweep::allocate() {
  depth = roleB.wanted;
  if (options.hasOutput()) {
    queries = allocateMatrix(depth, C);
    keys = allocateMatrix(depth, C);
    pairs = allocateMatrix(C, C);
    seenQueries = isRowDecay() ? allocateMatrix(depth, C) : queries;
  }
  fadedKeys = allocateMatrix(C, depth);
  values = allocateMatrix(C, tileColumns);
  fadedValues = isColumnDecay() ? allocateMatrix(C, tileColumns) : values;
  state = allocateMatrix(depth, tileColumns);
  if (options.normalize && options.kind == SweepKind::Output)
    denominators = allocateFloats(C);
  if (has(SweepBuffer::DenominatorGrad))
    tokenGrads = allocateFloats(C);
  if (has(SweepBuffer::Products) && !isChannel())
    productParts = allocateMatrix(C, tileColumns / side);
  allocateDecay();
}

void ScalarSweep::loadState() {
  int64_t count = depth * tileColumns;
  // Threads take elements in the order that they have in memory.
  auto split = [&](Value i) -> std::pair<Value, Value> {
    if (options.contractsFeatures())
      return {divide(i, tileColumns), remainder(i, tileColumns)};
    return {remainder(i, depth), divide(i, depth)};
  };
  forThreads(count, [&](Value i) {
    auto [p, r] = split(i);
    auto [offset, valid] = locateState(SweepBuffer::Start, p, r);
    storeElement(loadStart(SweepBuffer::Start, offset, valid), state, p, r);
  });
  loadSums();
}

void ScalarSweep::storeState(ValueRange) {
  if (!has(SweepBuffer::Final))
    return;
  kernel.barrier();
  forThreads(depth * tileColumns, [&](Value i) {
    Value p, r;
    if (options.contractsFeatures()) {
      p = divide(i, tileColumns);
      r = remainder(i, tileColumns);
    } else {
      p = remainder(i, depth);
      r = divide(i, depth);
    }
    auto [offset, valid] = locateState(SweepBuffer::Final, p, r);
    storeFinal(SweepBuffer::Final, loadElement(state, p, r), offset, valid);
  });
  storeSums();
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

SmallVector<Value> ScalarSweep::emitChunk(Value start, ValueRange) {
  // The chunk before is done with.
  kernel.barrier();
  computeDecay(start);
  loadRows(start);
  loadDenominatorGrads(start);
  kernel.barrier();
  if (options.hasOutput()) {
    if (isRowDecay())
      computeChannelPairs();
    else
      computePairs();
    kernel.barrier();
    if (denominators) {
      computeDenominators(start);
      kernel.barrier();
    }
    computeOutputs(start);
    kernel.barrier();
    finishProducts(start);
  }
  updateState();
  updateSums();
  return {};
}

void ScalarSweep::loadRows(Value start) {
  auto at = [&](Value column, int64_t i) { return add(column, i); };
  if (options.hasOutput())
    forRows(roleA, start, [&](Value row, Value column, ArrayRef<Value> found) {
      for (auto [i, number] : llvm::enumerate(found)) {
        storeElement(number, queries, at(column, i), row);
        if (isRowDecay())
          storeElement(multiply(number, loadSinceStart(row, at(column, i))),
                       seenQueries, at(column, i), row);
      }
    });
  forRows(roleB, start, [&](Value row, Value column, ArrayRef<Value> found) {
    for (auto [i, number] : llvm::enumerate(found)) {
      if (options.hasOutput())
        storeElement(number, keys, at(column, i), row);
      Value faded = number;
      if (hasDecay() && !isColumnDecay())
        faded = multiply(number, loadUntilEnd(row, at(column, i)));
      storeElement(faded, fadedKeys, row, at(column, i));
    }
  });
  forRows(roleC, start, [&](Value row, Value column, ArrayRef<Value> found) {
    for (auto [i, number] : llvm::enumerate(found)) {
      storeElement(number, values, row, at(column, i));
      if (isColumnDecay())
        storeElement(multiply(number, loadUntilEnd(row, at(column, i))),
                     fadedValues, row, at(column, i));
    }
  });
}

/// What gradients of denominators add to those of pairs (s, t).
void ScalarSweep::addPairGrads(Tile &tile, Value s, Value t) {
  if (!tokenGrads)
    return;
  bool isQuery = options.kind == SweepKind::QueryGrad;
  for (int64_t i = 0; i < side; ++i)
    for (int64_t j = 0; j < side; ++j)
      tile[i * side + j] =
          loadShared(tokenGrads, isQuery ? add(t, j) : add(s, i));
}

void ScalarSweep::computePairs() {
  forTiles(C, C, [&](Value s, Value t) {
    when(less(s, add(t, 1)), [&] {
      Tile tile = zeroTile();
      addPairGrads(tile, s, t);
      tile = accumulate(tile, keys, s, queries, t, kernel.i32(depth));
      for (int64_t i = 0; i < side; ++i) {
        Value row = add(s, i);
        SmallVector<Value> left;
        if (between)
          left = loadVector({between, getBetweenStride()}, row, t);
        for (int64_t j = 0; j < side; ++j) {
          Value &pair = tile[i * side + j];
          if (between)
            pair = multiply(pair, left[j]);
          pair = select(less(add(t, j), row), f32(0.0), pair);
        }
        storeVector(ArrayRef(tile).slice(i * side, side), pairs, row, t);
      }
    });
  });
}

/// With decay of the numbers that pairs are summed over. A thread sums those of
/// a key up over every n-th number.
void ScalarSweep::computeChannelPairs() {
  int64_t slices = kernel.getNumThreads() / C;
  // The slices' sums, reduced by the first of them.
  FloatMatrix parts = allocateMatrix(slices * C, C);
  Value thread = kernel.getThread();
  Value s = remainder(thread, C), slice = divide(thread, C);
  SmallVector<Value> sums =
      loop(slice, kernel.i32(depth), slices, SmallVector<Value>(C, f32(0.0)),
           [&](Value p, ValueRange now) {
             SmallVector<Value> next;
             Value key = loadElement(keys, p, s);
             for (int64_t t = 0; t < C; ++t) {
               Value row = kernel.i32(t);
               Value step =
                   loadShared(steps, add(multiply(row, decayColumns), p));
               key = select(less(s, row), multiply(key, step), key);
               Value term = fma(loadElement(queries, p, row), key, now[t]);
               next.push_back(select(less(row, s), now[t], term));
             }
             return next;
           });
  for (auto [t, sum] : llvm::enumerate(sums))
    storeElement(sum, parts, thread, kernel.i32(t));
  kernel.barrier();
  forThreads(C * C, [&](Value i) {
    Value row = divide(i, C), t = remainder(i, C);
    Value sum = f32(0.0);
    for (int64_t n = 0; n < slices; ++n)
      sum = add(sum, loadElement(parts, add(row, n * C), t));
    storeElement(sum, pairs, row, t);
  });
}

void ScalarSweep::computeDenominators(Value start) {
  Value base = getBase(SweepBuffer::Denominator);
  forThreads(C, [&](Value t) {
    Value sum = loop(kernel.i32(0), kernel.i32(depth), 1, {f32(0.0)},
                     [&](Value p, ValueRange now) -> SmallVector<Value> {
                       return {fma(loadElement(seenQueries, p, t),
                                   loadShared(sums, p), now[0])};
                     })[0];
    if (between)
      sum = multiply(sum, loadSinceStart(t));
    sum = loop(kernel.i32(0), add(t, 1), 1, {sum},
               [&](Value s, ValueRange now) -> SmallVector<Value> {
                 return {add(now[0], loadElement(pairs, s, t))};
               })[0];
    sum = add(sum, f32(options.epsilon));
    storeShared(sum, denominators, t);
    writeDenominator(base, sum, getToken(start, t));
  });
}

void ScalarSweep::computeOutputs(Value start) {
  forTiles(C, tileColumns, [&](Value t, Value r) {
    Tile tile =
        accumulate(zeroTile(), seenQueries, t, state, r, kernel.i32(depth));
    for (int64_t i = 0; i < side; ++i)
      for (int64_t j = 0; j < side; ++j) {
        Value &sum = tile[i * side + j];
        if (hasSums() && denominators == Value()) {
          Value former = loadShared(sums, add(r, j));
          sum = tokenGrads && options.kind == SweepKind::QueryGrad
                    ? fma(loadShared(tokenGrads, add(t, i)), former, sum)
                    : add(sum, former);
        }
        if (hasDecay() && !isRowDecay())
          sum = multiply(sum, loadSinceStart(add(t, i), add(r, j)));
      }
    if (isColumnDecay())
      tile = addChannelPairs(tile, t, r);
    else
      tile = accumulate(tile, pairs, t, values, r, add(t, side));
    for (int64_t i = 0; i < side; ++i) {
      Value row = add(t, i);
      MutableArrayRef<Value> numbers =
          MutableArrayRef(tile).slice(i * side, side);
      if (denominators) {
        Value inverse = divideFloats(f32(1.0), loadShared(denominators, row));
        for (Value &number : numbers)
          number = multiply(number, inverse);
      }
      Value products =
          writeRow(numbers, getToken(start, row), add(tileStart, r));
      if (products)
        storeElement(products, productParts, row, divide(r, side));
    }
  });
}

/// With decay of the columns: what a key has left is multiplied on from key to
/// key, backwards.
ScalarSweep::Tile ScalarSweep::addChannelPairs(Tile tile, Value t, Value r) {
  SmallVector<Value> carried = tile;
  carried.append(side * side, f32(1.0));
  Value last = add(t, side - 1);
  SmallVector<Value> found = loop(
      kernel.i32(0), add(t, side), 1, carried, [&](Value n, ValueRange now) {
        Value s = subtract(last, n);
        SmallVector<Value> next(now);
        SmallVector<Value> row = loadVector(values, s, r);
        SmallVector<Value> weights = loadVector(pairs, s, t);
        SmallVector<Value> step = loadVector({steps, decayColumns}, s, r);
        for (int64_t i = 0; i < side; ++i) {
          Value isBefore = less(s, add(t, i + 1));
          for (int64_t j = 0; j < side; ++j) {
            Value &sum = next[i * side + j];
            Value &left = next[side * side + i * side + j];
            Value term = fma(multiply(weights[i], row[j]), left, sum);
            sum = select(isBefore, term, sum);
            left = select(isBefore, multiply(left, step[j]), left);
          }
        }
        return next;
      });
  return Tile(ArrayRef(found).take_front(side * side));
}

void ScalarSweep::finishProducts(Value start) {
  if (!productParts.pointer)
    return;
  forThreads(C, [&](Value t) {
    Value sum = f32(0.0);
    for (int64_t i = 0; i < tileColumns / side; ++i)
      sum = add(sum, loadElement(productParts, t, kernel.i32(i)));
    writeProducts(sum, getToken(start, t), tile);
  });
}

void ScalarSweep::updateState() {
  forTiles(depth, tileColumns, [&](Value p, Value r) {
    Tile tile;
    for (int64_t i = 0; i < side; ++i)
      tile.append(loadVector(state, add(p, i), r));
    if (hasDecay())
      for (int64_t i = 0; i < side; ++i)
        for (int64_t j = 0; j < side; ++j) {
          Value column = isRowDecay() ? add(p, i) : add(r, j);
          tile[i * side + j] = multiply(tile[i * side + j], loadTotal(column));
        }
    tile = accumulate(tile, fadedKeys, p, fadedValues, r, kernel.i32(C));
    for (int64_t i = 0; i < side; ++i)
      storeVector(ArrayRef(tile).slice(i * side, side), state, add(p, i), r);
  });
}

void ScalarSweep::updateSums() {
  if (!hasSums())
    return;
  FloatMatrix rows = options.contractsFeatures() ? fadedKeys : fadedValues;
  bool isFaded = options.contractsFeatures() || isColumnDecay();
  forThreads(getSumColumns(), [&](Value i) {
    Value sum = loadShared(sums, i);
    if (hasDecay())
      sum = multiply(sum, loadTotal(i));
    sum = loop(kernel.i32(0), kernel.i32(C), 1, {sum},
               [&](Value s, ValueRange now) -> SmallVector<Value> {
                 Value number = loadElement(rows, s, i);
                 if (hasDecay() && !isFaded)
                   number = multiply(number, loadUntilEnd(s));
                 if (tokenGrads && options.isReverse())
                   return {fma(number, loadShared(tokenGrads, s), now[0])};
                 if (options.subtract)
                   return {subtract(now[0], number)};
                 return {add(now[0], number)};
               })[0];
    storeShared(sum, sums, i);
  });
}
