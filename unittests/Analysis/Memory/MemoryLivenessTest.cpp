//===- MemoryLivenessTest.cpp - Tests of what lives when ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/MemoryLiveness.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class MemoryLivenessTest : public testing::Test {
protected:
  MemoryLivenessTest() {
    DialectRegistry registry;
    registry.insert<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                    shell::StablehloShellDialect>();
    registerMemoryLivenessModels(registry);
    registerUpstreamOpModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  FailureOr<MemoryLiveness>
  analyze(StringRef text, const MemoryModel &model = MemoryModel::xlaCpu()) {
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return MemoryLiveness::build(*module->getOps<func::FuncOp>().begin(),
                                 model);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// Two sorts, which nothing fuses with, around a save of their operand.
static constexpr StringRef kSaved = R"(
  !t = tensor<64x1024xf32>
  !c = !act.compressed<tensor<64x1024xf32>, #act.raw>
  func.func @f(%x: !t) -> (!t, !t) {
    %t = "stablehlo.tanh"(%x) : (!t) -> !t
    %c = act.compressed_save %t : !t to <tensor<64x1024xf32>, #act.raw>
    %n = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = false}> : (!t) -> !t
    %h:2 = act.barrier %c, %n : !c, !t
    %l = act.dequantize_load %h#0 : <tensor<64x1024xf32>, #act.raw> to !t
    %s = "stablehlo.custom_call"(%l) <{call_target_name = "f", has_side_effect = false}> : (!t) -> !t
    return %s, %h#1 : !t, !t
  })";

TEST_F(MemoryLivenessTest, SavesAreToldApart) {
  FailureOr<MemoryLiveness> liveness = analyze(kSaved);
  ASSERT_TRUE(succeeded(liveness));
  unsigned saves = 0, arguments = 0, results = 0;
  for (const LiveBuffer &buffer : liveness->getBuffers()) {
    EXPECT_LE(buffer.begin, buffer.end);
    EXPECT_LT(buffer.end, liveness->getNumPositions());
    EXPECT_EQ(buffer.kind == LiveBuffer::Save, bool(buffer.save));
    saves += buffer.kind == LiveBuffer::Save;
    arguments += buffer.kind == LiveBuffer::Argument;
    results += buffer.kind == LiveBuffer::Result;
  }
  EXPECT_EQ(saves, 1u);
  EXPECT_EQ(arguments, 1u);
  EXPECT_EQ(results, 2u);
  EXPECT_EQ(liveness->getPeak(), 64 * 1024 * 4);
  EXPECT_EQ(liveness->getPackedBytes(), 64 * 1024 * 4);
  EXPECT_EQ(liveness->getLowerBound(), 64 * 1024 * 4);
}

TEST_F(MemoryLivenessTest, TimelineAddsUpBuffers) {
  FailureOr<MemoryLiveness> liveness = analyze(kSaved);
  ASSERT_TRUE(succeeded(liveness));
  SmallVector<int64_t> timeline = liveness->getTimeline();
  ASSERT_EQ(timeline.size(), liveness->getNumPositions());
  for (auto [position, bytes] : llvm::enumerate(timeline)) {
    int64_t expected = liveness->getTransients()[position];
    for (const LiveBuffer &buffer : liveness->getBuffers())
      if ((buffer.kind == LiveBuffer::Temporary ||
           buffer.kind == LiveBuffer::Save) &&
          !buffer.isInResult && buffer.begin <= position &&
          position <= buffer.end)
        expected += buffer.bytes;
    EXPECT_EQ(bytes, expected);
  }
  EXPECT_EQ(timeline[liveness->getPeakPosition()], liveness->getPeak());
}

TEST_F(MemoryLivenessTest, DominantPositionsBoundAll) {
  FailureOr<MemoryLiveness> liveness = analyze(kSaved);
  ASSERT_TRUE(succeeded(liveness));
  // What is alive anywhere is alive at one of the positions that are kept.
  SmallVector<unsigned> dominant = liveness->getDominantPositions();
  auto getAlive = [&](unsigned position) {
    llvm::SmallBitVector alive(liveness->getBuffers().size());
    for (auto [i, buffer] : llvm::enumerate(liveness->getBuffers()))
      if (buffer.begin <= position && position <= buffer.end)
        alive.set(i);
    return alive;
  };
  for (unsigned i = 0; i < liveness->getNumPositions(); ++i)
    EXPECT_TRUE(llvm::any_of(dominant,
                             [&](unsigned position) {
                               llvm::SmallBitVector rest = getAlive(i);
                               rest.reset(getAlive(position));
                               return rest.none();
                             }))
        << "position " << i;
  EXPECT_LT(dominant.size(), liveness->getNumPositions());
}

TEST_F(MemoryLivenessTest, LoopsAreOnePosition) {
  FailureOr<MemoryLiveness> liveness = analyze(R"(
    !t = tensor<64x1024xf32>
    func.func @f(%x: !t, %w: tensor<1024x1024xf32>) -> tensor<f32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %x) -> (!t) {
        %d = "stablehlo.dot_general"(%a, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t, tensor<1024x1024xf32>) -> !t
        %e = "stablehlo.dot_general"(%d, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (!t, tensor<1024x1024xf32>) -> !t
        scf.yield %e : !t
      }
      %s = "stablehlo.custom_call"(%r) <{call_target_name = "f", has_side_effect = false}> : (!t) -> tensor<f32>
      return %s : tensor<f32>
    })");
  ASSERT_TRUE(succeeded(liveness));
  // The argument is the caller's: the loop carries a copy, which is free while
  // the second product is not computed, and needs one buffer more inside.
  EXPECT_EQ(llvm::count_if(liveness->getTransients(),
                           [](int64_t bytes) { return bytes > 0; }),
            1);
  EXPECT_EQ(liveness->getPackedBytes(), 2 * 64 * 1024 * 4);
}

TEST_F(MemoryLivenessTest, UnfusedIsNoLess) {
  FailureOr<MemoryLiveness> fused = analyze(kSaved);
  FailureOr<MemoryLiveness> unfused = analyze(kSaved, MemoryModel::unfused());
  ASSERT_TRUE(succeeded(fused) && succeeded(unfused));
  EXPECT_GE(unfused->getPackedBytes(), fused->getPackedBytes());
}

TEST_F(MemoryLivenessTest, IsDeterministic) {
  FailureOr<MemoryLiveness> first = analyze(kSaved);
  ASSERT_TRUE(succeeded(first));
  SmallVector<int64_t> timeline = first->getTimeline();
  for (int i = 0; i < 3; ++i) {
    FailureOr<MemoryLiveness> again = analyze(kSaved);
    ASSERT_TRUE(succeeded(again));
    EXPECT_EQ(again->getTimeline(), timeline);
  }
}

TEST_F(MemoryLivenessTest, NothingToDo) {
  FailureOr<MemoryLiveness> liveness =
      analyze("func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : "
              "tensor<4xf32> }");
  ASSERT_TRUE(succeeded(liveness));
  EXPECT_EQ(liveness->getPeak(), 0);
  EXPECT_EQ(liveness->getPackedBytes(), 0);
  EXPECT_EQ(liveness->getNumPositions(), 1u);
}
