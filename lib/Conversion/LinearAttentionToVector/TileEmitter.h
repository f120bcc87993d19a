//===- TileEmitter.h - Register tiles over workspaces -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_TILEEMITTER_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_TILEEMITTER_H

#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::act {

/// A tile of the result of a product: `rows` rows of `vectors` vectors, kept in
/// registers. Vector `c` of row `r` is element r * vectors + c.
struct TileShape {
  int64_t rows;
  int64_t vectors;
};
using Tile = SmallVector<Value>;

/// The left factor of a product, whose elements are broadcast: a memref that is
/// indexed [row, k], or [k, row] if transposed.
struct LeftFactor {
  Value memref;
  bool transposed;
};

/// Which products a tile takes of a triangular left factor.
enum class Triangle {
  /// Those with k <= row.
  Lower,
  /// Those with k >= row.
  Upper
};

/// Emits code over workspaces: dense row-major memrefs of the type that sums
/// have, whose rows are whole vectors. The elements past the last column are
/// unspecified, and never reach a column that counts.
class TileEmitter {
public:
  TileEmitter(ImplicitLocOpBuilder &builder, const VectorTarget &target,
              FloatType type, Value workspace)
      : b(builder), target(target), type(type), workspace(workspace),
        lanes(target.vectorBits / type.getWidth()),
        vectorType(VectorType::get({lanes}, type)) {}

  int64_t getLanes() const { return lanes; }
  int64_t roundUp(int64_t n) const { return (n + lanes - 1) / lanes * lanes; }
  VectorType getVectorType() const { return vectorType; }
  int64_t getWorkspaceBytes() const { return workspaceBytes; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  Value index(int64_t value);
  Value scalar(double value);
  Value splat(double value);
  Value add(Value a, int64_t offset);
  Value add(Value a, Value offset);
  Value broadcast(Value scalar);
  Value load(Value memref, ValueRange indices);
  void store(Value vector, Value memref, ValueRange indices);
  /// The element at `indices` in all lanes.
  Value loadBroadcast(Value memref, ValueRange indices);
  Value multiply(Value a, Value b);
  Value sum(Value a, Value b);
  Value fma(Value a, Value b, Value c);
  /// The sum of the lanes.
  Value reduce(Value vector);

  //===--------------------------------------------------------------------===//
  // Loops and workspaces
  //===--------------------------------------------------------------------===//

  /// A workspace of `rows` rows; `columns` is rounded up to whole vectors.
  Value allocate(int64_t rows, int64_t columns);
  Value allocate(int64_t rows, int64_t columns, FloatType elementType);
  void fillZero(Value tile);

  void loop(Value low, Value high, int64_t step,
            function_ref<void(Value)> body);
  void loop(int64_t low, int64_t high, int64_t step,
            function_ref<void(Value)> body) {
    if (high - low == step)
      return body(index(low));
    if (high > low)
      loop(index(low), index(high), step, body);
  }
  SmallVector<Value>
  loop(Value low, Value high, int64_t step, ValueRange inits,
       function_ref<SmallVector<Value>(Value, ValueRange)> body);

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// The largest tile that suits the registers, for results of `vectors`
  /// vectors per row. `rows` is a multiple of its rows if a power of two is.
  TileShape chooseShape(int64_t rows, int64_t vectors) const;

  /// Covers `columns` columns by tiles of some number of vectors and emits
  /// `body` for each: with that number and the index of the first column.
  void forColumnTiles(int64_t columns, function_ref<void(int64_t, Value)> body);

  /// Covers rows of `vectors` vectors: with the index of the first row.
  void forRowTiles(int64_t rows, int64_t vectors,
                   function_ref<void(TileShape, Value)> body);

  /// Covers a result of `rows` times `columns` elements by tiles and emits
  /// `body` for each: with the index of its first row and of its first column.
  void forTiles(int64_t rows, int64_t columns,
                function_ref<void(TileShape, Value, Value)> body);

  /// Covers those vectors of a square that have an element on or right of the
  /// diagonal.
  void forUpperTiles(int64_t size,
                     function_ref<void(TileShape, Value, Value)> body);

  Tile zeroTile(TileShape shape);
  Tile loadTile(TileShape shape, Value memref, Value row, Value column);
  void storeTile(TileShape shape, const Tile &tile, Value memref, Value row,
                 Value column);
  /// Multiplies row `r` by element row + r of `factors`, [1, n].
  void scaleRows(TileShape shape, Tile &tile, Value factors, Value row);
  void scaleTile(Tile &tile, Value factor);

  /// tile += left(row.., low..high) * right(low..high, column..).
  void accumulate(TileShape shape, Tile &tile, LeftFactor left, Value row,
                  Value right, Value column, Value low, Value high);
  /// The same for all of 0..depth, known when code is made.
  void accumulate(TileShape shape, Tile &tile, LeftFactor left, Value row,
                  Value right, Value column, int64_t depth);
  /// The same for a triangular left factor of `size` rows and columns: what is
  /// outside of the triangle is not read, so that 0 times infinity does not
  /// arise.
  void accumulateTriangle(TileShape shape, Tile &tile, LeftFactor left,
                          Value row, Value right, Value column, Triangle part,
                          int64_t size);

  /// The transpose of `lanes` vectors.
  SmallVector<Value> transpose(ArrayRef<Value> rows);
  /// Writes the transpose of `source` to `destination`, rows and columns of
  /// both rounded up to whole vectors.
  void transposeTile(Value source, Value destination);
  /// The same for one vector of columns.
  void transposeColumns(Value source, Value destination, Value column);

private:
  void accumulateStep(TileShape shape, Tile &tile, LeftFactor left, Value row,
                      Value right, Value column, Value k,
                      function_ref<bool(int64_t)> takesRow);

  ImplicitLocOpBuilder &b;
  VectorTarget target;
  FloatType type;
  Value workspace;
  int64_t lanes;
  VectorType vectorType;
  int64_t workspaceBytes = 0;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOVECTOR_TILEEMITTER_H
