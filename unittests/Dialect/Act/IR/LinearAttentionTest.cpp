//===- LinearAttentionTest.cpp - Tests of LinearAttentionOpInterface ------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {

class LinearAttentionTest : public testing::Test {
protected:
  LinearAttentionTest() {
    context.loadDialect<ActDialect, func::FuncDialect>();
  }

  /// The only operation on linear attention in a function with `arguments`.
  LinearAttentionOpInterface parse(StringRef arguments, StringRef operation) {
    std::string text =
        ("func.func @f(" + arguments + ") {\n" + operation + "\n  return\n}")
            .str();
    module = parseSourceString<ModuleOp>(text, &context);
    LinearAttentionOpInterface found;
    if (module)
      module->walk([&](LinearAttentionOpInterface op) { found = op; });
    EXPECT_TRUE(found) << text;
    return found;
  }

  /// An update of a state with a decay of type `decay`, empty for none.
  LinearAttentionOpInterface parseState(StringRef decay) {
    std::string arguments = "%k: memref<2x7x1x4xf64>, %v: memref<2x7x3x5xf64>, "
                            "%s: memref<2x3x4x5xf64>";
    std::string text = "act.linear_attention_state "
                       "ins(%k, %v : memref<2x7x1x4xf64>, memref<2x7x3x5xf64>)";
    if (!decay.empty()) {
      arguments += (", %g: " + decay).str();
      text += (" decay(%g : " + decay + ")").str();
    }
    text += " outs(%s : memref<2x3x4x5xf64>) {feature_map = #act.square}";
    return parse(arguments, text);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(LinearAttentionTest, SizesOfForward) {
  LinearAttentionOpInterface op =
      parse("%q: tensor<?x7x12x4xf16>, %k: tensor<?x7x2x4xf16>, "
            "%v: tensor<?x7x6x5xf16>, %w: tensor<9x4xf16>, "
            "%o: tensor<?x7x12x5xf16>, %d: tensor<?x7x12xf32>, "
            "%s: tensor<?x6x9x5xf32>, %z: tensor<?x6x9xf32>",
            "%r:4 = act.linear_attention ins(%q, %k, %v : "
            "tensor<?x7x12x4xf16>, tensor<?x7x2x4xf16>, tensor<?x7x6x5xf16>) "
            "features(%w : tensor<9x4xf16>) outs(%o, %d, %s, %z : "
            "tensor<?x7x12x5xf16>, tensor<?x7x12xf32>, tensor<?x6x9x5xf32>, "
            "tensor<?x6x9xf32>) {feature_map = #act.favor_plus, normalize}");
  ASSERT_TRUE(op);
  EXPECT_TRUE(ShapedType::isDynamic(op.getBatchSize()));
  EXPECT_EQ(op.getLength(), 7);
  EXPECT_EQ(op.getNumQueryHeads(), 12);
  EXPECT_EQ(op.getNumKeyHeads(), 2);
  EXPECT_EQ(op.getNumValueHeads(), 6);
  EXPECT_EQ(op.getNumStateHeads(), 6);
  EXPECT_EQ(op.getNumHeads(), 12);
  EXPECT_EQ(op.getRowSize(), 4);
  EXPECT_EQ(op.getNumFeatures(), 9);
  EXPECT_EQ(op.getValueSize(), 5);
  EXPECT_TRUE(op.getRowElementType().isF16());
  EXPECT_TRUE(op.getStateElementType().isF32());
  EXPECT_EQ(op.getState(), op.getOuts()[2]);
  EXPECT_EQ(op.getKeySum(), op.getOuts()[3]);
}

TEST_F(LinearAttentionTest, SizesOfStateUpdate) {
  LinearAttentionOpInterface op = parseState("");
  ASSERT_TRUE(op);
  EXPECT_FALSE(op.getQuery());
  EXPECT_EQ(op.getBatchSize(), 2);
  // As if there was one query head: it decides on nothing.
  EXPECT_EQ(op.getNumQueryHeads(), 1);
  EXPECT_EQ(op.getNumStateHeads(), 3);
  EXPECT_EQ(op.getNumHeads(), 3);
  // Without parameters of the feature map features are the rows.
  EXPECT_EQ(op.getNumFeatures(), 4);
  EXPECT_TRUE(op.getStateElementType().isF64());
  EXPECT_EQ(op.getState(), op.getOuts().front());
  EXPECT_FALSE(op.getKeySum());
}

TEST_F(LinearAttentionTest, KindOfDecayIsItsRank) {
  std::pair<StringRef, DecayKind> kinds[] = {
      {"", DecayKind::None},
      {"memref<3xf64>", DecayKind::Head},
      {"memref<2x7x3xf64>", DecayKind::Token},
      {"memref<2x7x3x4xf64>", DecayKind::Channel}};
  for (auto [type, kind] : kinds) {
    LinearAttentionOpInterface op = parseState(type);
    ASSERT_TRUE(op);
    EXPECT_EQ(op.getDecayKind(), kind) << type.str();
  }
}

TEST_F(LinearAttentionTest, StatesOfGradAreNotItsDestinations) {
  LinearAttentionOpInterface op =
      parse("%q: memref<1x7x2x4xbf16>, %s: memref<1x2x4x4xf32>, "
            "%g: memref<1x2x4x4xf32>",
            "act.linear_attention_grad ins(%q, %q, %q : memref<1x7x2x4xbf16>, "
            "memref<1x7x2x4xbf16>, memref<1x7x2x4xbf16>) "
            "gradient(%q : memref<1x7x2x4xbf16>) "
            "states(%s : memref<1x2x4x4xf32>) "
            "outs(%q, %q, %q, %g : memref<1x7x2x4xbf16>, memref<1x7x2x4xbf16>, "
            "memref<1x7x2x4xbf16>, memref<1x2x4x4xf32>) "
            "{feature_map = #act.square}");
  ASSERT_TRUE(op);
  auto grad = cast<LinearAttentionGradOp>(op.getOperation());
  EXPECT_NE(op.getState(), grad.getStateGradients().front());
  EXPECT_EQ(grad.getStateGradients().front(), op.getOuts().back());
  EXPECT_TRUE(op.getStateElementType().isF32());
}

} // namespace
