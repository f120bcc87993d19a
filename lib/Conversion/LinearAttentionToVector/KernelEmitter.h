//===- KernelEmitter.h - Chunks of linear attention -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_KERNELEMITTER_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_KERNELEMITTER_H

#include "TileEmitter.h"

namespace mlir::act {

/// Where a chunk lies. Only the last one can have fewer tokens than the rest.
struct Chunk {
  Value start;
  /// Number of its tokens.
  Value tokens;
  /// Whether that is the full number.
  Value isFull;
  /// Whether the next chunk is the one before.
  bool isBackwards;
};

/// What the tokens of a chunk have left of the state before them, and of each
/// other. Null values without decay.
struct ChunkDecay {
  /// [C, C]: what the state written at token s has left at token t, at [s, t].
  Value between;
  /// [1, C]: what the state before the chunk has left at t.
  Value sinceStart;
  /// [1, C]: what the state written at s has left at the chunk's end.
  Value untilEnd;
  /// What the state before the chunk has left at the chunk's end, in all lanes.
  Value total;

  explicit operator bool() const { return static_cast<bool>(between); }
};

/// Workspaces that hold a chunk's rows and the products of its pairs of tokens.
struct ChunkTiles {
  Value keys, values, grads, pairs;
};

/// Emits the parts that kernels of linear attention consist of. Notation: C
/// tokens of a chunk, M features, D values; t a query's token, s <= t a key's.
/// In workspaces, features of queries are multiplied by the scale.
class KernelEmitter {
public:
  KernelEmitter(ImplicitLocOpBuilder &builder, func::FuncOp function,
                const LinearAttentionKernelOptions &options,
                const VectorTarget &target);

  /// Emits the body of the function.
  void emit();

  int64_t getWorkspaceBytes() const { return tiles.getWorkspaceBytes(); }

private:
  void takeArguments();
  void emitForward();
  void emitQueryGrad();
  void emitKeyValueGrad();
  void computeOutputs(const Chunk &chunk, Value queries, Value state,
                      Value pairs, Value values, const ChunkDecay &decay,
                      int64_t vectors, Value column, Value outputs);
  void computeKeyGrads(const Chunk &chunk, Value rawKeys, Value values,
                       Value transposedState, Value sums, Value gradPairs,
                       Value queries, Value products, const ChunkDecay &decay);
  void computeQueryGrads(const ChunkTiles &parts, Value state, Value sums,
                         const ChunkDecay &decay, int64_t vectors, Value column,
                         Value raw, Value destination, Value products);
  void computeValueGrads(const ChunkTiles &parts, Value state,
                         const ChunkDecay &decay, int64_t vectors, Value column,
                         Value destination);
  /// Stores gradients of queries or keys from those of their features, and adds
  /// the products of both to `products`, one per token, if not null.
  void storeFeatureGrads(TileShape shape, const Tile &tile, Value row,
                         Value column, Value raw, Value destination,
                         Value products, bool isQuery);
  Tile outerProduct(TileShape shape, Value rowFactors, Value row,
                    Value columnFactors, Value column);
  void forVectors(TileShape shape, Value row, Value column,
                  function_ref<void(int64_t, Value, Value)> body);

  //===--------------------------------------------------------------------===//
  // Chunks of arguments (ChunkAccess.cpp)
  //===--------------------------------------------------------------------===//

  void forChunks(bool backwards, function_ref<void(const Chunk &)> body);
  /// The rows of `argument` in `chunk`. Those of a chunk that is not full are
  /// copied to `staging` and followed by rows of zeros.
  Value readRows(Value argument, const Chunk &chunk, Value staging);
  /// Where to write the rows of `argument` in `chunk`; finishRows then copies
  /// those of a chunk that is not full.
  Value writeRows(Value argument, const Chunk &chunk, Value staging,
                  bool accumulate);
  /// Has `rows` rows, from the one at `row`, and `vectors` vectors of
  /// `arguments` in the next chunk fetched. Rows of one head are far apart,
  /// which processors do not foresee.
  void prefetchRows(ArrayRef<Value> arguments, const Chunk &chunk, Value row,
                    int64_t rows, Value column, int64_t vectors);
  void finishRows(Value argument, const Chunk &chunk, Value staging);
  /// The elements of a vector with one number per token, then `padding`.
  void readTokens(Value argument, const Chunk &chunk, Value tile,
                  double padding);
  void writeTokens(Value argument, const Chunk &chunk, Value tile);

  /// The lanes of a vector at `column` that are before the last column, or null
  /// if all always are.
  Value createColumnMask(Value memref, Value column);
  /// A vector of a row, in the type of sums; zeros follow the last column.
  Value loadRow(Value memref, Value row, Value column);
  /// The reverse; adds to what is there if `accumulate`.
  void storeRow(Value vector, Value memref, Value row, Value column,
                bool accumulate);

  using RowMap = function_ref<Value(Value vector, Value row)>;
  /// Copies rows to the workspace `plain`, the transposed rows to `transposed`,
  /// if they are not null.
  void pack(Value rows, Value plain, Value transposed, RowMap map);

  //===--------------------------------------------------------------------===//
  // States (ChunkParts.cpp)
  //===--------------------------------------------------------------------===//

  void loadState(Value argument, Value tile);
  void loadStateTransposed(Value argument, Value tile);
  void storeState(Value tile, Value argument);
  void storeStateTransposed(Value tile, Value argument);
  /// state = decayed state + left * right over the chunk's tokens, in `vectors`
  /// vectors of columns. Meanwhile has `prefetched` fetched for the next chunk.
  void updateState(const Chunk &chunk, Value state, int64_t rows, Value left,
                   Value right, const ChunkDecay &decay, int64_t vectors,
                   Value column, ArrayRef<Value> prefetched);
  /// sums = decayed sums + column sums of `rows`, each row multiplied by an
  /// element of `factors` if that is not null.
  void updateSums(Value sums, Value rows, Value factors, Value tokens,
                  const ChunkDecay &decay);

  //===--------------------------------------------------------------------===//
  // Parts of a chunk (ChunkParts.cpp)
  //===--------------------------------------------------------------------===//

  ChunkDecay allocateDecay();
  void computeDecay(const Chunk &chunk, ChunkDecay &decay);
  /// tile[s, t] = (initial[t] + left[s, :] * right[:, t]) * what is left of s
  /// at t, where s <= t.
  void computePairs(Value tile, Value left, Value right, int64_t depth,
                    Value initial, const ChunkDecay &decay);
  void computeDenominators(const Chunk &chunk, Value pairs, Value queries,
                           Value sums, const ChunkDecay &decay);
  /// Gradients of numerators and denominators from those of outputs.
  void computeOutputGrads(const Chunk &chunk, Value plain, Value transposed);
  /// Writes the rows of `from`, multiplied by elements of `factors`, to `to`.
  void scaleRows(Value from, Value to, Value factors);

  Value mapFeatures(Value vector, bool isQuery);
  Value applyScale(Value vector);
  /// Adds the products of each query's features and their gradient to the
  /// gradient of the decay, or subtracts those of keys.
  void finishDecayGrad(const Chunk &chunk, Value products, bool isQuery);

  bool hasDecay() const { return options.decay != DecayKind::None; }

  ImplicitLocOpBuilder &b;
  func::FuncOp function;
  const LinearAttentionKernelOptions &options;
  TileEmitter tiles;
  int64_t C, M, D;
  Value tokenCount;

  // Arguments; null where they do not apply.
  Value q, k, v, decayArgument, o, d, outputGrad;
  Value stateIn, sumsIn, stateOut, sumsOut;
  Value queryGrad, keyGrad, valueGrad, decayGrad;

  // Workspaces with one number per token, [1, C].
  Value denominators, inverses, denominatorGrads;
  Value steps;
  // Rows of a chunk that is not full, one for each argument that is read or
  // written at the same time.
  Value queryStaging, keyStaging, valueStaging, outputStaging, secondStaging;
  Value destinationStaging;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_KERNELEMITTER_H
