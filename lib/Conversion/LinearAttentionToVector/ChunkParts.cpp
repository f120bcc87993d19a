//===- ChunkParts.cpp - Parts of a chunk of linear attention ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

static int64_t getRows(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().front();
}

void KernelEmitter::loadState(Value argument, Value tile) {
  tiles.fillZero(tile);
  int64_t columns = cast<MemRefType>(tile.getType()).getShape().back();
  tiles.loop(0, getRows(argument), 1, [&](Value row) {
    tiles.loop(0, columns, tiles.getLanes(), [&](Value column) {
      tiles.store(loadRow(argument, row, column), tile, {row, column});
    });
  });
}

void KernelEmitter::loadStateTransposed(Value argument, Value tile) {
  tiles.fillZero(tile);
  tiles.loop(0, M, 1, [&](Value row) {
    tiles.loop(0, D, 1, [&](Value column) {
      Value element =
          memref::LoadOp::create(b, argument, ValueRange{row, column});
      memref::StoreOp::create(b, element, tile, ValueRange{column, row});
    });
  });
}

void KernelEmitter::storeState(Value tile, Value argument) {
  int64_t columns = cast<MemRefType>(tile.getType()).getShape().back();
  tiles.loop(0, getRows(argument), 1, [&](Value row) {
    tiles.loop(0, columns, tiles.getLanes(), [&](Value column) {
      storeRow(tiles.load(tile, {row, column}), argument, row, column,
               /*accumulate=*/false);
    });
  });
}

void KernelEmitter::storeStateTransposed(Value tile, Value argument) {
  tiles.loop(0, M, 1, [&](Value row) {
    tiles.loop(0, D, 1, [&](Value column) {
      Value element = memref::LoadOp::create(b, tile, ValueRange{column, row});
      memref::StoreOp::create(b, element, argument, ValueRange{row, column});
    });
  });
}

void KernelEmitter::updateState(const Chunk &chunk, Value state, int64_t rows,
                                Value left, Value right,
                                const ChunkDecay &decay, int64_t vectors,
                                Value column, ArrayRef<Value> prefetched) {
  tiles.forRowTiles(rows, vectors, [&](TileShape shape, Value row) {
    Value token = arith::DivUIOp::create(
        b, arith::MulIOp::create(b, row, tiles.index(C)), tiles.index(rows));
    prefetchRows(prefetched, chunk, token,
                 llvm::divideCeil(C * shape.rows, rows), column, vectors);
    Tile tile = tiles.loadTile(shape, state, row, column);
    if (decay)
      tiles.scaleTile(tile, decay.total);
    tiles.accumulate(shape, tile, {left, /*transposed=*/true}, row, right,
                     column, C);
    tiles.storeTile(shape, tile, state, row, column);
  });
}

void KernelEmitter::updateSums(Value sums, Value rows, Value factors,
                               Value tokens, const ChunkDecay &decay) {
  Value zero = tiles.index(0);
  int64_t columns = cast<MemRefType>(sums.getType()).getShape().back();
  TileShape shape = tiles.chooseShape(1, columns / tiles.getLanes());
  auto cover = [&](int64_t low, int64_t high, int64_t vectors) {
    int64_t step = vectors * tiles.getLanes();
    tiles.loop(low, high, step, [&](Value column) {
      Tile tile = tiles.loadTile({1, vectors}, sums, zero, column);
      if (decay)
        tiles.scaleTile(tile, decay.total);
      tile = tiles.loop(zero, tokens, 1, tile, [&](Value t, ValueRange now) {
        Tile next(now);
        Value factor;
        if (factors)
          factor = tiles.loadBroadcast(factors, {zero, t});
        for (int64_t c = 0; c < vectors; ++c) {
          Value row =
              tiles.load(rows, {t, tiles.add(column, c * tiles.getLanes())});
          next[c] = factor ? tiles.fma(factor, row, next[c])
                    : options.subtract
                        ? Value(arith::SubFOp::create(b, next[c], row))
                        : tiles.sum(next[c], row);
        }
        return next;
      });
      tiles.storeTile({1, vectors}, tile, sums, zero, column);
    });
  };
  int64_t step = shape.vectors * tiles.getLanes();
  int64_t full = columns / step * step;
  cover(0, full, shape.vectors);
  if (full < columns)
    cover(full, columns, (columns - full) / tiles.getLanes());
}

//===----------------------------------------------------------------------===//
// Decay
//===----------------------------------------------------------------------===//

ChunkDecay KernelEmitter::allocateDecay() {
  ChunkDecay decay;
  if (!hasDecay())
    return decay;
  steps = tiles.allocate(1, C);
  decay.between = tiles.allocate(C, C);
  decay.sinceStart = tiles.allocate(1, C);
  decay.untilEnd = tiles.allocate(1, C);
  return decay;
}

/// The lanes whose number, counted from `firstLane`, is not below `bound`.
static Value createLanesFrom(ImplicitLocOpBuilder &b, int64_t lanes,
                             int64_t firstLane, Value bound) {
  SmallVector<int32_t> numbers;
  for (int64_t lane = 0; lane < lanes; ++lane)
    numbers.push_back(firstLane + lane);
  auto type = VectorType::get({lanes}, b.getI32Type());
  Value lane = arith::ConstantOp::create(
      b, DenseElementsAttr::get<int32_t>(type, numbers));
  Value cast = arith::IndexCastOp::create(b, b.getI32Type(), bound);
  Value splat = vector::BroadcastOp::create(b, type, cast);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, lane, splat);
}

void KernelEmitter::computeDecay(const Chunk &chunk, ChunkDecay &decay) {
  if (!decay)
    return;
  Value zero = tiles.index(0);
  int64_t lanes = tiles.getLanes();
  if (options.decay == DecayKind::Token) {
    readTokens(decayArgument, chunk, steps, /*padding=*/0.0);
  } else {
    Value step = memref::LoadOp::create(b, decayArgument, zero);
    tiles.loop(zero, chunk.tokens, 1, [&](Value t) {
      memref::StoreOp::create(b, step, steps, ValueRange{zero, t});
    });
    tiles.loop(chunk.tokens, tiles.index(C), 1, [&](Value t) {
      memref::StoreOp::create(b, tiles.scalar(0.0), steps, ValueRange{zero, t});
    });
  }
  // Row s holds in lane t the sum of the steps s + 1 to t, made from row s + 1
  // by adding step s + 1. There is no difference of sums, which would be wrong
  // for steps that reset the state: they can be minus infinity.
  Tile sums = tiles.zeroTile({1, C / lanes});
  sums =
      tiles.loop(zero, tiles.index(C), 1, sums, [&](Value i, ValueRange now) {
        Tile next(now);
        Value s = arith::SubIOp::create(b, tiles.index(C - 1), i);
        Value step = tiles.loadBroadcast(steps, {zero, s});
        for (auto [c, element] : llvm::enumerate(next)) {
          Value left = math::ExpOp::create(b, element);
          tiles.store(left, decay.between, {s, tiles.index(c * lanes)});
          Value mask = createLanesFrom(b, lanes, c * lanes, s);
          element = arith::SelectOp::create(b, mask, tiles.sum(element, step),
                                            element);
        }
        return next;
      });
  for (auto [c, element] : llvm::enumerate(sums))
    tiles.store(math::ExpOp::create(b, element), decay.sinceStart,
                {zero, tiles.index(c * lanes)});
  Value last = tiles.index(C - 1);
  tiles.loop(0, C, 1, [&](Value s) {
    Value left = memref::LoadOp::create(b, decay.between, ValueRange{s, last});
    memref::StoreOp::create(b, left, decay.untilEnd, ValueRange{zero, s});
  });
  decay.total = tiles.loadBroadcast(decay.sinceStart, {zero, last});
}

void KernelEmitter::finishDecayGrad(const Chunk &chunk, Value products,
                                    bool isQuery) {
  Value zero = tiles.index(0);
  auto addTo = [&](Value at, Value product) {
    Value sum = memref::LoadOp::create(b, decayGrad, at);
    sum = isQuery ? Value(arith::AddFOp::create(b, sum, product))
                  : Value(arith::SubFOp::create(b, sum, product));
    memref::StoreOp::create(b, sum, decayGrad, at);
  };
  tiles.loop(zero, chunk.tokens, 1, [&](Value t) {
    Value product = memref::LoadOp::create(b, products, ValueRange{zero, t});
    Value at = tiles.add(chunk.start, t);
    if (options.decay == DecayKind::Token)
      return addTo(at, product);
    // The sum over tokens of the sum over later tokens: a token counts once
    // for itself and each one before.
    Type wide = b.getF64Type();
    product = arith::ExtFOp::create(b, wide, product);
    Value count =
        arith::IndexCastOp::create(b, b.getI64Type(), tiles.add(at, 1));
    count = arith::SIToFPOp::create(b, wide, count);
    addTo(zero, arith::MulFOp::create(b, product, count));
    addTo(tiles.index(1), product);
  });
}

//===----------------------------------------------------------------------===//
// Parts of a chunk
//===----------------------------------------------------------------------===//

void KernelEmitter::computePairs(Value tile, Value left, Value right,
                                 int64_t depth, Value initial,
                                 const ChunkDecay &decay) {
  tiles.forUpperTiles(C, [&](TileShape shape, Value row, Value column) {
    Tile pairs = tiles.zeroTile(shape);
    if (initial)
      for (int64_t i = 0; i < shape.rows * shape.vectors; ++i)
        pairs[i] = tiles.load(
            initial, {tiles.index(0),
                      tiles.add(column, i % shape.vectors * tiles.getLanes())});
    tiles.accumulate(shape, pairs, {left, /*transposed=*/false}, row, right,
                     column, depth);
    if (decay) {
      Tile between = tiles.loadTile(shape, decay.between, row, column);
      for (auto [pair, factor] : llvm::zip_equal(pairs, between))
        pair = tiles.multiply(pair, factor);
    }
    tiles.storeTile(shape, pairs, tile, row, column);
  });
}

void KernelEmitter::computeDenominators(const Chunk &chunk, Value pairs,
                                        Value queries, Value sums,
                                        const ChunkDecay &decay) {
  Value zero = tiles.index(0);
  int64_t lanes = tiles.getLanes();
  for (int64_t block = 0; block < C; block += lanes) {
    Value column = tiles.index(block);
    // What was before the chunk; four sums hide the latency of an addition.
    Tile parts = tiles.zeroTile({4, 1});
    auto addFeature = [&](Value m, Value part) {
      return tiles.fma(tiles.loadBroadcast(sums, {zero, m}),
                       tiles.load(queries, {m, column}), part);
    };
    parts = tiles.loop(zero, tiles.index(M / 4 * 4), 4, parts,
                       [&](Value m, ValueRange now) {
                         Tile next(now);
                         for (int64_t i = 0; i < 4; ++i)
                           next[i] = addFeature(tiles.add(m, i), next[i]);
                         return next;
                       });
    for (int64_t m = M / 4 * 4; m < M; ++m)
      parts[m % 4] = addFeature(tiles.index(m), parts[m % 4]);
    Value sum =
        tiles.sum(tiles.sum(parts[0], parts[1]), tiles.sum(parts[2], parts[3]));
    if (decay)
      sum = tiles.multiply(sum, tiles.load(decay.sinceStart, {zero, column}));
    auto addPairs = [&](bool isDiagonal) {
      return [&, isDiagonal](Value s, ValueRange now) {
        Value pair = tiles.load(pairs, {s, column});
        if (isDiagonal)
          pair = arith::SelectOp::create(b, createLanesFrom(b, lanes, block, s),
                                         pair, tiles.splat(0.0));
        return SmallVector<Value>{tiles.sum(now[0], pair)};
      };
    };
    if (block > 0)
      sum = tiles.loop(zero, column, 1, sum, addPairs(false))[0];
    sum = tiles.loop(column, tiles.index(block + lanes), 1, sum,
                     addPairs(true))[0];
    sum = tiles.sum(sum, tiles.splat(options.epsilon));
    tiles.store(sum, denominators, {zero, column});
    tiles.store(arith::DivFOp::create(b, tiles.splat(1.0), sum), inverses,
                {zero, column});
  }
  writeTokens(d, chunk, denominators);
}

void KernelEmitter::computeOutputGrads(const Chunk &chunk, Value plain,
                                       Value transposed) {
  Value zero = tiles.index(0);
  Value grads = readRows(outputGrad, chunk, outputStaging);
  if (!options.normalize)
    return pack(grads, plain, transposed, [](Value x, Value) { return x; });

  readTokens(d, chunk, denominators, /*padding=*/1.0);
  for (int64_t block = 0; block < C; block += tiles.getLanes()) {
    Value column = tiles.index(block);
    Value sum = tiles.load(denominators, {zero, column});
    tiles.store(arith::DivFOp::create(b, tiles.splat(1.0), sum), inverses,
                {zero, column});
  }
  // Each row is read once: rows of one head often compete for few places of
  // the first-level cache.
  Value outputs = readRows(o, chunk, secondStaging);
  tiles.loop(0, C, 1, [&](Value t) {
    Value inverse = tiles.loadBroadcast(inverses, {zero, t});
    Value dot = tiles.loop(
        zero, tiles.index(tiles.roundUp(D)), tiles.getLanes(), tiles.splat(0.0),
        [&](Value column, ValueRange now) {
          Value grad = loadRow(grads, t, column);
          tiles.store(tiles.multiply(grad, inverse), plain, {t, column});
          return SmallVector<Value>{
              tiles.fma(grad, loadRow(outputs, t, column), now[0])};
        })[0];
    Value factor = memref::LoadOp::create(b, inverses, ValueRange{zero, t});
    Value grad = arith::MulFOp::create(
        b, arith::NegFOp::create(b, tiles.reduce(dot)), factor);
    memref::StoreOp::create(b, grad, denominatorGrads, ValueRange{zero, t});
  });
  tiles.transposeTile(plain, transposed);
}

void KernelEmitter::scaleRows(Value from, Value to, Value factors) {
  int64_t columns = cast<MemRefType>(from.getType()).getShape().back();
  tiles.loop(0, C, 1, [&](Value row) {
    Value factor = tiles.loadBroadcast(factors, {tiles.index(0), row});
    tiles.loop(0, columns, tiles.getLanes(), [&](Value column) {
      Value scaled = tiles.multiply(tiles.load(from, {row, column}), factor);
      tiles.store(scaled, to, {row, column});
    });
  });
}

Value KernelEmitter::applyScale(Value vector) {
  return options.scale == 1.0
             ? vector
             : tiles.multiply(vector, tiles.splat(options.scale));
}

//===----------------------------------------------------------------------===//
// Feature maps
//===----------------------------------------------------------------------===//

Value KernelEmitter::mapFeatures(Value x, bool isQuery) {
  auto map = cast<VectorFeatureMapInterface>(options.featureMap);
  Value mapped = map.buildMap(b, x);
  return isQuery ? applyScale(mapped) : mapped;
}
