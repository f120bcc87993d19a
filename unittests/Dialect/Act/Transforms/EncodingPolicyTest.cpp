//===- EncodingPolicyTest.cpp - Tests of which encoding suits which value -===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/DebugStringHelper.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class EncodingPolicyTest : public testing::Test {
protected:
  EncodingPolicyTest() {
    context.loadDialect<ActDialect, func::FuncDialect,
                        shell::StablehloShellDialect>();
  }

  RankedTensorType tensor(StringRef text) {
    return cast<RankedTensorType>(
        parseType(("tensor<" + text + ">").str(), &context));
  }

  std::optional<Exactness> exactness(StringRef type) {
    return EncodingPolicy::getTypeExactness(tensor(type));
  }

  /// The encoding of an argument of type `type` as text.
  std::string encoding(StringRef type, unsigned bits = 4, bool sharded = false,
                       std::optional<Exactness> exact = std::nullopt) {
    block = std::make_unique<Block>();
    Value value = block->addArgument(tensor(type), UnknownLoc::get(&context));
    return encoding(value, bits, sharded, exact);
  }

  std::string encoding(Value value, unsigned bits, bool sharded = false,
                       std::optional<Exactness> exact = std::nullopt) {
    EncodingAttrInterface encoding =
        EncodingPolicy(sharded).getEncoding(value, exact, bits);
    EXPECT_TRUE(succeeded(encoding.verifyAppliesTo(
        cast<RankedTensorType>(value.getType()),
        [&] { return emitError(UnknownLoc::get(&context)); })))
        << debugString(encoding);
    return debugString(encoding);
  }

  /// The encoding of what the last operation of `body` computes, a function of
  /// %x: tensor<128x128xf32>.
  std::string encodingOf(StringRef body, unsigned bits = 4) {
    module = parseSourceString<ModuleOp>(
        ("func.func @f(%x: tensor<128x128xf32>, %i: tensor<128x128xi32>) {\n" +
         body + "\nreturn\n}")
            .str(),
        &context);
    EXPECT_TRUE(module);
    Block &entry = (*module->getOps<func::FuncOp>().begin()).front();
    return encoding(entry.getTerminator()->getPrevNode()->getResult(0), bits);
  }

  static std::string groups(unsigned bits, int64_t group, int64_t merge) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "#act.group_quant<bits = " << bits << ", group = " << group;
    if (merge != 1)
      os << ", merge = " << merge;
    os << ">";
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Block> block;
};
} // namespace

TEST_F(EncodingPolicyTest, TypeExactness) {
  EXPECT_EQ(exactness("128x128xf32"), std::nullopt);
  EXPECT_EQ(exactness("128x128xbf16"), std::nullopt);
  EXPECT_EQ(exactness("128x128xf16"), std::nullopt);
  EXPECT_EQ(exactness("128x128xf64"), std::nullopt);
  EXPECT_EQ(exactness("127x128xf32"), Exactness::Small);
  EXPECT_EQ(exactness("128x128xi1"), Exactness::Predicate);
  EXPECT_EQ(exactness("i1"), Exactness::Predicate);
  EXPECT_EQ(exactness("128x128xi32"), Exactness::Integer);
  EXPECT_EQ(exactness("128x128xui8"), Exactness::Integer);
  EXPECT_EQ(exactness("4xindex"), Exactness::Integer);
  EXPECT_EQ(exactness("f32"), Exactness::Unsupported);
  EXPECT_EQ(exactness("0x128xf32"), Exactness::Unsupported);
  EXPECT_EQ(exactness("?x128xf32"), Exactness::Unsupported);
  EXPECT_EQ(exactness("128x128xf8E5M2"), Exactness::Unsupported);
  EXPECT_EQ(exactness("128x128xcomplex<f32>"), Exactness::Unsupported);
}

TEST_F(EncodingPolicyTest, Groups) {
  EXPECT_EQ(encoding("128x128xf32"), groups(4, 64, 1));
  EXPECT_EQ(encoding("128x128xbf16"), groups(4, 64, 1));
  EXPECT_EQ(encoding("128x128xf32", 2), groups(2, 64, 1));
  EXPECT_EQ(encoding("128x128xf32", 1), groups(1, 64, 1));
  EXPECT_EQ(encoding("32x1024xf32", 8), groups(8, 256, 1));
}

TEST_F(EncodingPolicyTest, WideRowsHaveLongerGroups) {
  EXPECT_EQ(encoding("32x960xf32"), groups(4, 64, 1));
  EXPECT_EQ(encoding("32x1024xf32"), groups(4, 128, 1));
  EXPECT_EQ(encoding("32x3072xbf16"), groups(4, 128, 1));
}

TEST_F(EncodingPolicyTest, GroupsDivideTheAxis) {
  EXPECT_EQ(encoding("256x768xf32"), groups(4, 64, 1));
  EXPECT_EQ(encoding("256x96xf32"), groups(4, 48, 1))
      << "nearer to 64 than 96 is";
  EXPECT_EQ(encoding("256x144xf32"), groups(4, 72, 1));
  EXPECT_EQ(encoding("256x100xf32"), groups(4, 50, 1));
  EXPECT_EQ(encoding("256x768xf32", 8), groups(8, 256, 1));
  EXPECT_EQ(encoding("263x82xf32"), groups(4, 82, 1));
  EXPECT_EQ(encoding("263x82xf32", 2), groups(2, 64, 2))
      << "82 codes of 2 bits do not fill bytes";
  EXPECT_EQ(encoding("263x120xf32", 1), groups(1, 40, 1)) << "a wider range";
}

TEST_F(EncodingPolicyTest, ShortAxesAreMerged) {
  EXPECT_EQ(encoding("1024x16xf32"), groups(4, 64, 2));
  EXPECT_EQ(encoding("4x64x8x8xf32"), groups(4, 64, 2));
  EXPECT_EQ(encoding("64x64x4x4xf32"), groups(4, 64, 3));
  EXPECT_EQ(encoding("128x128xf32", 8), groups(8, 256, 2));
}

TEST_F(EncodingPolicyTest, RaggedTails) {
  EXPECT_EQ(encoding("64x257xf32"), groups(4, 64, 2)) << "257 is prime";
  EXPECT_EQ(encoding("257x127xf32"), groups(4, 64, 2)) << "short rows";
  EXPECT_EQ(encoding("65x257xf32"), groups(4, 64, 1)) << "long rows";
  EXPECT_EQ(encoding("17x967xf32"), groups(4, 64, 1));
}

// Merging an axis that is sharded would gather it.
TEST_F(EncodingPolicyTest, ShardedAxesStayApart) {
  EXPECT_EQ(encoding("128x128xf32", 4, /*sharded=*/true), groups(4, 64, 1));
  EXPECT_EQ(encoding("1024x16xf32", 4, /*sharded=*/true), groups(4, 64, 1));
  EXPECT_EQ(encoding("257x127xf32", 4, /*sharded=*/true), groups(4, 64, 1));
  EXPECT_EQ(encoding("1024x16xi1", 4, /*sharded=*/true), "#act.mask");
  EXPECT_EQ(encoding("128x128xi1", 4, /*sharded=*/true),
            "#act.mask<group = 64>")
      << "bits stay on the device of their elements";
  EXPECT_EQ(encoding("256x64xi1", 4, /*sharded=*/true), "#act.mask");
  EXPECT_EQ(encoding("4x64x8x8xi1", 4, /*sharded=*/true), "#act.mask");
}

TEST_F(EncodingPolicyTest, Masks) {
  EXPECT_EQ(encoding("128x128xi1"), "#act.mask");
  EXPECT_EQ(encoding("4x64x8x8xi1"), "#act.mask<merge = 2>");
  EXPECT_EQ(encoding("127x128xi1"), "#act.raw") << "small";
  EXPECT_EQ(encoding("?x128xi1"), "#act.raw");
}

TEST_F(EncodingPolicyTest, LosslessIfExact) {
  EXPECT_EQ(encoding("128x128xf32", 0), "#act.raw");
  EXPECT_EQ(encoding("128x128xf32", 4, false, Exactness::Statistic),
            "#act.raw");
  EXPECT_EQ(encoding("127x128xf32", 4), "#act.raw");
  EXPECT_EQ(encoding("128x128xi32", 4), "#act.raw") << "no bound known";
}

TEST_F(EncodingPolicyTest, BoundedIntegers) {
  auto remainder = [](StringRef bound) {
    return R"(%c = "stablehlo.constant"() <{value = dense<)" + bound.str() +
           R"(> : tensor<128x128xi32>}> : () -> tensor<128x128xi32>
      %r = "stablehlo.and"(%i, %c) : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi32>)";
  };
  EXPECT_EQ(encodingOf(remainder("1")), "#act.narrow<bits = 1>");
  EXPECT_EQ(encodingOf(remainder("3")), "#act.narrow<bits = 2>");
  EXPECT_EQ(encodingOf(remainder("4")), "#act.narrow<bits = 4>");
  EXPECT_EQ(encodingOf(remainder("255")), "#act.narrow<bits = 8>");
  EXPECT_EQ(encodingOf(remainder("256")), "#act.narrow<bits = 16>");
  EXPECT_EQ(encodingOf(remainder("65536")), "#act.raw");

  // Codes of less than a byte are packed along merged axes like masks.
  auto slice = [](StringRef bound) {
    return R"(%c = "stablehlo.constant"() <{value = dense<)" + bound.str() +
           R"(> : tensor<i32>}> : () -> tensor<i32>
      %r = "stablehlo.broadcast_in_dim"(%c) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x64x8x8xi32>)";
  };
  EXPECT_EQ(encodingOf(slice("3")), "#act.narrow<bits = 2, merge = 2>");
  EXPECT_EQ(encodingOf(slice("200")), "#act.narrow<bits = 8>");
}

// Results of tanh share a range: larger groups lose little. Those of exp may
// span many orders of magnitude.
TEST_F(EncodingPolicyTest, BoundedRanges) {
  auto unary = [](StringRef name) {
    return R"(%r = "stablehlo.)" + name.str() +
           R"("(%x) : (tensor<128x128xf32>) -> tensor<128x128xf32>)";
  };
  EXPECT_EQ(encodingOf(unary("exponential")), groups(4, 64, 1));
  EXPECT_EQ(encodingOf(unary("tanh")), groups(4, 256, 2));
  EXPECT_EQ(encodingOf(unary("sine")), groups(4, 64, 1));
}

TEST_F(EncodingPolicyTest, ShardingIsReadFromTheModule) {
  auto get = [&](StringRef attributes) {
    module = parseSourceString<ModuleOp>(
        ("module attributes {" + attributes + "} { func.func private @f() }")
            .str(),
        &context);
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    block = std::make_unique<Block>();
    Value value =
        block->addArgument(tensor("4x64x8x8xi1"), UnknownLoc::get(&context));
    std::string fromModule = debugString(
        EncodingPolicy::get(*module).getEncoding(value, std::nullopt, 4));
    std::string fromFunction = debugString(
        EncodingPolicy::get(function).getEncoding(value, std::nullopt, 4));
    EXPECT_EQ(fromModule, fromFunction);
    return fromModule;
  };
  EXPECT_EQ(get(""), "#act.mask<merge = 2>");
  EXPECT_EQ(get("mhlo.num_partitions = 1 : i32"), "#act.mask<merge = 2>");
  EXPECT_EQ(get("mhlo.num_partitions = 8 : i32"), "#act.mask");
}
