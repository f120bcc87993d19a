//===- ValueNumberingTest.cpp - Tests of finding equal values -------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/ValueNumbering.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class ValueNumberingTest : public testing::Test {
protected:
  ValueNumberingTest() {
    context.loadDialect<func::FuncDialect, shell::StablehloShellDialect>();
    context.allowUnregisteredDialects();
  }

  /// Analyses a function of %x, %y: tensor<8xf32> and %i, %j: tensor<i32>.
  void analyse(StringRef body) {
    std::string text = "func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>, "
                       "%i: tensor<i32>, %j: tensor<i32>) {\n" +
                       body.str() + "\nreturn\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    block = &(*module->getOps<func::FuncOp>().begin()).front();
    numbering = std::make_unique<ValueNumbering>(*block, nullptr);
  }

  Value get(unsigned operation, unsigned result = 0) {
    return std::next(block->begin(), operation)->getResult(result);
  }

  /// The leader of what operation `a` computes is what operation `b` does.
  bool leads(unsigned b, unsigned a, unsigned result = 0) {
    return numbering->getLeader(get(a, result)) == get(b, result);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
  std::unique_ptr<ValueNumbering> numbering;
};
} // namespace

TEST_F(ValueNumberingTest, EqualOperations) {
  analyse(R"(
    %0 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("a")
    %1 = "stablehlo.sine"(%x) {mhlo.sharding = "s"} : (tensor<8xf32>) -> tensor<8xf32> loc("b")
    %2 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  )");
  EXPECT_TRUE(leads(0, 0));
  EXPECT_TRUE(leads(0, 1))
      << "locations and discardable attributes do not matter";
  EXPECT_TRUE(leads(0, 2)) << "the first leads, not the one before";
}

TEST_F(ValueNumberingTest, DifferentOperations) {
  analyse(R"(
    %0 = "stablehlo.subtract"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.subtract"(%y, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.add"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.convert"(%x) : (tensor<8xf32>) -> tensor<8xbf16>
    %4 = "stablehlo.convert"(%x) : (tensor<8xf32>) -> tensor<8xf16>
    %5 = "stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8xf32>
    %6 = "stablehlo.reverse"(%x) <{dimensions = array<i64>}> : (tensor<8xf32>) -> tensor<8xf32>
  )");
  for (unsigned i = 0; i < 7; ++i)
    EXPECT_TRUE(leads(i, i)) << i;
}

TEST_F(ValueNumberingTest, EqualOperandsMakeEqualResults) {
  analyse(R"(
    %0 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.add"(%0, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.add"(%1, %y) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %4 = "stablehlo.abs"(%3) : (tensor<8xf32>) -> tensor<8xf32>
    %5 = "stablehlo.abs"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  )");
  EXPECT_TRUE(leads(2, 3));
  EXPECT_TRUE(leads(4, 5));
}

TEST_F(ValueNumberingTest, SeveralResults) {
  analyse(R"(
    %0:2 = "stablehlo.rng_bit_generator"(%i) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %1:2 = "stablehlo.rng_bit_generator"(%i) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %2:2 = "stablehlo.rng_bit_generator"(%j) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
  )");
  EXPECT_TRUE(leads(0, 1, 0));
  EXPECT_TRUE(leads(0, 1, 1));
  EXPECT_TRUE(leads(2, 2, 0));
}

TEST_F(ValueNumberingTest, Regions) {
  auto reduce = [](StringRef name, StringRef combine, StringRef captured) {
    return ("%" + name +
            R"( = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 0>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = "stablehlo.)" +
            combine + R"("(%a, %)" + captured +
            R"() : (tensor<f32>, tensor<f32>) -> tensor<f32>
        "stablehlo.return"(%s) : (tensor<f32>) -> ()
      }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    )")
        .str();
  };
  analyse(
      R"(%c = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
             %d = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
             %e = "stablehlo.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
          )" +
      reduce("r2", "add", "b") + reduce("r3", "add", "b") +
      reduce("r4", "maximum", "b") + reduce("r5", "add", "c") +
      reduce("r6", "add", "d") + reduce("r7", "add", "e"));
  EXPECT_TRUE(leads(3, 4));
  EXPECT_TRUE(leads(5, 5)) << "another operation inside";
  EXPECT_TRUE(leads(6, 6)) << "a value from outside";
  EXPECT_TRUE(leads(7, 7)) << "another value from outside";
  EXPECT_TRUE(leads(6, 8)) << "an equal value from outside";
}

TEST_F(ValueNumberingTest, NotNumbered) {
  analyse(R"(
    %0 = "stablehlo.optimization_barrier"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.optimization_barrier"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = true}> : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = true}> : (tensor<8xf32>) -> tensor<8xf32>
    %4 = "stablehlo.rng"(%i, %j, %i) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8xf32>
    %5 = "stablehlo.rng"(%i, %j, %i) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8xf32>
    %6 = "other.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %7 = "other.op"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %8 = "stablehlo.cholesky"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %9 = "stablehlo.cholesky"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  )");
  for (unsigned i = 0; i < 10; ++i)
    EXPECT_TRUE(leads(i, i)) << i;
}

TEST_F(ValueNumberingTest, BranchesWithoutEffects) {
  analyse(R"(
    %0 = "stablehlo.case"(%i) ({
      "stablehlo.return"(%x) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
    %1 = "stablehlo.case"(%i) ({
      "stablehlo.return"(%x) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
    %2 = "stablehlo.case"(%i) ({
      %r = "stablehlo.rng"(%i, %j, %i) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8xf32>
      "stablehlo.return"(%r) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
    %3 = "stablehlo.case"(%i) ({
      %r = "stablehlo.rng"(%i, %j, %i) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8xf32>
      "stablehlo.return"(%r) : (tensor<8xf32>) -> ()
    }) : (tensor<i32>) -> tensor<8xf32>
  )");
  EXPECT_TRUE(leads(0, 1));
  EXPECT_TRUE(leads(2, 2)) << "an effect inside";
  EXPECT_TRUE(leads(3, 3)) << "an effect inside";
}

// What changes nothing, or undoes what was done, equals what it started from.
TEST_F(ValueNumberingTest, Copies) {
  analyse(R"(
    %0 = "stablehlo.sine"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = "stablehlo.reduce_precision"(%0) <{exponent_bits = 8 : i32, mantissa_bits = 23 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.reduce_precision"(%0) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.reshape"(%0) : (tensor<8xf32>) -> tensor<1x8xf32>
    %4 = "stablehlo.cosine"(%3) : (tensor<1x8xf32>) -> tensor<1x8xf32>
    %5 = "stablehlo.concatenate"(%3, %4) <{dimension = 0 : i64}> : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    %6 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 1, 8>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1x8xf32>) -> tensor<8xf32>
    %8 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 2, 8>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %9 = "stablehlo.slice"(%5) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x8xf32>) -> tensor<2x4xf32>
  )");
  EXPECT_TRUE(leads(0, 1));
  EXPECT_TRUE(leads(2, 2)) << "rounds";
  EXPECT_TRUE(leads(3, 6));
  EXPECT_TRUE(leads(0, 7));
  EXPECT_TRUE(leads(4, 8));
  EXPECT_TRUE(leads(9, 9)) << "cuts across";
}

// A barrier of forward is seen through, one of backward is not.
TEST_F(ValueNumberingTest, Barriers) {
  analyse(R"(
    %0:2 = "stablehlo.optimization_barrier"(%x, %y) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
    %1 = "stablehlo.sine"(%0#1) : (tensor<8xf32>) -> tensor<8xf32>
    %2 = "stablehlo.sine"(%y) : (tensor<8xf32>) -> tensor<8xf32>
    %3 = "stablehlo.optimization_barrier"(%2) : (tensor<8xf32>) -> tensor<8xf32>
  )");
  EXPECT_TRUE(leads(0, 0)) << "nothing is known to be of forward";
  numbering = std::make_unique<ValueNumbering>(*block, get(3).getDefiningOp());
  EXPECT_EQ(numbering->getLeader(get(0, 0)), block->getArgument(0));
  EXPECT_EQ(numbering->getLeader(get(0, 1)), block->getArgument(1));
  EXPECT_TRUE(leads(1, 2));
  EXPECT_TRUE(leads(3, 3));
}

TEST_F(ValueNumberingTest, ArgumentsLeadThemselves) {
  analyse("");
  for (BlockArgument argument : block->getArguments())
    EXPECT_EQ(numbering->getLeader(argument), argument);
}
