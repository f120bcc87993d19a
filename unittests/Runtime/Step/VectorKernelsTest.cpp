//===- VectorKernelsTest.cpp - Tests of kernels of all widths -------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VectorKernels.h"
#include "Elements.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace act::step;
using namespace act::step::test;

namespace {
/// Calls `function` for the kernels of every width this processor has.
template <typename Function>
void forEachWidth(Function function) {
  for (int64_t i = 0; const VectorKernels *kernels = getExecutableKernels(i);
       ++i) {
    SCOPED_TRACE(kernels->name);
    function(*kernels);
  }
}

struct Matrices {
  GemmBlock block;
  Array a, b, c;

  /// a and b with the strides of `form`: bit 0 transposes a, bit 1 b; bit 2
  /// makes c neither row- nor column-major.
  Matrices(int64_t dtype, int64_t m, int64_t n, int64_t k, int64_t form)
      : block{}, a(dtype, m * k), b(dtype, k * n),
        c(dtype == ACT_CPU_F64 ? ACT_CPU_F64 : ACT_CPU_F32, 2 * m * n) {
    block.dtype = dtype;
    block.m = m;
    block.n = n;
    block.k = k;
    block.aM = form & 1 ? 1 : k;
    block.aK = form & 1 ? m : 1;
    block.bK = form & 2 ? 1 : n;
    block.bN = form & 2 ? k : 1;
    block.cN = form & 4 ? 2 : 1;
    block.cM = n * block.cN;
    a.fill(1);
    b.fill(2);
    c.fill(3);
    block.a = a.data();
    block.b = b.data();
    block.c = c.data();
  }

  void expectProduct(const Array &before) const {
    double precision =
        getPrecision(block.dtype == ACT_CPU_F64 ? ACT_CPU_F64 : ACT_CPU_F32);
    for (int64_t i = 0; i < block.m; ++i)
      for (int64_t j = 0; j < block.n; ++j) {
        int64_t at = i * block.cM + j * block.cN;
        double sum = block.accumulate ? before.get(at) : 0;
        for (int64_t p = 0; p < block.k; ++p)
          sum += a.get(i * block.aM + p * block.aK) *
                 b.get(p * block.bK + j * block.bN);
        // Every term is at most 1.
        ASSERT_NEAR(c.get(at), sum,
                    precision * double((block.k + 2) * (block.k + 2)))
            << "at " << i << ", " << j;
      }
  }
};
} // namespace

TEST(VectorKernels, MultiplyInBlocks) {
  forEachWidth([](const VectorKernels &kernels) {
    std::unique_ptr<void, decltype(&std::free)> workspace(
        std::aligned_alloc(64,
                           size_t(kernels.gemmWorkspaceBytes + 63) / 64 * 64),
        &std::free);
    for (int64_t dtype : {ACT_CPU_F32, ACT_CPU_F64, ACT_CPU_BF16, ACT_CPU_F16})
      for (int64_t form = 0; form < 8; ++form)
        for (int64_t size : {1, 5, 33, 70})
          for (bool accumulate : {false, true}) {
            Matrices matrices(dtype, size + 3, 2 * size + 1, 5 * size, form);
            matrices.block.accumulate = accumulate;
            Array before = matrices.c;
            kernels.gemm(matrices.block, workspace.get());
            matrices.expectProduct(before);
          }
    // More than one block in every direction.
    Matrices matrices(ACT_CPU_F32, 197, 530, 270, 0);
    Array before = matrices.c;
    kernels.gemm(matrices.block, workspace.get());
    matrices.expectProduct(before);
  });
}

TEST(VectorKernels, MultiplyInPlace) {
  forEachWidth([](const VectorKernels &kernels) {
    for (int64_t dtype : {ACT_CPU_F32, ACT_CPU_F64})
      // b in rows, or a in rows and b in columns.
      for (int64_t form : {0, 1, 2, 4, 5, 6})
        for (int64_t m : {1, 2, 3, 7})
          for (int64_t n : {1, 16, 77})
            for (int64_t k : {0, 1, 8, 75})
              for (bool accumulate : {false, true}) {
                Matrices matrices(dtype, m, n, k, form);
                matrices.block.accumulate = accumulate;
                Array before = matrices.c;
                kernels.gemmInPlace(matrices.block);
                matrices.expectProduct(before);
              }
  });
}

TEST(VectorKernels, RoundToNearestEven) {
  struct Case {
    int64_t dtype;
    float value;
    uint16_t bits;
  };
  const Case cases[] = {{ACT_CPU_BF16, 1.0f, 0x3f80},
                        // Halfway: to the even neighbour, below and above.
                        {ACT_CPU_BF16, 1.0f + 0x1p-8f, 0x3f80},
                        {ACT_CPU_BF16, 1.0f + 0x3p-8f, 0x3f82},
                        {ACT_CPU_BF16, 1.0f + 0x1.01p-8f, 0x3f81},
                        {ACT_CPU_BF16, -0.0f, 0x8000},
                        {ACT_CPU_BF16, 0x1.fffffep127f, 0x7f80},
                        {ACT_CPU_BF16, -INFINITY, 0xff80},
                        {ACT_CPU_BF16, 0x1p-133f, 0x0001},
                        {ACT_CPU_F16, 1.0f, 0x3c00},
                        {ACT_CPU_F16, 1.0f + 0x1p-11f, 0x3c00},
                        {ACT_CPU_F16, 1.0f + 0x3p-11f, 0x3c02},
                        {ACT_CPU_F16, 65520.0f, 0x7c00},
                        {ACT_CPU_F16, 0x1p-24f, 0x0001}};
  forEachWidth([&](const VectorKernels &kernels) {
    for (const Case &test : cases) {
      // Enough for a vector and a remainder; every other place is left alone.
      std::vector<float> values(37, test.value);
      std::vector<uint16_t> bits(74, 0x1234);
      kernels.storeShort(test.dtype, values.data(), bits.data(), 2, 37);
      for (size_t i = 0; i < bits.size(); ++i)
        ASSERT_EQ(bits[i], i % 2 ? 0x1234 : test.bits) << test.value;
      std::vector<float> back(37);
      kernels.loadShort(test.dtype, bits.data(), 2, back.data(), 37);
      Array exact(test.dtype, 1);
      std::memcpy(exact.data(), &test.bits, 2);
      for (float value : back)
        ASSERT_EQ(double(value), exact.get(0));
    }
    float nan = NAN;
    // A NaN whose upper bits alone would be an infinity.
    uint32_t signalling = 0x7f800001;
    float odd;
    std::memcpy(&odd, &signalling, 4);
    for (float value : {nan, odd}) {
      uint16_t bits = 0;
      kernels.storeShort(ACT_CPU_BF16, &value, &bits, 1, 1);
      EXPECT_GT(bits & 0x7fff, 0x7f80);
    }
  });
}
