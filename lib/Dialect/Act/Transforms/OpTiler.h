//===- OpTiler.h - Computing operations tile by tile -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_OPTILER_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_OPTILER_H

#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <queue>

namespace mlir::act {

/// What one iteration computes of a tensor: all of it, or `length` elements of
/// dimension `dim` from `unit * step + offset` on. The number `unit` is the
/// same for all tiles of an iteration. All iterations together compute `extent`
/// elements from `offset` on.
struct Tile {
  int64_t dim = -1;
  int64_t step = 0;
  int64_t length = 0;
  int64_t offset = 0;
  int64_t extent = 0;

  bool isWhole() const { return dim < 0; }
  bool operator==(const Tile &other) const {
    return std::tie(dim, step, length, offset, extent) ==
           std::tie(other.dim, other.step, other.length, other.offset,
                    other.extent);
  }
  bool operator!=(const Tile &other) const { return !(*this == other); }
};

/// True for a StableHLO operation without regions and with one result, of which
/// some tile follows from tiles of the operands: elementwise ones, constants,
/// iota, broadcasts, reshapes, slices, concatenations. Shapes are static and
/// the attributes are as they should be. Of constants only splats.
bool isTileable(Operation *op);

/// True for a `while` over integers whose regions hold nothing but tileable
/// operations and constants.
bool isTileableLoop(Operation *op);

/// The tiles of the operands that `op`, which is tileable, reads for `tile` of
/// its result, nothing for an operand that it does not read. Fails if it would
/// have to read more.
FailureOr<SmallVector<std::optional<Tile>>> getOperandTiles(Operation *op,
                                                            const Tile &tile);

/// Computes tiles of values of one block: first `request` all, then `plan`,
/// then `build`, then `get` them. What is not worth computing anew, or cannot
/// be, is a leaf: it is read where it is, or a slice of it.
class BlockTiler {
public:
  /// Tensors of at most `maxLeafElements` elements may be leaves. Of operations
  /// in `replaced` no value may be one.
  BlockTiler(Block &block, int64_t maxLeafElements,
             const llvm::SetVector<Operation *> &replaced,
             bool isLoopBody = false)
      : block(block), maxLeafElements(maxLeafElements), replaced(replaced),
        isLoopBody(isLoopBody) {}

  /// A tile to compute. A tensor of any size may be a leaf with `isAnySize`, if
  /// it is not tileable.
  void request(Value value, const Tile &tile, bool isAnySize = false);
  /// Fails if one of the tiles cannot be computed.
  LogicalResult plan();
  /// Creates the operations at `builder`; `unit` is an i32 scalar.
  void build(OpBuilder &builder, Value unit);
  Value get(Value value, const Tile &tile) const;
  /// The first index of `tile`, an i32 scalar.
  Value getStart(StablehloBuilder &b, const Tile &tile);

  ArrayRef<Value> getLeaves() const { return leaves.getArrayRef(); }

private:
  struct Loop {
    SmallVector<Tile> carries;
    std::unique_ptr<BlockTiler> body;
  };
  struct IsEarlier {
    bool operator()(Operation *a, Operation *b) const {
      return a->isBeforeInBlock(b);
    }
  };

  bool isLeaf(Value value, const Tile &tile, bool isAnySize) const;
  bool isSmall(Value value) const;
  LogicalResult planOp(Operation *op);
  LogicalResult planLoop(Operation *op);
  /// Tiles one more carry of a loop that its body needs a tile of, or says that
  /// there is none. Fails if the body needs something else.
  FailureOr<bool> refineCarries(Block &body, Loop &loop);

  Value getOrSlice(OpBuilder &builder, Value value, const Tile &tile);
  Value buildOp(OpBuilder &builder, Operation *op, const Tile &tile);
  void buildLoop(OpBuilder &builder, Operation *op);
  void buildLoopBody(OpBuilder &builder, Operation *op, Operation *loop);

  Block &block;
  int64_t maxLeafElements;
  const llvm::SetVector<Operation *> &replaced;
  bool isLoopBody;

  bool hasFailed = false;
  DenseMap<Value, SmallVector<Tile, 1>> requests;
  llvm::SmallSetVector<Value, 8> leaves;
  DenseSet<Operation *> reached;
  std::priority_queue<Operation *, std::vector<Operation *>, IsEarlier> queue;
  SmallVector<Operation *> order; ///< last ones first
  DenseMap<Operation *, Loop> loops;

  Value unit;
  DenseMap<Value, SmallVector<std::pair<Tile, Value>, 1>> built;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_OPTILER_H
