//===- GemmTest.cpp - Tests of matrix products ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

using namespace act::step::test;
using testing::HasSubstr;

namespace {
struct Batch {
  int64_t extent, a, b, c;
};

/// A product with all its strides.
struct Product {
  int64_t dtypeAB = ACT_CPU_F32, dtypeC = ACT_CPU_F32;
  int64_t m, n, k;
  int64_t aM, aK, bK, bN, cM, cN;
  int64_t accumulate = 0;
  std::vector<Batch> batch = {};
  /// Where the first elements are, for negative strides.
  int64_t aBegin = 0, bBegin = 0;

  std::vector<int64_t> getDescriptor() const {
    std::vector<int64_t> desc = {ACT_CPU_GEMM_VERSION,
                                 dtypeAB,
                                 dtypeC,
                                 m,
                                 n,
                                 k,
                                 aM,
                                 aK,
                                 bK,
                                 bN,
                                 cM,
                                 cN,
                                 accumulate,
                                 int64_t(batch.size())};
    for (const Batch &dim : batch)
      desc.insert(desc.end(), {dim.extent, dim.a, dim.b, dim.c});
    return desc;
  }

  /// One past the largest offset of an operand with these strides.
  static int64_t
  reach(std::initializer_list<std::pair<int64_t, int64_t>> dims) {
    int64_t last = 0;
    for (auto [extent, stride] : dims)
      last += std::max<int64_t>(extent - 1, 0) * std::abs(stride);
    return last + 1;
  }
  int64_t getBatchReach(int64_t Batch::*stride) const {
    int64_t last = 0;
    for (const Batch &dim : batch)
      last += std::max<int64_t>(dim.extent - 1, 0) * std::abs(dim.*stride);
    return last;
  }
  int64_t getSizeA() const {
    return reach({{m, aM}, {k, aK}}) + getBatchReach(&Batch::a);
  }
  int64_t getSizeB() const {
    return reach({{k, bK}, {n, bN}}) + getBatchReach(&Batch::b);
  }
  int64_t getSizeC() const {
    return reach({{m, cM}, {n, cN}}) + getBatchReach(&Batch::c);
  }
};

/// Calls `function(offsets of a, b and c)` for every index of the batch.
template <typename Function>
void forEachBatch(const Product &product, Function function) {
  int64_t size = 1;
  for (const Batch &dim : product.batch)
    size *= dim.extent;
  for (int64_t index = 0; index < size; ++index) {
    int64_t rest = index, a = product.aBegin, b = product.bBegin, c = 0;
    for (size_t i = product.batch.size(); i-- > 0;) {
      int64_t position = rest % product.batch[i].extent;
      rest /= product.batch[i].extent;
      a += position * product.batch[i].a;
      b += position * product.batch[i].b;
      c += position * product.batch[i].c;
    }
    function(a, b, c);
  }
}

const char *pointerOffset(const void *data, int64_t elements, int64_t dtype) {
  return static_cast<const char *>(data) + elements * getSize(dtype);
}

void run(void *context, const Product &product, const Array &a, const Array &b,
         Array &c) {
  std::vector<int64_t> desc = product.getDescriptor();
  act_cpu_gemm(context, "product", desc.data(),
               pointerOffset(a.data(), product.aBegin, product.dtypeAB),
               pointerOffset(b.data(), product.bBegin, product.dtypeAB),
               c.data());
}

/// Runs `product` on 1, 2 and 3 threads, which must agree in every bit, and
/// compares it with loops in f64.
void expectRight(const Product &product) {
  Array a(product.dtypeAB, product.getSizeA());
  Array b(product.dtypeAB, product.getSizeB());
  Array c(product.dtypeC, product.getSizeC());
  a.fill(1);
  b.fill(2);
  c.fill(3);
  Array before = c;
  for (int64_t threads : {1, 2, 3}) {
    ContextOwner context(act_cpu_context_create(threads));
    Array result = before;
    run(context.get(), product, a, b, result);
    ASSERT_STREQ(act_cpu_context_error(context.get()), nullptr);
    if (threads == 1)
      c = result;
    ASSERT_TRUE(c == result) << "on " << threads << " threads";
  }
  std::vector<bool> isResult(size_t(c.size()));
  // Sums of k products of numbers up to 1, each rounded, then the result.
  double precision =
      getPrecision(product.dtypeAB == ACT_CPU_F64 ? ACT_CPU_F64 : ACT_CPU_F32);
  double tolerance = precision * double(product.k + 2) * 2;
  forEachBatch(product, [&](int64_t offsetA, int64_t offsetB, int64_t offsetC) {
    for (int64_t i = 0; i < product.m; ++i)
      for (int64_t j = 0; j < product.n; ++j) {
        int64_t at = offsetC + i * product.cM + j * product.cN;
        double sum = product.accumulate ? before.get(at) : 0;
        double scale = std::abs(sum);
        for (int64_t p = 0; p < product.k; ++p) {
          double term = a.get(offsetA + i * product.aM + p * product.aK) *
                        b.get(offsetB + p * product.bK + j * product.bN);
          sum += term;
          scale += std::abs(term);
        }
        isResult[size_t(at)] = true;
        double rounding = getPrecision(product.dtypeC) * std::abs(sum);
        ASSERT_NEAR(c.get(at), sum, tolerance * scale + rounding * 1.01)
            << "at " << i << ", " << j;
      }
  });
  for (int64_t i = 0; i < c.size(); ++i)
    if (!isResult[size_t(i)])
      ASSERT_EQ(c.get(i), before.get(i)) << "element " << i << " is no result";
}

/// a and b in their four layouts, with or without room between rows.
Product makeProduct(int64_t m, int64_t n, int64_t k, bool transposeA,
                    bool transposeB, int64_t room) {
  Product product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.aM = transposeA ? 1 : k + room;
  product.aK = transposeA ? m + room : 1;
  product.bK = transposeB ? 1 : n + room;
  product.bN = transposeB ? k + room : 1;
  product.cM = n + room;
  product.cN = 1;
  return product;
}
} // namespace

TEST(Gemm, ComputesAllLayoutsAndOddSizes) {
  struct Size {
    int64_t m, n, k;
  };
  for (Size size : {Size{1, 1, 1},
                    {1, 7, 5},
                    {7, 1, 5},
                    {5, 7, 1},
                    {1, 65, 300},
                    {300, 1, 65},
                    {2, 130, 33},
                    {3, 33, 130},
                    {8, 100, 513},
                    {13, 29, 31},
                    {64, 64, 64},
                    {67, 129, 257},
                    {12, 32, 256},
                    {200, 10, 128},
                    {31, 517, 3}})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (int64_t room : {0, 3})
          for (int64_t accumulate : {0, 1}) {
            Product product = makeProduct(size.m, size.n, size.k, transposeA,
                                          transposeB, room);
            product.accumulate = accumulate;
            SCOPED_TRACE(testing::Message()
                         << size.m << "x" << size.n << "x" << size.k << " "
                         << transposeA << transposeB << " room " << room
                         << " accumulate " << accumulate);
            expectRight(product);
          }
}

TEST(Gemm, SplitsLargeProductsByShapeAlone) {
  expectRight(makeProduct(517, 300, 129, false, false, 0));
  expectRight(makeProduct(300, 517, 129, true, true, 1));
  // Too few rows to be divided; room behind rows shows what columns too many
  // would write.
  expectRight(makeProduct(8, 500, 600, false, false, 150));
  expectRight(makeProduct(500, 8, 600, false, true, 150));
}

TEST(Gemm, ComputesAllTypes) {
  struct Types {
    int64_t ab, c;
  };
  for (Types types : {Types{ACT_CPU_F64, ACT_CPU_F64},
                      {ACT_CPU_BF16, ACT_CPU_F32},
                      {ACT_CPU_BF16, ACT_CPU_BF16},
                      {ACT_CPU_F16, ACT_CPU_F32},
                      {ACT_CPU_F16, ACT_CPU_F16}})
    for (int64_t size : {3, 40, 131})
      for (bool transpose : {false, true})
        for (int64_t accumulate : {0, 1}) {
          Product product = makeProduct(size, size + 9, 2 * size + 1, transpose,
                                        !transpose, size % 2);
          product.dtypeAB = types.ab;
          product.dtypeC = types.c;
          product.accumulate = accumulate;
          SCOPED_TRACE(testing::Message()
                       << "types " << types.ab << ", " << types.c << " size "
                       << size << " transpose " << transpose);
          expectRight(product);
        }
}

TEST(Gemm, TakesResultsInColumns) {
  for (int64_t dtype : {ACT_CPU_F32, ACT_CPU_F64}) {
    Product product = makeProduct(37, 53, 20, false, true, 0);
    product.dtypeAB = product.dtypeC = dtype;
    product.cM = 1;
    product.cN = 40;
    expectRight(product);
    product.accumulate = 1;
    expectRight(product);
  }
}

TEST(Gemm, TakesStridesThatNoBlasHas) {
  Product product;
  product.m = 19;
  product.n = 35;
  product.k = 23;
  product.aM = 3;
  product.aK = 64;
  product.bK = 2;
  product.bN = 50;
  product.cM = 80;
  product.cN = 2;
  expectRight(product);
  product.accumulate = 1;
  expectRight(product);
  // Backwards, and one row and one column for all.
  product.aM = -64;
  product.aK = -3;
  product.aBegin = 18 * 64 + 22 * 3;
  product.bN = 0;
  expectRight(product);
  product.aM = 0;
  product.aBegin = 22 * 3;
  expectRight(product);
}

TEST(Gemm, TakesBatches) {
  // As attention has them: heads between tokens and features.
  int64_t heads = 3, tokens = 20, features = 8;
  int64_t row = heads * features;
  Product scores = {ACT_CPU_F32, ACT_CPU_F32, tokens, tokens, features, row,
                    1,           1,           row,    tokens, 1};
  scores.batch = {{2, tokens * row, tokens * row, heads * tokens * tokens},
                  {heads, features, features, tokens * tokens}};
  expectRight(scores);
  scores.dtypeAB = ACT_CPU_BF16;
  expectRight(scores);

  Product dense = makeProduct(16, 24, 40, false, false, 0);
  dense.batch = {{2, 3 * 640, 3 * 960, 3 * 384}, {3, 640, 960, 384}};
  expectRight(dense);
  // The batch of c may be inside its rows.
  dense.cM = 24 * 6;
  dense.batch = {{2, 3 * 640, 3 * 960, 3 * 24}, {3, 640, 960, 24}};
  expectRight(dense);
  // One matrix for all.
  dense = makeProduct(16, 24, 40, false, false, 0);
  dense.batch = {{5, 640, 0, 384}};
  expectRight(dense);
  dense.batch = {{5, 0, 960, 384}};
  expectRight(dense);
  // One of a, one of b for an outer batch of an inner one.
  dense.batch = {{2, 0, 3 * 960, 3 * 384}, {3, 640, 960, 384}};
  expectRight(dense);
  dense.batch = {{2, 3 * 640, 0, 3 * 384}, {3, 640, 960, 384}};
  expectRight(dense);
  // A batch that is a part of n.
  dense.bK = dense.cM = 24 * 5;
  dense.batch = {{5, 0, 24, 24}};
  expectRight(dense);
  // Many small ones.
  dense = makeProduct(5, 6, 7, false, true, 0);
  dense.batch = {{1000, 35, 42, 30}};
  expectRight(dense);
}

TEST(Gemm, HasEmptySumsAndEmptyResults) {
  for (int64_t dtype : {ACT_CPU_F32, ACT_CPU_F64, ACT_CPU_BF16})
    for (int64_t accumulate : {0, 1}) {
      Product product = makeProduct(9, 21, 0, false, false, 0);
      product.dtypeAB = product.dtypeC = dtype;
      product.accumulate = accumulate;
      expectRight(product);
    }
  expectRight(makeProduct(0, 5, 5, false, false, 0));
  expectRight(makeProduct(5, 0, 5, false, false, 0));
  Product product = makeProduct(5, 5, 5, false, false, 0);
  product.batch = {{0, 25, 25, 25}};
  expectRight(product);
}

/// c is written without being read, and NaN goes where arithmetic takes it.
TEST(Gemm, PropagatesNonFiniteValues) {
  for (int64_t dtype : {ACT_CPU_F32, ACT_CPU_F64, ACT_CPU_BF16, ACT_CPU_F16})
    for (int64_t size : {2, 7, 70, 160}) {
      Product product = makeProduct(size, size, size, false, false, 0);
      product.dtypeAB = product.dtypeC = dtype;
      Array a(dtype, size * size), b(dtype, size * size), c(dtype, size * size);
      for (int64_t i = 0; i < c.size(); ++i)
        c.set(i, NAN);
      // 0 * NaN in all of row 1; 0 * inf in all of column 0.
      a.set(1 * size + 1, NAN);
      b.set(1 * size + 0, std::numeric_limits<double>::infinity());
      ContextOwner context(act_cpu_context_create(2));
      run(context.get(), product, a, b, c);
      for (int64_t i = 0; i < size; ++i)
        for (int64_t j = 0; j < size; ++j)
          if (i == 1 || j == 0)
            ASSERT_TRUE(std::isnan(c.get(i * size + j)))
                << dtype << " " << size << " " << i << " " << j;
          else
            ASSERT_EQ(c.get(i * size + j), 0)
                << dtype << " " << size << " " << i << " " << j;
    }
}

TEST(Gemm, RefusesDescriptorsThatMakeNoSense) {
  Product good = makeProduct(4, 4, 4, false, false, 0);
  good.batch = {{2, 16, 16, 16}};
  auto expectError = [&](int64_t position, int64_t value, const char *message) {
    std::vector<int64_t> desc = good.getDescriptor();
    ASSERT_EQ(act_cpu_gemm_verify(desc.data()), nullptr);
    desc[size_t(position)] = value;
    ContextOwner context(act_cpu_context_create(1));
    float operand[64] = {}, result[64] = {1};
    act_cpu_gemm(context.get(), "bad", desc.data(), operand, operand, result);
    ASSERT_NE(act_cpu_context_error(context.get()), nullptr) << message;
    EXPECT_EQ(std::string(act_cpu_context_error(context.get())),
              std::string("product 'bad' ") + message);
    EXPECT_STREQ(act_cpu_gemm_verify(desc.data()), message);
    EXPECT_EQ(result[0], 1);
  };
  expectError(ACT_CPU_GEMM_DESC_VERSION, 2,
              "expects version 1 of the descriptor, got 2");
  expectError(ACT_CPU_GEMM_DESC_DTYPE_AB, 4,
              "expects an element type of a and b from 0 to 3, got 4");
  expectError(ACT_CPU_GEMM_DESC_DTYPE_C, ACT_CPU_BF16,
              "expects the element type of a and b, or f32 for bf16 and f16, "
              "as that of c, got 2");
  expectError(ACT_CPU_GEMM_DESC_K, -1,
              "expects m, n and k of at least 0, got -1");
  expectError(ACT_CPU_GEMM_DESC_ACCUMULATE, 2,
              "expects 0 or 1 for accumulate, got 2");
  expectError(ACT_CPU_GEMM_DESC_BATCH_RANK, 17,
              "expects 0 to 16 batch dimensions, got 17");
  expectError(ACT_CPU_GEMM_DESC_BATCH, -2,
              "expects extents of batch dimensions of at least 0, got -2");
  expectError(ACT_CPU_GEMM_DESC_C_M, 3,
              "expects positive strides of c that keep its elements apart");
  expectError(ACT_CPU_GEMM_DESC_BATCH + 3, 0,
              "expects positive strides of c that keep its elements apart");
  EXPECT_STREQ(act_cpu_gemm_verify(nullptr), "expects a descriptor, got null");
}

TEST(Gemm, FindsNonFiniteResults) {
  Product product = makeProduct(3, 4, 2, false, false, 0);
  product.cM = 5;
  Array a(ACT_CPU_F32, 6), b(ACT_CPU_F32, 8), c(ACT_CPU_F32, 14);
  ContextOwner context(act_cpu_context_create(1));
  act_cpu_set_check(context.get(), 1);
  // What is between the rows is none of the product's business.
  c.set(4, NAN);
  run(context.get(), product, a, b, c);
  EXPECT_STREQ(act_cpu_context_error(context.get()), nullptr);
  b.set(7, NAN);
  run(context.get(), product, a, b, c);
  EXPECT_STREQ(act_cpu_context_error(context.get()),
               "'product' has the non-finite value nan at element 3");
}

TEST(Gemm, IsTraced) {
  ContextOwner context(act_cpu_context_create(2));
  Product product = makeProduct(3, 4, 2, false, false, 0);
  Array a(ACT_CPU_F32, 6), b(ACT_CPU_F32, 8), c(ACT_CPU_F32, 12);
  act_cpu_trace_begin(context.get());
  run(context.get(), product, a, b, c);
  std::string path = testing::TempDir() + "act_step_gemm_trace.json";
  ASSERT_EQ(act_cpu_trace_write(context.get(), path.c_str()), 0);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("\"name\":\"product\",\"cat\":\"gemm\""));
  EXPECT_THAT(text.str(), HasSubstr("\"args\":{\"flops\":48,\"bytes\":104}"));
}
