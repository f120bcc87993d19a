//===- GradKernels.cpp - Gradients of linear attention ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

void KernelEmitter::emitQueryGrad() {
  // The state is kept transposed: [D, M].
  Value state = tiles.allocate(D, M), sums, products;
  Value keys = tiles.allocate(C, M), values = tiles.allocate(C, D);
  Value plainGrads = tiles.allocate(C, D);
  Value grads = tiles.allocate(tiles.roundUp(D), C);
  Value pairs = tiles.allocate(C, C);
  Value faded;
  ChunkDecay decay = allocateDecay();
  if (decay) {
    products = tiles.allocate(1, C);
    faded = tiles.allocate(C, M);
  }
  loadStateTransposed(stateIn, state);
  if (options.normalize) {
    sums = tiles.allocate(1, M);
    loadState(sumsIn, sums);
  }
  SmallVector<Value> inputs{q, k, v, outputGrad};
  if (options.normalize)
    inputs.push_back(o);
  forChunks(/*backwards=*/false, [&](const Chunk &chunk) {
    pack(readRows(k, chunk, keyStaging), keys, Value(),
         [&](Value x, Value) { return mapFeatures(x, /*isQuery=*/false); });
    pack(readRows(v, chunk, valueStaging), values, Value(),
         [&](Value x, Value) { return x; });
    computeDecay(chunk, decay);
    computeOutputGrads(chunk, plainGrads, grads);
    computePairs(pairs, values, grads, D, denominatorGrads, decay);

    Value raw = readRows(q, chunk, queryStaging);
    Value destination = writeRows(queryGrad, chunk, destinationStaging,
                                  options.accumulateQuery);
    if (decay)
      tiles.fillZero(products);
    ChunkTiles parts{keys, values, grads, pairs};
    // Keys that are multiplied by their decay, for the state.
    Value fadedKeys = keys;
    if (decay) {
      fadedKeys = faded;
      scaleRows(keys, faded, decay.untilEnd);
    }
    tiles.forColumnTiles(M, [&](int64_t vectors, Value column) {
      computeQueryGrads(parts, state, sums, decay, vectors, column, raw,
                        destination, products);
      updateState(chunk, state, D, values, fadedKeys, decay, vectors, column,
                  inputs);
    });
    finishRows(queryGrad, chunk, destinationStaging);
    if (decay)
      finishDecayGrad(chunk, products, /*isQuery=*/true);
    if (options.normalize)
      updateSums(sums, fadedKeys, /*factors=*/Value(), chunk.tokens, decay);
  });
  storeStateTransposed(state, stateOut);
  if (options.normalize)
    storeState(sums, sumsOut);
}

void KernelEmitter::computeQueryGrads(const ChunkTiles &parts, Value state,
                                      Value sums, const ChunkDecay &decay,
                                      int64_t vectors, Value column, Value raw,
                                      Value destination, Value products) {
  tiles.forRowTiles(C, vectors, [&](TileShape shape, Value row) {
    Tile tile = tiles.zeroTile(shape);
    if (options.normalize)
      tile = outerProduct(shape, denominatorGrads, row, sums, column);
    tiles.accumulate(shape, tile, {parts.grads, /*transposed=*/true}, row,
                     state, column, D);
    if (decay)
      tiles.scaleRows(shape, tile, decay.sinceStart, row);
    tiles.accumulateTriangle(shape, tile, {parts.pairs, /*transposed=*/true},
                             row, parts.keys, column, Triangle::Lower, C);
    storeFeatureGrads(shape, tile, row, column, raw, destination, products,
                      /*isQuery=*/true);
  });
}

Tile KernelEmitter::outerProduct(TileShape shape, Value rowFactors, Value row,
                                 Value columnFactors, Value column) {
  Tile tile;
  Value zero = tiles.index(0);
  for (int64_t r = 0; r < shape.rows; ++r) {
    Value factor = tiles.loadBroadcast(rowFactors, {zero, tiles.add(row, r)});
    for (int64_t c = 0; c < shape.vectors; ++c)
      tile.push_back(tiles.multiply(
          factor, tiles.load(columnFactors,
                             {zero, tiles.add(column, c * tiles.getLanes())})));
  }
  return tile;
}

void KernelEmitter::storeFeatureGrads(TileShape shape, const Tile &tile,
                                      Value row, Value column, Value raw,
                                      Value destination, Value products,
                                      bool isQuery) {
  bool accumulate = isQuery ? options.accumulateQuery : options.accumulateKey;
  Value zero = tiles.index(0);
  SmallVector<Value> rowProducts(shape.rows);
  forVectors(shape, row, column, [&](int64_t i, Value r, Value c) {
    Value x = loadRow(raw, r, c);
    if (products) {
      Value product = tiles.multiply(mapFeatures(x, isQuery), tile[i]);
      if (Value mask = createColumnMask(raw, c))
        product = arith::SelectOp::create(b, mask, product, tiles.splat(0.0));
      Value &sum = rowProducts[i / shape.vectors];
      sum = sum ? tiles.sum(sum, product) : product;
    }
    Value grad = isQuery ? applyScale(tile[i]) : tile[i];
    grad = cast<VectorFeatureMapInterface>(options.featureMap)
               .buildGradient(b, x, grad);
    storeRow(grad, destination, r, c, accumulate);
  });
  if (!products)
    return;
  for (auto [r, product] : llvm::enumerate(rowProducts)) {
    Value at = tiles.add(row, r);
    Value old = memref::LoadOp::create(b, products, ValueRange{zero, at});
    memref::StoreOp::create(b, tiles.sum(old, tiles.reduce(product)), products,
                            ValueRange{zero, at});
  }
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

void KernelEmitter::emitKeyValueGrad() {
  // Gradients of the state after the chunk, and their transpose.
  Value state = tiles.allocate(tiles.roundUp(M), D);
  Value transposedState = tiles.allocate(tiles.roundUp(D), tiles.roundUp(M));
  Value keys = tiles.allocate(C, M), values = tiles.allocate(C, D);
  Value queries = tiles.allocate(C, M), grads = tiles.allocate(C, D);
  Value transposedQueries = tiles.allocate(tiles.roundUp(M), C);
  Value transposedGrads = tiles.allocate(tiles.roundUp(D), C);
  Value queryPairs = tiles.allocate(C, C), gradPairs = tiles.allocate(C, C);
  Value sums, products;
  ChunkDecay decay = allocateDecay();
  if (decay)
    products = tiles.allocate(1, C);
  loadState(stateIn, state);
  if (options.normalize) {
    sums = tiles.allocate(1, M);
    loadState(sumsIn, sums);
  }
  tiles.transposeTile(state, transposedState);
  SmallVector<Value> inputs{q, k, v, outputGrad};
  if (options.normalize)
    inputs.push_back(o);
  forChunks(/*backwards=*/true, [&](const Chunk &chunk) {
    Value rawKeys = readRows(k, chunk, keyStaging);
    pack(rawKeys, keys, Value(),
         [&](Value x, Value) { return mapFeatures(x, /*isQuery=*/false); });
    pack(readRows(v, chunk, valueStaging), values, Value(),
         [&](Value x, Value) { return x; });
    pack(readRows(q, chunk, queryStaging), queries, transposedQueries,
         [&](Value x, Value) { return mapFeatures(x, /*isQuery=*/true); });
    computeDecay(chunk, decay);
    computeOutputGrads(chunk, grads, transposedGrads);
    computePairs(queryPairs, keys, transposedQueries, M, /*initial=*/Value(),
                 decay);
    computePairs(gradPairs, values, transposedGrads, D, denominatorGrads,
                 decay);
    computeKeyGrads(chunk, rawKeys, values, transposedState, sums, gradPairs,
                    queries, products, decay);
    if (decay)
      scaleRows(queries, queries, decay.sinceStart);
    Value destination =
        writeRows(valueGrad, chunk, outputStaging, options.accumulateValue);
    ChunkTiles parts{keys, values, grads, queryPairs};
    tiles.forColumnTiles(D, [&](int64_t vectors, Value column) {
      computeValueGrads(parts, state, decay, vectors, column, destination);
      updateState(chunk, state, M, queries, grads, decay, vectors, column,
                  inputs);
      tiles.loop(0, vectors * tiles.getLanes(), tiles.getLanes(),
                 [&](Value offset) {
                   tiles.transposeColumns(state, transposedState,
                                          tiles.add(column, offset));
                 });
    });
    finishRows(valueGrad, chunk, outputStaging);
    if (options.normalize)
      updateSums(sums, queries, denominatorGrads, chunk.tokens, decay);
  });
  storeState(state, stateOut);
  if (options.normalize)
    storeState(sums, sumsOut);
}

void KernelEmitter::computeKeyGrads(const Chunk &chunk, Value rawKeys,
                                    Value values, Value transposedState,
                                    Value sums, Value gradPairs, Value queries,
                                    Value products, const ChunkDecay &decay) {
  Value destination =
      writeRows(keyGrad, chunk, destinationStaging, options.accumulateKey);
  if (decay)
    tiles.fillZero(products);
  tiles.forTiles(C, M, [&](TileShape shape, Value row, Value column) {
    Tile tile = tiles.zeroTile(shape);
    if (options.normalize)
      for (auto [i, element] : llvm::enumerate(tile))
        element = tiles.load(
            sums, {tiles.index(0),
                   tiles.add(column, i % shape.vectors * tiles.getLanes())});
    tiles.accumulate(shape, tile, {values, /*transposed=*/false}, row,
                     transposedState, column, D);
    if (decay)
      tiles.scaleRows(shape, tile, decay.untilEnd, row);
    tiles.accumulateTriangle(shape, tile, {gradPairs, /*transposed=*/false},
                             row, queries, column, Triangle::Upper, C);
    storeFeatureGrads(shape, tile, row, column, rawKeys, destination, products,
                      /*isQuery=*/false);
  });
  finishRows(keyGrad, chunk, destinationStaging);
  if (decay)
    finishDecayGrad(chunk, products, /*isQuery=*/false);
}

void KernelEmitter::computeValueGrads(const ChunkTiles &parts, Value state,
                                      const ChunkDecay &decay, int64_t vectors,
                                      Value column, Value destination) {
  tiles.forRowTiles(C, vectors, [&](TileShape shape, Value row) {
    Tile tile = tiles.zeroTile(shape);
    tiles.accumulate(shape, tile, {parts.keys, /*transposed=*/false}, row,
                     state, column, M);
    if (decay)
      tiles.scaleRows(shape, tile, decay.untilEnd, row);
    tiles.accumulateTriangle(shape, tile, {parts.pairs, /*transposed=*/false},
                             row, parts.grads, column, Triangle::Upper, C);
    forVectors(shape, row, column, [&](int64_t i, Value r, Value c) {
      storeRow(tile[i], destination, r, c, options.accumulateValue);
    });
  });
}
