//===- OpModelTest.cpp - Tests of what act knows about operations ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class OpModelTest : public testing::Test {
protected:
  OpModelTest()
      : builder(&context), module(ModuleOp::create(builder.getUnknownLoc())) {
    context.loadDialect<func::FuncDialect, shell::StablehloShellDialect>();
    builder.setInsertionPointToEnd(module->getBody());
  }

  RankedTensorType tensor(ArrayRef<int64_t> shape, Type elementType) {
    return RankedTensorType::get(shape, elementType);
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(OpModelTest, Sizes) {
  Type f32 = builder.getF32Type();
  EXPECT_EQ(getNumElements(tensor({4, 8}, f32)), 32);
  EXPECT_EQ(getNumElements(tensor({}, f32)), 1);
  EXPECT_EQ(getNumElements(tensor({4, 0}, f32)), 0);
  EXPECT_EQ(getNumElements(tensor({4, ShapedType::kDynamic}, f32)),
            std::nullopt);
  EXPECT_EQ(getNumElements(f32), std::nullopt);
  EXPECT_EQ(getTensorBytes(tensor({4, 8}, f32)), 128);
  EXPECT_EQ(getTensorBytes(tensor({8}, builder.getBF16Type())), 16);
  EXPECT_EQ(getTensorBytes(tensor({8}, builder.getI1Type())), 8);
  EXPECT_EQ(getTensorBytes(tensor({8}, builder.getIntegerType(4))), 8);
  EXPECT_EQ(getTensorBytes(tensor({8}, ComplexType::get(f32))), 64);
  EXPECT_EQ(getTensorBytes(tensor({8}, builder.getIndexType())), 64);
  EXPECT_EQ(
      getTensorBytes(tensor(
          {8}, OpaqueType::get(builder.getStringAttr("stablehlo"), "token"))),
      std::nullopt);
}

TEST_F(OpModelTest, KindNames) {
  EXPECT_EQ(stringifyOpKind(OpKind::Elementwise), "elementwise");
  EXPECT_EQ(stringifyOpKind(OpKind::Opaque), "opaque");
  EXPECT_TRUE(isCheapKind(OpKind::Broadcast));
  EXPECT_FALSE(isCheapKind(OpKind::Reduction));
  EXPECT_FALSE(isCheapKind(OpKind::Barrier));
}

TEST_F(OpModelTest, GreatestElement) {
  auto type = tensor({3}, builder.getI32Type());
  auto values = DenseElementsAttr::get(type, ArrayRef<int32_t>{1, 7, 3});
  auto negative = DenseElementsAttr::get(type, ArrayRef<int32_t>{1, -7, 3});
  EXPECT_EQ(getGreatestElement(values, /*isSigned=*/true), 7u);
  EXPECT_EQ(getGreatestElement(negative, /*isSigned=*/true), std::nullopt);
  EXPECT_EQ(getGreatestElement(negative, /*isSigned=*/false), 0xfffffff9u);
  EXPECT_EQ(getGreatestElement(builder.getUnitAttr(), false), std::nullopt);
  EXPECT_EQ(getGreatestElement({}, false), std::nullopt);
}

TEST_F(OpModelTest, UnknownOperations) {
  context.allowUnregisteredDialects();
  OperationState state(builder.getUnknownLoc(), "other.op");
  state.addTypes(tensor({4, 8}, builder.getF32Type()));
  Operation *op = builder.create(state);
  EXPECT_EQ(getOpKind(op), OpKind::Opaque);
  EXPECT_FALSE(isCheapToRecompute(op));
  EXPECT_FALSE(isDiscontinuous(op));
  EXPECT_TRUE(getSelectedValues(op).empty());
  EXPECT_FALSE(getConstantElements(op));
  EXPECT_EQ(getFlops(op), 32);
  EXPECT_EQ(getUpperBound(op->getResult(0)), std::nullopt);
}

TEST_F(OpModelTest, ConstantElements) {
  StablehloBuilder b(builder, builder.getUnknownLoc());
  Value constant = b.scalar(builder.getF32Type(), 2.5);
  auto elements = dyn_cast<DenseFPElementsAttr>(
      getConstantElements(constant.getDefiningOp()));
  ASSERT_TRUE(elements);
  EXPECT_EQ(elements.getSplatValue<APFloat>().convertToDouble(), 2.5);
  Value iota = b.iota(tensor({4}, builder.getI32Type()), 0);
  EXPECT_EQ(getOpKind(iota.getDefiningOp()), OpKind::Constant);
  EXPECT_FALSE(getConstantElements(iota.getDefiningOp()));
}

/// Looks at a bounded number of operations, without recursion, and gives what
/// the type says beyond.
TEST_F(OpModelTest, DeepBounds) {
  StablehloBuilder b(builder, builder.getUnknownLoc());
  Value value = b.iota(tensor({4}, builder.getIntegerType(8, false)), 0);
  for (int i = 0; i < 10; ++i)
    value = b.bitAnd(value, value);
  EXPECT_EQ(getUpperBound(value), 3u);
  for (int i = 0; i < 100000; ++i)
    value = b.bitOr(value, value);
  EXPECT_EQ(getUpperBound(value), 255u);
}
