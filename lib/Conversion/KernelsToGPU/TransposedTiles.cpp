//===- TransposedTiles.cpp - Transposition through shared memory ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation with an input that lies along another loop than its results:
// tiles of the input are read in its order, and used in that of the results.
//
//===----------------------------------------------------------------------===//

#include "ThreadNest.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

bool ThreadNest::isTransposed(unsigned operand, int64_t loop) const {
  const NestOperand &input = nest.operands[operand];
  return operand < nest.op.getNumDpsInputs() && !input.scalar &&
         input.strides[loop] == 1 && input.strides[fastLoop] > 1;
}

int64_t ThreadNest::getTransposedLoop() const {
  if (reduces() || fastLoop < 0 || nest.extents[fastLoop] < tileExtent / 2)
    return -1;
  for (unsigned loop = numRows; loop < nest.getNumLoops(); ++loop)
    for (unsigned i = 0; i < nest.operands.size(); ++i)
      if (static_cast<int64_t>(loop) != fastLoop && isTransposed(i, loop) &&
          nest.extents[loop] >= tileExtent / 2)
        return loop;
  return -1;
}

LoopSpace ThreadNest::getTileSpace(int64_t loop,
                                   SmallVectorImpl<int64_t> &extents) const {
  LoopSpace space;
  for (unsigned other : parallel.loops)
    if (static_cast<int64_t>(other) != loop &&
        static_cast<int64_t>(other) != fastLoop)
      space.loops.push_back(other);
  space.loops.push_back(loop);
  space.loops.push_back(fastLoop);
  for (unsigned other : space.loops) {
    bool isTiled = static_cast<int64_t>(other) == loop ||
                   static_cast<int64_t>(other) == fastLoop;
    extents.push_back(
        llvm::divideCeilSigned(nest.extents[other], isTiled ? tileExtent : 1));
    space.count *= extents.back();
  }
  return space;
}

int64_t ThreadNest::getNumTiles(int64_t loop) const {
  SmallVector<int64_t> extents;
  return getTileSpace(loop, extents).count;
}

/// Calls `body` for the elements of a tile that this thread has, neighbouring
/// threads next to each other in the loop `along`, with the place in the tile's
/// shared memory where each is.
void ThreadNest::forTileElements(int64_t along, int64_t across,
                                 llvm::function_ref<void(Value place)> body) {
  Value thread = kernel.getThread();
  Value column =
      arith::RemUIOp::create(builder, thread, kernel.i32(tileExtent));
  Value row = arith::DivUIOp::create(builder, thread, kernel.i32(tileExtent));
  Value firstAlong = iterations[along], firstAcross = iterations[across];
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(builder, builder.getIndexType(), value);
  };
  for (int64_t rows = kernel.getNumThreads() / tileExtent, first = 0;
       first < tileExtent; first += rows) {
    Value down = arith::AddIOp::create(builder, row, kernel.i32(first));
    iterations[along] =
        arith::AddIOp::create(builder, firstAlong, index(column));
    iterations[across] =
        arith::AddIOp::create(builder, firstAcross, index(down));
    auto isWithin = [&](int64_t loop) -> Value {
      return arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                   iterations[loop],
                                   memory.getIndex(nest.extents[loop]));
    };
    Value exists =
        arith::AndIOp::create(builder, isWithin(along), isWithin(across));
    // Rows of the tile are one element longer, so that its columns lie in
    // different banks, too.
    bool isFast = along == fastLoop;
    Value place = arith::AddIOp::create(
        builder,
        arith::MulIOp::create(builder, isFast ? column : down,
                              kernel.i32(tileExtent + 1)),
        isFast ? down : column);
    auto branch = scf::IfOp::create(builder, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    body(index(place));
  }
  iterations[along] = firstAlong;
  iterations[across] = firstAcross;
}

void ThreadNest::emitTile(Value number, int64_t loop) {
  SmallVector<int64_t> extents;
  LoopSpace space = getTileSpace(loop, extents);
  SmallVector<Value> digits = delinearize(builder, number, extents);
  for (auto [other, digit] : llvm::zip_equal(space.loops, digits)) {
    bool isTiled = static_cast<int64_t>(other) == loop ||
                   static_cast<int64_t>(other) == fastLoop;
    if (isTiled)
      digit = arith::MulIOp::create(builder, digit,
                                    kernel.intLike(digit, tileExtent));
    iterations[other] =
        arith::IndexCastOp::create(builder, builder.getIndexType(), digit);
  }
  SmallVector<std::pair<unsigned, KernelBuffer>> tiles;
  for (unsigned i = 0; i < nest.operands.size(); ++i) {
    if (!isTransposed(i, loop) || nest.op.getBody()->getArgument(i).use_empty())
      continue;
    Type element = nest.operands[i].buffer.elementType;
    int64_t bytes = tileExtent * (tileExtent + 1) * getElementBytes(element);
    tiles.push_back({i, {kernel.allocateShared(bytes), element, {1}}});
  }
  forTileElements(loop, fastLoop, [&](Value place) {
    for (auto [i, tile] : tiles) {
      const NestOperand &operand = nest.operands[i];
      memory.storeScalar(tile, place,
                         memory.loadScalar(operand.buffer, getOffset(operand)));
    }
  });
  kernel.barrier();
  forTileElements(fastLoop, loop, [&](Value place) {
    for (auto [i, tile] : tiles)
      hoisted[i] = memory.loadScalar(tile, place);
    BodyEmitter body = createBody(-1, {});
    loadInputs(body, /*vector=*/false, {});
    auto yield = cast<linalg::YieldOp>(nest.op.getBody()->getTerminator());
    for (auto [i, value] : llvm::enumerate(yield.getOperands()))
      storeResult(i, body.get(value).value, /*vector=*/false, {});
  });
  hoisted.clear();
}
