//===- ArrayTest.cpp - Tests of arguments and results ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/Array.h"
#include "act/Tools/ActRun/CompareResults.h"
#include "act/Tools/ActRun/RandomArguments.h"
#include "mlir/IR/MLIRContext.h"
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
using testing::HasSubstr;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

Array makeArray(ElementType type, ArrayRef<double> numbers) {
  Array array(type, {static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i)
    array.setNumber(i, numbers[i]);
  return array;
}

TEST(ArrayTest, FloatsAreRoundedToNearest) {
  auto round = [](ElementType type, double value) {
    return makeArray(type, {value}).getNumber(0);
  };
  EXPECT_EQ(round(ElementType::BF16, 1.00390625), 1.0);      // a tie, to even
  EXPECT_EQ(round(ElementType::BF16, 1.01171875), 1.015625); // a tie, to even
  EXPECT_EQ(round(ElementType::F16, 65504), 65504);
  EXPECT_EQ(round(ElementType::F16, 1e6), infinity);
  EXPECT_EQ(round(ElementType::F8E4M3FN, 450), 448);
  EXPECT_EQ(round(ElementType::F8E5M2, 3), 3);
  EXPECT_EQ(round(ElementType::F32, 0.1), 0.1f);
  EXPECT_EQ(round(ElementType::S8, -5), -5);
  EXPECT_EQ(round(ElementType::U64, 1e19), 1e19);
}

TEST(ArrayTest, Matching) {
  std::vector<ValueInfo> values = {{"w", ElementType::F32, {2}},
                                   {"", ElementType::S32, {}}};
  auto match =
      [&](std::vector<std::pair<std::string, ValueInfo>> files) -> std::string {
    std::vector<NamedArray> arrays;
    for (auto &[name, info] : files)
      arrays.push_back({name, Array(info.type, info.shape)});
    auto matched = matchArrays(values, std::move(arrays), "argument");
    return matched ? "" : llvm::toString(matched.takeError());
  };
  EXPECT_EQ(match({{"w", values[0]}, {"arg_1", values[1]}}), "");
  EXPECT_EQ(match({{"argument_1", values[1]}, {"arr_0", values[0]}}), "");
  EXPECT_EQ(match({{"result_1", values[1]}, {"arr_0", values[0]}}),
            "array 'result_1' is no argument of the step, which has 2\n"
            "argument 1 is missing: expects i32");
  EXPECT_EQ(match({{"arr_2", values[1]}, {"arr_0", values[0]}}),
            "array 'arr_2' is no argument of the step, which has 2\n"
            "argument 1 is missing: expects i32");
  EXPECT_EQ(match({{"arr_1", values[0]}, {"w", values[1]}}),
            "argument 1: expects i32, got 2xf32\n"
            "argument 0 ('w'): expects 2xf32, got i32");
}

TEST(ArrayTest, LongListsOfProblemsAreCutShort) {
  std::vector<ValueInfo> values(15, ValueInfo{"", ElementType::F32, {}});
  auto matched = matchArrays(values, {}, "result");
  ASSERT_FALSE(static_cast<bool>(matched));
  EXPECT_THAT(llvm::toString(matched.takeError()), HasSubstr("\nand 5 more"));
}

TEST(CompareTest, RelativeError) {
  auto compare = [](ArrayRef<double> result, ArrayRef<double> reference) {
    return compareArrays(makeArray(ElementType::F32, result),
                         makeArray(ElementType::F32, reference));
  };
  EXPECT_DOUBLE_EQ(compare({3, 4.5}, {3, 4}).relativeError, 0.1);
  EXPECT_DOUBLE_EQ(compare({3, 4.5}, {3, 4}).largest, 0.5);
  EXPECT_FALSE(compare({3, 4.5}, {3, 4}).isIdentical);
  EXPECT_EQ(compare({3, 4}, {3, 4}).relativeError, 0);
  EXPECT_TRUE(compare({3, 4}, {3, 4}).isIdentical);
  EXPECT_EQ(compare({1}, {0}).relativeError, infinity);
  EXPECT_EQ(compare({0}, {0}).relativeError, 0);
  // Zeros of different sign are equal, not identical.
  EXPECT_EQ(compare({-0.0}, {0}).relativeError, 0);
  EXPECT_FALSE(compare({-0.0}, {0}).isIdentical);
}

TEST(CompareTest, NotFinite) {
  auto compare = [](ArrayRef<double> result, ArrayRef<double> reference) {
    return compareArrays(makeArray(ElementType::BF16, result),
                         makeArray(ElementType::BF16, reference));
  };
  EXPECT_TRUE(compare({nan, infinity, 1}, {-nan, infinity, 1}).isIdentical);
  EXPECT_EQ(compare({nan, infinity, 1}, {nan, infinity, 1}).relativeError, 0);
  EXPECT_EQ(compare({infinity, 1}, {-infinity, 1}).relativeError, infinity);
  EXPECT_EQ(compare({nan, 1}, {1, 1}).relativeError, infinity);
  EXPECT_EQ(compare({1, 1}, {nan, 1}).relativeError, infinity);
}

TEST(CompareTest, Integers) {
  Array a = makeArray(ElementType::S32, {1, 2}),
        b = makeArray(ElementType::S32, {1, 5});
  EXPECT_TRUE(compareArrays(a, a).isIdentical);
  EXPECT_EQ(compareArrays(a, a).relativeError, 0);
  EXPECT_FALSE(compareArrays(a, b).isIdentical);
  EXPECT_EQ(compareArrays(a, b).relativeError, infinity);
  EXPECT_EQ(compareArrays(a, b).largest, 3);
}

TEST(RandomArgumentsTest, WithoutUsesTypesDecide) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  std::vector<ValueInfo> values = {
      {"", ElementType::Bool, {200}}, {"", ElementType::U32, {2}},
      {"", ElementType::S32, {}},     {"", ElementType::S64, {200}},
      {"", ElementType::F32, {200}},  {"", ElementType::BF16, {20, 50}}};
  SmallVector<ArgumentKind> kinds = getArgumentKinds(*module, "main", values);
  EXPECT_EQ(kinds[0].role, ArgumentRole::Mask);
  EXPECT_EQ(kinds[1].role, ArgumentRole::Key);
  EXPECT_EQ(kinds[2].role, ArgumentRole::Counter);
  EXPECT_EQ(kinds[3].role, ArgumentRole::Index);
  EXPECT_EQ(kinds[3].bound, 2);
  EXPECT_EQ(kinds[4].deviation, 0.1);
  EXPECT_EQ(kinds[5].deviation, 1);

  std::vector<Array> drawn = drawArguments(values, kinds, 3);
  auto mean = [&](const Array &array, bool squared) {
    double sum = 0;
    for (int64_t i = 0; i < array.getNumElements(); ++i)
      sum += std::pow(array.getNumber(i), squared ? 2 : 1);
    return sum / array.getNumElements();
  };
  EXPECT_NEAR(mean(drawn[0], false), 0.5, 0.15);
  EXPECT_EQ(drawn[2].getNumber(0), 1);
  EXPECT_NEAR(mean(drawn[3], false), 0.5, 0.15);
  EXPECT_NEAR(mean(drawn[4], true), 0.01, 0.004);
  EXPECT_NEAR(mean(drawn[5], false), 0, 0.15);
  EXPECT_NEAR(mean(drawn[5], true), 1, 0.2);
  // The values are promised to be the same everywhere.
  EXPECT_EQ(drawn[1].getBytes(), drawArguments(values, kinds, 3)[1].getBytes());
  EXPECT_NE(drawn[1].getBytes(), drawArguments(values, kinds, 4)[1].getBytes());
}

} // namespace
