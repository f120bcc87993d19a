//===- ConvolutionTest.cpp - Tests of convolutions ----------===//
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
#include <cstdlib>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

using namespace act::step::test;
using testing::HasSubstr;

namespace {
struct Spatial {
  int64_t lhs, rhs;
  int64_t stride = 1, low = 0, high = 0, lhsDilation = 1, rhsDilation = 1;
  bool reversed = false;

  int64_t getOut() const {
    int64_t padded = (lhs == 0 ? 0 : (lhs - 1) * lhsDilation + 1) + low + high;
    int64_t window = rhs == 0 ? 0 : (rhs - 1) * rhsDilation + 1;
    return padded <= 0 || window > padded ? 0 : (padded - window) / stride + 1;
  }
};

/// Dimensions from the outermost to the innermost: 'n' or 'f' (lhs, out), 'i'
/// or 'o' (rhs), digits for the spatial ones.
struct Layout {
  std::string lhs, rhs, out;
};

/// A convolution of dense arrays.
struct Convolution {
  int64_t batch, features, outputFeatures;
  std::vector<Spatial> spatial;
  Layout layout;
  int64_t featureGroups = 1, batchGroups = 1;
  int64_t dtype = ACT_CPU_F32, dtypeOut = ACT_CPU_F32;

  int64_t getOutBatch() const { return batch / batchGroups; }
  int64_t getInputs() const { return features / featureGroups; }
  int64_t getExtent(char operand, char dimension) const {
    if (dimension >= '0' && dimension <= '9') {
      const Spatial &dim = spatial[size_t(dimension - '0')];
      return operand == 'l' ? dim.lhs
                            : (operand == 'r' ? dim.rhs : dim.getOut());
    }
    switch (operand) {
    case 'l':
      return dimension == 'n' ? batch : features;
    case 'r':
      return dimension == 'i' ? getInputs() : outputFeatures;
    default:
      return dimension == 'n' ? getOutBatch() : outputFeatures;
    }
  }
  const std::string &getLayout(char operand) const {
    return operand == 'l' ? layout.lhs
                          : (operand == 'r' ? layout.rhs : layout.out);
  }
  int64_t getSize(char operand) const {
    int64_t size = 1;
    for (char dimension : getLayout(operand))
      size *= getExtent(operand, dimension);
    return size;
  }
  int64_t getStride(char operand, char dimension) const {
    int64_t stride = 1;
    const std::string &dimensions = getLayout(operand);
    for (size_t i = dimensions.size(); dimensions[--i] != dimension;)
      stride *= getExtent(operand, dimensions[i]);
    return stride;
  }

  std::vector<int64_t> getDescriptor() const {
    std::vector<int64_t> desc = {ACT_CPU_CONVOLUTION_VERSION,
                                 dtype,
                                 dtypeOut,
                                 int64_t(spatial.size()),
                                 batch,
                                 features,
                                 outputFeatures,
                                 featureGroups,
                                 batchGroups,
                                 getStride('l', 'n'),
                                 getStride('l', 'f'),
                                 getStride('r', 'i'),
                                 getStride('r', 'o'),
                                 getStride('y', 'n'),
                                 getStride('y', 'f'),
                                 0};
    for (size_t i = 0; i < spatial.size(); ++i) {
      const Spatial &dim = spatial[i];
      char digit = char('0' + i);
      desc.insert(desc.end(),
                  {dim.lhs, dim.rhs, dim.getOut(), dim.stride, dim.low,
                   dim.high, dim.lhsDilation, dim.rhsDilation, dim.reversed,
                   getStride('l', digit), getStride('r', digit),
                   getStride('y', digit)});
    }
    return desc;
  }
};

/// Counts through all indices below `extents`; false after the last.
bool advance(std::vector<int64_t> &index, const std::vector<int64_t> &extents) {
  for (size_t i = index.size(); i-- > 0;) {
    if (++index[i] < extents[i])
      return true;
    index[i] = 0;
  }
  return false;
}

/// One output as the definition has it: the sum, and the sum of magnitudes.
std::pair<double, double> computeOutput(const Convolution &conv,
                                        const Array &lhs, const Array &rhs,
                                        int64_t n, int64_t o,
                                        const std::vector<int64_t> &y) {
  int64_t groups = conv.featureGroups * conv.batchGroups;
  int64_t group = o / (conv.outputFeatures / groups);
  int64_t lhsN = conv.batchGroups > 1 ? group * conv.getOutBatch() + n : n;
  int64_t lhsF = conv.featureGroups > 1 ? group * conv.getInputs() : 0;
  std::vector<int64_t> z(conv.spatial.size()), extents;
  for (const Spatial &dim : conv.spatial)
    extents.push_back(dim.rhs);
  double sum = 0, scale = 0;
  if (conv.getSize('l') == 0 || conv.getSize('r') == 0)
    return {0, 0};
  do {
    int64_t lhsAt = lhsN * conv.getStride('l', 'n');
    int64_t rhsAt = o * conv.getStride('r', 'o');
    bool isInside = true;
    for (size_t d = 0; d < z.size(); ++d) {
      const Spatial &dim = conv.spatial[d];
      int64_t position = y[d] * dim.stride + z[d] * dim.rhsDilation - dim.low;
      isInside &= position >= 0 && position % dim.lhsDilation == 0 &&
                  position / dim.lhsDilation < dim.lhs;
      lhsAt += position / dim.lhsDilation * conv.getStride('l', char('0' + d));
      rhsAt += (dim.reversed ? dim.rhs - 1 - z[d] : z[d]) *
               conv.getStride('r', char('0' + d));
    }
    for (int64_t i = 0; isInside && i < conv.getInputs(); ++i) {
      double term = lhs.get(lhsAt + (lhsF + i) * conv.getStride('l', 'f')) *
                    rhs.get(rhsAt + i * conv.getStride('r', 'i'));
      sum += term;
      scale += std::abs(term);
    }
  } while (advance(z, extents));
  return {sum, scale};
}

Array runOn(int64_t threads, const Convolution &conv, const Array &lhs,
            const Array &rhs) {
  std::vector<int64_t> desc = conv.getDescriptor();
  int64_t bytes = act_cpu_convolution_scratch(desc.data(), threads);
  EXPECT_GE(bytes, 0);
  desc[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES] = bytes;
  // A guard behind the scratch, and garbage in it and in the result.
  size_t size = (size_t(bytes) + 191) / 64 * 64;
  std::unique_ptr<char, decltype(&std::free)> scratch(
      static_cast<char *>(std::aligned_alloc(64, size)), &std::free);
  std::memset(scratch.get(), 0xff, size);
  Array out(conv.dtypeOut, conv.getSize('y'));
  for (int64_t i = 0; i < out.size(); ++i)
    out.set(i, NAN);
  ContextOwner context(act_cpu_context_create(threads));
  act_cpu_convolution(context.get(), "conv", desc.data(), lhs.data(),
                      rhs.data(), out.data(), scratch.get());
  EXPECT_STREQ(act_cpu_context_error(context.get()), nullptr);
  for (size_t i = size_t(bytes); i < size; ++i)
    EXPECT_EQ(scratch.get()[i], char(0xff)) << "beyond the scratch";
  return out;
}

/// Compares with the definition, and 1, 2 and 3 threads with each other.
void expectRight(const Convolution &conv) {
  Array lhs(conv.dtype, conv.getSize('l')), rhs(conv.dtype, conv.getSize('r'));
  lhs.fill(1);
  rhs.fill(2);
  Array out = runOn(1, conv, lhs, rhs);
  for (int64_t threads : {2, 3})
    ASSERT_TRUE(out == runOn(threads, conv, lhs, rhs))
        << "on " << threads << " threads";
  int64_t terms = conv.getInputs();
  std::vector<int64_t> extents = {conv.getOutBatch(), conv.outputFeatures};
  for (const Spatial &dim : conv.spatial) {
    terms *= dim.rhs;
    extents.push_back(dim.getOut());
  }
  if (conv.getSize('y') == 0)
    return;
  double precision =
      getPrecision(conv.dtype == ACT_CPU_F64 ? ACT_CPU_F64 : ACT_CPU_F32);
  std::vector<int64_t> index(extents.size());
  do {
    std::vector<int64_t> y(index.begin() + 2, index.end());
    auto [sum, scale] = computeOutput(conv, lhs, rhs, index[0], index[1], y);
    int64_t at = index[0] * conv.getStride('y', 'n') +
                 index[1] * conv.getStride('y', 'f');
    for (size_t d = 0; d < y.size(); ++d)
      at += y[d] * conv.getStride('y', char('0' + d));
    double tolerance = 2 * precision * double(terms + 2) * scale +
                       1.01 * getPrecision(conv.dtypeOut) * std::abs(sum);
    ASSERT_NEAR(out.get(at), sum, tolerance) << "element " << at;
  } while (advance(index, extents));
}

const Layout channelsLast = {"n01f", "01io", "n01f"};
const Layout channelsFirst = {"nf01", "oi01", "nf01"};
} // namespace

TEST(Convolution, ComputesForward) {
  for (const Layout &layout : {channelsLast, channelsFirst})
    for (int64_t size : {1, 5, 9})
      for (int64_t window : {1, 3})
        for (int64_t stride : {1, 2})
          for (int64_t features : {3, 40})
            expectRight({2,
                         features,
                         20,
                         {{size, window, stride, window / 2, window / 2},
                          {size + 1, window, stride, window / 2, window / 2}},
                         layout});
}

/// As the gradient of a convolution with respect to its input is one again.
TEST(Convolution, ComputesInputGradients) {
  for (const Layout &layout :
       {Layout{"n01f", "01oi", "n01f"}, Layout{"nf01", "io01", "nf01"}})
    for (int64_t stride : {1, 2, 3})
      for (int64_t window : {1, 2, 3})
        for (int64_t features : {5, 40})
          for (bool reversed : {false, true}) {
            Spatial dim = {4, window, 1, window - 1, stride - 1, stride};
            dim.reversed = reversed;
            expectRight({2, features, 6, {dim, dim}, layout});
          }
}

/// As the gradient with respect to the weights is.
TEST(Convolution, ComputesWeightGradients) {
  for (const Layout &layout :
       {Layout{"f01n", "i01o", "01nf"}, Layout{"fn01", "io01", "fn01"}})
    for (int64_t stride : {1, 2})
      for (int64_t padding : {0, 1}) {
        Spatial dim = {10, 4, 1, padding, -1, 1, stride};
        expectRight({8, 3, 17, {dim, dim}, layout});
      }
  // Long sums for few results, which are split.
  Spatial dim = {34, 32};
  Convolution conv = {3, 16, 16, {dim, dim}, {"f01n", "i01o", "01nf"}};
  expectRight(conv);
  conv.dtype = conv.dtypeOut = ACT_CPU_F64;
  expectRight(conv);
  conv.dtype = conv.dtypeOut = ACT_CPU_BF16;
  expectRight(conv);
}

/// Parts of out that meet nothing but padding.
TEST(Convolution, ComputesPaddingAlone) {
  expectRight({2, 40, 24, {{1, 3, 1, 1, 1}, {1, 3, 1, 1, 1}}, channelsLast});
  expectRight({2, 3, 4, {{2, 2, 1, 5, 4}, {3, 1, 2, 0, 0}}, channelsLast});
  expectRight({2, 3, 4, {{2, 2, 1, 5, 4}, {3, 1, 2, 0, 0}}, channelsFirst});
  expectRight({1, 2, 3, {{4, 2, 1, -5, 9}}, {"n0f", "0io", "n0f"}});
  expectRight({1, 2, 3, {{4, 1, 1, 0, 3, 4}}, {"n0f", "0io", "n0f"}});
}

TEST(Convolution, ComputesEmptyResultsAndSums) {
  expectRight({2, 3, 4, {{2, 3}}, {"n0f", "0io", "n0f"}});
  expectRight({0, 3, 4, {{5, 3}}, {"n0f", "0io", "n0f"}});
  expectRight({2, 0, 4, {{5, 3}}, {"n0f", "0io", "n0f"}});
  expectRight({2, 3, 0, {{5, 3}}, {"n0f", "0io", "n0f"}});
  expectRight({2, 3, 4, {{0, 1, 1, 2, 2}}, {"n0f", "0io", "n0f"}});
  expectRight({2, 3, 4, {{3, 0}}, {"n0f", "0io", "n0f"}});
}

TEST(Convolution, ComputesEveryNumberOfDimensions) {
  expectRight({3, 5, 7, {}, {"nf", "io", "nf"}});
  expectRight({3, 5, 7, {}, {"fn", "oi", "fn"}});
  expectRight({2, 5, 7, {{9, 3, 2, 1, 0}}, {"nf0", "oi0", "nf0"}});
  expectRight({2,
               3,
               4,
               {{4, 2, 1, 1, 0}, {5, 3, 2, 0, 1}, {3, 3, 1, 1, 1}},
               {"n012f", "012io", "n012f"}});
  expectRight({2,
               3,
               4,
               {{4, 2, 1, 1, 0}, {5, 3, 2, 0, 1}, {3, 3, 1, 1, 1}},
               {"2f1n0", "o2i01", "f10n2"}});
}

TEST(Convolution, ComputesGroups) {
  for (const Layout &layout : {channelsLast, channelsFirst})
    for (int64_t groups : {2, 4}) {
      Spatial dim = {6, 3, 2, 1, 1};
      Convolution conv = {4, 8, 12, {dim, dim}, layout};
      conv.featureGroups = groups;
      expectRight(conv);
      conv.featureGroups = 1;
      conv.batchGroups = groups;
      expectRight(conv);
    }
  Convolution depthwise = {2, 16, 32, {{7, 3, 1, 1, 1}, {5, 3}}, channelsLast};
  depthwise.featureGroups = 16;
  expectRight(depthwise);
}

TEST(Convolution, ComputesAllTypes) {
  struct Types {
    int64_t operands, out;
  };
  for (Types types : {Types{ACT_CPU_F64, ACT_CPU_F64},
                      {ACT_CPU_BF16, ACT_CPU_F32},
                      {ACT_CPU_BF16, ACT_CPU_BF16},
                      {ACT_CPU_F16, ACT_CPU_F32},
                      {ACT_CPU_F16, ACT_CPU_F16}})
    for (const Layout &layout : {channelsLast, channelsFirst})
      for (int64_t features : {3, 33}) {
        Convolution conv = {
            2, features, 20, {{7, 3, 1, 1, 1}, {6, 2, 2}}, layout};
        conv.dtype = types.operands;
        conv.dtypeOut = types.out;
        expectRight(conv);
      }
}

/// Whatever the attributes, in any order of dimensions.
TEST(Convolution, ComputesRandomForms) {
  std::mt19937 generator(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(generator);
  };
  for (int round = 0; round < 300; ++round) {
    Convolution conv = {pick(1, 3), pick(1, 5), pick(1, 6), {}, {}};
    int64_t groups = pick(1, 3), rank = pick(0, 3);
    conv.outputFeatures *= groups;
    if (pick(0, 1)) {
      conv.features *= groups;
      conv.featureGroups = groups;
    } else {
      conv.batch *= groups;
      conv.batchGroups = groups;
    }
    conv.layout = {"nf", "io", "nf"};
    for (int64_t i = 0; i < rank; ++i) {
      conv.spatial.push_back({pick(1, 6), pick(1, 4), pick(1, 3), pick(-2, 4),
                              pick(-2, 4), pick(1, 3), pick(1, 3),
                              pick(0, 1) == 1});
      for (std::string *dimensions :
           {&conv.layout.lhs, &conv.layout.rhs, &conv.layout.out})
        *dimensions += char('0' + i);
    }
    for (std::string *dimensions :
         {&conv.layout.lhs, &conv.layout.rhs, &conv.layout.out})
      std::shuffle(dimensions->begin(), dimensions->end(), generator);
    SCOPED_TRACE(testing::Message()
                 << "round " << round << " " << conv.layout.lhs << "x"
                 << conv.layout.rhs << "->" << conv.layout.out);
    expectRight(conv);
    if (testing::Test::HasFailure())
      return;
  }
}

/// Zero times NaN is NaN.
TEST(Convolution, PropagatesNonFiniteValues) {
  Convolution conv = {1, 1, 1, {{4, 3, 1, 1, 1}}, {"n0f", "0io", "n0f"}};
  Array lhs(ACT_CPU_F32, 4), rhs(ACT_CPU_F32, 3);
  rhs.set(0, NAN);
  Array out = runOn(1, conv, lhs, rhs);
  for (int64_t i = 1; i < 4; ++i)
    EXPECT_TRUE(std::isnan(out.get(i)));
  rhs.set(0, 0);
  lhs.set(3, std::numeric_limits<double>::infinity());
  out = runOn(1, conv, lhs, rhs);
  EXPECT_EQ(out.get(0), 0);
  EXPECT_EQ(out.get(1), 0);
  EXPECT_TRUE(std::isnan(out.get(2)));
  EXPECT_TRUE(std::isnan(out.get(3)));
}

TEST(Convolution, WorksWithScratchForFewerThreads) {
  Convolution conv = {
      16, 24, 32, {{20, 3, 1, 1, 1}, {20, 3, 1, 1, 1}}, channelsLast};
  Array lhs(ACT_CPU_F32, conv.getSize('l'));
  Array rhs(ACT_CPU_F32, conv.getSize('r'));
  lhs.fill(1);
  rhs.fill(2);
  Array expected = runOn(1, conv, lhs, rhs);
  std::vector<int64_t> desc = conv.getDescriptor();
  int64_t bytes = act_cpu_convolution_scratch(desc.data(), 2);
  EXPECT_GT(bytes, act_cpu_convolution_scratch(desc.data(), 1));
  desc[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES] = bytes;
  // As much as four threads would use: two of them must leave theirs alone.
  std::vector<char> memory(size_t(2 * bytes) + 64, 'x');
  char *scratch = memory.data() + (64 - uintptr_t(memory.data()) % 64) % 64;
  ContextOwner context(act_cpu_context_create(4));
  for (int round = 0; round < 20; ++round) {
    Array out(ACT_CPU_F32, conv.getSize('y'));
    act_cpu_convolution(context.get(), "conv", desc.data(), lhs.data(),
                        rhs.data(), out.data(), scratch);
    ASSERT_STREQ(act_cpu_context_error(context.get()), nullptr);
    ASSERT_TRUE(out == expected);
  }
  for (int64_t i = bytes; i < 2 * bytes; ++i)
    ASSERT_EQ(scratch[i], 'x') << "at " << i;
  desc[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES] = 64;
  Array out(ACT_CPU_F32, conv.getSize('y'));
  act_cpu_convolution(context.get(), "conv", desc.data(), lhs.data(),
                      rhs.data(), out.data(), scratch);
  EXPECT_THAT(act_cpu_context_error(context.get()),
              testing::AllOf(HasSubstr("convolution 'conv' expects at least "),
                             HasSubstr(" bytes of scratch, got 64")));
}

TEST(Convolution, RefusesDescriptorsThatMakeNoSense) {
  Convolution conv = {4, 4, 4, {{5, 3}}, {"n0f", "0io", "n0f"}};
  auto expectError = [&](int64_t position, int64_t value, const char *message) {
    std::vector<int64_t> desc = conv.getDescriptor();
    ASSERT_EQ(act_cpu_convolution_verify(desc.data()), nullptr);
    desc[size_t(position)] = value;
    EXPECT_STREQ(act_cpu_convolution_verify(desc.data()), message);
    EXPECT_EQ(act_cpu_convolution_scratch(desc.data(), 1), -1);
    ContextOwner context(act_cpu_context_create(1));
    act_cpu_convolution(context.get(), "bad", desc.data(), nullptr, nullptr,
                        nullptr, nullptr);
    EXPECT_EQ(std::string(act_cpu_context_error(context.get())),
              std::string("convolution 'bad' ") + message);
  };
  int64_t spatial = ACT_CPU_CONVOLUTION_DESC_SPATIAL;
  expectError(ACT_CPU_CONVOLUTION_DESC_VERSION, 0,
              "expects version 1 of the descriptor, got 0");
  expectError(ACT_CPU_CONVOLUTION_DESC_DTYPE, -1,
              "expects an element type of lhs and rhs from 0 to 3, got -1");
  expectError(ACT_CPU_CONVOLUTION_DESC_DTYPE_OUT, 1,
              "expects the element type of lhs and rhs, or f32 for bf16 and "
              "f16, as that of out, got 1");
  expectError(ACT_CPU_CONVOLUTION_DESC_SPATIAL_RANK, 4,
              "expects 0 to 3 spatial dimensions, got 4");
  expectError(ACT_CPU_CONVOLUTION_DESC_BATCH, -1,
              "expects a batch and features of at least 0, got -1");
  expectError(ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS, 0,
              "expects numbers of groups of at least 1, got 0");
  expectError(ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS, 3,
              "expects feature groups that divide the features, got 3");
  expectError(ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS, 3,
              "expects batch groups that divide the batch, got 3");
  expectError(spatial + ACT_CPU_CONVOLUTION_SPATIAL_LHS_SIZE, -1,
              "expects spatial sizes of at least 0, got -1 in spatial "
              "dimension 0");
  expectError(spatial + ACT_CPU_CONVOLUTION_SPATIAL_STRIDE, 0,
              "expects strides and dilations of at least 1, got 0 in spatial "
              "dimension 0");
  expectError(spatial + ACT_CPU_CONVOLUTION_SPATIAL_REVERSAL, 2,
              "expects 0 or 1 for a reversal, got 2 in spatial dimension 0");
  expectError(spatial + ACT_CPU_CONVOLUTION_SPATIAL_OUT_SIZE, 4,
              "expects an output size of 3, got 4 in spatial dimension 0");
  expectError(spatial + ACT_CPU_CONVOLUTION_SPATIAL_OUT, 1,
              "expects positive strides of out that keep its elements apart");
  conv.featureGroups = 2;
  expectError(ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS, 2,
              "expects feature groups or batch groups, got both");
  expectError(ACT_CPU_CONVOLUTION_DESC_OUTPUT_FEATURES, 5,
              "expects groups that divide the output features, got 2");
  EXPECT_STREQ(act_cpu_convolution_verify(nullptr),
               "expects a descriptor, got null");
}

TEST(Convolution, FindsNonFiniteResults) {
  Convolution conv = {1, 1, 2, {{4, 1}}, {"n0f", "0io", "n0f"}};
  std::vector<int64_t> desc = conv.getDescriptor();
  float lhs[4] = {1, 2, NAN, 4}, rhs[2] = {1, 1}, out[8];
  ContextOwner context(act_cpu_context_create(1));
  act_cpu_set_check(context.get(), 1);
  act_cpu_convolution(context.get(), "conv", desc.data(), lhs, rhs, out,
                      nullptr);
  EXPECT_THAT(act_cpu_context_error(context.get()),
              HasSubstr("'conv' has the non-finite value nan"));
}

TEST(Convolution, IsTraced) {
  Convolution conv = {1, 1, 2, {{4, 1}}, {"n0f", "0io", "n0f"}};
  std::vector<int64_t> desc = conv.getDescriptor();
  float lhs[4] = {}, rhs[2] = {}, out[8];
  ContextOwner context(act_cpu_context_create(1));
  act_cpu_trace_begin(context.get());
  act_cpu_convolution(context.get(), "conv", desc.data(), lhs, rhs, out,
                      nullptr);
  std::string path = testing::TempDir() + "act_step_convolution_trace.json";
  ASSERT_EQ(act_cpu_trace_write(context.get(), path.c_str()), 0);
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_THAT(text.str(),
              HasSubstr("\"name\":\"conv\",\"cat\":\"convolution\""));
  EXPECT_THAT(text.str(), HasSubstr("\"args\":{\"flops\":16,\"bytes\":56}"));
}
