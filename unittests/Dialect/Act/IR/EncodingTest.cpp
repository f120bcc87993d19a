//===- EncodingTest.cpp - Tests of the arithmetic of encodings ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class EncodingTest : public testing::Test {
protected:
  EncodingTest() { context.loadDialect<ActDialect>(); }

  EncodingAttrInterface encoding(StringRef text) {
    auto result = dyn_cast_or_null<EncodingAttrInterface>(
        parseAttribute(("#act." + text).str(), &context));
    EXPECT_TRUE(result) << text.str();
    return result;
  }

  RankedTensorType tensor(StringRef shapeAndElement) {
    auto result = dyn_cast_or_null<RankedTensorType>(
        parseType(("tensor<" + shapeAndElement + ">").str(), &context));
    EXPECT_TRUE(result) << shapeAndElement.str();
    return result;
  }

  /// The storage of a tensor, for example "2x4xui8 2x1xbf16 2x1xbf16", after
  /// checking that the encoding applies.
  std::string storage(StringRef encodingText, StringRef tensorText) {
    EncodingAttrInterface attr = encoding(encodingText);
    RankedTensorType type = tensor(tensorText);
    EXPECT_TRUE(succeeded(attr.verifyAppliesTo(
        type, [&] { return emitError(UnknownLoc::get(&context)); })));
    std::string result;
    llvm::raw_string_ostream os(result);
    llvm::interleave(
        attr.getStorageTypes(type), os,
        [&](RankedTensorType part) {
          llvm::interleave(part.getShape(), os, "x");
          os << (part.getRank() ? "x" : "") << part.getElementType();
        },
        " ");
    return result;
  }

  int64_t bytes(StringRef encodingText, StringRef tensorText) {
    return getStorageBytes(encoding(encodingText), tensor(tensorText));
  }

  MLIRContext context;
};

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

TEST(PackedBytes, RoundsUp) {
  EXPECT_EQ(getPackedBytes(0, 1), 0);
  EXPECT_EQ(getPackedBytes(1, 1), 1);
  EXPECT_EQ(getPackedBytes(8, 1), 1);
  EXPECT_EQ(getPackedBytes(9, 1), 2);
  EXPECT_EQ(getPackedBytes(5, 2), 2);
  EXPECT_EQ(getPackedBytes(3, 4), 2);
  EXPECT_EQ(getPackedBytes(3, 8), 3);
  EXPECT_EQ(getPackedBytes(int64_t{1} << 40, 4), int64_t{1} << 39);
}

TEST(GroupLayout, SplitsTheLastAxis) {
  GroupLayout layout = getGroupLayout({8, 3, 128}, 64, -1, 1);
  EXPECT_THAT(layout.outer, ElementsAre(8, 3));
  EXPECT_THAT(layout.inner, IsEmpty());
  EXPECT_EQ(layout.extent, 128);
  EXPECT_EQ(layout.group, 64);
  EXPECT_EQ(layout.numGroups, 2);
  EXPECT_THAT(layout.getShape(32), ElementsAre(8, 3, 2, 32));
}

TEST(GroupLayout, CountsAShortLastGroup) {
  EXPECT_EQ(getGroupLayout({65}, 64, -1, 1).numGroups, 2);
  EXPECT_EQ(getGroupLayout({127}, 64, -1, 1).numGroups, 2);
  EXPECT_EQ(getGroupLayout({129}, 64, -1, 1).numGroups, 3);
}

TEST(GroupLayout, ShortensGroupsToTheAxis) {
  GroupLayout layout = getGroupLayout({8, 5}, 64, -1, 1);
  EXPECT_EQ(layout.group, 5);
  EXPECT_EQ(layout.numGroups, 1);
}

TEST(GroupLayout, MergesTrailingAxes) {
  GroupLayout layout = getGroupLayout({8, 7, 3, 5}, 64, -1, 3);
  EXPECT_THAT(layout.outer, ElementsAre(8));
  EXPECT_EQ(layout.extent, 105);
  EXPECT_EQ(layout.numGroups, 2);
  EXPECT_THAT(layout.getShape(1), ElementsAre(8, 2, 1));
  EXPECT_THAT(getGroupLayout({2, 3}, 4, -1, 2).outer, IsEmpty());
}

TEST(GroupLayout, SplitsAnyAxis) {
  GroupLayout first = getGroupLayout({10, 3, 5}, 4, 0, 1);
  EXPECT_THAT(first.outer, IsEmpty());
  EXPECT_THAT(first.inner, ElementsAre(3, 5));
  EXPECT_THAT(first.getShape(2), ElementsAre(3, 2, 3, 5));
  GroupLayout middle = getGroupLayout({10, 3, 5}, 2, 1, 1);
  EXPECT_THAT(middle.getShape(1), ElementsAre(10, 2, 1, 5));
  // Axis 2 of three is the last one.
  GroupLayout last = getGroupLayout({10, 3, 5}, 2, 2, 1);
  EXPECT_EQ(last.getShape(1), getGroupLayout({10, 3, 5}, 2, -1, 1).getShape(1));
}

//===----------------------------------------------------------------------===//
// raw
//===----------------------------------------------------------------------===//

TEST_F(EncodingTest, RawStoresTheTensorItself) {
  EXPECT_EQ(storage("raw", "3x5xf32"), "3x5xf32");
  EXPECT_EQ(storage("raw", "f64"), "f64");
  EXPECT_EQ(bytes("raw", "3x5xf32"), 60);
  EXPECT_EQ(bytes("raw", "f64"), 8);
  EXPECT_EQ(bytes("raw", "0x5xf32"), 0);
  EXPECT_EQ(bytes("raw", "3xcomplex<f32>"), 24);
}

TEST_F(EncodingTest, RawTakesAWholeByteForSmallElements) {
  EXPECT_EQ(bytes("raw", "3x5xi1"), 15);
  EXPECT_EQ(bytes("raw", "3x5xi4"), 15);
  EXPECT_EQ(bytes("raw", "3x5xf8E5M2"), 15);
}

//===----------------------------------------------------------------------===//
// group_quant
//===----------------------------------------------------------------------===//

TEST_F(EncodingTest, GroupQuantPacksByBits) {
  EXPECT_EQ(storage("group_quant<bits = 1, group = 64>", "8x128xf32"),
            "8x2x8xui8 8x2x1xbf16 8x2x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 2, group = 64>", "8x128xf32"),
            "8x2x16xui8 8x2x1xbf16 8x2x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 4, group = 64>", "8x128xf32"),
            "8x2x32xui8 8x2x1xbf16 8x2x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 8, group = 64>", "8x128xf32"),
            "8x2x64xui8 8x2x1xbf16 8x2x1xbf16");
}

TEST_F(EncodingTest, GroupQuantPadsTheTail) {
  // Three groups of 4 codes, the last of which holds 2.
  EXPECT_EQ(storage("group_quant<bits = 4, group = 4>", "7x10xf32"),
            "7x3x2xui8 7x3x1xbf16 7x3x1xbf16");
  // 3 codes of 1 bit take a byte.
  EXPECT_EQ(storage("group_quant<bits = 1, group = 3>", "7x10xf32"),
            "7x4x1xui8 7x4x1xbf16 7x4x1xbf16");
  // One group for an axis shorter than the group, not padded to 64.
  EXPECT_EQ(storage("group_quant<bits = 2, group = 64>", "7x5xf32"),
            "7x1x2xui8 7x1x1xbf16 7x1x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 4, group = 64>", "1xf32"),
            "1x1xui8 1x1xbf16 1x1xbf16");
}

TEST_F(EncodingTest, GroupQuantAlongAnyAxisOrSeveral) {
  EXPECT_EQ(storage("group_quant<bits = 4, group = 8, merge = 2>", "6x5x3xf16"),
            "6x2x4xui8 6x2x1xbf16 6x2x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 4, group = 8, merge = 3>", "6x5x3xf16"),
            "12x4xui8 12x1xbf16 12x1xbf16");
  EXPECT_EQ(storage("group_quant<bits = 4, group = 4, axis = 0>", "6x5x3xf16"),
            "2x2x5x3xui8 2x1x5x3xbf16 2x1x5x3xbf16");
  EXPECT_EQ(storage("group_quant<bits = 4, group = 4, axis = 1>", "6x5x3xf16"),
            "6x2x2x3xui8 6x2x1x3xbf16 6x2x1x3xbf16");
}

TEST_F(EncodingTest, GroupQuantBytes) {
  // 4 bits and 2 * 16 bits per 64 elements: 4.5 bits each.
  EXPECT_EQ(bytes("group_quant<bits = 4, group = 64>", "4096x1024xf32"),
            4096 * 1024 * 9 / 16);
  EXPECT_EQ(
      bytes("group_quant<bits = 4, group = 64, params = f32>", "4096x1024xf32"),
      4096 * 1024 * 5 / 8);
  // The element type of the tensor does not matter.
  EXPECT_EQ(bytes("group_quant<bits = 4, group = 64>", "4096x1024xbf16"),
            4096 * 1024 * 9 / 16);
  EXPECT_EQ(bytes("group_quant<bits = 4, group = 4>", "7x10xf32"),
            7 * 3 * (2 + 2 * 2));
  // Past 32 bits.
  EXPECT_EQ(bytes("group_quant<bits = 8, group = 64>", "1048576x8192xf32"),
            int64_t{1048576} * 8192 / 64 * 68);
}

TEST_F(EncodingTest, GroupQuantErrors) {
  auto nearest =
      encoding("group_quant<bits = 4, group = 8, rounding = nearest>");
  auto stochastic = encoding("group_quant<bits = 4, group = 8>");
  EXPECT_FALSE(nearest.isLossless());
  EXPECT_DOUBLE_EQ(nearest.getErrorBound(), 1.0 / 30);
  EXPECT_DOUBLE_EQ(stochastic.getErrorBound(), 1.0 / 15);
  EXPECT_DOUBLE_EQ(nearest.getErrorVariance(), 1.0 / (15 * 15 * 12));
  EXPECT_DOUBLE_EQ(stochastic.getErrorVariance(), 1.0 / (15 * 15 * 6));
  EXPECT_DOUBLE_EQ(encoding("group_quant<bits = 1, group = 8>").getErrorBound(),
                   1.0);
  EXPECT_DOUBLE_EQ(encoding("group_quant<bits = 8, group = 8>").getErrorBound(),
                   1.0 / 255);
}

//===----------------------------------------------------------------------===//
// axis_quant
//===----------------------------------------------------------------------===//

TEST_F(EncodingTest, AxisQuantStorage) {
  EXPECT_EQ(storage("axis_quant<bits = 4, axis = 1>", "8x12x5x7xf32"),
            "8x12x5x4xui8 1x12x1x1xf32 1x12x1x1xf32");
  EXPECT_EQ(storage("axis_quant<bits = 1, axis = 0>", "3x9xbf16"),
            "3x2xui8 3x1xf32 3x1xf32");
  EXPECT_EQ(storage("axis_quant<bits = 8, axis = 1>", "3x9xbf16"),
            "3x9xui8 1x9xf32 1x9xf32");
  EXPECT_EQ(bytes("axis_quant<bits = 2, axis = 1>", "8x12x5x7xf32"),
            8 * 12 * 5 * 2 + 2 * 12 * 4);
}

TEST_F(EncodingTest, AxisQuantErrors) {
  auto nearest = encoding("axis_quant<bits = 2, axis = 0, rounding = nearest>");
  auto stochastic = encoding("axis_quant<bits = 2, axis = 0>");
  EXPECT_FALSE(stochastic.isLossless());
  EXPECT_DOUBLE_EQ(nearest.getErrorBound(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(stochastic.getErrorBound(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(nearest.getErrorVariance(), 1.0 / (9 * 12));
  EXPECT_DOUBLE_EQ(stochastic.getErrorVariance(), 1.0 / (9 * 6));
}

//===----------------------------------------------------------------------===//
// float
//===----------------------------------------------------------------------===//

TEST_F(EncodingTest, FloatStorage) {
  EXPECT_EQ(storage("float<type = bf16>", "3x5xf32"), "3x5xbf16");
  EXPECT_EQ(storage("float<type = f8E5M2>", "3x5xf16"), "3x5xf8E5M2");
  EXPECT_EQ(storage("float<type = f8E4M3FN, group = 4>", "3x10xf32"),
            "3x3x4xf8E4M3FN 3x3x1xf32");
  EXPECT_EQ(storage("float<type = f16, group = 64>", "10xf64"),
            "1x10xf16 1x1xf32");
  EXPECT_EQ(bytes("float<type = bf16>", "3x5xf32"), 30);
  EXPECT_EQ(bytes("float<type = f8E5M2>", "3x5xf32"), 15);
  EXPECT_EQ(bytes("float<type = f8E4M3FN, group = 4>", "3x10xf32"),
            3 * 3 * (4 + 4));
}

TEST_F(EncodingTest, FloatErrors) {
  auto bound = [&](StringRef type) {
    auto attr = encoding(("float<type = " + type + ">").str());
    EXPECT_FALSE(attr.isLossless());
    EXPECT_DOUBLE_EQ(attr.getErrorVariance(),
                     attr.getErrorBound() * attr.getErrorBound() / 3);
    return attr.getErrorBound();
  };
  // Half a unit in the last place: 2^-(stored bits + 1).
  EXPECT_DOUBLE_EQ(bound("f8E5M2"), 1.0 / 8);
  EXPECT_DOUBLE_EQ(bound("f8E4M3FN"), 1.0 / 16);
  EXPECT_DOUBLE_EQ(bound("bf16"), 1.0 / 256);
  EXPECT_DOUBLE_EQ(bound("f16"), 1.0 / 2048);
}

//===----------------------------------------------------------------------===//
// mask and narrow
//===----------------------------------------------------------------------===//

TEST_F(EncodingTest, MaskStorage) {
  EXPECT_EQ(storage("mask", "4x16xi1"), "4x2xui8");
  EXPECT_EQ(storage("mask", "4x17xi1"), "4x3xui8");
  EXPECT_EQ(storage("mask", "1xi1"), "1xui8");
  EXPECT_EQ(storage("mask<merge = 2>", "6x3x3xi1"), "6x2xui8");
  EXPECT_EQ(storage("mask<merge = 3>", "6x3x3xi1"), "7xui8");
  EXPECT_EQ(bytes("mask", "4x17xi1"), 12);
  EXPECT_EQ(storage("mask<group = 16>", "4x17xi1"), "4x2x2xui8");
  EXPECT_EQ(storage("mask<merge = 2, group = 8>", "4x17xi1"), "9x1xui8");
}

TEST_F(EncodingTest, NarrowStorage) {
  EXPECT_EQ(storage("narrow<bits = 1>", "4x17xi32"), "4x3xui8");
  EXPECT_EQ(storage("narrow<bits = 2>", "4x17xi32"), "4x5xui8");
  EXPECT_EQ(storage("narrow<bits = 4>", "4x17xi8"), "4x9xui8");
  EXPECT_EQ(storage("narrow<bits = 4, merge = 2>", "2x3x3xi8"), "2x5xui8");
  EXPECT_EQ(bytes("narrow<bits = 4>", "4x17xi8"), 36);
  EXPECT_EQ(storage("narrow<bits = 2, group = 16>", "4x17xi8"), "4x2x4xui8");
}

TEST_F(EncodingTest, NarrowKeepsTheShapeFrom8BitsOn) {
  EXPECT_EQ(storage("narrow<bits = 8>", "4x17xi32"), "4x17xui8");
  EXPECT_EQ(storage("narrow<bits = 8, merge = 2>", "4x17xi32"), "4x17xui8");
  EXPECT_EQ(storage("narrow<bits = 16>", "4x17xi32"), "4x17xui16");
  EXPECT_EQ(storage("narrow<bits = 16, merge = 2>", "4x17xui32"), "4x17xui16");
  EXPECT_EQ(bytes("narrow<bits = 16>", "4x17xi32"), 136);
}

TEST_F(EncodingTest, LosslessEncodingsHaveNoError) {
  for (StringRef text : {"raw", "mask", "narrow<bits = 4>"}) {
    EncodingAttrInterface attr = encoding(text);
    EXPECT_TRUE(attr.isLossless()) << text.str();
    EXPECT_EQ(attr.getErrorBound(), 0) << text.str();
    EXPECT_EQ(attr.getErrorVariance(), 0) << text.str();
  }
}

} // namespace
