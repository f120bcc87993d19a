//===- StructuralKeysTest.cpp - Tests of names that last ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/StructuralKeys.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class StructuralKeysTest : public testing::Test {
protected:
  StructuralKeysTest() {
    context.loadDialect<func::FuncDialect, shell::StablehloShellDialect>();
  }

  /// The key of the last value that a function of %x, %y: tensor<`size`xf32>
  /// with `body` computes.
  std::string getKey(StringRef body, unsigned size = 8, uint64_t seed = 0) {
    std::string type = "tensor<" + std::to_string(size) + "xf32>";
    std::string text = "!t = " + type + "\n!s = tensor<f32>\n" +
                       "func.func @f(%x: !t, %y: !t) {\n" + body.str() +
                       "\nreturn\n}";
    auto module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "";
    Block &block = (*module->getOps<func::FuncOp>().begin()).front();
    return StructuralKeys(block, seed)
        .getKey(std::prev(block.end(), 2)->getResult(0));
  }

  MLIRContext context;
};
} // namespace

static constexpr const char *kSine =
    R"(%0 = "stablehlo.sine"(%x) : (!t) -> !t loc("a/sin"))";

TEST_F(StructuralKeysTest, HasLocationAndSixteenDigits) {
  std::string key = getKey(kSine);
  EXPECT_EQ(StringRef(key).take_front(6), "a/sin#");
  EXPECT_EQ(key.size(), 22u);
}

TEST_F(StructuralKeysTest, SameForAnotherSize) {
  EXPECT_EQ(getKey(kSine), getKey(kSine, 16));
  const char *scaled = R"(
    %c = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
    %0 = "stablehlo.multiply"(%x, %c) : (!t, !t) -> !t)";
  EXPECT_EQ(getKey(scaled), getKey(scaled, 16));
}

TEST_F(StructuralKeysTest, OtherForAnotherExpression) {
  std::string key = getKey(kSine);
  EXPECT_NE(key,
            getKey(R"(%0 = "stablehlo.cosine"(%x) : (!t) -> !t loc("a/sin"))"));
  EXPECT_NE(key,
            getKey(R"(%0 = "stablehlo.sine"(%y) : (!t) -> !t loc("a/sin"))"));
  EXPECT_NE(key, getKey(kSine, 8, /*seed=*/1));
}

TEST_F(StructuralKeysTest, OtherForAnotherConstant) {
  const char *two = R"(
    %c = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
    %0 = "stablehlo.multiply"(%x, %c) : (!t, !t) -> !t)";
  const char *three = R"(
    %c = "stablehlo.constant"() <{value = dense<3.0> : !t}> : () -> !t
    %0 = "stablehlo.multiply"(%x, %c) : (!t, !t) -> !t)";
  EXPECT_NE(getKey(two), getKey(three));
}

TEST_F(StructuralKeysTest, SeesReductionsInRegions) {
  const char *sum = R"(
    %c = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
    %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: !s, %b: !s):
      %1 = "stablehlo.add"(%a, %b) : (!s, !s) -> !s
      "stablehlo.return"(%1) : (!s) -> ()
    }) : (!t, !s) -> !s)";
  std::string product = sum;
  product.replace(product.find("stablehlo.add"), 13, "stablehlo.multiply");
  EXPECT_NE(getKey(sum), "");
  EXPECT_NE(getKey(sum), getKey(product));
}

TEST_F(StructuralKeysTest, SeesThroughBarriers) {
  std::string plain = getKey(kSine);
  std::string held = getKey(R"(
    %b:2 = "stablehlo.optimization_barrier"(%x, %y) : (!t, !t) -> (!t, !t)
    %0 = "stablehlo.sine"(%b#0) : (!t) -> !t loc("a/sin"))");
  EXPECT_EQ(plain, held);
}
