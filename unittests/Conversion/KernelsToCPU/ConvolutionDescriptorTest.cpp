//===- ConvolutionDescriptorTest.cpp - Tests of descriptors ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToCPU/ConvolutionDescriptor.h"
#include "act-c/StepRuntime.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;
using testing::ElementsAreArray;
using testing::HasSubstr;

namespace {
class ConvolutionDescriptor : public testing::Test {
protected:
  ConvolutionDescriptor() {
    context.loadDialect<ActDialect, func::FuncDialect, memref::MemRefDialect,
                        tensor::TensorDialect>();
  }

  /// The only convolution in `source`.
  ConvolutionOp parse(StringRef source) {
    module = parseSourceString<ModuleOp>(source, &context);
    ConvolutionOp found;
    if (module)
      module->walk([&](ConvolutionOp op) { found = op; });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

TEST_F(ConvolutionDescriptor, HasStridesByRole) {
  ConvolutionOp op = parse(R"mlir(
    func.func @f(%g: tensor<2x4x5x32xf32>, %w: tensor<3x2x16x32xf32>,
                 %x: tensor<2x8x10x16xf32>) -> tensor<2x8x10x16xf32> {
      %0 = act.convolution ins(%g, %w : tensor<2x4x5x32xf32>, tensor<3x2x16x32xf32>)
          outs(%x : tensor<2x8x10x16xf32>) dims [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]
          {lhs_dilation = array<i64: 2, 2>, padding = array<i64: 1, 2, 0, 2>,
           window_reversal = array<i1: true, false>}
      return %0 : tensor<2x8x10x16xf32>
    })mlir");
  ASSERT_TRUE(op);
  FailureOr<SmallVector<int64_t>> desc = getConvolutionDescriptor(op);
  ASSERT_TRUE(succeeded(desc));
  EXPECT_THAT(*desc,
              ElementsAreArray<int64_t>(
                  {1, 0, 0, 2, 2, 32, 16, 1, 1, 640, 1, 1, 32, 1280, 1, 0,
                   // size, window, result, stride, padding, dilations
                   4, 3, 8, 1, 1, 2, 2, 1, 1, 160, 1024, 160, 5, 2, 10, 1, 0, 2,
                   2, 1, 0, 32, 512, 16}));
  EXPECT_EQ(act_cpu_convolution_verify(desc->data()), nullptr);
  EXPECT_EQ(getConvolutionScratch(*desc, 2),
            act_cpu_convolution_scratch(desc->data(), 2));
  EXPECT_GT(getConvolutionScratch(*desc, 2), getConvolutionScratch(*desc, 1));
}

TEST_F(ConvolutionDescriptor, ReadsStridesOfBuffers) {
  ConvolutionOp op = parse(R"mlir(
    func.func @f(%x: memref<4x6xbf16, strided<[100, 2], offset: 7>>,
                 %w: memref<8x3xbf16>, %y: memref<4x8xf32, strided<[1, 4]>>) {
      act.convolution ins(%x, %w : memref<4x6xbf16, strided<[100, 2], offset: 7>>,
                                   memref<8x3xbf16>)
          outs(%y : memref<4x8xf32, strided<[1, 4]>>) dims [b, f]x[o, i]->[b, f]
          {feature_group_count = 2 : i64}
      return
    })mlir");
  ASSERT_TRUE(op);
  FailureOr<SmallVector<int64_t>> desc = getConvolutionDescriptor(op);
  ASSERT_TRUE(succeeded(desc));
  EXPECT_THAT(*desc, ElementsAreArray<int64_t>(
                         {1, 2, 0, 0, 4, 6, 8, 2, 1, 100, 2, 1, 3, 1, 4, 0}));
}

TEST_F(ConvolutionDescriptor, RefusesWhatTheRuntimeHasNot) {
  auto getError = [&](StringRef source) {
    ConvolutionOp op = parse(source);
    EXPECT_TRUE(op);
    std::string message;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str();
      return success();
    });
    EXPECT_TRUE(failed(getConvolutionDescriptor(op)));
    return message;
  };
  EXPECT_THAT(getError(R"mlir(
    func.func @f(%x: memref<4x6xf32, strided<[?, 1]>>, %w: memref<6x8xf32>,
                 %y: memref<4x8xf32>) {
      act.convolution ins(%x, %w : memref<4x6xf32, strided<[?, 1]>>, memref<6x8xf32>)
          outs(%y : memref<4x8xf32>) dims [b, f]x[i, o]->[b, f]
      return
    })mlir"),
              HasSubstr("expects buffers with static strides, got "
                        "'memref<4x6xf32, strided<[?, 1]>>'"));
  EXPECT_THAT(getError(R"mlir(
    func.func @f(%x: memref<1x1x1x1x1x1xf32>) {
      act.convolution ins(%x, %x : memref<1x1x1x1x1x1xf32>, memref<1x1x1x1x1x1xf32>)
          outs(%x : memref<1x1x1x1x1x1xf32>)
          dims [b, f, 0, 1, 2, 3]x[i, o, 0, 1, 2, 3]->[b, f, 0, 1, 2, 3]
      return
    })mlir"),
              HasSubstr("expects at most 3 spatial dimensions, got 4"));
}
