//===- LoopPairTest.cpp - Tests of how loops carry values -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/LoopPair.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class LoopCarriesTest : public testing::Test {
protected:
  LoopCarriesTest() {
    DialectRegistry registry;
    registry.insert<ActDialect, arith::ArithDialect, func::FuncDialect,
                    scf::SCFDialect, tensor::TensorDialect,
                    shell::StablehloShellDialect>();
    registerUpstreamOpModels(registry);
    context.appendDialectRegistry(registry);
  }

  /// The carries of an `scf.for` over six rows that carries %a: tensor<4xf32>,
  /// %s: tensor<6x4xf32> and %t: tensor<6x4xf32>.
  std::optional<LoopCarries> getCarries(StringRef body,
                                        StringRef range = "%c0 to %c6") {
    std::string text =
        (R"(
      func.func @f(%x: tensor<4xf32>, %e: tensor<6x4xf32>, %n: index) -> (tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        %c6 = arith.constant 6 : index
        %r:3 = scf.for %i = )" +
         range +
         R"( step %c1 iter_args(%a = %x, %s = %e, %t = %e) -> (tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) {
          )" +
         body + R"(
        }
        return %r#0, %r#1, %r#2 : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
      })")
            .str();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return std::nullopt;
    auto function = *module->getOps<func::FuncOp>().begin();
    return LoopCarries::get(function.front().getTerminator()->getPrevNode());
  }

  /// The kind of %s in a loop with `body`.
  CarryKind getKindOfStack(StringRef body) {
    std::optional<LoopCarries> carries = getCarries(body);
    EXPECT_TRUE(carries);
    return carries ? carries->getKind(1) : CarryKind::Counter;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(LoopCarriesTest, Kinds) {
  std::optional<LoopCarries> carries = getCarries(R"(
    %a1 = arith.addf %a, %a : tensor<4xf32>
    %s1 = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a1, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )");
  ASSERT_TRUE(carries);
  EXPECT_EQ(carries->getTripCount(), 6);
  EXPECT_EQ(carries->getReversed(), (LinearForm{-1, 5}));
  ASSERT_EQ(carries->size(), 3u);
  EXPECT_EQ(carries->getKind(0), CarryKind::State);
  EXPECT_EQ(carries->getKind(1), CarryKind::Stack);
  EXPECT_EQ(carries->getKind(2), CarryKind::Invariant);
  const StackWrite &write = carries->getWrite(1);
  EXPECT_EQ(write.op, carries->getNextValue(1).getDefiningOp());
  EXPECT_EQ(write.index, (LinearForm{1, 0}));
  EXPECT_EQ(write.row, carries->getArgument(0));
}

TEST_F(LoopCarriesTest, NoCounter) {
  StringRef body =
      "scf.yield %a, %s, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>";
  EXPECT_TRUE(getCarries(body));
  EXPECT_FALSE(getCarries(body, "%c1 to %c6"));
  EXPECT_FALSE(getCarries(body, "%c0 to %n"));
  EXPECT_FALSE(LoopCarries::get(module->getOperation())) << "no loop";
}

/// Rows are written from the start or from the end.
TEST_F(LoopCarriesTest, Indices) {
  auto getKind = [&](StringRef index) {
    return getKindOfStack((index + R"(
      %s1 = tensor.insert_slice %a into %s[%k, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
      scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
    )")
                              .str());
  };
  EXPECT_EQ(getKind("%k = arith.addi %i, %c0 : index"), CarryKind::Stack);
  EXPECT_EQ(getKind("%k = arith.subi %c5, %i : index"), CarryKind::Stack);
  EXPECT_EQ(getKind("%k = arith.subi %c6, %i : index"), CarryKind::State);
  EXPECT_EQ(getKind("%k = arith.addi %i, %c1 : index"), CarryKind::State);
  EXPECT_EQ(getKind("%k = arith.addi %i, %i : index"), CarryKind::State);
  EXPECT_EQ(getKind("%k = arith.addi %i, %n : index"), CarryKind::State);
  EXPECT_EQ(getKind("%k = arith.constant 3 : index"), CarryKind::State);
}

/// What an iteration may do with a stack is to write one row.
TEST_F(LoopCarriesTest, NoStacks) {
  EXPECT_EQ(getKindOfStack(R"(
    %s1 = tensor.insert_slice %a into %t[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "writes to another";
  EXPECT_EQ(getKindOfStack(R"(
    %b = tensor.extract_slice %s[%i, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<4xf32>
    %s1 = tensor.insert_slice %b into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "reads it as well";
  EXPECT_EQ(getKindOfStack(R"(
    %s1 = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %s1 : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "hands it on twice";
  EXPECT_EQ(getKindOfStack(R"(
    %s1 = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    %s2 = tensor.insert_slice %a into %s1[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a, %s2, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "writes twice";
  EXPECT_EQ(getKindOfStack(R"(
    %p = arith.cmpi slt, %i, %c1 : index
    %s1 = scf.if %p -> tensor<6x4xf32> {
      %s2 = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
      scf.yield %s2 : tensor<6x4xf32>
    } else {
      scf.yield %t : tensor<6x4xf32>
    }
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "writes in some iterations";
  EXPECT_EQ(getKindOfStack(R"(
    scf.yield %a, %t, %s : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State)
      << "swapped";
}

/// The loop has to write all rows.
TEST_F(LoopCarriesTest, TripCount) {
  std::optional<LoopCarries> carries = getCarries(R"(
    %s1 = tensor.insert_slice %a into %s[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )",
                                                  "%c0 to %c5");
  ASSERT_TRUE(carries);
  EXPECT_EQ(carries->getKind(1), CarryKind::State);
}

/// A row may have the first axis, by a view; what is written without a view is
/// none that could be saved.
TEST_F(LoopCarriesTest, Rows) {
  std::optional<LoopCarries> carries = getCarries(R"(
    %row = tensor.expand_shape %a [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
    %s1 = tensor.insert_slice %row into %s[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )");
  ASSERT_TRUE(carries);
  ASSERT_EQ(carries->getKind(1), CarryKind::Stack);
  EXPECT_EQ(carries->getWrite(1).row, carries->getArgument(0));
  EXPECT_EQ(getKindOfStack(R"(
    %row = tensor.extract_slice %t[0, 0] [1, 4] [1, 1] : tensor<6x4xf32> to tensor<1x4xf32>
    %s1 = tensor.insert_slice %row into %s[%i, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<6x4xf32>
    scf.yield %a, %s1, %t : tensor<4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  )"),
            CarryKind::State);
}

/// Whiles carry their counter, and stacks of saves are stacks.
TEST_F(LoopCarriesTest, WhileWithSaves) {
  module = parseSourceString<ModuleOp>(R"(
    !c = !act.compressed<tensor<4xf32>, #act.raw>
    !s = !act.stack<6 x !c>
    func.func @f(%x: tensor<4xf32>) {
      %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
      %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %c6 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
      %e = act.empty_stack : !s
      %f:3 = "stablehlo.while"(%e, %c0, %x) ({
      ^bb0(%s: !s, %i: tensor<i32>, %h: tensor<4xf32>):
        %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%p) : (tensor<i1>) -> ()
      }, {
      ^bb0(%s: !s, %i: tensor<i32>, %h: tensor<4xf32>):
        %c = act.compressed_save %h : tensor<4xf32> to !c
        %s1 = act.stack_push %c, %s[%i] : tensor<i32>, !s
        %i1 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        "stablehlo.return"(%s1, %i1, %h) : (!s, tensor<i32>, tensor<4xf32>) -> ()
      }) : (!s, tensor<i32>, tensor<4xf32>) -> (!s, tensor<i32>, tensor<4xf32>)
      return
    })",
                                       &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  std::optional<LoopCarries> carries =
      LoopCarries::get(function.front().getTerminator()->getPrevNode());
  ASSERT_TRUE(carries);
  EXPECT_EQ(carries->getKind(0), CarryKind::Stack);
  EXPECT_EQ(carries->getKind(1), CarryKind::Counter);
  EXPECT_EQ(carries->getKind(2), CarryKind::Invariant);
  EXPECT_EQ(carries->getWrite(0).row, carries->getBody().front().getResult(0));
}
