//===- MatrixSweep.cpp - Sweeps on tensor cores --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelsToGPU/MatrixUnits.h"
#include "Sweep.h"

using namespace mlir;
using namespace mlir::act;

/// Rows of what a warp computes of a product: of one instruction.
static constexpr int64_t rowsOfWarp = matrixUnitRows;

namespace {
/// Products of bf16 or f16 on tensor cores. Warp w < 4 computes the outputs of
/// rows 16w to 16w + 15, from pairs with keys in blocks of 16 that never leave
/// registers, and rows 16w to 16w + 15 of every 64 of the state, in registers
/// from chunk to chunk. Another four warps have the second half of the columns
/// and compute pairs again. All warps read the state rounded, in shared memory.
class MatrixSweep : public SweepEmitter {
public:
  using SweepEmitter::SweepEmitter;

  void allocate() override;
  void loadState() override;
  SmallVector<Value> getCarried() override { return initial; }
  SmallVector<Value> emitChunk(Value start, ValueRange carried) override;
  void storeState(ValueRange carried) override;

private:
  SharedMatrix allocateMatrix(int64_t rows, int64_t columns);
  Value getPlace(const SharedMatrix &matrix, Value row, Value column);
  void storeRows(const Role &role, Value start, const SharedMatrix &matrix);
  void storeRoundedState(ValueRange carried);
  void loadInverses(Value start);
  void storeCarriedSums(ValueRange carried);
  SmallVector<Value> unpackPair(Value bits);

  /// Sums over a matrix of the state, with what comes before the chunk.
  SmallVector<Value> startOutputs();
  void addFormerSums(MutableArrayRef<Value> outputs);
  /// Adds products with keys 16 * `block` to 16 * `block` + 15 to outputs and
  /// sums of pairs.
  void addBlock(Value block, bool isDiagonal, SmallVector<Value> &carried);
  SmallVector<Value> computePairs(Value block, bool isDiagonal);
  void computeOutputs(Value start);
  void finishOutputs(Value start, SmallVector<Value> &outputs);
  SmallVector<Value> getInverses(Value start, ValueRange rowSums);
  SmallVector<Value> updateState(ValueRange carried);
  Value getWeight(Value s);
  SmallVector<Value> weighKeys(ValueRange left, int64_t depth);
  Value updateSum(Value column, Value sum);

  /// The threads of a warp that share a row: adds up what they have.
  Value sumLanes(Value value) {
    value = add(value, kernel.shuffleXor(value, 1));
    return add(value, kernel.shuffleXor(value, 2));
  }
  /// Row `half` of two that this thread has in each of the warp's.
  Value getRow(int64_t half) { return add(row, 8 * half); }
  /// The first of two adjacent columns that it has in each group of 8: of a
  /// product, and of the tile.
  Value getLaneColumn(int64_t group) { return add(laneColumn, 8 * group); }
  Value getColumn(int64_t group) { return add(column, 8 * group); }
  int64_t getGroups() const {
    return tileColumns / shape.columnParts / matrixUnitColumns;
  }
  int64_t getDepthSteps() const { return roleA.wanted / 16; }
  int64_t getStateParts() const { return roleB.wanted / 64; }

  Type elementType;
  SharedMatrix queries, keys, values, state;
  std::optional<FactorLoader> queryLoader, keyLoader, valueLoader, stateLoader,
      stateKeyLoader;
  /// Of the warp: its 16 rows, and its part of the columns.
  Value rowBlock, part;
  Value row, column, laneColumn;
  /// 1 / d, where rows are gradients of outputs.
  Value tokenInverses;
  /// Sums of a former chunk's keys times the query of rows, before decay.
  SmallVector<Value> formerDots;
  SmallVector<Value> initial;
};
} // namespace

std::unique_ptr<SweepEmitter>
mlir::act::createMatrixSweep(GpuKernelBuilder &kernel,
                             const SweepOptions &options,
                             const SweepShape &shape) {
  return std::make_unique<MatrixSweep>(kernel, options, shape);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Rows are longer by a chunk: those that are read together are in different
/// banks, whatever the number of columns.
SharedMatrix MatrixSweep::allocateMatrix(int64_t rows, int64_t columns) {
  int64_t bytes = columns * 2 + chunkBytes;
  return {kernel.allocateShared(rows * bytes), elementType, bytes, false};
}

Value MatrixSweep::getPlace(const SharedMatrix &matrix, Value row,
                            Value column) {
  Value offset = add(multiply(row, matrix.rowBytes / 2), column);
  return kernel.getAddress(matrix.pointer, elementType, offset);
}

void MatrixSweep::allocate() {
  elementType = options[SweepBuffer::Value].type;
  // The state has rows for every warp.
  roleB.wanted = llvm::alignTo(P, 4 * rowsOfWarp);
  Value lane = kernel.getLane();
  rowBlock = remainder(kernel.getWarp(), 4);
  part = divide(kernel.getWarp(), 4);
  Value origin = multiply(rowBlock, rowsOfWarp);
  Value firstColumn = multiply(part, tileColumns / shape.columnParts);
  row = add(origin, divide(lane, 4));
  laneColumn = multiply(remainder(lane, 4), 2);
  column = add(firstColumn, laneColumn);
  keys = allocateMatrix(C, roleB.wanted);
  values = allocateMatrix(C, tileColumns);
  stateKeyLoader.emplace(kernel, keys, FactorLayout::LeftColumns, origin);
  valueLoader.emplace(kernel, values, FactorLayout::RightRows, firstColumn);
  if (options.hasOutput()) {
    queries = allocateMatrix(C, roleA.wanted);
    state = allocateMatrix(roleB.wanted, tileColumns);
    queryLoader.emplace(kernel, queries, FactorLayout::LeftRows, origin);
    keyLoader.emplace(kernel, keys, FactorLayout::RightColumns);
    stateLoader.emplace(kernel, state, FactorLayout::RightRows, firstColumn);
  }
  if (has(SweepBuffer::DenominatorGrad))
    tokenGrads = allocateFloats(C);
  if (has(SweepBuffer::Gradient) && options.normalize)
    tokenInverses = allocateFloats(C);
  allocateDecay();
}

void MatrixSweep::storeRows(const Role &role, Value start,
                            const SharedMatrix &matrix) {
  forRows(role, start, [&](Value row, Value column, ArrayRef<Value> numbers) {
    kernel.store(combine(numbers), getPlace(matrix, row, column));
  });
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// The rows and columns of the state that this thread has, in order.
static void
forStateElements(int64_t parts, int64_t groups,
                 function_ref<void(int64_t, int64_t, int64_t, int64_t)> body) {
  for (int64_t part = 0; part < parts; ++part)
    for (int64_t group = 0; group < groups; ++group)
      for (int64_t i = 0; i < 4; ++i)
        body(part, group, i / 2, i % 2);
}

void MatrixSweep::loadState() {
  forStateElements(
      getStateParts(), getGroups(),
      [&](int64_t part, int64_t group, int64_t half, int64_t i) {
        Value p = add(getRow(half), 64 * part);
        Value r = add(getColumn(group), i);
        auto [offset, valid] = locateState(SweepBuffer::Start, p, r);
        initial.push_back(loadStart(SweepBuffer::Start, offset, valid));
      });
  loadSums();
  if (!hasSums())
    return;
  for (int64_t first = 0; first < getSumColumns(); first += shape.threads) {
    Value at = add(kernel.getThread(), first);
    initial.push_back(choose(
        less(at, getSumColumns()),
        [&] { return SmallVector<Value>{loadShared(sums, at)}; },
        [&] { return SmallVector<Value>{f32(0.0)}; })[0]);
  }
}

void MatrixSweep::storeState(ValueRange carried) {
  if (!has(SweepBuffer::Final))
    return;
  int64_t number = 0;
  forStateElements(
      getStateParts(), getGroups(),
      [&](int64_t part, int64_t group, int64_t half, int64_t i) {
        Value p = add(getRow(half), 64 * part);
        Value r = add(getColumn(group), i);
        auto [offset, valid] = locateState(SweepBuffer::Final, p, r);
        storeFinal(SweepBuffer::Final, carried[number++], offset, valid);
      });
  if (!hasSums())
    return;
  kernel.barrier();
  storeCarriedSums(carried);
  kernel.barrier();
  storeSums();
}

void MatrixSweep::storeCarriedSums(ValueRange carried) {
  if (!hasSums())
    return;
  int64_t number = getStateParts() * getGroups() * 4;
  for (int64_t first = 0; first < getSumColumns(); first += shape.threads) {
    Value at = add(kernel.getThread(), first);
    Value sum = carried[number++];
    auto store = [&] { storeShared(sum, sums, at); };
    if (first + shape.threads <= getSumColumns())
      store();
    else
      when(less(at, getSumColumns()), store);
  }
}

void MatrixSweep::storeRoundedState(ValueRange carried) {
  forStateElements(getStateParts(), getGroups(),
                   [&](int64_t part, int64_t group, int64_t half, int64_t i) {
                     if (i)
                       return;
                     int64_t number =
                         ((part * getGroups() + group) * 2 + half) * 2;
                     Value p = add(getRow(half), 64 * part);
                     Value bits = packPair(kernel, elementType, carried[number],
                                           carried[number + 1]);
                     kernel.store(bits, getPlace(state, p, getColumn(group)));
                   });
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

SmallVector<Value> MatrixSweep::emitChunk(Value start, ValueRange carried) {
  // The chunk before is done with.
  kernel.barrier();
  if (options.hasOutput()) {
    storeRows(roleA, start, queries);
    storeRoundedState(carried);
  }
  storeRows(roleB, start, keys);
  storeRows(roleC, start, values);
  loadDenominatorGrads(start);
  loadInverses(start);
  storeCarriedSums(carried);
  computeDecay(start);
  if (!hasDecay())
    kernel.barrier();
  if (options.hasOutput())
    computeOutputs(start);
  return updateState(carried);
}

/// 1 / d of the chunk's tokens.
void MatrixSweep::loadInverses(Value start) {
  if (!tokenInverses)
    return;
  Value base = getBase(SweepBuffer::Denominator);
  forThreads(C, [&](Value row) {
    Value denominator =
        loadToken(base, SweepBuffer::Denominator, getToken(start, row), 1.0);
    storeShared(divideFloats(f32(1.0), denominator), tokenInverses, row);
  });
}

SmallVector<Value> MatrixSweep::unpackPair(Value bits) {
  Value pair =
      LLVM::BitcastOp::create(b, VectorType::get({2}, elementType), bits);
  return {extend(extract(pair, 0)), extend(extract(pair, 1))};
}

/// What outputs owe to the state before the chunk.
SmallVector<Value> MatrixSweep::startOutputs() {
  bool isOutput = options.kind == SweepKind::Output && hasSums();
  SmallVector<Value> outputs(getGroups() * 4, f32(0.0));
  if (isOutput)
    formerDots.assign(2, f32(0.0));
  for (int64_t step = 0; step < getDepthSteps(); ++step) {
    SmallVector<Value> left = queryLoader->load(0, 16 * step);
    for (int64_t group = 0; group < getGroups(); group += 2) {
      SmallVector<Value> right = stateLoader->load(8 * group, 16 * step);
      for (int64_t n = 0; n < 2; ++n) {
        MutableArrayRef<Value> sum =
            MutableArrayRef(outputs).slice((group + n) * 4, 4);
        llvm::copy(multiplyMatrices(kernel, elementType, left,
                                    ArrayRef(right).slice(2 * n, 2), sum),
                   sum.begin());
      }
    }
    if (!isOutput)
      continue;
    for (auto [number, bits] : llvm::enumerate(left)) {
      Value at = add(laneColumn, 16 * step + 8 * (number / 2));
      for (auto [i, query] : llvm::enumerate(unpackPair(bits))) {
        Value &dot = formerDots[number % 2];
        dot = fma(query, loadShared(sums, add(at, i)), dot);
      }
    }
  }
  addFormerSums(outputs);
  return outputs;
}

/// Adds what the sums of keys, or their gradients, before the chunk contribute,
/// and applies the decay since.
void MatrixSweep::addFormerSums(MutableArrayRef<Value> outputs) {
  bool isGrad = hasSums() && options.kind != SweepKind::Output;
  for (int64_t half = 0; half < 2; ++half) {
    Value grad, since, inverse;
    if (isGrad && options.kind == SweepKind::QueryGrad) {
      grad = loadShared(tokenGrads, getRow(half));
      inverse = loadShared(tokenInverses, getRow(half));
    }
    if (hasDecay())
      since = loadSinceStart(getRow(half));
    for (int64_t group = 0; group < getGroups(); ++group)
      for (int64_t i = 0; i < 2; ++i) {
        Value &sum = outputs[group * 4 + half * 2 + i];
        if (inverse)
          sum = multiply(sum, inverse);
        if (isGrad) {
          Value former = loadShared(sums, add(getColumn(group), i));
          sum = grad ? fma(grad, former, sum) : add(sum, former);
        }
        if (since)
          sum = multiply(sum, since);
      }
    if (since && !formerDots.empty())
      formerDots[half] = multiply(formerDots[half], since);
  }
}

/// Pairs of the warp's rows with a block of keys: two groups of 8 columns.
SmallVector<Value> MatrixSweep::computePairs(Value block, bool isDiagonal) {
  Value firstKey = multiply(block, 16);
  SmallVector<Value> pairs(8, f32(0.0));
  Value offset = multiply(block, 16 * keys.rowBytes);
  for (int64_t step = 0; step < getDepthSteps(); ++step) {
    SmallVector<Value> left = queryLoader->load(0, 16 * step);
    SmallVector<Value> right = keyLoader->load(0, 16 * step, offset);
    for (int64_t n = 0; n < 2; ++n) {
      MutableArrayRef<Value> sum = MutableArrayRef(pairs).slice(4 * n, 4);
      llvm::copy(multiplyMatrices(kernel, elementType, left,
                                  ArrayRef(right).slice(2 * n, 2), sum),
                 sum.begin());
    }
  }
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t i = 0; i < 4; ++i) {
      Value &pair = pairs[4 * n + i];
      Value s = add(firstKey, add(getLaneColumn(n), i % 2)), t = getRow(i / 2);
      Value given = options.kind == SweepKind::QueryGrad ? t : s;
      if (tokenInverses && tokenGrads)
        pair = fma(pair, loadShared(tokenInverses, given),
                   loadShared(tokenGrads, given));
      else if (tokenInverses)
        pair = multiply(pair, loadShared(tokenInverses, given));
      if (hasDecay())
        pair = multiply(
            pair, loadShared(between, add(multiply(s, getBetweenStride()), t)));
      if (isDiagonal)
        pair = select(less(t, s), f32(0.0), pair);
    }
  return pairs;
}

void MatrixSweep::addBlock(Value block, bool isDiagonal,
                           SmallVector<Value> &carried) {
  SmallVector<Value> pairs = computePairs(block, isDiagonal);
  int64_t count = getGroups() * 4;
  if (!formerDots.empty())
    for (int64_t n = 0; n < 2; ++n)
      for (int64_t i = 0; i < 4; ++i) {
        Value &sum = carried[count + i / 2];
        sum = add(sum, pairs[4 * n + i]);
      }
  SmallVector<Value> left;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t half = 0; half < 2; ++half)
      left.push_back(packPair(kernel, elementType, pairs[4 * n + 2 * half],
                              pairs[4 * n + 2 * half + 1]));
  Value offset = multiply(block, 16 * values.rowBytes);
  for (int64_t group = 0; group < getGroups(); group += 2) {
    SmallVector<Value> right = valueLoader->load(8 * group, 0, offset);
    for (int64_t n = 0; n < 2; ++n) {
      MutableArrayRef<Value> sum =
          MutableArrayRef(carried).slice((group + n) * 4, 4);
      llvm::copy(multiplyMatrices(kernel, elementType, left,
                                  ArrayRef(right).slice(2 * n, 2), sum),
                 sum.begin());
    }
  }
}

void MatrixSweep::computeOutputs(Value start) {
  formerDots.clear();
  SmallVector<Value> carried = startOutputs();
  // Sums of the thread's share of pairs.
  if (!formerDots.empty())
    carried.append(2, f32(0.0));
  carried = loop(kernel.i32(0), rowBlock, 1, carried,
                 [&](Value block, ValueRange now) {
                   SmallVector<Value> next(now);
                   addBlock(block, /*isDiagonal=*/false, next);
                   return next;
                 });
  addBlock(rowBlock, /*isDiagonal=*/true, carried);
  finishOutputs(start, carried);
}

SmallVector<Value> MatrixSweep::getInverses(Value start, ValueRange rowSums) {
  SmallVector<Value> inverses;
  Value base = getBase(SweepBuffer::Denominator);
  for (int64_t half = 0; half < 2; ++half) {
    Value sum = sumLanes(add(formerDots[half], rowSums[half]));
    sum = add(sum, f32(options.epsilon));
    when(equal(column, 0),
         [&] { writeDenominator(base, sum, getToken(start, getRow(half))); });
    inverses.push_back(divideFloats(f32(1.0), sum));
  }
  return inverses;
}

void MatrixSweep::finishOutputs(Value start, SmallVector<Value> &outputs) {
  int64_t count = getGroups() * 4;
  SmallVector<Value> inverses;
  if (!formerDots.empty())
    inverses = getInverses(start, ArrayRef(outputs).drop_front(count));
  for (int64_t half = 0; half < 2; ++half) {
    Value token = getToken(start, getRow(half)), products;
    for (int64_t group = 0; group < getGroups(); ++group) {
      SmallVector<Value> numbers(
          ArrayRef(outputs).slice(group * 4 + half * 2, 2));
      if (!inverses.empty())
        for (Value &number : numbers)
          number = multiply(number, inverses[half]);
      Value product =
          writeRow(numbers, token, add(tileStart, getColumn(group)));
      if (product)
        products = products ? add(products, product) : product;
    }
    if (!products)
      continue;
    products = sumLanes(products);
    when(equal(laneColumn, 0), [&] {
      writeProducts(products, token,
                    add(multiply(tile, shape.columnParts), part));
    });
  }
}

/// What a product of row s is multiplied by before it is added to the state, or
/// null: what is left of it at the end of the chunk, and 1 / d of a gradient.
Value MatrixSweep::getWeight(Value s) {
  Value weight;
  if (hasDecay())
    weight = loadUntilEnd(s);
  if (!tokenInverses || !options.isReverse())
    return weight;
  Value inverse = loadShared(tokenInverses, s);
  return weight ? multiply(weight, inverse) : inverse;
}

SmallVector<Value> MatrixSweep::weighKeys(ValueRange left, int64_t depth) {
  SmallVector<Value> faded(left);
  for (int64_t half = 0; half < 2; ++half) {
    Value s = add(laneColumn, depth + 8 * half);
    Value first = getWeight(s), second = getWeight(add(s, 1));
    if (!first)
      return faded;
    for (int64_t i = 0; i < 2; ++i) {
      Value &bits = faded[2 * half + i];
      SmallVector<Value> pair = unpackPair(bits);
      bits = packPair(kernel, elementType, multiply(pair[0], first),
                      multiply(pair[1], second));
    }
  }
  return faded;
}

SmallVector<Value> MatrixSweep::updateState(ValueRange carried) {
  SmallVector<Value> next(carried);
  int64_t count = getStateParts() * getGroups() * 4;
  if (hasDecay()) {
    Value total = loadTotal();
    for (Value &sum : MutableArrayRef(next).take_front(count))
      sum = multiply(sum, total);
  }
  for (int64_t step = 0; step < C / 16; ++step)
    for (int64_t part = 0; part < getStateParts(); ++part) {
      SmallVector<Value> left =
          weighKeys(stateKeyLoader->load(64 * part, 16 * step), 16 * step);
      for (int64_t group = 0; group < getGroups(); group += 2) {
        SmallVector<Value> right = valueLoader->load(8 * group, 16 * step);
        for (int64_t n = 0; n < 2; ++n) {
          MutableArrayRef<Value> sum = MutableArrayRef(next).slice(
              (part * getGroups() + group + n) * 4, 4);
          llvm::copy(multiplyMatrices(kernel, elementType, left,
                                      ArrayRef(right).slice(2 * n, 2), sum),
                     sum.begin());
        }
      }
    }
  if (!hasSums())
    return next;
  int64_t number = count;
  for (int64_t first = 0; first < getSumColumns(); first += shape.threads) {
    Value at = add(kernel.getThread(), first);
    Value &sum = next[number++];
    if (first + shape.threads <= getSumColumns())
      sum = updateSum(at, sum);
    else
      sum = choose(
          less(at, getSumColumns()),
          [&] { return SmallVector<Value>{updateSum(at, sum)}; },
          [&] { return SmallVector<Value>{sum}; })[0];
  }
  return next;
}

Value MatrixSweep::updateSum(Value at, Value sum) {
  const SharedMatrix &rows = options.contractsFeatures() ? keys : values;
  if (hasDecay())
    sum = multiply(sum, loadTotal());
  return loop(kernel.i32(0), kernel.i32(C), 1, {sum},
              [&](Value s, ValueRange now) -> SmallVector<Value> {
                Value number =
                    extend(kernel.load(elementType, getPlace(rows, s, at)));
                if (hasDecay())
                  number = multiply(number, loadUntilEnd(s));
                if (tokenGrads && options.isReverse())
                  return {fma(number, loadShared(tokenGrads, s), now[0])};
                if (options.subtract)
                  return {subtract(now[0], number)};
                return {add(now[0], number)};
              })[0];
}
