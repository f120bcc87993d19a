//===- ChunkAccess.cpp - Arguments of linear attention kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"

using namespace mlir;
using namespace mlir::act;

void KernelEmitter::forChunks(bool backwards,
                              function_ref<void(const Chunk &)> body) {
  Value size = tiles.index(C);
  // Of the last chunk that starts before the end.
  Value count = arith::CeilDivSIOp::create(b, tokenCount, size);
  Value last = arith::MulIOp::create(
      b, arith::SubIOp::create(b, count, tiles.index(1)), size);
  tiles.loop(tiles.index(0), tokenCount, C, [&](Value step) {
    Chunk chunk;
    chunk.isBackwards = backwards;
    chunk.start =
        backwards ? Value(arith::SubIOp::create(b, last, step)) : step;
    Value left = arith::SubIOp::create(b, tokenCount, chunk.start);
    chunk.tokens = arith::MinSIOp::create(b, left, size);
    chunk.isFull =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, left, size);
    body(chunk);
  });
}

static int64_t getColumns(Value memref) {
  return cast<MemRefType>(memref.getType()).getShape().back();
}

/// The rows of `argument` from the one at `start`.
static Value createRowView(ImplicitLocOpBuilder &b, MemRefType type,
                           Value argument, Value start) {
  SmallVector<OpFoldResult> offsets{start, b.getIndexAttr(0)}, sizes;
  for (int64_t size : type.getShape())
    sizes.push_back(b.getIndexAttr(size));
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  return memref::SubViewOp::create(b, type, argument, offsets, sizes, strides);
}

Value KernelEmitter::readRows(Value argument, const Chunk &chunk,
                              Value staging) {
  return writeRows(argument, chunk, staging, /*accumulate=*/true);
}

Value KernelEmitter::writeRows(Value argument, const Chunk &chunk,
                               Value staging, bool accumulate) {
  auto argumentType = cast<MemRefType>(argument.getType());
  auto type =
      MemRefType::get({C, getColumns(argument)}, argumentType.getElementType(),
                      argumentType.getLayout());
  auto ifOp = scf::IfOp::create(b, type, chunk.isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  scf::YieldOp::create(b, createRowView(b, type, argument, chunk.start));
  b.setInsertionPointToStart(ifOp.elseBlock());
  int64_t columns = getColumns(argument);
  if (accumulate) {
    tiles.loop(tiles.index(0), chunk.tokens, 1, [&](Value row) {
      Value from = tiles.add(chunk.start, row);
      tiles.loop(0, tiles.roundUp(columns), tiles.getLanes(),
                 [&](Value column) {
                   storeRow(loadRow(argument, from, column), staging, row,
                            column, /*accumulate=*/false);
                 });
    });
    tiles.loop(chunk.tokens, tiles.index(C), 1, [&](Value row) {
      tiles.loop(0, tiles.roundUp(columns), tiles.getLanes(),
                 [&](Value column) {
                   storeRow(tiles.splat(0.0), staging, row, column,
                            /*accumulate=*/false);
                 });
    });
  }
  Value cast = memref::CastOp::create(b, type, staging);
  scf::YieldOp::create(b, cast);
  return ifOp.getResult(0);
}

void KernelEmitter::prefetchRows(ArrayRef<Value> arguments, const Chunk &chunk,
                                 Value row, int64_t rows, Value column,
                                 int64_t vectors) {
  // Past either end nothing is there, and prefetching does not fault.
  Value start =
      chunk.isBackwards
          ? Value(arith::SubIOp::create(b, chunk.start, tiles.index(C)))
          : tiles.add(chunk.start, C);
  for (Value argument : arguments)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < vectors; ++c)
        memref::PrefetchOp::create(
            b, argument,
            ValueRange{tiles.add(tiles.add(start, row), r),
                       tiles.add(column, c * tiles.getLanes())},
            /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
}

void KernelEmitter::finishRows(Value argument, const Chunk &chunk,
                               Value staging) {
  auto ifOp = scf::IfOp::create(b, chunk.isFull, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.elseBlock());
  tiles.loop(tiles.index(0), chunk.tokens, 1, [&](Value row) {
    Value to = tiles.add(chunk.start, row);
    tiles.loop(0, tiles.roundUp(getColumns(argument)), tiles.getLanes(),
               [&](Value column) {
                 storeRow(loadRow(staging, row, column), argument, to, column,
                          /*accumulate=*/false);
               });
  });
}

void KernelEmitter::readTokens(Value argument, const Chunk &chunk, Value tile,
                               double padding) {
  Value zero = tiles.index(0);
  tiles.loop(zero, chunk.tokens, 1, [&](Value token) {
    Value from = tiles.add(chunk.start, token);
    Value element = memref::LoadOp::create(b, argument, from);
    memref::StoreOp::create(b, element, tile, ValueRange{zero, token});
  });
  tiles.loop(chunk.tokens, tiles.index(C), 1, [&](Value token) {
    memref::StoreOp::create(b, tiles.scalar(padding), tile,
                            ValueRange{zero, token});
  });
}

void KernelEmitter::writeTokens(Value argument, const Chunk &chunk,
                                Value tile) {
  Value zero = tiles.index(0);
  tiles.loop(zero, chunk.tokens, 1, [&](Value token) {
    Value element = memref::LoadOp::create(b, tile, ValueRange{zero, token});
    memref::StoreOp::create(b, element, argument,
                            tiles.add(chunk.start, token));
  });
}

Value KernelEmitter::createColumnMask(Value memref, Value column) {
  int64_t columns = getColumns(memref);
  if (columns % tiles.getLanes() == 0)
    return {};
  Value left = arith::SubIOp::create(b, tiles.index(columns), column);
  auto maskType = VectorType::get({tiles.getLanes()}, b.getI1Type());
  return vector::CreateMaskOp::create(b, maskType, left);
}

Value KernelEmitter::loadRow(Value memref, Value row, Value column) {
  auto memrefType = cast<MemRefType>(memref.getType());
  auto vectorType =
      VectorType::get({tiles.getLanes()}, memrefType.getElementType());
  Value loaded;
  if (Value mask = createColumnMask(memref, column)) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(vectorType));
    loaded = vector::MaskedLoadOp::create(b, vectorType, memref,
                                          ValueRange{row, column}, mask, zero);
  } else {
    loaded =
        vector::LoadOp::create(b, vectorType, memref, ValueRange{row, column});
  }
  if (vectorType == tiles.getVectorType())
    return loaded;
  return arith::ExtFOp::create(b, tiles.getVectorType(), loaded);
}

void KernelEmitter::storeRow(Value vector, Value memref, Value row,
                             Value column, bool accumulate) {
  auto memrefType = cast<MemRefType>(memref.getType());
  auto vectorType =
      VectorType::get({tiles.getLanes()}, memrefType.getElementType());
  if (accumulate)
    vector = tiles.sum(vector, loadRow(memref, row, column));
  if (vectorType != vector.getType())
    vector = arith::TruncFOp::create(b, vectorType, vector);
  if (Value mask = createColumnMask(memref, column))
    vector::MaskedStoreOp::create(b, memref, ValueRange{row, column}, mask,
                                  vector);
  else
    vector::StoreOp::create(b, vector, memref, ValueRange{row, column});
}

void KernelEmitter::pack(Value rows, Value plain, Value transposed,
                         RowMap map) {
  int64_t lanes = tiles.getLanes();
  // Blocks of whole vectors, so that they can be transposed; four rows at a
  // time otherwise.
  int64_t height = transposed ? lanes : std::min<int64_t>(lanes, 4);
  tiles.loop(0, C, height, [&](Value row) {
    tiles.loop(0, tiles.roundUp(getColumns(rows)), lanes, [&](Value column) {
      SmallVector<Value> block;
      for (int64_t r = 0; r < height; ++r) {
        Value at = tiles.add(row, r);
        block.push_back(map(loadRow(rows, at, column), at));
        if (plain)
          tiles.store(block.back(), plain, {at, column});
      }
      if (transposed)
        tiles.storeTile({lanes, 1}, tiles.transpose(block), transposed, column,
                        row);
    });
  });
}
