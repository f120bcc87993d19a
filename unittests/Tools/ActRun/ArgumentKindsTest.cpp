//===- ArgumentKindsTest.cpp - Tests of what arguments stand for ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "act/Tools/ActRun/RandomArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

namespace {

/// The kind of the first argument of `@main` in a module with `source`, whose
/// type is `type` and `shape`.
ArgumentKind getKind(StringRef source, ElementType type,
                     ArrayRef<int64_t> shape) {
  DialectRegistry registry;
  registry.insert<func::FuncDialect>();
  shell::registerStandInDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(source, ParserConfig(&context));
  EXPECT_TRUE(module);
  if (!module)
    return {};
  std::vector<ValueInfo> values = {
      {"", type, SmallVector<int64_t>(shape.begin(), shape.end())}};
  auto main = module->lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 1; i < main.getNumArguments(); ++i)
    values.push_back({"", ElementType::F32, {}});
  return getArgumentKinds(*module, "main", values).front();
}

TEST(ArgumentKindsTest, GatheredRows) {
  ArgumentKind kind = getKind(
      R"mlir(
    func.func @main(%ids: tensor<4xi32>, %table: tensor<50x8xf32>) -> tensor<4x8xf32> {
      %0 = call @look_up(%table, %ids) : (tensor<50x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    func.func private @look_up(%table: tensor<50x8xf32>, %ids: tensor<4xi32>) -> tensor<4x8xf32> {
      %0 = "stablehlo.reshape"(%ids) : (tensor<4xi32>) -> tensor<4x1xi32>
      %1 = "stablehlo.gather"(%table, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<50x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    })mlir",
      ElementType::S32, {4});
  EXPECT_EQ(kind.role, ArgumentRole::Index);
  EXPECT_EQ(kind.bound, 50);
}

TEST(ArgumentKindsTest, LabelsComparedWithIota) {
  ArgumentKind kind = getKind(
      R"mlir(
    func.func @main(%labels: tensor<4xi32>) -> tensor<4x10xi1> {
      %0 = "stablehlo.broadcast_in_dim"(%labels) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x10xi32>
      %1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x10xi32>
      %2 = "stablehlo.compare"(%0, %1) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4x10xi32>, tensor<4x10xi32>) -> tensor<4x10xi1>
      return %2 : tensor<4x10xi1>
    })mlir",
      ElementType::S32, {4});
  EXPECT_EQ(kind.role, ArgumentRole::Index);
  EXPECT_EQ(kind.bound, 10);
}

TEST(ArgumentKindsTest, Weights) {
  ArgumentKind kind = getKind(
      R"mlir(
    func.func @main(%w: tensor<64x16xf32>, %x: tensor<4x64xf32>) -> tensor<4x16xf32> {
      %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
      return %0 : tensor<4x16xf32>
    })mlir",
      ElementType::F32, {64, 16});
  EXPECT_EQ(kind.role, ArgumentRole::Normal);
  EXPECT_DOUBLE_EQ(kind.deviation, 1.0 / 8);
}

TEST(ArgumentKindsTest, KernelsOfConvolutions) {
  ArgumentKind kind = getKind(
      R"mlir(
    func.func @main(%w: tensor<3x3x8x16xf32>, %x: tensor<2x9x9x8xf32>) -> tensor<2x7x7x16xf32> {
      %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<2x9x9x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x7x7x16xf32>
      return %0 : tensor<2x7x7x16xf32>
    })mlir",
      ElementType::F32, {3, 3, 8, 16});
  EXPECT_DOUBLE_EQ(kind.deviation, std::sqrt(2.0 / 72));
}

TEST(ArgumentKindsTest, SecondMomentsInLoops) {
  ArgumentKind kind = getKind(
      R"mlir(
    func.func @main(%v: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
      %0:2 = "stablehlo.while"(%v, %n) ({
      ^bb0(%a: tensor<8xf32>, %i: tensor<i32>):
        %2 = "stablehlo.compare"(%i, %i) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
        "stablehlo.return"(%2) : (tensor<i1>) -> ()
      }, {
      ^bb0(%a: tensor<8xf32>, %i: tensor<i32>):
        %2 = "stablehlo.multiply"(%a, %a) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
        %3 = "stablehlo.sqrt"(%2) : (tensor<8xf32>) -> tensor<8xf32>
        "stablehlo.return"(%3, %i) : (tensor<8xf32>, tensor<i32>) -> ()
      }) : (tensor<8xf32>, tensor<i32>) -> (tensor<8xf32>, tensor<i32>)
      return %0#0 : tensor<8xf32>
    })mlir",
      ElementType::F32, {8});
  EXPECT_EQ(kind.role, ArgumentRole::SecondMoment);
}

TEST(ArgumentKindsTest, ScalesAndStates) {
  const char *source = R"mlir(
    func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
      %c = "stablehlo.constant"() <{value = dense<0.9> : tensor<8xf32>}> : () -> tensor<8xf32>
      %0 = "stablehlo.multiply"(%a, %OTHER) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32>
    })mlir";
  auto withOther = [&](StringRef other) {
    std::string text = source;
    text.replace(text.find("%OTHER"), 6, other);
    return text;
  };
  ArgumentKind scale = getKind(withOther("%b"), ElementType::F32, {8});
  EXPECT_EQ(scale.mean, 1);
  ArgumentKind state = getKind(withOther("%c"), ElementType::F32, {8});
  EXPECT_EQ(state.mean, 0);
  EXPECT_EQ(state.deviation, 1e-2);
}

} // namespace
