//===- VectorGemm.cpp - Matrix products in vectors of one width ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Compiled once for each level of the x86-64 ABI (see CMakeLists.txt), with
// ACT_STEP_LEVEL naming the level and ACT_STEP_VECTOR_BYTES the width of its
// vectors. Nothing with external linkage may be defined here but the table at
// the end, and nothing of the standard library used: an inline function
// compiled for a newer processor could become the copy that all files share.
//
// The blocking of `gemm` is the one of K. Goto, R. van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication", ACM TOMS 34(3), 2008.

#include "VectorKernels.h"
#include "act-c/StepRuntime.h"

using namespace act::step;

namespace {

constexpr int64_t min(int64_t x, int64_t y) { return x < y ? x : y; }

struct BFloat16 {
  uint16_t bits;
  operator float() const {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    __builtin_memcpy(&value, &wide, sizeof(value));
    return value;
  }
};

BFloat16 roundToBFloat16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  // Rounding would carry a NaN into the infinities.
  bool isNaN = (bits & 0x7fffffffu) > 0x7f800000u;
  return {uint16_t(isNaN ? (bits >> 16) | 0x40u : rounded)};
}

template <typename T>
struct Shape {
  static constexpr int lanes = ACT_STEP_VECTOR_BYTES / int(sizeof(T));
  typedef T Vector
      __attribute__((vector_size(ACT_STEP_VECTOR_BYTES), aligned(sizeof(T))));
  /// A tile of c in registers: `rows` rows of two vectors, beside two vectors
  /// of b. There are 32 registers of 64 bytes, 16 of others.
  static constexpr int rows = ACT_STEP_VECTOR_BYTES == 64 ? 12 : 6;
  static constexpr int columns = 2 * lanes;
  /// Blocks: a panel of b of depth * columns stays in the first cache, a block
  /// of a of blockRows * depth in the second.
  static constexpr int64_t depth = 256;
  static constexpr int64_t blockRows = 16 * rows;
  static constexpr int64_t blockColumns = 512 * 4 / int(sizeof(T));
  static constexpr int64_t aBytes = blockRows * depth * int64_t(sizeof(T));
  static constexpr int64_t bBytes = blockColumns * depth * int64_t(sizeof(T));
};

/// Copies `strips` x `depth` elements to strips of `width` elements for each of
/// the `depth`, padded with zeros: the form in which the tile kernel reads a
/// and b.
template <typename T, typename From, int width>
void pack(const From *from, int64_t stripStride, int64_t depthStride,
          int64_t strips, int64_t depth, T *to) {
  for (int64_t begin = 0; begin < strips; begin += width) {
    const From *strip = from + begin * stripStride;
    int64_t size = min(width, strips - begin);
    if (size == width && stripStride == 1) {
      for (int64_t p = 0; p < depth; ++p)
        for (int i = 0; i < width; ++i)
          to[p * width + i] = T(strip[p * depthStride + i]);
    } else if (size == width) {
      for (int64_t p = 0; p < depth; ++p)
        for (int i = 0; i < width; ++i)
          to[p * width + i] = T(strip[p * depthStride + i * stripStride]);
    } else {
      for (int64_t p = 0; p < depth; ++p)
        for (int i = 0; i < width; ++i)
          to[p * width + i] =
              i < size ? T(strip[p * depthStride + i * stripStride]) : T(0);
    }
    to += width * depth;
  }
}

/// Adds a tile to c, or writes it with `overwrite`.
template <typename T>
void storeTile(const T *tile, T *c, int64_t cM, int64_t cN, int64_t m,
               int64_t n, bool overwrite) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      T &element = c[i * cM + j * cN];
      T sum = tile[i * Shape<T>::columns + j];
      element = overwrite ? sum : element + sum;
    }
}

/// c[rows, columns] (+)= a[depth, rows]^T * b[depth, columns], packed.
template <typename T>
void computeTile(int64_t depth, const T *a, const T *b, T *c, int64_t cM,
                 int64_t cN, int64_t m, int64_t n, bool overwrite) {
  using S = Shape<T>;
  using Vector = typename S::Vector;
  Vector sums[S::rows][2] = {};
  for (int64_t p = 0; p < depth; ++p) {
    Vector left = *reinterpret_cast<const Vector *>(b);
    Vector right = *reinterpret_cast<const Vector *>(b + S::lanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < S::rows; ++i) {
      sums[i][0] += a[i] * left;
      sums[i][1] += a[i] * right;
    }
    a += S::rows;
    b += S::columns;
  }
  if (m != S::rows || n != S::columns || cN != 1)
    return storeTile<T>(reinterpret_cast<const T *>(sums), c, cM, cN, m, n,
                        overwrite);
#pragma clang loop unroll(full)
  for (int i = 0; i < S::rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j < 2; ++j) {
      Vector *to = reinterpret_cast<Vector *>(c + i * cM + j * S::lanes);
      *to = overwrite ? sums[i][j] : *to + sums[i][j];
    }
}

template <typename T>
void fillZero(const GemmBlock &block) {
  for (int64_t i = 0; i < block.m; ++i)
    for (int64_t j = 0; j < block.n; ++j)
      static_cast<T *>(block.c)[i * block.cM + j * block.cN] = 0;
}

/// The part of `gemm` between packing a block of a and the next: all tiles of
/// that block.
template <typename T>
void computeBlock(const GemmBlock &block, int64_t row, int64_t rows,
                  int64_t column, int64_t columns, int64_t depth, const T *a,
                  const T *b, bool overwrite) {
  using S = Shape<T>;
  T *c = static_cast<T *>(block.c) + row * block.cM + column * block.cN;
  for (int64_t j = 0; j < columns; j += S::columns)
    for (int64_t i = 0; i < rows; i += S::rows)
      computeTile<T>(depth, a + i * depth, b + j * depth,
                     c + i * block.cM + j * block.cN, block.cM, block.cN,
                     min(S::rows, rows - i), min(S::columns, columns - j),
                     overwrite);
}

template <typename T, typename From>
void gemmOf(const GemmBlock &block, void *workspace) {
  using S = Shape<T>;
  const From *a = static_cast<const From *>(block.a);
  const From *b = static_cast<const From *>(block.b);
  T *packedA = static_cast<T *>(workspace);
  T *packedB = packedA + S::aBytes / int64_t(sizeof(T));
  if (block.k == 0 && !block.accumulate)
    return fillZero<T>(block);
  for (int64_t column = 0; column < block.n; column += S::blockColumns) {
    int64_t columns = min(S::blockColumns, block.n - column);
    for (int64_t p = 0; p < block.k; p += S::depth) {
      int64_t depth = min(S::depth, block.k - p);
      pack<T, From, S::columns>(b + p * block.bK + column * block.bN, block.bN,
                                block.bK, columns, depth, packedB);
      for (int64_t row = 0; row < block.m; row += S::blockRows) {
        int64_t rows = min(S::blockRows, block.m - row);
        pack<T, From, S::rows>(a + row * block.aM + p * block.aK, block.aM,
                               block.aK, rows, depth, packedA);
        computeBlock<T>(block, row, rows, column, columns, depth, packedA,
                        packedB, p == 0 && !block.accumulate);
      }
    }
  }
}

void gemm(const GemmBlock &block, void *workspace) {
  switch (block.dtype) {
  case ACT_CPU_F32:
    return gemmOf<float, float>(block, workspace);
  case ACT_CPU_F64:
    return gemmOf<double, double>(block, workspace);
  case ACT_CPU_BF16:
    return gemmOf<float, BFloat16>(block, workspace);
  default:
    return gemmOf<float, _Float16>(block, workspace);
  }
}

/// Writes or adds a vector of sums to a row of c.
template <typename T>
void storeVector(const GemmBlock &block, typename Shape<T>::Vector sums, T *c) {
  using Vector = typename Shape<T>::Vector;
  if (block.cN == 1) {
    Vector *to = reinterpret_cast<Vector *>(c);
    *to = block.accumulate ? *to + sums : sums;
    return;
  }
  for (int i = 0; i < Shape<T>::lanes; ++i) {
    T &element = c[i * block.cN];
    element = block.accumulate ? element + sums[i] : sums[i];
  }
}

/// Sums of rows of b (their elements consecutive) times elements of a.
template <typename T, int rows, int vectors>
void combineRows(const GemmBlock &block, const T *a, const T *b, T *c) {
  using S = Shape<T>;
  using Vector = typename S::Vector;
  Vector sums[rows][vectors] = {};
  for (int64_t p = 0; p < block.k; ++p) {
#pragma clang loop unroll(full)
    for (int j = 0; j < vectors; ++j) {
      Vector value = *reinterpret_cast<const Vector *>(b + j * S::lanes);
#pragma clang loop unroll(full)
      for (int i = 0; i < rows; ++i)
        sums[i][j] += a[i * block.aM] * value;
    }
    a += block.aK;
    b += block.bK;
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < vectors; ++j)
      storeVector<T>(block, sums[i][j],
                     c + i * block.cM + j * S::lanes * block.cN);
}

/// The same for columns that do not fill a vector.
template <typename T, int rows>
void combineTail(const GemmBlock &block, const T *a, const T *b, T *c,
                 int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) {
    T sums[rows] = {};
    for (int64_t p = 0; p < block.k; ++p)
      for (int i = 0; i < rows; ++i)
        sums[i] += a[i * block.aM + p * block.aK] * b[j + p * block.bK];
    for (int i = 0; i < rows; ++i) {
      T &element = c[i * block.cM + j * block.cN];
      element = block.accumulate ? element + sums[i] : sums[i];
    }
  }
}

template <typename T, int rows>
void combineAllColumns(const GemmBlock &block, const T *a, T *c) {
  constexpr int lanes = Shape<T>::lanes;
  constexpr int vectors = ACT_STEP_VECTOR_BYTES == 64 ? 4 : 2;
  const T *b = static_cast<const T *>(block.b);
  int64_t column = 0;
  for (; column + vectors * lanes <= block.n; column += vectors * lanes)
    combineRows<T, rows, vectors>(block, a, b + column, c + column * block.cN);
  for (; column + lanes <= block.n; column += lanes)
    combineRows<T, rows, 1>(block, a, b + column, c + column * block.cN);
  combineTail<T, rows>(block, a, b + column, c + column * block.cN,
                       block.n - column);
}

/// Scalar products of rows of a with columns of b, both consecutive.
template <typename T, int rows>
void dotRows(const GemmBlock &block, const T *a, T *c) {
  using S = Shape<T>;
  using Vector = typename S::Vector;
  for (int64_t j = 0; j < block.n; ++j) {
    const T *b = static_cast<const T *>(block.b) + j * block.bN;
    Vector sums[rows][2] = {};
    int64_t p = 0;
    for (; p + 2 * S::lanes <= block.k; p += 2 * S::lanes)
#pragma clang loop unroll(full)
      for (int half = 0; half < 2; ++half) {
        Vector right =
            *reinterpret_cast<const Vector *>(b + p + half * S::lanes);
#pragma clang loop unroll(full)
        for (int i = 0; i < rows; ++i)
          sums[i][half] += *reinterpret_cast<const Vector *>(
                               a + i * block.aM + p + half * S::lanes) *
                           right;
      }
    for (int i = 0; i < rows; ++i) {
      T sum = 0;
      for (int64_t q = p; q < block.k; ++q)
        sum += a[i * block.aM + q] * b[q];
      Vector both = sums[i][0] + sums[i][1];
      for (int l = 0; l < S::lanes; ++l)
        sum += both[l];
      T &element = c[i * block.cM + j * block.cN];
      element = block.accumulate ? element + sum : sum;
    }
  }
}

template <typename T, int rows>
void computeRowsInPlace(const GemmBlock &block, int64_t row) {
  const T *a = static_cast<const T *>(block.a) + row * block.aM;
  T *c = static_cast<T *>(block.c) + row * block.cM;
  if (block.bN == 1)
    combineAllColumns<T, rows>(block, a, c);
  else
    dotRows<T, rows>(block, a, c);
}

template <typename T>
void gemmInPlaceOf(const GemmBlock &block) {
  int64_t row = 0;
  for (; row + 4 <= block.m; row += 4)
    computeRowsInPlace<T, 4>(block, row);
  if (row + 2 <= block.m) {
    computeRowsInPlace<T, 2>(block, row);
    row += 2;
  }
  if (row < block.m)
    computeRowsInPlace<T, 1>(block, row);
}

void gemmInPlace(const GemmBlock &block) {
  if (block.dtype == ACT_CPU_F64)
    gemmInPlaceOf<double>(block);
  else
    gemmInPlaceOf<float>(block);
}

void storeShort(int64_t dtype, const float *from, void *to, int64_t toStride,
                int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (dtype == ACT_CPU_BF16)
      static_cast<BFloat16 *>(to)[i * toStride] = roundToBFloat16(from[i]);
    else
      static_cast<_Float16 *>(to)[i * toStride] = _Float16(from[i]);
}

void loadShort(int64_t dtype, const void *from, int64_t fromStride, float *to,
               int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    to[i] = dtype == ACT_CPU_BF16
                ? float(static_cast<const BFloat16 *>(from)[i * fromStride])
                : float(static_cast<const _Float16 *>(from)[i * fromStride]);
}

constexpr int64_t max(int64_t x, int64_t y) { return x > y ? x : y; }

} // namespace

namespace act::step {
extern const VectorKernels ACT_STEP_LEVEL;
const VectorKernels ACT_STEP_LEVEL = {
    ACT_STEP_LEVEL_NAME,
    gemm,
    max(Shape<float>::aBytes + Shape<float>::bBytes,
        Shape<double>::aBytes + Shape<double>::bBytes),
    gemmInPlace,
    storeShort,
    loadShort};
} // namespace act::step
