//===- LoopModelTest.cpp - Tests of what act knows about loops ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class LoopModelTest : public testing::Test {
protected:
  LoopModelTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    scf::SCFDialect, tensor::TensorDialect,
                    shell::StablehloShellDialect>();
    registerUpstreamOpModels(registry);
    context.appendDialectRegistry(registry);
  }

  /// Parses a function with the arguments that `parameters` names.
  void parse(StringRef parameters, StringRef body) {
    std::string text =
        ("func.func @f(" + parameters + ") {\n" + body + "\nreturn\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    block = &(*module->getOps<func::FuncOp>().begin()).front();
  }

  Operation *get(unsigned number) {
    return &*std::next(block->begin(), number);
  }
  Operation *getLast() { return block->getTerminator()->getPrevNode(); }

  /// The form of the last operation in terms of argument 0.
  std::optional<LinearForm> getLastForm() {
    return getLinearForm(getLast()->getResult(0), block->getArgument(0));
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
};

using Form = std::optional<LinearForm>;
} // namespace

//===----------------------------------------------------------------------===//
// Linear forms
//===----------------------------------------------------------------------===//

TEST_F(LoopModelTest, FormsInStablehlo) {
  auto getForm = [&](StringRef body) {
    std::string constants = R"(
      %2 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
      %5 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    )";
    parse("%i: tensor<i32>, %k: tensor<i32>", constants + body.str());
    return getLastForm();
  };
  auto binary = [&](StringRef name, StringRef a, StringRef b) {
    return ("%r = \"stablehlo." + name + "\"(" + a + ", " + b +
            ") : (tensor<i32>, tensor<i32>) -> tensor<i32>\n")
        .str();
  };
  EXPECT_EQ(getForm(""), Form({0, 5}));
  EXPECT_EQ(getForm(binary("add", "%i", "%5")), Form({1, 5}));
  EXPECT_EQ(getForm(binary("add", "%i", "%i")), Form({2, 0}));
  EXPECT_EQ(getForm(binary("subtract", "%5", "%i")), Form({-1, 5}));
  EXPECT_EQ(getForm(binary("subtract", "%i", "%i")), Form({0, 0}));
  EXPECT_EQ(getForm(binary("multiply", "%2", "%i")), Form({2, 0}));
  EXPECT_EQ(getForm(binary("multiply", "%5", "%2")), Form({0, 10}));
  EXPECT_EQ(getForm(binary("multiply", "%i", "%i")), Form());
  EXPECT_EQ(getForm(binary("divide", "%i", "%2")), Form());
  EXPECT_EQ(getForm(binary("maximum", "%i", "%2")), Form());
  EXPECT_EQ(getForm(binary("add", "%i", "%k")), Form()) << "unknown operand";
  // As JAX reverses: n - i - 1, in another type and back.
  EXPECT_EQ(getForm(R"(
    %a = "stablehlo.subtract"(%5, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %b = "stablehlo.subtract"(%a, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = "stablehlo.convert"(%b) : (tensor<i32>) -> tensor<i64>
    %d = "stablehlo.reshape"(%c) : (tensor<i64>) -> tensor<1xi64>
    %e = "stablehlo.reshape"(%d) : (tensor<1xi64>) -> tensor<i64>
  )"),
            Form({-1, 3}));
  EXPECT_EQ(getForm(R"(
    %a = "stablehlo.convert"(%i) : (tensor<i32>) -> tensor<f32>
    %b = "stablehlo.convert"(%a) : (tensor<f32>) -> tensor<i32>
  )"),
            Form())
      << "by way of a float";
  EXPECT_EQ(getForm(R"(
    %a = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi32>}> : () -> tensor<2xi32>
  )"),
            Form())
      << "no scalar";
}

TEST_F(LoopModelTest, FormsInArith) {
  auto getForm = [&](StringRef body) {
    std::string constants = R"(
      %c2 = arith.constant 2 : index
      %c5 = arith.constant 5 : index
    )";
    parse("%i: index, %k: index", constants + body.str());
    return getLastForm();
  };
  EXPECT_EQ(getForm(""), Form({0, 5}));
  EXPECT_EQ(getForm("%r = arith.addi %i, %c5 : index"), Form({1, 5}));
  EXPECT_EQ(getForm("%r = arith.subi %c5, %i : index"), Form({-1, 5}));
  EXPECT_EQ(getForm("%r = arith.muli %i, %c2 : index"), Form({2, 0}));
  EXPECT_EQ(getForm("%r = arith.muli %i, %i : index"), Form());
  EXPECT_EQ(getForm("%r = arith.divsi %i, %c2 : index"), Form());
  EXPECT_EQ(getForm("%r = arith.addi %i, %k : index"), Form());
  EXPECT_EQ(getForm(R"(
    %a = arith.index_cast %i : index to i32
    %b = arith.extsi %a : i32 to i64
    %c = arith.index_cast %b : i64 to index
  )"),
            Form({1, 0}));
}

/// Looks at a bounded number of operations.
TEST_F(LoopModelTest, DeepForms) {
  auto chain = [](unsigned length) {
    std::string body = "%r0 = arith.addi %i, %i : index\n";
    for (unsigned i = 1; i < length; ++i)
      body += "%r" + std::to_string(i) + " = arith.addi %r" +
              std::to_string(i - 1) + ", %i : index\n";
    return body;
  };
  parse("%i: index", chain(16));
  EXPECT_EQ(getLastForm(), Form({17, 0}));
  parse("%i: index", chain(1000));
  EXPECT_EQ(getLastForm(), Form());
}

//===----------------------------------------------------------------------===//
// Rows and views
//===----------------------------------------------------------------------===//

TEST_F(LoopModelTest, RowsInStablehlo) {
  parse("%s: tensor<6x4x8xf32>, %r: tensor<1x4x8xf32>, %h: tensor<1x2x8xf32>, "
        "%p: tensor<2x4x8xf32>, %i: tensor<i32>, %l: tensor<6xf32>, "
        "%lr: tensor<1xf32>",
        R"(
    %z = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.dynamic_slice"(%s, %i, %z, %z) <{slice_sizes = array<i64: 1, 4, 8>}> : (tensor<6x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %2 = "stablehlo.dynamic_slice"(%s, %i, %z, %z) <{slice_sizes = array<i64: 1, 2, 8>}> : (tensor<6x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x8xf32>
    %3 = "stablehlo.dynamic_slice"(%s, %i, %z, %z) <{slice_sizes = array<i64: 2, 4, 8>}> : (tensor<6x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x4x8xf32>
    %4 = "stablehlo.dynamic_slice"(%s, %i, %z, %i) <{slice_sizes = array<i64: 1, 4, 8>}> : (tensor<6x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x8xf32>
    %5 = "stablehlo.dynamic_update_slice"(%s, %r, %i, %z, %z) : (tensor<6x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8xf32>
    %6 = "stablehlo.dynamic_update_slice"(%s, %h, %i, %z, %z) : (tensor<6x4x8xf32>, tensor<1x2x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8xf32>
    %7 = "stablehlo.dynamic_update_slice"(%s, %p, %i, %z, %z) : (tensor<6x4x8xf32>, tensor<2x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8xf32>
    %8 = "stablehlo.dynamic_update_slice"(%s, %r, %i, %i, %z) : (tensor<6x4x8xf32>, tensor<1x4x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x4x8xf32>
    %9 = "stablehlo.dynamic_update_slice"(%l, %lr, %i) : (tensor<6xf32>, tensor<1xf32>, tensor<i32>) -> tensor<6xf32>
  )");
  std::optional<RowAccess> read = getRowRead(get(1));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stack, block->getArgument(0));
  EXPECT_EQ(read->index, block->getArgument(4));
  EXPECT_EQ(read->row, get(1)->getResult(0));
  EXPECT_FALSE(getRowRead(get(2))) << "half a row";
  EXPECT_FALSE(getRowRead(get(3))) << "two rows";
  EXPECT_FALSE(getRowRead(get(4))) << "not from the start of the row";
  EXPECT_FALSE(getRowRead(get(5)));

  std::optional<RowAccess> write = getRowWrite(get(5));
  ASSERT_TRUE(write);
  EXPECT_EQ(write->stack, block->getArgument(0));
  EXPECT_EQ(write->index, block->getArgument(4));
  EXPECT_EQ(write->row, block->getArgument(1));
  EXPECT_FALSE(getRowWrite(get(6))) << "half a row";
  EXPECT_FALSE(getRowWrite(get(7))) << "two rows";
  EXPECT_FALSE(getRowWrite(get(8))) << "not from the start of the row";
  EXPECT_TRUE(getRowWrite(get(9))) << "a scalar";
  EXPECT_FALSE(getRowWrite(get(1)));
}

TEST_F(LoopModelTest, RowsInTensor) {
  parse("%s: tensor<6x4x8xf32>, %r: tensor<1x4x8xf32>, %t: tensor<4x8xf32>, "
        "%i: index",
        R"(
    %1 = tensor.extract_slice %s[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<6x4x8xf32> to tensor<1x4x8xf32>
    %2 = tensor.extract_slice %s[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<6x4x8xf32> to tensor<4x8xf32>
    %3 = tensor.extract_slice %s[%i, 0, 0] [1, 4, 4] [1, 1, 2] : tensor<6x4x8xf32> to tensor<1x4x4xf32>
    %4 = tensor.extract_slice %s[%i, 0, 0] [1, 2, 8] [1, 1, 1] : tensor<6x4x8xf32> to tensor<1x2x8xf32>
    %5 = tensor.extract_slice %s[3, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<6x4x8xf32> to tensor<1x4x8xf32>
    %6 = tensor.extract_slice %s[%i, 0, %i] [1, 4, 8] [1, 1, 1] : tensor<6x4x8xf32> to tensor<1x4x8xf32>
    %7 = tensor.insert_slice %r into %s[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<1x4x8xf32> into tensor<6x4x8xf32>
    %8 = tensor.insert_slice %t into %s[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<4x8xf32> into tensor<6x4x8xf32>
    %9 = tensor.insert_slice %s into %s[0, 0, 0] [6, 4, 8] [1, 1, 1] : tensor<6x4x8xf32> into tensor<6x4x8xf32>
  )");
  for (unsigned number : {0, 1}) {
    std::optional<RowAccess> read = getRowRead(get(number));
    ASSERT_TRUE(read) << number;
    EXPECT_EQ(read->stack, block->getArgument(0));
    EXPECT_EQ(read->index, block->getArgument(3));
    EXPECT_EQ(read->row, get(number)->getResult(0));
  }
  EXPECT_FALSE(getRowRead(get(2))) << "every second element";
  EXPECT_FALSE(getRowRead(get(3))) << "half a row";
  EXPECT_FALSE(getRowRead(get(4))) << "always the same row";
  EXPECT_FALSE(getRowRead(get(5))) << "not from the start of the row";
  for (unsigned number : {6, 7}) {
    std::optional<RowAccess> write = getRowWrite(get(number));
    ASSERT_TRUE(write) << number;
    EXPECT_EQ(write->stack, block->getArgument(0));
    EXPECT_EQ(write->index, block->getArgument(3));
    EXPECT_EQ(write->row, block->getArgument(number - 5));
  }
  EXPECT_FALSE(getRowWrite(get(8))) << "all rows";
  EXPECT_FALSE(getRowRead(get(6)));
}

TEST_F(LoopModelTest, Reshapes) {
  parse("%x: tensor<4x8xf32>, %s: tensor<f32>", R"(
    %0 = "stablehlo.reshape"(%x) : (tensor<4x8xf32>) -> tensor<32xf32>
    %1 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x8xf32>) -> tensor<1x4x8xf32>
    %2 = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 4, 8] : tensor<4x8xf32> into tensor<1x4x8xf32>
    %3 = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
    %4 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 2, 1>}> : (tensor<4x8xf32>) -> tensor<1x8x4xf32>
    %5 = "stablehlo.broadcast_in_dim"(%s) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %6 = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %7 = "stablehlo.negate"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  )");
  for (unsigned number : {0, 1, 2, 3})
    EXPECT_TRUE(isReshape(get(number))) << number;
  EXPECT_FALSE(isReshape(get(4))) << "another order";
  EXPECT_FALSE(isReshape(get(5))) << "repeats";
  EXPECT_FALSE(isReshape(get(6)));
  EXPECT_FALSE(isReshape(get(7)));
}

TEST_F(LoopModelTest, Exponentials) {
  parse("%x: tensor<4x8xf32>, %m: tensor<4xf32>, %z: tensor<f32>", R"(
    %0 = "stablehlo.exponential"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = math.exp2 %x : tensor<4x8xf32>
    %2 = "stablehlo.tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%c) : (tensor<f32>) -> ()
    }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x8xf32>
    %5 = "stablehlo.subtract"(%x, %4) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %6 = "stablehlo.exponential"(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %7 = "stablehlo.broadcast_in_dim"(%m) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x8xf32>
    %8 = "stablehlo.subtract"(%x, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %9 = "stablehlo.exponential"(%8) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %10 = "stablehlo.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  )");
  EXPECT_TRUE(isExponential(get(0)));
  EXPECT_TRUE(isExponential(get(1)));
  EXPECT_FALSE(isExponential(get(2)));
  EXPECT_FALSE(hasBoundedRange(get(0)));
  EXPECT_FALSE(hasBoundedRange(get(1)));
  EXPECT_TRUE(hasBoundedRange(get(2)));
  EXPECT_TRUE(hasBoundedRange(get(6))) << "less a maximum, as in softmax";
  EXPECT_FALSE(hasBoundedRange(get(9))) << "less anything else";
  EXPECT_FALSE(hasBoundedRange(get(10)));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// The parts of a `stablehlo.while` that counts; tests change one each.
struct WhileText {
  StringRef start = "%c0";
  StringRef compare =
      R"("stablehlo.compare"(%i, %c6) <{comparison_direction = #stablehlo<comparison_direction LT>}>)";
  StringRef next = R"("stablehlo.add"(%i, %c1))";

  std::string str() const {
    return (R"(
      %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %c6 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %f:3 = "stablehlo.while"(%x, )" +
            start + R"(, %n) ({
      ^bb0(%h: tensor<8xf32>, %i: tensor<i32>, %k: tensor<i32>):
        %p = )" +
            compare + R"( : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%p) : (tensor<i1>) -> ()
      }, {
      ^bb0(%h: tensor<8xf32>, %i: tensor<i32>, %k: tensor<i32>):
        %next = )" +
            next + R"( : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%h, %next, %k) : (tensor<8xf32>, tensor<i32>, tensor<i32>) -> ()
      }) : (tensor<8xf32>, tensor<i32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>, tensor<i32>)
    )")
        .str();
  }
};
} // namespace

TEST_F(LoopModelTest, While) {
  auto getLoop = [&](const WhileText &text) {
    parse("%x: tensor<8xf32>, %n: tensor<i32>", text.str());
    return cast<LoopModelInterface>(getLast());
  };
  LoopModelInterface loop = getLoop({});
  Block *body = loop.getLoopBody();
  EXPECT_EQ(body, &loop->getRegion(1).front());
  EXPECT_EQ(loop.getCounter(), body->getArgument(1));
  EXPECT_EQ(loop.getTripCount(), 6);
  EXPECT_EQ(loop.getInitialValues().front(), block->getArgument(0));
  EXPECT_EQ(loop.getCarriedArguments()[1], body->getArgument(1));
  EXPECT_EQ(loop.getNextValues()[1], body->front().getResult(0));

  WhileText text;
  text.next = R"("stablehlo.add"(%c1, %i))";
  EXPECT_TRUE(getLoop(text).getCounter()) << "the other way round";

  auto isCounter = [&](const WhileText &text) {
    LoopModelInterface loop = getLoop(text);
    EXPECT_EQ(static_cast<bool>(loop.getCounter()), loop.getTripCount() > 0);
    return static_cast<bool>(loop.getCounter());
  };
  text = {};
  text.start = "%c1";
  EXPECT_FALSE(isCounter(text)) << "starts from 1";
  text.start = "%n";
  EXPECT_FALSE(isCounter(text)) << "starts anywhere";
  text = {};
  text.next = R"("stablehlo.add"(%i, %c6))";
  EXPECT_FALSE(isCounter(text)) << "in steps of 6";
  text.next = R"("stablehlo.subtract"(%i, %c1))";
  EXPECT_FALSE(isCounter(text)) << "down";
  text.next = R"("stablehlo.add"(%k, %c1))";
  EXPECT_FALSE(isCounter(text)) << "from another value";
  text.next = R"("stablehlo.multiply"(%i, %c1))";
  EXPECT_FALSE(isCounter(text)) << "stays";
  text = {};
  text.compare =
      R"("stablehlo.compare"(%i, %c6) <{comparison_direction = #stablehlo<comparison_direction GE>}>)";
  EXPECT_FALSE(isCounter(text)) << "another comparison";
  text.compare =
      R"("stablehlo.compare"(%i, %c6) <{comparison_direction = #stablehlo<comparison_direction LE>}>)";
  EXPECT_FALSE(isCounter(text)) << "runs once more";
  text.compare =
      R"("stablehlo.compare"(%c6, %i) <{comparison_direction = #stablehlo<comparison_direction LT>}>)";
  EXPECT_FALSE(isCounter(text)) << "operands swapped";
  text.compare =
      R"("stablehlo.compare"(%i, %n) <{comparison_direction = #stablehlo<comparison_direction LT>}>)";
  EXPECT_FALSE(isCounter(text)) << "not known how often";
  text.compare =
      R"("stablehlo.compare"(%i, %c0) <{comparison_direction = #stablehlo<comparison_direction LT>}>)";
  EXPECT_FALSE(isCounter(text)) << "never runs";
  text.compare =
      R"("stablehlo.compare"(%k, %c6) <{comparison_direction = #stablehlo<comparison_direction LT>}>)";
  EXPECT_FALSE(isCounter(text)) << "compares a value that does not count";
  text.compare = R"("stablehlo.and"(%i, %c6))";
  EXPECT_FALSE(isCounter(text)) << "no comparison";
}

TEST_F(LoopModelTest, For) {
  auto getLoop = [&](StringRef range) {
    parse("%x: tensor<8xf32>, %n: index", (R"(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = )" + range + R"( iter_args(%h = %x) -> tensor<8xf32> {
        scf.yield %h : tensor<8xf32>
      })")
                                              .str());
    return cast<LoopModelInterface>(getLast());
  };
  LoopModelInterface loop = getLoop("%c0 to %c6 step %c1");
  EXPECT_EQ(loop.getCounter(), loop.getLoopBody()->getArgument(0));
  EXPECT_EQ(loop.getTripCount(), 6);
  ASSERT_EQ(loop.getInitialValues().size(), 1u);
  EXPECT_EQ(loop.getInitialValues()[0], block->getArgument(0));
  EXPECT_EQ(loop.getCarriedArguments()[0], loop.getLoopBody()->getArgument(1));
  EXPECT_EQ(loop.getNextValues()[0], loop.getLoopBody()->getArgument(1));
  EXPECT_FALSE(getLoop("%c1 to %c6 step %c1").getCounter());
  EXPECT_FALSE(getLoop("%n to %c6 step %c1").getCounter());
  EXPECT_FALSE(getLoop("%c0 to %c6 step %c6").getCounter());
  EXPECT_FALSE(getLoop("%c0 to %n step %c1").getCounter());
  EXPECT_FALSE(getLoop("%c0 to %c0 step %c1").getCounter());
}

TEST_F(LoopModelTest, ScfWhile) {
  auto getLoop = [&](StringRef compare, StringRef passed, StringRef next) {
    parse("%x: tensor<8xf32>, %n: index", (R"(
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %r:2 = scf.while (%i = %c0, %k = %c0) : (index, index) -> (index, index) {
        %p = arith.cmpi )" + compare + R"( : index
        scf.condition(%p) )" + passed + R"( : index, index
      } do {
      ^bb0(%i: index, %k: index):
        %next = arith.addi )" + next + R"( : index
        scf.yield %next, %k : index, index
      })")
                                              .str());
    return cast<LoopModelInterface>(getLast());
  };
  LoopModelInterface loop = getLoop("slt, %i, %c6", "%i, %k", "%i, %c1");
  EXPECT_EQ(loop.getCounter(), loop.getLoopBody()->getArgument(0));
  EXPECT_EQ(loop.getTripCount(), 6);
  EXPECT_TRUE(getLoop("ult, %i, %c6", "%i, %k", "%i, %c1").getCounter());
  EXPECT_FALSE(getLoop("sle, %i, %c6", "%i, %k", "%i, %c1").getCounter());
  EXPECT_FALSE(getLoop("slt, %i, %n", "%i, %k", "%i, %c1").getCounter());
  EXPECT_FALSE(getLoop("slt, %k, %c6", "%i, %k", "%i, %c1").getCounter());
  EXPECT_FALSE(getLoop("slt, %i, %c6", "%k, %i", "%i, %c1").getCounter())
      << "the condition swaps what it passes on";
  EXPECT_FALSE(getLoop("slt, %i, %c6", "%i, %k", "%i, %c6").getCounter());
}

/// A loop made like another runs as often and counts by its own counter.
TEST_F(LoopModelTest, CreateLike) {
  parse("%x: tensor<8xf32>, %n: tensor<i32>", WhileText().str());
  auto loop = cast<LoopModelInterface>(getLast());
  loop->setDiscardableAttr("mhlo.name", UnitAttr::get(&context));
  OpBuilder builder(loop);
  Value start = loop.getInitialValues()[1];
  auto made = cast<LoopModelInterface>(
      loop.createLike(builder, {block->getArgument(0), start}, {-1, 1}));
  EXPECT_TRUE(made->hasAttr("mhlo.name"));
  ASSERT_EQ(made->getNumResults(), 2u);
  SmallVector<Value> arguments = made.getCarriedArguments();
  OpBuilder inside = OpBuilder::atBlockEnd(made.getLoopBody());
  Value reversed =
      loop.buildReversedCounter(inside, loop.getLoc(), arguments[1]);
  EXPECT_EQ(getLinearForm(reversed, arguments[1]), Form({-1, 5}));
  IRMapping mapping;
  mapping.map(loop.getCounter(), arguments[1]);
  Value next = inside.clone(loop.getLoopBody()->front(), mapping)->getResult(0);
  made.finishBody({arguments[0], next});
  EXPECT_EQ(made.getCounter(), arguments[1]);
  EXPECT_EQ(made.getTripCount(), 6);
}
